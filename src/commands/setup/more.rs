//! Optional parts: one menu, until the person wants nothing more.

use super::Setup;
use super::ask::Back;
use super::presets;
use super::questions::Part;

impl Setup {
    pub(super) fn ask_for_more(&mut self) -> anyhow::Result<()> {
        if !self.ask.is_person() {
            self.ask_for_practice()?;
            return self.ask_for_alarms();
        }
        let begun = self.ask.given();
        let mut changed = false;
        loop {
            let given = self.ask.given();
            let choices = self.offered()?;
            let shown: Vec<(&str, String)> =
                choices.iter().map(|(name, shown)| (name.as_str(), shown.clone())).collect();
            let question = self.question("", "setup-more", &[]);
            let chosen = match self.ask.choose(&question, &shown) {
                // The person confirms that what was set up here is lost.
                Err(error) if error.is::<Back>() && given > begun => {
                    let question = self.question("lose", "setup-lose", &[]);
                    let gives_up = self.ask.agree(&question, false).or_else(back_is_no)?;
                    self.ask.take_back(if gives_up { begun } else { given });
                    if gives_up {
                        return Err(error);
                    }
                    continue;
                }
                chosen => chosen?.to_owned(),
            };
            let is_done = match chosen.as_str() {
                "none" => return self.send_test(changed),
                "patients" => self.in_group(Self::ask_for_patients)?,
                "confirm" => self.in_group(Self::ask_for_confirm)?,
                "practice" => self.in_group(Self::ask_for_practice)?,
                name => match presets::alarms().into_iter().find(|way| way.name == name) {
                    Some(way) => {
                        let mut works = false;
                        let is_done = self.in_group(|setup| setup.set_up(&way).map(|now| works = now))?;
                        changed |= works;
                        is_done
                    }
                    None => self.remove(name).map(|()| true)?,
                },
            };
            if !is_done {
                self.ask.take_back(given);
            }
        }
    }

    /// Asks for the practice's name and contact.
    pub(super) fn ask_for_practice(&mut self) -> anyhow::Result<()> {
        let Some(practice) = presets::practice() else { return Ok(()) };
        let part = Part { section: practice.section, name: None };
        if !self.ask.is_person() {
            return self.take_further_answers(&part, &[]);
        }
        loop {
            self.ask_all(&part, &practice.asks)?;
            match self.draft.loaded() {
                Ok(_) => return Ok(()),
                Err(error) => self.refuse_of(&part, &practice.asks, &error)?,
            }
        }
    }

    /// The practice's name.
    pub(super) fn practice_in_words(&self) -> String {
        let known = ["name", "contact"].map(|key| self.draft.current("practice", None, key));
        known.into_iter().flatten().collect::<Vec<_>>().join("; ")
    }

    /// The parts that can be set up or removed.
    fn offered(&self) -> anyhow::Result<Vec<(String, String)>> {
        let ways = presets::alarms();
        let is_told = ways.iter().any(|way| self.is_told_by(way));
        let nothing = if is_told { "setup-more-nothing" } else { "setup-more-nothing-told" };
        let mut choices = vec![("none".to_owned(), self.say(nothing, &[]))];
        let choice = |title: &str, is_there: bool, about: &str| {
            let state = if is_there { format!(" {}", self.say("setup-more-there", &[])) } else { String::new() };
            format!("{title}{state}\n      {about}")
        };
        let language = self.ask.language();
        choices.extend(ways.into_iter().map(|way| {
            let [title, about] = [&way.title, &way.about].map(|words| words.in_language(language));
            let shown = choice(title, self.is_told_by(&way), about);
            (way.name, shown)
        }));
        choices.extend(presets::practice().map(|practice| {
            let [title, about] = [&practice.title, &practice.about].map(|words| words.in_language(language));
            let is_there = !self.practice_in_words().is_empty();
            ("practice".to_owned(), choice(title, is_there, about))
        }));
        for (name, key) in [("patients", "file"), ("confirm", "confirm")] {
            let is_there = match name {
                "patients" => self.draft.current("patients", None, key).is_some(),
                _ if !self.can_be_confirmed()? => continue,
                _ => self.draft.current("destinations", Some(&self.destination), key).is_some(),
            };
            let [title, about] = ["", "-about"].map(|end| self.say(&format!("setup-more-{name}{end}"), &[]));
            choices.push((name.to_owned(), choice(&title, is_there, &about)));
        }
        // The page has a question of its own, which follows.
        choices.extend(self.removable().into_iter().filter(|(name, _)| !name.ends_with("page")));
        Ok(choices)
    }
}

/// A person who goes back from the question "lose it?" stays.
fn back_is_no(error: anyhow::Error) -> anyhow::Result<bool> {
    if error.is::<Back>() { Ok(false) } else { Err(error) }
}
