//! What shows that the destination's software has taken a letter (`confirm`).

use super::questions::Part;
use super::{Setup, told};
use crate::destinations::SCHEMA;

impl Setup {
    fn part_of_destination(&self) -> Part {
        Part { section: "destinations".to_owned(), name: Some(self.destination.clone()) }
    }

    /// Whether the destination puts files where software can take them.
    pub(super) fn can_be_confirmed(&self) -> anyhow::Result<bool> {
        let loaded = self.draft.loaded()?;
        Ok(loaded.config.destinations.get(&self.destination).is_some_and(|found| SCHEMA.has(found.kind, "path")))
    }

    /// Asks a person. A file of answers contains the key itself.
    pub(super) fn ask_for_confirm(&mut self) -> anyhow::Result<()> {
        let part = self.part_of_destination();
        let before = self.draft.text.clone();
        loop {
            let now = self.now(&part, "confirm").unwrap_or_default();
            let (word, rest) = now.split_once(':').unwrap_or((&now, ""));
            let mut choices = vec![
                ("none", self.say("setup-confirm-none", &[])),
                ("taken", self.say("setup-confirm-taken", &[])),
                ("moved", self.say("setup-confirm-moved", &[])),
                ("renamed", self.say("setup-confirm-renamed", &[])),
            ];
            if self.now(&part, "sidecar").is_some() {
                choices.push(("sidecar", self.say("setup-confirm-sidecar", &[])));
            }
            let default = Some(if word.is_empty() { "none" } else { word }.to_owned());
            let question = self.question("confirm", "setup-confirm", &[]).or(default);
            let chosen = self.ask.choose(&question, &choices)?;
            let detail = |usual: &str| Some(if word == chosen { rest } else { usual }.to_owned());
            let value = match chosen {
                "none" => {
                    for key in ["confirm", "confirm_failed", "confirm_within"] {
                        self.draft.leave_out("destinations", Some(&self.destination), key);
                    }
                    return Ok(());
                }
                "moved" => {
                    let question = self.question("confirm", "setup-confirm-folder", &[]).or(detail("imported"));
                    format!("moved:{}", self.ask.text(&question)?.unwrap_or_default())
                }
                "sidecar" => {
                    let question = self.question("confirm", "setup-confirm-line", &[]).or(detail("READY=1"));
                    format!("sidecar:{}", self.ask.text(&question)?.unwrap_or_default())
                }
                word => word.to_owned(),
            };
            self.put(&part, "confirm", value)?;
            match self.tried_again() {
                Ok(notes) => return self.warn(&notes),
                Err(why) => {
                    self.draft.text.clone_from(&before);
                    self.ask.refused("confirm", &why)?;
                }
            }
        }
    }

    /// Tries the destination as it is now. Returns what to tell the person.
    fn tried_again(&self) -> Result<Vec<String>, String> {
        let loaded = self.draft.loaded();
        let loaded = loaded.map_err(|error| self.because("told-answer", &super::draft::in_words(&error)))?;
        let destination = loaded.config.destinations.get(&self.destination).ok_or("the destination is missing")?;
        let tried = self.try_destination(destination, &loaded.config.state.path);
        Ok(tried.map_err(|why| told::of_destination(self.ask.language(), destination, &why))?.warnings)
    }
}
