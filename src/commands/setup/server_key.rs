//! The SSH server's key: a person compares what the server shows with what its operator says.

use super::Setup;
use super::ask::Question;
use super::questions::Part;
use crate::destinations;
use crate::destinations::{SftpConfig, SshHostKey};

const KEY: &str = "host_key";

impl Setup {
    /// Whether the server's key is known now. A file of answers has to contain it, because nobody can compare.
    pub(super) fn ask_for_server_key(&mut self, part: &Part, sftp: &SftpConfig) -> anyhow::Result<bool> {
        if !self.ask.is_person()
            && let Some(given) = self.ask.text(&Question::of_file(KEY))?
        {
            self.put(part, KEY, given.as_str())?;
            return match self.draft.loaded() {
                Ok(_) => Ok(true),
                Err(error) => self.refuse_of(part, &[], &error).map(|()| false),
            };
        }
        // A person with a file of known servers changes that file.
        if matches!(sftp.host_key, Some(SshHostKey::KnownHosts(_))) {
            return Ok(true);
        }
        let shown = match self.runtime.block_on(destinations::unknown_key(sftp)) {
            Ok(None) => return Ok(true),
            Ok(Some(shown)) => shown,
            Err(why) => {
                let why = self.because("told-server", &why);
                return self.ask.refused("host", &why).map(|()| false);
            }
        };
        let fingerprint = &shown.fingerprint;
        let algorithm = shown.algorithm.to_string();
        let values = [("fingerprint", fingerprint.into()), ("algorithm", (&algorithm).into())];
        if !self.ask.is_person() {
            return self.refuse(KEY, "setup-server-key-answer", &values).map(|()| false);
        }
        if let Some(SshHostKey::Fingerprint(known)) = &sftp.host_key {
            self.tell("setup-server-key-other", &[("known", (&known.to_string()).into())])?;
        }
        let question = self.question(KEY, "setup-server-key", &values);
        if self.ask.agree(&question, false)? {
            self.put(part, KEY, fingerprint.as_str())?;
            return Ok(true);
        }
        self.refuse(KEY, "setup-server-key-refused", &[]).map(|()| false)
    }
}
