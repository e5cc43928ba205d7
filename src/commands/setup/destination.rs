//! Where letters go, and who reads them there.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use toml_edit::Value;

use super::super::output::{folded, print, terminal_width};
use super::ask::Question;
use super::edit::Letters;
use super::presets::{self, Preset};
use super::questions::Part;
use super::write::Rights;
use super::{Setup, check, service_user};
use crate::adapters::{self, Checked};
use crate::config::{Destination, DestinationKind, FolderConfig};
use crate::document::DOCUMENT_TYPES;
use crate::name;
use crate::template::Context;

const SECTION: &str = "destinations";
/// The answer that names a further destination.
const ADD: &str = "add_destination";
/// What a group gets of the folder: it lists and enters it, and what is made in it belongs to the group.
const GROUP_READS: u32 = 0o2050;
/// The same, and it may take files away.
const GROUP_TAKES: u32 = 0o2070;

impl Setup {
    pub(super) fn ask_for_destination(&mut self) -> anyhow::Result<()> {
        self.destination = self.choose_destination()?;
        let preset = self.choose_preset()?;
        if preset.source.starts_with("https://") {
            self.good(&format!("source: {}", preset.source))?;
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
        loop {
            self.ask_all(&part, &preset.asks)?;
            if !self.ask.is_person() {
                self.take_further_answers(&part, &preset.asks)?;
            }
            let first = preset.asks.first().map_or("preset", |asked| asked.key.as_str());
            #[cfg_attr(
                not(feature = "sftp"),
                expect(unused_mut, reason = "an SFTP server's key is asked for in between")
            )]
            let mut loaded = match self.draft.loaded() {
                Ok(loaded) => loaded,
                Err(error) => {
                    self.refuse(&part, &preset.asks, &error)?;
                    continue;
                }
            };
            #[cfg(feature = "sftp")]
            if let Some(DestinationKind::Sftp(sftp)) = loaded.config.destinations.get(&name).map(|found| &found.kind) {
                if !self.ask_for_server_key(&part, sftp)? {
                    continue;
                }
                loaded = self.draft.loaded()?;
            }
            let destination = loaded.config.destinations.get(&name).context("the destination is missing")?;
            if !preset.reads_sub_folders && goes_into_sub_folders(destination) {
                let why = "what receives the letters reads no sub-folders: leave it out, or give one without / and \\";
                self.ask.refused(&part.answer("file_name"), why)?;
                continue;
            }
            match self.try_destination(destination, &loaded.config.state.path) {
                Err(why) => self.ask.refused(first, &why)?,
                Ok(checked) if self.may_be_written(destination, first, &checked)? => return Ok(()),
                Ok(_) => {}
            }
        }
    }

    fn choose_destination(&mut self) -> anyhow::Result<String> {
        let names: Vec<String> = self.draft.loaded()?.config.destinations.into_keys().collect();
        if self.ask.answers(ADD) {
            let question = Question { key: ADD, words: "", help: "", default: None };
            let name = self.needed(&question)?;
            return self.add_destination(&names, name);
        }
        let is_person = self.ask.is_person();
        let there = |name: &String| is_person.then(|| self.as_it_is(name)).flatten();
        let mut choices: Vec<(&str, String)> = Vec::new();
        for name in &names {
            let title = there(name).map(|there| there.title).unwrap_or_default();
            let at = title.strip_prefix(presets::SAME_PLACE).map(|at| format!(": {at}")).unwrap_or_default();
            choices.push((name, format!("{name}{at}")));
        }
        // What is in the commented file is nobody's.
        if names.iter().any(|name| there(name).is_some()) {
            choices.push((ADD, "another place, beside what is there".to_owned()));
        }
        if let [only] = names.as_slice()
            && choices.len() == 1
        {
            return Ok(only.clone());
        }
        let default = names.first().cloned();
        let question = Question { key: "destination", words: "Which destination:", help: "", default };
        let chosen = self.ask.choose(&question, &choices)?;
        match names.get(chosen) {
            Some(name) => Ok(name.clone()),
            None => {
                let help = "letters and digits; docsyncd status and the log call it so";
                let question = Question { key: ADD, words: "A short name for it:", help, default: None };
                let name = self.needed(&question)?;
                self.add_destination(&names, name)
            }
        }
    }

    /// A further one, and which letters it gets.
    fn add_destination(&mut self, names: &[String], mut name: String) -> anyhow::Result<String> {
        let is_plain = |name: &str| name.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c));
        while !is_plain(&name) || names.contains(&name) {
            self.ask.refused(ADD, "letters and digits only, and none of the names that there are")?;
            name = self.needed(&Question { key: ADD, words: "A short name for it:", help: "", default: None })?;
        }
        let now = names.join(", ");
        let choices = [
            ("all", format!("every letter, as well as to {now}")),
            ("also", format!("letters of some kinds, as well as to {now}")),
            ("only", "letters of some kinds, which then go nowhere else".to_owned()),
        ];
        let default = Some("all".to_owned());
        let question = Question { key: "letters", words: "Which letters go there:", help: "", default };
        let chosen = self.ask.choose(&question, &choices)?;
        let types = if chosen == 0 { Vec::new() } else { self.ask_for_types()? };
        let letters = match chosen {
            0 => Letters::All,
            1 => Letters::Also(types),
            _ => Letters::Only(types),
        };
        self.draft.text = super::edit::route(&self.draft.text, &name, &letters, names)
            .map_err(|wrong| super::UsageError(format!("{}: {wrong}", self.draft.path.display())))?;
        Ok(name)
    }

    fn ask_for_types(&mut self) -> anyhow::Result<Vec<String>> {
        let help = format!("spaces between them: {}", DOCUMENT_TYPES.join(" "));
        let question = Question { key: "types", words: "Which kinds:", help: &help, default: None };
        loop {
            let types: Vec<String> = self.needed(&question)?.split([' ', ',']).map(str::to_owned).collect();
            let types: Vec<String> = types.into_iter().filter(|one| !one.is_empty()).collect();
            match types.iter().find(|one| !DOCUMENT_TYPES.contains(&one.as_str())) {
                None => return Ok(types),
                Some(unknown) => self.ask.refused("types", &format!("{unknown} is no kind of letter"))?,
            }
        }
    }

    /// The place of a destination that somebody set up.
    fn as_it_is(&self, name: &str) -> Option<Preset> {
        // What is in the commented file is nobody's.
        let kind = self.draft.written(SECTION, Some(name), "type")?;
        let asks = presets::asks_of(&kind);
        let at = self.draft.current(SECTION, Some(name), &asks.first()?.key)?;
        Some(presets::as_it_is(&kind, &at, asks))
    }

    fn choose_preset(&mut self) -> anyhow::Result<Preset> {
        let mut presets = presets::all();
        let there = self.as_it_is(&self.destination);
        presets.splice(0..0, there);
        let mut choices: Vec<(&str, String)> = presets
            .iter()
            .map(|preset| (preset.name.as_str(), format!("{}\n      {}", preset.title, preset.about)))
            .collect();
        if self.ask.is_person() {
            let about = "what is known of others by name, and the general ways";
            choices.push(("", format!("My software is not named here\n      {about}")));
        }
        let default = presets.first().map(|preset| preset.name.clone());
        let question = Question { key: "preset", words: "Letters go to", help: "", default };
        let mut chosen = self.ask.choose(&question, &choices)?;
        while chosen == presets.len() {
            print(&folded(presets::OTHER_SOFTWARE, terminal_width()))?;
            chosen = self.ask.choose(&question, &choices)?;
        }
        presets.into_iter().nth(chosen).context("no such choice")
    }

    pub(super) fn try_destination(&self, destination: &Destination, ledger: &Path) -> Result<Checked, String> {
        match adapters::unusable(destination) {
            Some(wrong) => Err(wrong),
            None => self.runtime.block_on(check::try_destination(destination, ledger)),
        }
    }

    /// Whether the service's user may file there, or gets the right to. What was tried just now was tried by root.
    fn may_be_written(&mut self, destination: &Destination, key: &str, checked: &Checked) -> anyhow::Result<bool> {
        let DestinationKind::Folder(folder) = &destination.kind else {
            let said = match &destination.kind {
                DestinationKind::Command(_) => "tried: it is there and can be run",
                _ => "tried: it works",
            };
            let said: Vec<&str> = [said].into_iter().chain(checked.notes.iter().map(String::as_str)).collect();
            self.good(&said.join("; "))?;
            for warning in &checked.warnings {
                self.good(&format!("note: {warning}"))?;
            }
            return Ok(true);
        };
        self.rights = None;
        let Some(user) = self.service.clone().filter(|user| user.uid != Some(0)) else {
            self.good("tried: a file was written there, given its name, and removed")?;
            return Ok(true);
        };
        let Err(why) = service_user::can_file(&user, &folder.path) else {
            self.good(&format!("tried: files can be written there, also by {}, whom the service runs as", user.name))?;
            return Ok(true);
        };
        let may_be_mended = user.stopped_at(&folder.path).is_none();
        let words = format!("The folder is not {0}'s, whom the service runs as. Give it to {0}?", user.name);
        let question = Question { key: "give_folder", words: &words, help: &why, default: None };
        let default = self.ask.is_person();
        if may_be_mended && self.ask.agree(&question, default)? {
            self.rights = Some(Rights { folder: real(folder), owner: user.uid, ..Rights::default() });
            return Ok(true);
        }
        let how = if may_be_mended && !self.ask.is_person() { "; or answer give_folder = true" } else { "" };
        self.ask.refused(key, &format!("{why}{how}"))?;
        Ok(false)
    }

    /// Who reads the letters: then group and modes are set so that it can. Windows has neither.
    pub(super) fn ask_for_reader(&mut self) -> anyhow::Result<()> {
        let loaded = self.draft.loaded()?;
        let name = self.destination.clone();
        let Some(DestinationKind::Folder(folder)) = loaded.config.destinations.get(&name).map(|found| &found.kind)
        else {
            return Ok(());
        };
        if cfg!(windows) {
            return Ok(());
        }
        let only = self.service.as_ref().map_or("you", |user| user.name.as_str()).to_owned();
        let words = "Who reads the letters there:";
        let help = format!("a user or group of this computer; empty: only {only} (and root)");
        loop {
            let question = Question { key: "reader", words, help: &help, default: folder.reader.clone() };
            let Some(reader) = self.ask.text(&question)? else { return Ok(()) };
            if let Err(why) = self.let_read(&name, folder, &reader) {
                self.ask.refused("reader", &why)?;
                continue;
            }
            let words = format!("Does {reader} also take them away (move or delete them)?");
            let takes =
                self.ask.agree(&Question { key: "reader_takes", words: &words, help: "", default: None }, false)?;
            if let Some(rights) = &mut self.rights {
                rights.mode = if takes { GROUP_TAKES } else { GROUP_READS };
            }
            self.draft.set(SECTION, Some(&name), "reader", reader.as_str())?;
            self.draft.set(SECTION, Some(&name), "file_mode", "0640")?;
            self.draft.set(SECTION, Some(&name), "dir_mode", if takes { "0770" } else { "0750" })?;
            return self.good(&format!(
                "{reader} gets group, 0640 for files and {} for folders",
                if takes { "0770" } else { "0750" }
            ));
        }
    }

    /// Plans the folder's group for the reader.
    fn let_read(&mut self, name: &str, folder: &FolderConfig, reader: &str) -> Result<(), String> {
        let found = crate::readers::find(reader)?;
        if let Some(closed) = found.stopped_at(&folder.path) {
            let closed = closed.display();
            return Err(format!("{reader} may not pass through {closed}: let it, with chmod o+x {closed}"));
        }
        let group = found.gids.first().copied().ok_or("it has no group")?;
        let now = crate::readers::permissions(&folder.path);
        let mine =
            service_user::is_root() || now.is_some_and(|now| now.gid == group && now.mode & GROUP_READS == GROUP_READS);
        if !mine {
            let folder = folder.path.display();
            return Err(format!(
                "only root may give {folder} to a group: run setup with sudo, or first sudo chgrp {group} {folder} and sudo \
                 chmod 2750 {folder} (destination {name})"
            ));
        }
        if service_user::is_root() {
            let before = self.rights.take().unwrap_or_default();
            self.rights = Some(Rights { folder: real(folder), group: Some(group), ..before });
        }
        Ok(())
    }
}

/// Whether letters get folders below the destination's own.
fn goes_into_sub_folders(destination: &Destination) -> bool {
    let DestinationKind::Folder(folder) = &destination.kind else { return false };
    let rendered = folder.file_name.render(&Context::sample("letter.pdf"));
    rendered.is_ok_and(|rendered| name::relative_path(&rendered).len() > 1)
}

/// The folder itself, not a link to it.
fn real(folder: &FolderConfig) -> PathBuf {
    std::fs::canonicalize(&folder.path).unwrap_or_else(|_| folder.path.clone())
}
