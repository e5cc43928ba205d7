//! Asks the questions of a preset (`config/presets`) for one table of the configuration. An answer goes into the draft
//! under its key, a secret into a file of its own.

use std::path::Path;

use anyhow::Context as _;
use toml_edit::Value;

use super::Setup;
use super::ask::{NOTHING, Question, shown};
use super::presets::ToAsk;
use crate::config::schema::{Key, Kind};
use crate::config::{ConfigError, mail_address};
use crate::destinations::SCHEMA;
use crate::system::secret::{NotTaken, pasted_for};

/// The table that is being set up.
#[derive(Debug, Clone)]
pub(super) struct Part {
    /// Its name in the table of settings, such as `destinations` or `alerts.mail`.
    pub(super) section: String,
    /// NAME of a destination.
    pub(super) name: Option<String>,
}

impl Part {
    /// The table's place in the file.
    fn place(&self) -> (&str, Option<&str>) {
        match self.section.split_once('.') {
            Some((outer, inner)) => (outer, Some(inner)),
            None => (&self.section, self.name.as_deref()),
        }
    }

    /// The name of a key's answer in a file of answers. Keys of a destination have no table there.
    pub(super) fn answer(&self, key: &str) -> String {
        let is_secret = SCHEMA.find(&self.section, key).is_some_and(|key| key.kind == Kind::SecretFile);
        let key = match key {
            key if is_secret => format!("{}_from", key.trim_end_matches("_file")),
            // Without a table, `base_url` is the API's.
            "base_url" => "fhir_base_url".to_owned(),
            key => key.to_owned(),
        };
        if self.name.is_some() { key } else { format!("{}.{key}", self.section) }
    }
}

impl Setup {
    pub(super) fn now(&self, part: &Part, key: &str) -> Option<String> {
        let (section, instance) = part.place();
        self.draft.current(section, instance, key)
    }

    pub(super) fn put(&mut self, part: &Part, key: &str, value: impl Into<Value>) -> anyhow::Result<()> {
        let (section, instance) = part.place();
        self.draft.set(section, instance, key, value)
    }

    pub(super) fn ask_all(&mut self, part: &Part, asks: &[ToAsk]) -> anyhow::Result<()> {
        for asked in asks {
            if asked.unless.as_ref().is_some_and(|other| self.now(part, other).is_some()) {
                continue;
            }
            // A key without the other key that it belongs to is not asked for, and an earlier value is removed.
            if self.ask.is_person() && asked.with.as_ref().is_some_and(|other| self.now(part, other).is_none()) {
                if self.now(part, &asked.key).is_some() {
                    let (section, instance) = part.place();
                    self.draft.leave_out(section, instance, &asked.key);
                    self.draft.forget_secrets();
                }
                continue;
            }
            self.ask_for_setting(part, asked)?;
        }
        Ok(())
    }

    fn ask_for_setting(&mut self, part: &Part, asked: &ToAsk) -> anyhow::Result<()> {
        let key = SCHEMA.find(&part.section, &asked.key).context("a preset asks for a key that is none")?;
        if matches!(key.kind, Kind::SecretFile | Kind::SecretFileTable) {
            return self.ask_for_secret(part, asked);
        }
        let (name, now) = (part.answer(&asked.key), self.now(part, &asked.key));
        let is_removable = asked.optional && now.is_some() && self.ask.is_person();
        let default = now.clone().or_else(|| asked.default.clone()).or_else(|| key.default.map(str::to_owned));
        let default = default.map(|text| shown(&text, key.kind)).filter(|text| now.is_none() || !text.is_empty());
        let language = self.ask.language();
        let [words, mut help] = [&asked.words, &asked.help].map(|words| words.in_language(language).to_owned());
        if is_removable {
            help = [help, self.say("setup-removes", &[])]
                .into_iter()
                .filter(|text| !text.is_empty())
                .collect::<Vec<_>>()
                .join("; ");
        }
        let question = Question { key: &name, words, help, default };
        let is_address = self.ask.is_person() && (key.kind == Kind::Address || asked.key.ends_with("url"));
        let value = if let Kind::Enum(words) = key.kind {
            let choices: Vec<(&str, String)> =
                words.iter().map(|word| (*word, self.in_words(&asked.key, word))).collect();
            Value::from(self.ask.choose(&question, &choices)?)
        } else if key.kind == Kind::Bool && self.ask.is_person() {
            let is_so = question.default.as_deref() == Some("true");
            Value::from(self.ask.agree(&question, is_so)?)
        } else {
            loop {
                match self.ask.value(&question, key.kind)? {
                    Some(Value::String(text)) if is_removable && text.value() == NOTHING => {
                        let (section, instance) = part.place();
                        self.draft.leave_out(section, instance, &asked.key);
                        return Ok(());
                    }
                    Some(Value::String(text)) if is_share(text.value()) && key.kind == Kind::Path => {
                        self.refuse_share(&name, text.value())?;
                    }
                    // Whoever writes a file of answers knows the names of settings, as the configuration's errors do.
                    Some(value) if self.ask.is_person() && not_an_address(&asked.key, &value).is_some() => {
                        let text = not_an_address(&asked.key, &value).unwrap_or_default();
                        self.refuse(&name, "setup-no-mail-address", &[("text", (&text).into())])?;
                    }
                    Some(Value::String(text)) if key.kind == Kind::Path => {
                        self.tell_folder(text.value())?;
                        break Value::String(text);
                    }
                    Some(Value::String(text)) if asked.key == "host" => {
                        break Value::from(self.host(part, text.into_value())?);
                    }
                    Some(Value::String(address)) if is_address => {
                        break Value::from(self.with_scheme(address.into_value())?);
                    }
                    Some(value) => break value,
                    None if asked.optional => return Ok(()),
                    None => self.refuse(&name, "setup-needed", &[])?,
                }
            }
        };
        if now.is_none() && key.default.is_some_and(|default| is_written(&value, default)) {
            return Ok(());
        }
        self.put(part, &asked.key, value)
    }

    /// The host, with the port split off.
    fn host(&mut self, part: &Part, host: String) -> anyhow::Result<String> {
        let Some((name, port)) = with_port(&host).filter(|_| SCHEMA.find(&part.section, "port").is_some()) else {
            return Ok(host);
        };
        let name = name.to_owned();
        self.put(part, "port", i64::from(port))?;
        let port = port.to_string();
        self.tell("setup-meant-host", &[("host", (&name).into()), ("port", (&port).into())])?;
        Ok(name)
    }

    /// Says what a relative path means to a person, who may have another folder in mind.
    fn tell_folder(&mut self, path: &str) -> anyhow::Result<()> {
        if !self.ask.is_person() || Path::new(path).is_absolute() {
            return Ok(());
        }
        let meant = self.draft.folder().join(path).display().to_string();
        self.tell("setup-meant-folder", &[("folder", (&meant).into())])
    }

    /// Refuses a share of Windows, which is no folder here.
    pub(super) fn refuse_share(&mut self, answer: &str, share: &str) -> anyhow::Result<()> {
        let share = share.replace('\\', "/");
        self.refuse(answer, "setup-mount", &[("share", (&share).into())])
    }

    /// A value of a setting, in words.
    fn in_words(&self, key: &str, value: &str) -> String {
        let text = choice_text(key, value);
        if self.ask.language().has(&text) { self.say(&text, &[]) } else { value.to_owned() }
    }

    fn ask_for_secret(&mut self, part: &Part, asked: &ToAsk) -> anyhow::Result<()> {
        let answer = part.answer(&asked.key);
        // A table with one file, as a preset sets it, is one secret, too.
        let answer = if answer.ends_with("_from") { answer } else { format!("{answer}_from") };
        let is_there = self.now(part, &asked.key).is_some();
        let is_removable = is_there && asked.optional && self.ask.is_person();
        let how = match (is_there, asked.optional) {
            _ if is_removable => "setup-secret-removable",
            (true, _) => "setup-secret-there",
            (false, true) => "setup-secret-optional",
            (false, false) => "setup-secret",
        };
        let language = self.ask.language();
        let help = format!("{}{}", asked.help.in_language(language), self.say(how, &[]));
        let words = asked.words.in_language(language).to_owned();
        let question = Question { key: answer.trim_end_matches("_from"), words, help, default: None };
        loop {
            match self.ask.secret(&question)? {
                Some(secret) if is_removable && secrecy::ExposeSecret::expose_secret(&secret) == NOTHING => {
                    let (section, instance) = part.place();
                    self.draft.leave_out(section, instance, &asked.key);
                    self.draft.forget_secrets();
                    return Ok(());
                }
                Some(secret) => match pasted_for(&asked.key, secrecy::ExposeSecret::expose_secret(&secret)) {
                    Ok(secret) => {
                        let (section, instance) = part.place();
                        return self.draft.keep_secret(section, instance, &asked.key, secret);
                    }
                    Err(why) => self.refuse_pasted(&answer, "setup-what-secret", why)?,
                },
                None if is_there || asked.optional => return Ok(()),
                None => self.refuse(&answer, "setup-secret-needed", &[])?,
            }
        }
    }

    /// Refuses a pasted secret, with the reason.
    pub(super) fn refuse_pasted(&mut self, answer: &str, what: &str, why: NotTaken) -> anyhow::Result<()> {
        let (text, what) = (format!("setup-pasted-{}", why.as_str()), self.say(what, &[]));
        self.refuse(answer, &text, &[("what", (&what).into())])
    }

    /// Takes the answers that a file may hold besides the questions.
    pub(super) fn take_further_answers(&mut self, part: &Part, asks: &[ToAsk]) -> anyhow::Result<()> {
        // These have a step of their own.
        let elsewhere = ["type", "reader", "host_key"];
        for key in SCHEMA.keys_of(&part.section).filter(|key| key.kind != Kind::Secret) {
            if asks.iter().any(|asked| asked.key == key.name()) || elsewhere.contains(&key.name()) {
                continue;
            }
            if key.kind == Kind::SecretFile {
                let asked = ToAsk { optional: true, ..ToAsk::of(key) };
                self.ask_for_secret(part, &asked)?;
                continue;
            }
            let name = part.answer(key.name());
            if let Some(value) = self.ask.value(&Question::of_file(&name), key.kind)? {
                self.put(part, key.name(), value)?;
            }
        }
        Ok(())
    }

    /// Refuses the answer that the error is about. If that is unknown, refuses the first.
    pub(super) fn refuse_of(&mut self, part: &Part, asks: &[ToAsk], error: &ConfigError) -> anyhow::Result<()> {
        let is_at_fault = |key: &&Key| {
            let full = format!("`{}`", key.at(part.name.as_deref()));
            let ConfigError::Invalid { problems, .. } = error else { return false };
            problems.iter().any(|problem| problem.what.contains(&full))
        };
        let first = || asks.first().map(|asked| asked.key.as_str());
        let at_fault = SCHEMA.keys_of(&part.section).find(is_at_fault).map(Key::name);
        let answer = part.answer(at_fault.or_else(first).unwrap_or_default());
        self.refused(&answer, error)
    }
}

/// Whether this is a share in Windows' notation, on another system.
pub(super) fn is_share(path: &str) -> bool {
    !cfg!(windows) && (path.starts_with("\\\\") || path.starts_with("smb://"))
}

/// The first part of the answer that is no mail address, if the setting takes only such. A template may become one.
fn not_an_address(key: &str, value: &Value) -> Option<String> {
    let texts: Vec<&str> = match value {
        Value::Array(list) => list.iter().filter_map(Value::as_str).collect(),
        other => other.as_str().into_iter().collect(),
    };
    let is_wrong = |text: &&str| !text.contains("{{") && mail_address(text).is_none();
    ["from", "to"].contains(&key).then(|| texts.into_iter().find(is_wrong).map(str::to_owned)).flatten()
}

/// The host, and the port behind it.
fn with_port(host: &str) -> Option<(&str, u16)> {
    let (name, port) = host.trim().rsplit_once(':')?;
    let is_name = !name.is_empty() && !name.contains([':', '/']);
    port.parse().ok().filter(|_| is_name).map(|port| (name, port))
}

/// The key of the text for a value of a setting.
pub(super) fn choice_text(key: &str, value: &str) -> String {
    format!("setup-choice-{}-{value}", key.replace('_', "-"))
}

/// Whether this text is the value.
fn is_written(value: &Value, text: &str) -> bool {
    value.as_str().map_or_else(|| value.to_string().trim() == text, |value| value == text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_mail_address_is_seen_at_its_own_question() {
        let list = |texts: &[&str]| Value::Array(texts.iter().copied().collect());
        for (key, value, wrong) in [
            ("from", "docsyncd".into(), Some("docsyncd")),
            ("from", "docsyncd@practice.test".into(), None),
            ("to", list(&["it@practice.test", "desk"]), Some("desk")),
            ("to", list(&["it@practice.test"]), None),
            ("to", "{{ user.email }}".into(), None),
            ("user", "docsyncd".into(), None),
        ] {
            assert_eq!(not_an_address(key, &value).as_deref(), wrong, "{key} {value}");
        }
    }

    #[test]
    fn a_port_behind_a_host_is_understood() {
        for (typed, meant) in [
            ("smtp.test:465", Some(("smtp.test", 465))),
            (" 10.0.0.1:25 ", Some(("10.0.0.1", 25))),
            ("smtp.test", None),
            ("smtp.test:", None),
            ("smtp.test:mail", None),
            ("fe80::1", None),
            ("smtp://smtp.test:25", None),
            (":25", None),
            ("smtp.test:99999", None),
        ] {
            assert_eq!(with_port(typed), meant, "{typed}");
        }
        for (path, is_one) in
            [("\\\\srv\\share", true), ("smb://srv/share", true), ("/mnt/share", false), ("srv", false)]
        {
            assert_eq!(is_share(path), is_one && !cfg!(windows), "{path}");
        }
    }
}
