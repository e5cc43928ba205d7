//! `docsyncd open`: the status page in the browser, with a link that counts once. With `--for-another`, a link for a
//! browser on another computer. The link is written into the ledger, so that only docsyncd's own user and
//! administrators can make one.

use std::net::SocketAddr;

use url::Url;

use super::output::{complain, docsyncd, ledger_to_read, print};
use super::unconfigured::needs_more;
use super::{Exit, Outcome, browser, runtime, told};
use crate::commands::cli::OpenArgs;
use crate::config::Loaded;
use crate::formats::language::Language;
use crate::ledger::{Ledger, is_locked, process};
use crate::surfaces::web::keys::{self, Browser};

pub(super) fn open(loaded: &Loaded, asked: &OpenArgs, language: Language) -> Outcome {
    let Some(configured) = &loaded.config.status_page else {
        return Err(needs_more(loaded, language).unwrap_or_else(|| told::usage(language, "open-no-page", &[])));
    };
    let path = &loaded.config.state.path;
    // Opened first, so that a person without the right learns that, instead of that nothing runs.
    let ledger = ledger_to_read(loaded)?.filter(|_| is_locked(path));
    let Some(ledger) = ledger else {
        let start = docsyncd("service start");
        complain(&format!("docsyncd: {}", language.fill("open-not-running", &[("command", (&start).into())])));
        return Ok(Exit::Failed);
    };
    runtime()?.block_on(async {
        let Some(page) = page(&ledger).await? else {
            let check = docsyncd("check");
            complain(&format!("docsyncd: {}", language.fill("open-not-served", &[("command", (&check).into())])));
            return Ok(Exit::Failed);
        };
        let elsewhere = configured.elsewhere(page).filter(|_| asked.for_another);
        let Some(at) = elsewhere.clone().or_else(|| configured.here(page)) else {
            return Err(told::usage(language, "open-not-encrypted", &[]));
        };
        let browser = if asked.for_another { Browser::Elsewhere } else { Browser::Here };
        let address = keys::behind(&at, &keys::make_link(&ledger, browser).await?);
        if asked.print {
            return print(&format!("{address}\n"));
        }
        if asked.for_another {
            let how = if elsewhere.is_some() { "open-for-another" } else { "open-for-another-tunnel" };
            return print(&format!("{}\n\n    {address}\n", language.text(how)));
        }
        if !browser::has_screen() {
            return print(&format!("{} {}", language.text("open-no-screen"), in_a_browser(&address, language)));
        }
        match browser::open(&address).await {
            Ok(()) => {
                let page = String::from(at);
                print(&format!("{}\n", language.fill("open-done", &[("page", (&page).into())])))
            }
            Err(error) => {
                let exact = format!("no browser could be opened: {error}");
                complain(&format!("docsyncd: {}", told::because(language, "open-no-browser", &[], &exact)));
                print(&in_a_browser(&address, language))
            }
        }
    })
}

fn in_a_browser(address: &Url, language: Language) -> String {
    format!("{}\n\n    {address}\n", language.text("open-address"))
}

/// The address of the running daemon's page.
async fn page(ledger: &Ledger) -> anyhow::Result<Option<SocketAddr>> {
    let said = ledger.read(process::all).await?;
    Ok(said.get(process::STATUS_PAGE).and_then(|address| address.parse().ok()))
}
