//! `docsyncd open`: the status page in the browser, with a link that counts once. The link is written into the ledger,
//! so that only whoever may write there can make one: docsyncd's own user and the administrators.

use std::net::SocketAddr;

use anyhow::Context as _;
use secrecy::ExposeSecret as _;
use url::Url;

use super::output::{complain, docsyncd, ledger_to_read, print};
use super::{Exit, Outcome, UsageError, browser, runtime};
use crate::config::Loaded;
use crate::ledger::{Ledger, is_locked, process};
use crate::web::keys;

pub(super) fn open(loaded: &Loaded, only_print: bool) -> Outcome {
    if loaded.config.status_page.is_none() {
        let missing =
            "there is no status page: write [status_page] with listen = \"127.0.0.1:8977\" into the configuration";
        return Err(UsageError(missing.to_owned()).into());
    }
    let path = &loaded.config.state.path;
    // Opened first: whoever may not look at it is told that, and not that nothing runs.
    let ledger = ledger_to_read(loaded)?.filter(|_| is_locked(path));
    let Some(ledger) = ledger else {
        complain(&format!(
            "docsyncd: it is not running, and with it the status page: start it ({})",
            docsyncd("service start")
        ));
        return Ok(Exit::Failed);
    };
    runtime()?.block_on(async {
        let Some(page) = page(&ledger).await? else {
            complain(&format!(
                "docsyncd: it runs, but does not serve the status page: its port may be in use, or it has not read the new \
                 configuration yet. The log and {} say why",
                docsyncd("check")
            ));
            return Ok(Exit::Failed);
        };
        let link = keys::make_link(&ledger).await?;
        let mut address = Url::parse(&format!("http://{page}/open")).context("the address of the page")?;
        address.query_pairs_mut().append_pair("key", link.expose_secret());
        if only_print {
            return print(&format!("{address}\n"));
        }
        if !browser::has_screen() {
            return print(&format!(
                "There is no screen here. {}",
                in_a_browser(&address)
            ));
        }
        match browser::open(&address).await {
            Ok(()) => print(&format!("the browser opens http://{page}/\n")),
            Err(error) => {
                complain(&format!("docsyncd: no browser could be opened: {error}"));
                print(&in_a_browser(&address))
            }
        }
    })
}

fn in_a_browser(address: &Url) -> String {
    format!("Open this address in a browser of this computer within two minutes; it counts once:\n\n    {address}\n")
}

/// Where the running daemon serves it.
async fn page(ledger: &Ledger) -> anyhow::Result<Option<SocketAddr>> {
    let said = ledger.read(process::all).await?;
    Ok(said.get(process::STATUS_PAGE).and_then(|address| address.parse().ok()))
}
