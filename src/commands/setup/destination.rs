//! Where letters go, and who reads them there.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use toml_edit::Value;

use super::super::output::say;
use super::ask::{NOTHING, Question};
use super::edit::Letters;
use super::presets::{self, Preset, ToAsk};
use super::questions::Part;
use super::write::Rights;
use super::{Setup, check, service_user, told};
use crate::config::{Destination, Loaded};
use crate::destinations::{self, Checked, CommandConfig, FolderConfig};
use crate::domain::document::DOCUMENT_TYPES;
use crate::domain::name;
use crate::formats::language::{LANGUAGES, Language};
use crate::formats::template::Context;

const SECTION: &str = "destinations";
/// The answer with the name of a further destination.
const ADD: &str = "add_destination";
/// The rights of a group that reads: it lists and enters the folder, and what is created there belongs to the group.
const GROUP_READS: u32 = 0o2050;
/// The rights of a group that also removes files.
const GROUP_TAKES: u32 = 0o2070;
/// The mode of sub-folders for such a group, in the configuration.
const TAKES: &str = "0770";

/// The choice that is offered first: any software that reads a folder.
const USUAL: &str = "watched-folder";

impl Setup {
    pub(super) fn ask_which_destination(&mut self) -> anyhow::Result<()> {
        self.destination = self.choose_destination()?;
        Ok(())
    }

    pub(super) fn ask_for_destination(&mut self) -> anyhow::Result<()> {
        let preset = self.choose_preset()?;
        if preset.source.starts_with("https://") {
            // What is said of it is English.
            let source = match self.ask.language() {
                Language::English => preset.source.as_str(),
                _ => preset.source.split([' ']).next().unwrap_or_default().trim_end_matches([':', ',', ';']),
            };
            self.tell("setup-source", &[("address", source.into())])?;
        }
        let name = self.destination.clone();
        if let Some(kind) = preset.settings.get("type").and_then(toml::Value::as_str) {
            self.draft.leave_out_others(SECTION, &name, kind);
        }
        for (key, value) in &preset.settings {
            let value: Value = value.to_string().parse().context("a preset has a value that is none")?;
            self.draft.set(SECTION, Some(&name), key, value)?;
        }
        let part = Part { section: SECTION.to_owned(), name: Some(name.clone()) };
        let mut asks = preset.asks.clone();
        loop {
            self.ask_all(&part, &std::mem::replace(&mut asks, preset.asks.clone()))?;
            if !self.ask.is_person() {
                self.take_further_answers(&part, &preset.asks)?;
            } else if preset.needs_list && self.draft.current("patients", None, "file").is_none() {
                self.ask_for_patients()?;
            }
            let first = preset.asks.first().map_or("preset", |asked| asked.key.as_str());
            let mut loaded = match self.draft.loaded() {
                Ok(loaded) => loaded,
                Err(error) => {
                    self.refuse_of(&part, &preset.asks, &error)?;
                    continue;
                }
            };
            #[cfg(feature = "sftp")]
            if let Some(sftp) =
                loaded.config.destinations.get(&name).and_then(Destination::of::<destinations::SftpConfig>)
            {
                if !self.ask_for_server_key(&part, sftp)? {
                    continue;
                }
                loaded = self.draft.loaded()?;
            }
            loaded = self.beside_the_answers(&name, loaded)?;
            let destination = loaded.config.destinations.get(&name).context("the destination is missing")?;
            if !preset.reads_sub_folders && goes_into_sub_folders(destination) {
                self.refuse(&part.answer("file_name"), "setup-no-sub-folders", &[])?;
                continue;
            }
            match self.try_destination(destination, &loaded.config.state.path) {
                Err(why) => {
                    let mut key = first;
                    // All that was said of the server is right if only the folder on it is missing.
                    if told::lacks_folder(&why) && preset.asks.iter().any(|asked| asked.key == "path") {
                        key = "path";
                        asks.retain(|asked| asked.key == key);
                    }
                    let why = told::of_destination(self.ask.language(), destination, &why);
                    self.ask.refused(key, &why)?;
                }
                Ok(checked) if self.may_be_written(destination, first, &checked)? => return Ok(()),
                Ok(_) => {}
            }
        }
    }

    /// The same, with the folder of this destination relative to the folder of answers that names it.
    fn beside_the_answers(&mut self, name: &str, loaded: Loaded) -> anyhow::Result<Loaded> {
        let folder = loaded.config.destinations.get(name).and_then(Destination::of::<FolderConfig>);
        let written = folder.filter(|_| self.ask.answers("path"));
        let written = written.and_then(|_| self.draft.written(SECTION, Some(name), "path"));
        let Some(path) = written.and_then(|path| self.ask.beside(&path)) else { return Ok(loaded) };
        self.draft.set(SECTION, Some(name), "path", path)?;
        Ok(self.draft.loaded()?)
    }

    fn choose_destination(&mut self) -> anyhow::Result<String> {
        let names: Vec<String> = self.draft.loaded()?.config.destinations.into_keys().collect();
        if self.ask.answers(ADD) {
            let name = self.needed(&Question::of_file(ADD))?;
            return self.add_destination(&names, name);
        }
        if self.adds {
            let name = self.needed(&self.question(ADD, "setup-name", &[]))?;
            return self.add_destination(&names, name);
        }
        let is_person = self.ask.is_person();
        let there = |name: &String| is_person.then(|| self.place_of(name)).flatten();
        let mut choices: Vec<(&str, String)> = Vec::new();
        for name in &names {
            choices.push(match there(name) {
                Some((place, _)) => {
                    (name, self.say("setup-place", &[("name", name.into()), ("place", (&place).into())]))
                }
                None => (name, name.clone()),
            });
        }
        // An example in the commented file is nobody's setting.
        if names.iter().any(|name| there(name).is_some()) {
            choices.push((ADD, self.say("setup-another-place", &[])));
        }
        if let [only] = names.as_slice()
            && choices.len() == 1
        {
            return Ok(only.clone());
        }
        let question = self.question("destination", "setup-destination", &[]).or(names.first().cloned());
        match self.ask.choose(&question, &choices)? {
            ADD => {
                let name = self.needed(&self.question(ADD, "setup-name", &[]))?;
                self.add_destination(&names, name)
            }
            name => Ok(name.to_owned()),
        }
    }

    /// Adds a further destination, and asks which letters it gets.
    fn add_destination(&mut self, names: &[String], mut name: String) -> anyhow::Result<String> {
        let is_plain = |name: &str| name.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c));
        while !is_plain(&name) || names.contains(&name) {
            self.refuse(ADD, "setup-name-refused", &[])?;
            name = self.needed(&Question { help: String::new(), ..self.question(ADD, "setup-name", &[]) })?;
        }
        let now = names.join(", ");
        let choices = [
            ("all", self.say("setup-letters-all", &[("places", (&now).into())])),
            ("also", self.say("setup-letters-also", &[("places", (&now).into())])),
            ("only", self.say("setup-letters-only", &[])),
        ];
        let question = self.question("letters", "setup-letters", &[]).or(Some("all".to_owned()));
        let letters = match self.ask.choose(&question, &choices)? {
            "all" => Letters::All,
            "also" => Letters::Also(self.ask_for_types()?),
            _ => Letters::Only(self.ask_for_types()?),
        };
        self.draft.text = super::edit::route(&self.draft.text, &name, &letters, names)
            .map_err(|wrong| super::UsageError(format!("{}: {wrong}", self.draft.path.display())))?;
        Ok(name)
    }

    fn ask_for_types(&mut self) -> anyhow::Result<Vec<String>> {
        let language = self.ask.language();
        let types = DOCUMENT_TYPES.map(|kind| language.kind(kind)).join(", ");
        let question = self.question("types", "setup-types", &[("types", (&types).into())]);
        loop {
            match types_of(&self.needed(&question)?, language) {
                Ok(types) => return Ok(types),
                Err(unknown) => self.refuse("types", "setup-types-unknown", &[("type", (&unknown).into())])?,
            }
        }
    }

    /// The place of a destination that somebody set up, and the questions of its type.
    pub(super) fn place_of(&self, name: &str) -> Option<(String, Vec<ToAsk>)> {
        // An example in the commented file is nobody's setting.
        let kind = self.draft.written(SECTION, Some(name), "type")?;
        let asks = presets::asks_of(&kind);
        let at = self.draft.current(SECTION, Some(name), &asks.first()?.key)?;
        Some((presets::place(&kind, &at), asks))
    }

    fn choose_preset(&mut self) -> anyhow::Result<Preset> {
        let there = self.place_of(&self.destination).map(|(place, asks)| {
            let title = self.say("setup-same-place", &[("place", (&place).into())]);
            presets::as_it_is(&title, &self.say("setup-same-place-about", &[]), asks)
        });
        let language = self.ask.language();
        let default = there.as_ref().map_or(USUAL, |there| there.name.as_str()).to_owned();
        let (own, others) = presets::offered(language);
        let own: Vec<Preset> = there.into_iter().chain(own).collect();
        let shown = |preset: &Preset| {
            format!("{}\n      {}", preset.title.in_language(language), preset.about.in_language(language))
        };
        let mut choices: Vec<(&str, String)> = own.iter().map(|preset| (preset.name.as_str(), shown(preset))).collect();
        if self.ask.is_person() {
            let [title, about] = ["setup-other", "setup-other-about"].map(|text| self.say(text, &[]));
            choices.push(("", format!("{title}\n      {about}")));
        }
        choices.extend(others.iter().map(|preset| (preset.name.as_str(), shown(preset))));
        let question = self.question("preset", "setup-preset", &[]).or(Some(default));
        let mut chosen = self.ask.choose(&question, &choices)?;
        while chosen.is_empty() {
            // Practice software without a choice of its own, the person's country first.
            let mut countries = ["setup-other-english", "setup-other-france", "setup-other-germany"];
            countries.rotate_left(LANGUAGES.iter().position(|one| *one == language).unwrap_or(0));
            for text in countries.into_iter().filter(|_| !self.ask.repeats()) {
                say(&format!("{}\n", self.say(text, &[])))?;
            }
            chosen = self.ask.choose(&question, &choices)?;
        }
        own.iter().chain(&others).find(|preset| preset.name == chosen).cloned().context("no such choice")
    }

    pub(super) fn try_destination(&self, destination: &Destination, ledger: &Path) -> Result<Checked, String> {
        match destinations::unusable(destination) {
            Some(wrong) => Err(wrong),
            // The check would write there.
            None if self.how.dry_run && destination.of::<FolderConfig>().is_some() => {
                let adapter = destinations::build(destination, ledger);
                let found = self.runtime.block_on(adapter.is_there(Vec::new()));
                found.map(|()| Checked::default()).map_err(|wrong| wrong.reason().to_owned())
            }
            None if self.how.dry_run => Ok(Checked::default()),
            None => self.runtime.block_on(check::try_destination(destination, ledger)),
        }
    }

    /// Whether the service's user may file there, or can get the right to. The check just now was done by root.
    fn may_be_written(&mut self, destination: &Destination, key: &str, checked: &Checked) -> anyhow::Result<bool> {
        let Some(folder) = destination.of::<FolderConfig>() else {
            let is_program = destination.of::<CommandConfig>().is_some();
            let said = if is_program { "setup-tried-program" } else { "setup-tried" };
            let notes = checked.notes.iter().map(|note| told::of_note(self.ask.language(), note));
            let said: Vec<String> = [self.say(said, &[])].into_iter().chain(notes).collect();
            if !self.how.dry_run {
                self.good(&said.join("; "))?;
            }
            self.warn(&checked.warnings)?;
            return Ok(true);
        };
        self.rights = None;
        let Some(user) = self.service.clone().filter(|user| user.uid != Some(0)) else {
            if !self.how.dry_run {
                self.tell("setup-tried-folder", &[])?;
            }
            return Ok(true);
        };
        let Err(why) = service_user::can_file(self.ask.language(), &user, &folder.path) else {
            if !self.how.dry_run {
                self.tell("setup-tried-folder-as", &[("user", (&user.name).into())])?;
            }
            return Ok(true);
        };
        let may_be_mended = user.stopped_at(&folder.path).is_none();
        let question = self.question("give_folder", "setup-give", &[("user", (&user.name).into())]);
        let question = Question { help: why.clone(), ..question };
        let default = self.ask.is_person();
        if may_be_mended && self.ask.agree(&question, default)? {
            self.rights = Some(Rights { folder: real(folder), owner: user.uid, ..Rights::default() });
            return Ok(true);
        }
        let is_answer = may_be_mended && !self.ask.is_person();
        let why = if is_answer { self.say("setup-give-answer", &[("why", (&why).into())]) } else { why };
        self.ask.refused(key, &why)?;
        Ok(false)
    }

    /// Asks which software reads the letters, and plans group and modes for it. Windows has neither.
    pub(super) fn ask_for_reader(&mut self) -> anyhow::Result<()> {
        let loaded = self.draft.loaded()?;
        let name = self.destination.clone();
        let Some(folder) = loaded.config.destinations.get(&name).and_then(Destination::of::<FolderConfig>) else {
            return Ok(());
        };
        if cfg!(windows) {
            return Ok(());
        }
        let only = self.service.as_ref().map_or_else(|| self.say("setup-you", &[]), |user| user.name.clone());
        loop {
            let question = self.question("reader", "setup-reader", &[("user", (&only).into())]);
            let question = question.or(folder.reader.clone());
            let Some(reader) = self.ask.text(&question)? else { return Ok(()) };
            if reader == NOTHING {
                for key in ["reader", "file_mode", "dir_mode"] {
                    self.draft.leave_out(SECTION, Some(&name), key);
                }
                return Ok(());
            }
            if let Err(why) = self.let_read(&name, folder, &reader) {
                self.ask.refused("reader", &why)?;
                continue;
            }
            let question = self.question("reader_takes", "setup-reader-takes", &[("reader", (&reader).into())]);
            let takes_now = self.draft.written(SECTION, Some(&name), "dir_mode").is_some_and(|mode| mode == TAKES);
            let takes = self.ask.agree(&question, takes_now)?;
            if let Some(rights) = &mut self.rights {
                rights.mode = if takes { GROUP_TAKES } else { GROUP_READS };
            }
            self.draft.set(SECTION, Some(&name), "reader", reader.as_str())?;
            self.draft.set(SECTION, Some(&name), "file_mode", "0640")?;
            let mode = if takes { TAKES } else { "0750" };
            self.draft.set(SECTION, Some(&name), "dir_mode", mode)?;
            return self.tell("setup-reader-gets", &[("reader", (&reader).into()), ("mode", mode.into())]);
        }
    }

    /// Plans that the folder belongs to the reader's group.
    fn let_read(&mut self, name: &str, folder: &FolderConfig, reader: &str) -> Result<(), String> {
        let unknown = |why: String| match why.starts_with("this computer knows no user") {
            true => self.say("setup-no-reader", &[("reader", reader.into())]),
            false => self.because("told-answer", &why),
        };
        let found = crate::system::readers::find(reader).map_err(unknown)?;
        if let Some(closed) = found.stopped_at(&folder.path) {
            let closed = closed.display().to_string();
            return Err(self.say("setup-reader-stopped", &[("reader", reader.into()), ("folder", (&closed).into())]));
        }
        let group = found.gids.first().copied().ok_or_else(|| self.say("setup-no-group", &[]))?;
        let now = crate::system::readers::permissions(&folder.path);
        let mine =
            service_user::is_root() || now.is_some_and(|now| now.gid == group && now.mode & GROUP_READS == GROUP_READS);
        if !mine {
            let (folder, group) = (folder.path.display().to_string(), group.to_string());
            let values = [("folder", (&folder).into()), ("group", (&group).into()), ("name", name.into())];
            return Err(self.say("setup-only-root-gives", &values));
        }
        if service_user::is_root() {
            let before = self.rights.take().unwrap_or_default();
            self.rights = Some(Rights { folder: real(folder), group: Some(group), ..before });
        }
        Ok(())
    }
}

/// Types of letters, as the API names them or as people read them, between commas. Fails for an unknown one.
fn types_of(answer: &str, language: Language) -> Result<Vec<String>, String> {
    let is_label = |kind: &&&str, text: &str| language.kind(kind).to_lowercase() == text.trim().to_lowercase();
    let mut types = Vec::new();
    for part in answer.split(',') {
        if let Some(kind) = DOCUMENT_TYPES.iter().find(|kind| is_label(kind, part)) {
            types.push((*kind).to_owned());
            continue;
        }
        types.extend(part.split_whitespace().map(str::to_owned));
    }
    match types.iter().find(|one| !DOCUMENT_TYPES.contains(&one.as_str())) {
        Some(unknown) => Err(unknown.clone()),
        None => Ok(types),
    }
}

/// Whether letters get sub-folders of the destination's folder.
fn goes_into_sub_folders(destination: &Destination) -> bool {
    let Some(folder) = destination.of::<FolderConfig>() else { return false };
    let rendered = folder.file_name.render(&Context::sample("letter.pdf"));
    rendered.is_ok_and(|rendered| name::relative_path(&rendered).len() > 1)
}

/// The folder itself, with links resolved.
fn real(folder: &FolderConfig) -> PathBuf {
    std::fs::canonicalize(&folder.path).unwrap_or_else(|_| folder.path.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_of_letters_are_taken_in_the_words_of_the_api_and_in_those_that_are_shown() {
        for language in LANGUAGES {
            let shown = DOCUMENT_TYPES.map(|kind| language.kind(kind)).join(", ");
            assert_eq!(types_of(&shown, language).unwrap(), DOCUMENT_TYPES, "{shown}");
            for answer in ["lab_slip prescription", "lab_slip,prescription", " lab_slip ,  prescription,"] {
                assert_eq!(types_of(answer, language).unwrap(), ["lab_slip", "prescription"], "{answer}");
            }
            assert_eq!(types_of("lab_slip slip", language), Err("slip".to_owned()));
        }
    }
}
