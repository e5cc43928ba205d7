//! What nobody has to have: one question, until nothing more is wanted.

use super::Setup;
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
            let nothing = if is_told { "setup-more-nothing" } else { "setup-more-nothing-told" };
            let choice = |title: &str, is_there: bool, about: &str| {
                let state = if is_there { format!(" {}", self.say("setup-more-there", &[])) } else { String::new() };
                format!("{title}{state}\n      {about}")
            };
            let mut choices = vec![("none", self.say(nothing, &[]))];
            let language = self.ask.language();
            choices.extend(ways.iter().map(|way| {
                let title = self.say("setup-more-told", &[("way", way.title.in_language(language).into())]);
                (way.name.as_str(), choice(&title, self.is_told_by(way), way.about.in_language(language)))
            }));
            for (name, key) in [("patients", "file"), ("confirm", "confirm")] {
                let is_there = match name {
                    "patients" => self.draft.current("patients", None, key).is_some(),
                    _ if !self.can_be_confirmed()? => continue,
                    _ => self.draft.current("destinations", Some(&self.destination), key).is_some(),
                };
                let [title, about] = ["", "-about"].map(|end| self.say(&format!("setup-more-{name}{end}"), &[]));
                choices.push((name, choice(&title, is_there, &about)));
            }
            let question = self.question("", "setup-more", &[]);
            match self.ask.choose(&question, &choices)? {
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
