//! Changes an existing setup: a menu with one entry for each part and its value, until the person is done.

use super::ask::Back;
use super::edit;
use super::presets;
use super::steps::{PLACE, Step};
use super::{Setup, Value};
use crate::destinations::FolderConfig;

/// Stands before the name of a destination, and of what is removed.
const PLACE_OF: &str = "place ";
const READER_OF: &str = "reader ";
const REMOVE: &str = "remove ";

impl Setup {
    /// Asks until nothing more is to be changed. `is_first`: there is nothing to go back to.
    pub(super) fn change(&mut self, is_first: bool) -> anyhow::Result<()> {
        let mut told = false;
        loop {
            let given = self.ask.given();
            let mut choices = vec![("done".to_owned(), self.say("setup-change-done", &[]))];
            choices.extend(self.parts()?);
            choices.extend(self.removable());
            let shown: Vec<(&str, String)> =
                choices.iter().map(|(name, shown)| (name.as_str(), shown.clone())).collect();
            let question = self.question("", "setup-change", &[]);
            let chosen = match self.ask.choose(&question, &shown) {
                Err(error) if error.is::<Back>() && is_first => {
                    self.tell("setup-first", &[])?;
                    continue;
                }
                Err(error) if error.is::<Back>() => return Ok(()),
                Ok("done") => match self.send_test(told) {
                    Err(error) if error.is::<Back>() => {
                        self.ask.take_back(given);
                        continue;
                    }
                    sent => return sent,
                },
                chosen => chosen?.to_owned(),
            };
            told |= self.change_part(&chosen)?;
            // One cannot go back from one part into another.
            self.ask.take_back(given);
        }
    }

    /// Returns whether the change affects who is told.
    fn change_part(&mut self, chosen: &str) -> anyhow::Result<bool> {
        if let Some(what) = chosen.strip_prefix(REMOVE) {
            return self.remove(what).map(|()| false);
        }
        if let Some(way) = presets::alarms().into_iter().find(|way| way.name == chosen) {
            let mut works = false;
            self.in_group(|setup| setup.set_up(&way).map(|now| works = now))?;
            return Ok(works);
        }
        if let Some(name) = chosen.strip_prefix(PLACE_OF).or_else(|| chosen.strip_prefix(READER_OF)) {
            self.destination = name.to_owned();
        }
        let steps: &[Step] = match chosen {
            // Another service has other keys.
            "address" => &[Self::ask_for_address, Self::ask_for_account],
            "account" => &[Self::ask_for_account],
            "another" => {
                self.adds = true;
                &PLACE
            }
            "patients" => &[Self::ask_for_patients],
            "confirm" => &[Self::ask_for_confirm],
            "practice" => &[Self::ask_for_practice],
            "page" => &[Self::ask_where_page_is],
            reader if reader.starts_with(READER_OF) => &[Self::ask_for_reader],
            _ => &[Self::ask_for_destination],
        };
        self.is_gone_through(steps)?;
        self.adds = false;
        Ok(false)
    }

    /// The parts, with their values.
    fn parts(&mut self) -> anyhow::Result<Vec<(String, String)>> {
        let loaded = self.draft.loaded()?;
        if self.destination.is_empty() {
            self.destination = loaded.config.destinations.keys().next().cloned().unwrap_or_default();
        }
        let none = |what: &str| self.say("setup-none", &[("what", what.into())]);
        let part = |name: &str, value: Option<String>| {
            let value = value.unwrap_or_else(|| none(name));
            (name.to_owned(), self.say(&format!("setup-part-{name}"), &[("value", (&value).into())]))
        };
        let accounts: Vec<String> = loaded.config.accounts.keys().map(|name| self.account_in_words(name)).collect();
        let mut parts = vec![
            part("address", self.draft.current("api", None, "base_url")),
            part("account", Some(accounts.join(", "))),
        ];
        for (name, destination) in &loaded.config.destinations {
            let place = self.place_of(name).map_or_else(|| none("place"), |(place, _)| place);
            let values = [("name", Value::from(name)), ("value", (&place).into())];
            parts.push((format!("{PLACE_OF}{name}"), self.say("setup-part-place", &values)));
            if let (Some(folder), true) = (destination.of::<FolderConfig>(), cfg!(unix)) {
                let reader = folder.reader.clone().unwrap_or_else(|| none("reader"));
                let values = [("name", Value::from(name)), ("value", (&reader).into())];
                parts.push((format!("{READER_OF}{name}"), self.say("setup-part-reader", &values)));
            }
        }
        parts.push(("another".to_owned(), self.say("setup-another-place", &[])));
        for way in presets::alarms() {
            let shown = self.told_in_words(&way);
            parts.push((way.name, shown));
        }
        parts.push(part("practice", Some(self.practice_in_words()).filter(|known| !known.is_empty())));
        parts.push(part("patients", self.draft.current("patients", None, "file")));
        if self.can_be_confirmed()? {
            let confirm = self.draft.current("destinations", Some(&self.destination), "confirm");
            let confirm = confirm.unwrap_or_else(|| none("confirm"));
            let values = [("name", Value::from(&self.destination)), ("value", Value::from(&confirm))];
            parts.push(("confirm".to_owned(), self.say("setup-part-confirm", &values)));
        }
        parts.push(part("page", self.draft.written("status_page", None, "listen")));
        Ok(parts)
    }

    /// The optional parts that are set up, and so can be removed.
    pub(super) fn removable(&self) -> Vec<(String, String)> {
        let mut there: Vec<String> =
            presets::alarms().into_iter().filter(|way| self.is_told_by(way)).map(|way| way.name).collect();
        there.extend(self.draft.current("patients", None, "file").map(|_| "patients".to_owned()));
        there.extend(self.draft.written("status_page", None, "listen").map(|_| "page".to_owned()));
        let entry = |name: String| (format!("{REMOVE}{name}"), self.say(&format!("setup-remove-{name}"), &[]));
        there.into_iter().map(entry).collect()
    }

    /// Comments out an optional part. Its name may stand behind [`REMOVE`].
    pub(super) fn remove(&mut self, what: &str) -> anyhow::Result<()> {
        let what = what.strip_prefix(REMOVE).unwrap_or(what);
        let before = (self.draft.text.clone(), self.draft.secrets.clone());
        let (section, instance, keys): (&str, Option<&str>, &[&str]) = match what {
            "mail" => ("alerts", Some("mail"), &[]),
            "webhook" => ("alerts", None, &["webhook_url_file", "webhook_format"]),
            "heartbeat" => ("alerts", None, &["heartbeat_url_file"]),
            "patients" => ("patients", None, &[]),
            _ => ("status_page", None, &["listen"]),
        };
        let all = if keys.is_empty() { edit::keys(&self.draft.text, section, instance) } else { Vec::new() };
        for key in keys.iter().copied().chain(all.iter().map(String::as_str)) {
            self.draft.leave_out(section, instance, key);
        }
        self.draft.forget_secrets();
        // Something else may need it, as names of files need the list's numbers.
        if let Err(error) = self.draft.loaded() {
            (self.draft.text, self.draft.secrets) = before;
            let exact = super::in_words(&error);
            return self.refuse("", "setup-remove-needed", &[("why", (&exact).into())]);
        }
        self.tell("setup-removed", &[])
    }
}
