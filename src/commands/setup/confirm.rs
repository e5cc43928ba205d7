//! What shows that the destination's software took a letter (`confirm`).

use anyhow::Context as _;

use super::Setup;
use super::ask::Question;
use super::questions::Part;
use crate::config::DestinationKind;

impl Setup {
    fn part_of_destination(&self) -> Part {
        Part { section: "destinations".to_owned(), name: Some(self.destination.clone()) }
    }

    /// Whether it puts files where software can take them.
    pub(super) fn can_be_confirmed(&self) -> anyhow::Result<bool> {
        let loaded = self.draft.loaded()?;
        let kind = loaded.config.destinations.get(&self.destination).map(|found| &found.kind);
        Ok(matches!(kind, Some(DestinationKind::Folder(_) | DestinationKind::Sftp(_) | DestinationKind::WebDav(_))))
    }

    /// Asked of a person; a file of answers has the key itself.
    pub(super) fn ask_for_confirm(&mut self) -> anyhow::Result<()> {
        let part = self.part_of_destination();
        let before = self.draft.text.clone();
        loop {
            let now = self.now(&part, "confirm").unwrap_or_default();
            let (word, rest) = now.split_once(':').unwrap_or((&now, ""));
            let mut choices = vec![
                ("none", "nothing: it counts as soon as it lies there".to_owned()),
                ("taken", "takes the file away: it counts when that is gone".to_owned()),
                ("moved", "moves it into a folder below: it counts when it lies there".to_owned()),
                ("renamed", "renames it: it counts when it lies there under another name".to_owned()),
            ];
            if self.now(&part, "sidecar").is_some() {
                choices
                    .push(("sidecar", "writes a line into the sidecar: it counts when that stands there".to_owned()));
            }
            let question = Question {
                key: "confirm",
                words: "What the practice's software does with a letter:",
                help: "",
                default: Some(if word.is_empty() { "none" } else { word }.to_owned()),
            };
            let chosen = self.ask.choose(&question, &choices)?;
            let (word_chosen, _) = choices.get(chosen).context("no such choice")?;
            let detail = |usual: &str| Some(if word == *word_chosen { rest } else { usual }.to_owned());
            let value = match *word_chosen {
                "none" => {
                    for key in ["confirm", "confirm_failed", "confirm_within"] {
                        self.draft.leave_out("destinations", Some(&self.destination), key);
                    }
                    return Ok(());
                }
                "moved" => {
                    let words = "Into which folder, below that of the letters:";
                    let question = Question { key: "confirm", words, help: "", default: detail("imported") };
                    format!("moved:{}", self.ask.text(&question)?.unwrap_or_default())
                }
                "sidecar" => {
                    let question = Question {
                        key: "confirm",
                        words: "Which line:",
                        help: "KEY=VALUE",
                        default: detail("READY=1"),
                    };
                    format!("sidecar:{}", self.ask.text(&question)?.unwrap_or_default())
                }
                word => word.to_owned(),
            };
            self.put(&part, "confirm", value)?;
            match self.tried_again() {
                Ok(notes) => {
                    for note in notes {
                        self.good(&format!("note: {note}"))?;
                    }
                    return Ok(());
                }
                Err(why) => {
                    self.draft.text.clone_from(&before);
                    self.ask.refused("confirm", &why)?;
                }
            }
        }
    }

    /// The destination as it is now; returns what is said of it.
    fn tried_again(&self) -> Result<Vec<String>, String> {
        let loaded = self.draft.loaded().map_err(|error| super::draft::in_words(&error))?;
        let destination = loaded.config.destinations.get(&self.destination).ok_or("the destination is missing")?;
        Ok(self.try_destination(destination, &loaded.config.state.path)?.warnings)
    }
}
