//! `docsyncd poll`: makes a running daemon poll now. It goes through the ledger, so that it needs no other right.

use std::time::Duration;

use super::output::{complain, docsyncd, ledger_to_read, print};
use super::{Exit, Outcome, runtime};
use crate::config::Loaded;
use crate::formats::language::Language;
use crate::ledger::{is_locked, process};

/// How long the daemon may take to notice: it looks every 1.5 s, but may be busy.
const NOTICE_LIMIT: Duration = Duration::from_secs(15);
/// The time between two looks.
const LOOK_INTERVAL: Duration = Duration::from_millis(50);

pub(super) fn poll(loaded: &Loaded, language: Language) -> Outcome {
    let path = &loaded.config.state.path;
    // Opened first, so that a person without the right learns that, instead of that nothing runs.
    let ledger = ledger_to_read(loaded)?.filter(|_| is_locked(path));
    let Some(ledger) = ledger else {
        let (start, sync) = (docsyncd("service start"), docsyncd("sync"));
        let text = language.fill("poll-not-running", &[("start", (&start).into()), ("sync", (&sync).into())]);
        complain(&format!("docsyncd: {text}"));
        return Ok(Exit::Failed);
    };
    let taken_up = runtime()?.block_on(async {
        ledger.write(process::request_poll).await?;
        let waiting = async {
            while ledger.read(process::asked).await?.poll {
                tokio::time::sleep(LOOK_INTERVAL).await;
            }
            anyhow::Ok(())
        };
        tokio::time::timeout(NOTICE_LIMIT, waiting).await.ok().transpose()
    })?;
    if taken_up.is_none() {
        let seconds = NOTICE_LIMIT.as_secs().into();
        complain(&format!("docsyncd: {}", language.fill("poll-no-answer", &[("seconds", seconds)])));
        return Ok(Exit::Failed);
    }
    print(&format!("{}\n", language.text("poll-done")))
}
