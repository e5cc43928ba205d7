//! `type = "smtp"`: sends each PDF as a mail, as it is or in an archive of IHE XDM.
//!
//! A mail server has no names and allows no look, so a letter is identified by its `Message-ID`, which is made from the
//! delivery's key. Every step before the dot after the mail can be repeated, and the intent is recorded right before
//! the dot. From then on only an answer tells whether the server has the mail (RFC 1047). If none comes,
//! `on_lost_reply` decides.

use async_trait::async_trait;

use super::{Adapter, Checked, DOCUMENT_LIMIT, Invented, Item, Known, Outcome, Planned, spooled};
use crate::config::{MailEncryption, mail_address};
use crate::destinations::LostReply;
use crate::domain::document::{DocumentUuid, Metadata};
use crate::domain::failure::Code;
use crate::formats::template::Context;
use crate::system::secret;
use crate::system::smtp::{Connection, FailedStep, MailServer};
use crate::system::tls::Tls;

mod letter;
mod refusal;
mod settings;
#[cfg(test)]
mod tests;
mod xdm;

use letter::{Broken, MailLetter};
pub use settings::*;

/// A mail server.
pub struct SmtpAdapter {
    config: SmtpConfig,
    tls: Tls,
}

impl SmtpAdapter {
    /// Opens nothing.
    pub fn new(config: SmtpConfig) -> Self {
        let tls = Tls::new(config.tls.clone());
        Self { config, tls }
    }

    fn named(&self, what: &str) -> String {
        format!("destination `{}`: {what}", self.config.name)
    }

    /// The server, with the password that its file holds now.
    fn server(&self) -> Result<MailServer<'_>, String> {
        let sign_in = self.config.user.as_ref().map(|(user, password)| {
            secret::read_password(password, "password_file", "password").map(|password| (user.as_str(), password))
        });
        Ok(MailServer {
            host: &self.config.host,
            port: self.config.port,
            encryption: self.config.encryption,
            tls: &self.tls,
            sign_in: sign_in.transpose()?,
            timeout: self.config.timeout,
        })
    }

    fn failed(&self, server: &MailServer<'_>, failed: &FailedStep) -> Outcome {
        let (section, server_name) =
            (format!("destinations.{}", self.config.name), format!("{}:{}", self.config.host, self.config.port));
        let named = |what: &str| self.named(&format!("{server_name}: {what}"));
        refusal::outcome(failed, failed.words(server, &section), named)
    }

    fn holds(&self) -> bool {
        self.config.on_lost_reply == LostReply::Hold
    }

    async fn bring(&self, item: &Item) -> Result<Outcome, Outcome> {
        let letter = MailLetter::of(&self.config, item).await?;
        let server = self.server().map_err(|wrong| Outcome::unavailable("credentials", self.named(&wrong)))?;
        let mut connection = Connection::open(&server).await.map_err(|failed| self.failed(&server, &failed))?;
        let sent = self.hand_over(&letter, item, &server, &mut connection).await;
        // By then the server has answered or is away. Nothing waits for its goodbye, least of all the ledger.
        if matches!(sent, Ok(()) | Err(Outcome::Permanent { .. } | Outcome::NoRoom(_))) {
            tokio::spawn(connection.part());
        }
        match sent {
            // In KIM this code means a recipient without a certificate, which does not pass by itself
            // (gemSpec_CM_KOMLE).
            Err(Outcome::Transient { code: code @ Code::Status(451), .. }) if item.tried && is_of_kim(&letter.to) => {
                let words = "it cannot take the mail again (code 451): has the recipient a certificate of KIM? Check `to`, then run \
                             `docsyncd retry`";
                Err(Outcome::Held { code, reason: self.named(words) })
            }
            sent => sent.map(|()| Outcome::delivered(format!("mailto:{} {}", letter.to, letter.message_id))),
        }
    }

    async fn hand_over(
        &self,
        letter: &MailLetter,
        item: &Item,
        server: &MailServer<'_>,
        connection: &mut Connection,
    ) -> Result<(), Outcome> {
        let failed = |failed: FailedStep| self.failed(server, &failed);
        let size = letter.size();
        if let Some(limit) = connection.offers().size.filter(|limit| *limit < size) {
            let words = format!("as a mail it has {size} bytes, and the server takes {limit}: have its limit raised");
            return Err(Outcome::permanent("too_large", self.named(&words)));
        }
        let sending = async {
            connection.sender(&self.config.from, Some(size)).await.map_err(failed)?;
            connection.recipient(&letter.to).await.map_err(failed)?;
            connection.begin().await.map_err(failed)?;
            letter.write(&item.pdf, connection).await.map_err(|broken| match broken {
                Broken::Step(broken) => failed(broken),
                Broken::Spool(outcome) => outcome,
            })
        };
        tokio::time::timeout(DOCUMENT_LIMIT, sending).await.unwrap_or_else(|_| {
            let words = format!("it took longer than {} minutes to send it", DOCUMENT_LIMIT.as_secs() / 60);
            Err(Outcome::transient(Code::word("no_answer"), self.named(&words)))
        })?;
        item.committing_to(None).await?;
        fault_point!("smtp.commit.before");
        let answered = connection.end().await.map_err(failed);
        fault_point!("smtp.commit.after");
        answered
    }

    /// Runs every step before a mail would begin.
    async fn rehearse(&self, server: &MailServer<'_>) -> Result<Checked, FailedStep> {
        let mut connection = Connection::open(server).await?;
        let mut checked = Checked::default();
        connection.sender(&self.config.from, None).await?;
        match self.config.has_one_recipient().then(|| mail_address(self.config.to.source())).flatten() {
            Some(to) => connection.recipient(&to).await?,
            None => checked.notes.push("`to` is another for each letter: no recipient was tried".to_owned()),
        }
        connection.reset().await?;
        if let Some(limit) = connection.offers().size {
            checked.notes.push(format!(
                "it takes mails of up to {} MB, PDFs of about {} MB",
                mega(limit),
                mega(limit / 4 * 3)
            ));
        }
        connection.part().await;
        Ok(checked)
    }
}

/// Whether the address is one of KIM, the secure mail of German practices.
fn is_of_kim(address: &str) -> bool {
    address.to_ascii_lowercase().ends_with(".kim.telematik")
}

fn mega(bytes: u64) -> u64 {
    bytes / 1_000_000
}

#[async_trait]
impl Adapter for SmtpAdapter {
    async fn deliver(&self, item: &Item) -> Outcome {
        if let Err(outcome) = spooled::verify(&self.config.name, item).await {
            return outcome;
        }
        if item.uncertain && self.holds() {
            return Outcome::cut_off("docsyncd ended before its answer came");
        }
        item.unseen(self.bring(item).await.unwrap_or_else(|outcome| outcome), self.holds()).await
    }

    fn unusable(&self) -> Option<String> {
        let tls = match self.config.encryption {
            MailEncryption::None => Ok(()),
            MailEncryption::StartTls | MailEncryption::Tls => self.tls.set_up().map(|_| ()),
        };
        tls.and_then(|()| self.server().map(|_| ())).err().map(|wrong| self.named(&wrong))
    }

    fn holds_number(&self, invented: &Invented) -> bool {
        let SmtpConfig { subject, body, attachment_name, to, .. } = &self.config;
        let is_address = |to: String| letter::address(&to, &invented.context).is_ok();
        invented.holds(&[subject, body, attachment_name])
            && (!to.needs_number() || invented.text(to).is_some_and(is_address))
    }

    async fn plan(&self, _: &DocumentUuid, metadata: &Metadata, _: &Known) -> Result<Planned, String> {
        // The key is made from the PDF, which is not known yet.
        let to = letter::recipient(&self.config, &Context::new(metadata).with_identity("KEY"));
        let place = format!("mailto:{}", to.map_err(Outcome::into_reason)?);
        Ok(Planned { place, otherwise: None, taken: false, problem: None })
    }

    async fn check(&self) -> Result<Checked, String> {
        self.unusable().map_or(Ok(()), Err)?;
        let server = self.server().map_err(|wrong| self.named(&wrong))?;
        let checked = self.rehearse(&server).await;
        let mut checked = checked.map_err(|failed| self.failed(&server, &failed).reason().to_owned())?;
        let then = if self.holds() { "waits for a person" } else { "is sent again, with the same Message-ID" };
        checked.notes.push(format!("a mail whose answer is lost {then}, as nobody can look whether it arrived"));
        Ok(checked)
    }

    fn max_connections(&self) -> Option<usize> {
        Some(self.config.max_connections)
    }
}
