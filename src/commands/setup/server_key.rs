//! Whether an SSH server is the one that is meant: a person compares what it shows with what its operator says.

use super::Setup;
use super::ask::Question;
use super::questions::Part;
use crate::adapters;
use crate::config::{SftpConfig, SshHostKey};

const KEY: &str = "host_key";

impl Setup {
    /// Whether the server's key is known now. A file of answers has to name it: nobody is there to compare.
    pub(super) fn ask_for_server_key(&mut self, part: &Part, sftp: &SftpConfig) -> anyhow::Result<bool> {
        let question = Question { key: KEY, words: "", help: "", default: None };
        if !self.ask.is_person()
            && let Some(given) = self.ask.text(&question)?
        {
            self.put(part, KEY, given.as_str())?;
            return match self.draft.loaded() {
                Ok(_) => Ok(true),
                Err(error) => self.refuse(part, &[], &error).map(|()| false),
            };
        }
        // Whoever keeps a file of known servers changes that file.
        if matches!(sftp.host_key, Some(SshHostKey::KnownHosts(_))) {
            return Ok(true);
        }
        let shown = match self.runtime.block_on(adapters::unknown_key(sftp)) {
            Ok(None) => return Ok(true),
            Ok(Some(shown)) => shown,
            Err(why) => return self.ask.refused("host", &why).map(|()| false),
        };
        let (fingerprint, algorithm) = (&shown.fingerprint, &shown.algorithm);
        if !self.ask.is_person() {
            let why = format!(
                "the server shows {fingerprint} ({algorithm}): ask its operator whether that is right, and answer {KEY} = \
                 \"{fingerprint}\""
            );
            return self.ask.refused(KEY, &why).map(|()| false);
        }
        if let Some(SshHostKey::Fingerprint(known)) = &sftp.host_key {
            self.good(&format!(
                "NOT the key that is known, {known}: unless its operator changed it, somebody stands in between"
            ))?;
        }
        let words = format!("The server shows {fingerprint} ({algorithm}). Does its operator say the same?");
        let help = "ask them by telephone or on paper; nothing is sent to a server with another key";
        if self.ask.agree(&Question { key: KEY, words: &words, help, default: None }, false)? {
            self.put(part, KEY, fingerprint.as_str())?;
            return Ok(true);
        }
        self.ask.refused(KEY, "nothing is sent to a server that is not known").map(|()| false)
    }
}
