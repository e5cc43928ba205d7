//! Whether the page that shows how docsyncd is is served: on, unless somebody says no.

use super::Setup;
use super::ask::Question;

/// Where it is served: the address of `config/docsyncd.toml`.
const LISTEN: &str = "127.0.0.1:8977";

impl Setup {
    /// Asked only where there is none: the packages' configuration has it.
    pub(super) fn ask_for_page(&mut self) -> anyhow::Result<()> {
        if self.draft.written("status_page", None, "listen").is_some() {
            return Ok(());
        }
        let question = Question {
            key: "status_page",
            words: "Show in the browser of this computer how docsyncd is?",
            help: "at 127.0.0.1 only; names of patients and files need the key that docsyncd open brings",
            default: None,
        };
        if self.ask.agree(&question, self.ask.is_person())? {
            self.draft.set("status_page", None, "listen", LISTEN)?;
        }
        Ok(())
    }
}
