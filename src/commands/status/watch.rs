//! `docsyncd status --watch`: on a terminal it redraws everything every two seconds. Into a file or pipe it writes the
//! sentences whenever they change.

use std::io::IsTerminal as _;
use std::time::Duration;

use super::super::harmless::{self, Form, redraw};
use super::super::output::{completed, folded, ledger_to_read, terminal_width};
use super::super::{Exit, Outcome, asked_to_stop, runtime};
use super::{gather, sentences, table};
use crate::config::Loaded;
use crate::formats::language::Language;

/// The interval.
const INTERVAL: Duration = Duration::from_secs(2);

pub(super) fn watch(loaded: &Loaded, account: Option<&str>, language: Language) -> Outcome {
    let terminal = std::io::stdout().is_terminal();
    runtime()?.block_on(async {
        let mut requests = crate::system::service::requests()?;
        let (mut shown, mut ledger) = (String::new(), None);
        loop {
            // There may be no ledger yet.
            if ledger.is_none() {
                ledger = ledger_to_read(loaded)?;
            }
            let status = gather(loaded, ledger.as_ref(), account, language).await?;
            let said = sentences::text(&status, language);
            if terminal {
                let text = folded(&completed(&format!("{said}\n{}", table::text(&status, language))), terminal_width());
                redraw(&text)?;
            } else {
                // The time of the next poll changes with every look.
                let lines = status.problems.iter().map(|problem| problem.text.as_str());
                let news = std::iter::once(status.headline.as_str()).chain(lines).collect::<Vec<_>>().join(" ");
                if news != shown {
                    let now = jiff::Zoned::now().strftime("%Y-%m-%d %H:%M:%S %Z");
                    let line = format!("{now}  {}\n", status.headline);
                    if !reader_is_there(&completed(&line)) {
                        return Ok(Exit::Done);
                    }
                    shown = news;
                }
            }
            tokio::select! {
                () = tokio::time::sleep(INTERVAL) => {}
                () = asked_to_stop(&mut requests) => return Ok(Exit::Done),
            }
        }
    })
}

/// Writes a line. Returns whether the reader is still there.
fn reader_is_there(line: &str) -> bool {
    use std::io::Write as _;
    let mut out = harmless::output(Form::Text);
    out.write_all(line.as_bytes()).and_then(|()| out.flush()).is_ok()
}
