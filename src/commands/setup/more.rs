//! What nobody has to have: one question, until nothing more is wanted.

use super::Setup;
use super::ask::Question;
use super::presets;

impl Setup {
    pub(super) fn ask_for_more(&mut self) -> anyhow::Result<()> {
        if !self.ask.is_person() {
            return self.ask_for_alarms();
        }
        let ways = presets::alarms();
        let mut changed = false;
        loop {
            let is_told = ways.iter().any(|way| self.is_told_by(way));
            let nothing = if is_told { "nothing more" } else { "nothing more; look at docsyncd status yourself" };
            let state = |is_there: bool| if is_there { " (as it is now, or changed)" } else { "" };
            let mut choices = vec![("none", nothing.to_owned())];
            choices.extend(ways.iter().map(|way| {
                let told = state(self.is_told_by(way));
                (
                    way.name.as_str(),
                    format!("Who is told when something needs a person: {}{told}\n      {}", way.title, way.about),
                )
            }));
            let has_list = state(self.draft.current("patients", None, "file").is_some());
            let about = "from a list that its software exports; names of files can have it";
            choices.push(("patients", format!("The practice's own number of each patient{has_list}\n      {about}")));
            if self.can_be_confirmed()? {
                let about = "by what it does with the file; success is reported only then";
                let is_there = self.draft.current("destinations", Some(&self.destination), "confirm").is_some();
                choices.push((
                    "confirm",
                    format!("Proof that the practice's software took each letter{}\n      {about}", state(is_there)),
                ));
            }
            let question = Question { key: "", words: "What else is set up:", help: "", default: None };
            let chosen = self.ask.choose(&question, &choices)?;
            match choices.get(chosen).map_or("none", |(name, _)| name) {
                "none" => return self.send_test(changed),
                "patients" => self.ask_for_patients()?,
                "confirm" => self.ask_for_confirm()?,
                name => {
                    for way in ways.iter().filter(|way| way.name == name) {
                        changed |= self.set_up(way)?;
                    }
                }
            }
        }
    }
}
