//! Whether the page that shows how docsyncd is is served: on, unless somebody says no.

use super::Setup;

/// Where it is served: the address of `config/docsyncd.toml`.
const LISTEN: &str = "127.0.0.1:8977";

impl Setup {
    /// Asked only where there is none: the packages' configuration has it.
    pub(super) fn ask_for_page(&mut self) -> anyhow::Result<()> {
        if self.draft.written("status_page", None, "listen").is_some() {
            return Ok(());
        }
        let question = self.question("status_page", "setup-page", &[]);
        // Whoever has a configuration without it once said no.
        if self.ask.agree(&question, self.ask.is_person() && self.draft.before.is_none())? {
            self.draft.set("status_page", None, "listen", LISTEN)?;
        }
        Ok(())
    }
}
