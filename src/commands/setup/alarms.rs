//! Who is told when something needs a person: the ways of `[alerts]`, each of which is tried at once.

use super::super::alerts as message;
use super::presets::{self, Preset};
use super::questions::Part;
use super::{Exit, Setup, told};
use crate::config::Config;
use crate::surfaces::alerts::Channels;

impl Setup {
    /// Takes the alarms from a file of answers.
    pub(super) fn ask_for_alarms(&mut self) -> anyhow::Result<()> {
        let mut changed = false;
        for way in &presets::alarms() {
            let part = part(way);
            if way.asks.iter().any(|asked| self.ask.answers(&part.answer(&asked.key))) {
                changed |= self.set_up(way)?;
            }
        }
        self.send_test(changed)
    }

    /// Whether this way is set up.
    pub(super) fn is_told_by(&self, way: &Preset) -> bool {
        way.asks.first().and_then(|asked| self.now(&part(way), &asked.key)).is_some()
    }

    /// This way in words, with its address or server.
    pub(super) fn told_in_words(&self, way: &Preset) -> String {
        let part = part(way);
        let known_by = match way.name.as_str() {
            "mail" => self.now(&part, "to").map(|to| to.replace(['[', ']', '"'], "")),
            // Their addresses are secrets.
            _ => self.now(&part, &way.asks.first().map(|asked| asked.key.clone()).unwrap_or_default()),
        };
        let title = way.title.in_language(self.ask.language());
        let known_by = known_by.unwrap_or_else(|| self.say("setup-none", &[("what", "alarm".into())]));
        self.say("setup-place", &[("name", title.into()), ("place", (&known_by).into())])
    }

    /// Offers a test message to everybody who is told, if that has changed.
    pub(super) fn send_test(&mut self, changed: bool) -> anyhow::Result<()> {
        let loaded = self.draft.loaded()?;
        let question = self.question("alerts.test", "setup-test", &[]);
        if changed
            && !self.how.dry_run
            && self.ask.agree(&question, self.ask.is_person())?
            && message::test(&loaded, self.ask.language())? != Exit::Done
        {
            self.refuse("alerts.test", "setup-test-refused", &[])?;
        }
        Ok(())
    }

    /// Sets up one way. Returns whether it works now. A person can leave it as it was.
    pub(super) fn set_up(&mut self, way: &Preset) -> anyhow::Result<bool> {
        let part = part(way);
        let before = (self.draft.text.clone(), self.draft.secrets.clone());
        loop {
            self.ask_all(&part, &way.asks)?;
            if !self.ask.is_person() {
                self.take_further_answers(&part, &way.asks)?;
            }
            match self.draft.loaded() {
                Err(error) => self.refuse_of(&part, &way.asks, &error)?,
                Ok(loaded) => match self.runtime.block_on(tried(&way.name, &loaded.config)) {
                    Ok(host) => {
                        self.tell("setup-tried-host", &[("host", (&host).into())])?;
                        return Ok(true);
                    }
                    Err(why) => {
                        let why = told::of_alarm(self.ask.language(), &why);
                        let first = way.asks.first().map(|asked| part.answer(&asked.key)).unwrap_or_default();
                        self.ask.refused(&first, &why)?;
                    }
                },
            }
            let again = self.question("", "setup-try-again", &[]);
            if !self.ask.agree(&again, true)? {
                (self.draft.text, self.draft.secrets) = before;
                return Ok(false);
            }
        }
    }
}

fn part(way: &Preset) -> Part {
    Part { section: way.section.clone(), name: None }
}

/// Does the check of `docsyncd check`. Returns the host.
async fn tried(way: &str, config: &Config) -> Result<String, String> {
    let channels = Channels::of(config)?;
    let tried = match (&channels.heartbeat, channels.messages.iter().find(|channel| channel.name() == way)) {
        (_, Some(channel)) => channel.check().await,
        (Some(heartbeat), None) => heartbeat.check().await,
        (None, None) => return Err("there is no address".to_owned()),
    };
    tried.map_err(|wrong| wrong.to_string())
}
