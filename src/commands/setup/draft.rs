//! The configuration in the making: a text, and secrets that no file holds yet. After each answer all of it is
//! validated by the code that reads the real one.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use secrecy::SecretString;
use toml_edit::Value;

use super::super::{Exit, UsageError, told};
use super::edit::{self, KeyPlace};
use crate::config::{self, ConfigError, Loaded};
use crate::destinations::SCHEMA;
use crate::formats::language::Language;
use crate::system::secret;

/// The place of the API's address.
const ADDRESS: KeyPlace<'static> = KeyPlace { section: "api", instance: None, key: "base_url" };

/// A secret that will get a file of its own.
#[derive(Clone)]
pub(super) struct NewSecret {
    pub(super) file: PathBuf,
    pub(super) value: SecretString,
    /// The path of that file, as the configuration has it.
    named: PathBuf,
}

/// What will be written.
pub(super) struct Draft {
    /// The configuration's file, with links resolved.
    pub(super) path: PathBuf,
    /// Its present content, if it exists.
    pub(super) before: Option<String>,
    /// Its future content.
    pub(super) text: String,
    pub(super) secrets: Vec<NewSecret>,
}

impl Draft {
    /// Begins with the present configuration, or with the commented example.
    ///
    /// # Errors
    /// It cannot be read, or has mistakes.
    pub(super) fn begin(path: &Path, language: Language) -> anyhow::Result<Self> {
        let there = fs::canonicalize(path).or_else(|_| std::path::absolute(path));
        let path = there.map_err(|error| told::failed(language, &language.text("setup-no-place"), error))?;
        let before = match fs::read_to_string(&path) {
            Ok(text) => Some(text),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => {
                let (file, why) = (path.display().to_string(), error.to_string());
                let values = [("file", (&file).into()), ("whom", "".into()), ("why", (&why).into())];
                return Err(told::usage(language, "setup-cannot-read", &values));
            }
        };
        let text = before.clone().unwrap_or_else(|| template_in(language));
        let mut draft = Self { path, before, text, secrets: Vec::new() };
        let loaded = draft.loaded().map_err(|error| {
            let wrong = told::of_configuration(language, &error);
            told::said(format!("{wrong}\n  {}", language.text("setup-mend")), Exit::Usage)
        })?;
        // Alarms and the page use this language, too. Without the setting they use English.
        let is_new = draft.current("api", None, "base_url").is_none();
        if is_new && loaded.config.language.is_none() && language != Language::English {
            draft.set("", None, "language", language.as_str())?;
        }
        Ok(draft)
    }

    /// The folder at which relative paths begin.
    pub(super) fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new("."))
    }

    /// The configuration that this text means.
    ///
    /// # Errors
    /// All that is wrong with it.
    pub(super) fn loaded(&self) -> Result<Loaded, ConfigError> {
        let secrets = self.secrets.iter();
        let pending: Vec<_> = secrets.map(|secret| (secret.named.clone(), secret.value.clone())).collect();
        SCHEMA.load_text(&self.path, &self.text, std::env::vars_os(), &pending)
    }

    /// The value, if a person wrote it. An example of the commented file does not count, until its address of the API
    /// was replaced: then somebody has decided on all that is in force.
    pub(super) fn current(&self, section: &str, instance: Option<&str>, key: &str) -> Option<String> {
        let example = |place| edit::get(config::template(), place).map(as_text);
        let before = self.before.as_deref().and_then(|before| edit::get(before, ADDRESS).map(as_text));
        let is_set_up = before.is_some() && before != example(ADDRESS);
        let place = KeyPlace { section, instance, key };
        self.written(section, instance, key).filter(|now| is_set_up || Some(now) != example(place).as_ref())
    }

    /// The value.
    pub(super) fn written(&self, section: &str, instance: Option<&str>, key: &str) -> Option<String> {
        edit::get(&self.text, KeyPlace { section, instance, key }).map(as_text)
    }

    /// Sets a value.
    ///
    /// # Errors
    /// Its place is taken by something else.
    pub(super) fn set(
        &mut self,
        section: &str,
        instance: Option<&str>,
        key: &str,
        value: impl Into<Value>,
    ) -> anyhow::Result<()> {
        let place = KeyPlace { section, instance, key };
        self.text = edit::set(&self.text, place, value.into())
            .map_err(|wrong| UsageError(format!("{}: {wrong}", self.path.display())))?;
        Ok(())
    }

    /// Resets the API's address after a wrong answer, to the earlier one or to the default.
    ///
    /// # Errors
    /// As [`Self::set`].
    pub(super) fn forget_address(&mut self) -> anyhow::Result<()> {
        let before = self.before.as_deref().and_then(|before| edit::get(before, ADDRESS));
        match before.or_else(|| edit::get(config::template(), ADDRESS)) {
            Some(value) => self.set("api", None, "base_url", value),
            None => Ok(()),
        }
    }

    /// Comments out the keys that have no meaning with this value of a selector (`auth`, `type`).
    pub(super) fn leave_out_others(&mut self, section: &str, instance: &str, value: &str) {
        for key in SCHEMA.keys_of(section).filter(|key| key.only.is_some_and(|(_, of)| !of.contains(&value))) {
            let same_name = SCHEMA
                .keys_of(section)
                .any(|other| other.name() == key.name() && other.only.is_none_or(|(_, of)| of.contains(&value)));
            if !same_name {
                self.text =
                    edit::comment_out(&self.text, KeyPlace { section, instance: Some(instance), key: key.name() });
            }
        }
    }

    /// Comments out a key.
    pub(super) fn leave_out(&mut self, section: &str, instance: Option<&str>, key: &str) {
        self.text = edit::comment_out(&self.text, KeyPlace { section, instance, key });
    }

    /// Drops secrets whose file no key names any more.
    pub(super) fn forget_secrets(&mut self) {
        let in_force: Vec<&str> = self.text.lines().filter(|line| !line.starts_with('#')).collect();
        let is_named = |named: &Path| {
            let named = named.display().to_string();
            in_force.iter().any(|line| line.contains(&named))
        };
        self.secrets.retain(|secret| is_named(&secret.named));
    }

    /// Keeps a secret for the file that `key` (for example `api_key_file`) names. Without a value, the file is named
    /// after the key.
    ///
    /// # Errors
    /// As [`Self::set`].
    pub(super) fn keep_secret(
        &mut self,
        section: &str,
        instance: Option<&str>,
        key: &str,
        value: SecretString,
    ) -> anyhow::Result<()> {
        let named = edit::get(&self.text, KeyPlace { section, instance, key });
        // A preset may have set a table; then its only file.
        let in_table = |value: &Value| value.as_inline_table()?.iter().next()?.1.as_str().map(str::to_owned);
        let named = named.as_ref().and_then(|value| value.as_str().map(str::to_owned).or_else(|| in_table(value)));
        let named = match named {
            Some(named) => named,
            None => {
                let name = key.trim_end_matches("_file").replace('_', "-");
                let name = match instance.filter(|instance| *instance != "main") {
                    Some(instance) => format!("{name}-{instance}"),
                    None => name,
                };
                self.set(section, instance, key, name.as_str())?;
                name
            }
        };
        let file = self.secret_file(Path::new(&named));
        self.secrets.retain(|secret| secret.file != file);
        self.secrets.push(NewSecret { file, value, named: named.into() });
        Ok(())
    }

    /// The file that `named` means. systemd's credentials are in `secrets` beside the configuration; those of an
    /// instance in a folder with its name in there (packaging/README.md).
    pub(super) fn secret_file(&self, named: &Path) -> PathBuf {
        let Some(credential) = secret::credential(named) else { return self.folder().join(named) };
        let secrets = self.folder().join("secrets");
        match self.path.file_stem().filter(|stem| *stem != "docsyncd") {
            Some(instance) => secrets.join(instance).join(credential),
            None => secrets.join(credential),
        }
    }
}

/// The commented example, which begins in this language.
fn template_in(language: Language) -> String {
    let head = |language: Language| {
        let lines = language.text("setup-file-head");
        lines.lines().map(|line| format!("# {line}\n")).collect::<String>()
    };
    config::template().replacen(&head(Language::English), &head(language), 1)
}

fn as_text(value: Value) -> String {
    match value.as_str() {
        Some(text) => text.to_owned(),
        None => value.decorated("", "").to_string(),
    }
}

/// The error, for a person who was asked a question and knows no names of settings.
pub(super) fn plainly(error: &ConfigError) -> String {
    let ConfigError::Invalid { problems, .. } = error else { return in_words(error) };
    let said = problems.iter().map(|problem| {
        // The message begins with the setting's name.
        let what = problem.what.strip_prefix('`').and_then(|rest| rest.split_once('`')).map(|(_, rest)| rest.trim());
        let what = what.map_or_else(|| problem.what.clone(), |what| format!("this {what}"));
        // What to write into the file is of no use to a person who answers questions.
        let stop = if what.ends_with(['.', '?', '!']) { "" } else { "." };
        match problem.fix.contains(" = ") {
            true => format!("{what}{stop}"),
            false => format!("{what}{stop} {}", problem.fix.replace('\n', " ")),
        }
    });
    said.collect::<Vec<_>>().join(" ")
}

/// The error in one paragraph.
pub(super) fn in_words(error: &ConfigError) -> String {
    match error {
        ConfigError::Invalid { problems, .. } => {
            let said = problems.iter().map(|problem| format!("{}. {}", problem.what, problem.fix.replace('\n', " ")));
            said.collect::<Vec<_>>().join(" ")
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_example_counts_once_somebody_has_set_up_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| Draft::begin(&folder.path().join(name), Language::English).unwrap();
        let path = |draft: &Draft| draft.current("destinations", Some("pms"), "path");
        assert_eq!(path(&at("new.toml")), None);
        for (name, text) in [
            ("example.toml", config::template().to_owned()),
            ("own.toml", { config::template().replace("https://api.example.test", "https://service.test") }),
        ] {
            fs::write(folder.path().join(name), text).unwrap();
            assert_eq!(path(&at(name)).is_some(), name == "own.toml", "{name}");
        }
    }
}
