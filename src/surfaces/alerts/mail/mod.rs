//! Sends each message as a mail to every recipient, over an encrypted connection. The Message-ID is that of the
//! message, so that a repetition is recognised.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::client::LIMIT;
use super::message::Message;
use super::{Taken, Undelivered};
use crate::config::MailConfig;
use crate::system::http::reason;
use crate::system::secret;
use crate::system::smtp::{Base64Lines, Connection, FailedStep, Headers, MailServer, Step, Why};
use crate::system::tls::Tls;

/// The option that names the file.
const KEY: &str = "alerts.mail.password_file";
/// How long a server may take for one answer. Shorter than the limit of the whole, because a server that waits for TLS
/// on this port never greets.
const STEP_LIMIT: Duration = Duration::from_secs(25);
/// The server closes the connection, whatever the command was (RFC 5321, section 4.2.3).
const CLOSING: u16 = 421;
/// The longest line of a text that is sent unencoded (RFC 5322, section 2.1.1).
const LINE: usize = 900;

/// The mail channel.
#[derive(Clone)]
pub struct Mail {
    config: MailConfig,
    tls: Arc<Tls>,
    step_limit: Duration,
}

impl Mail {
    pub(super) fn new(config: MailConfig) -> Self {
        Self { config, tls: Arc::default(), step_limit: STEP_LIMIT }
    }

    /// Mails a message. It is enough that the server accepts one recipient.
    ///
    /// # Errors
    /// What went wrong, in words; also if the server accepts no recipient.
    pub async fn send(&self, message: &Message) -> Result<Taken, Undelivered> {
        let (text, begun) = (self.mail(message), AtomicBool::new(false));
        let sending = async {
            let server = self.server()?;
            let mut connection = self.connect(&server).await?;
            let sent = self.hand_over(&server, &mut connection, &text, &begun).await;
            Ok((connection, sent))
        };
        let sent = tokio::time::timeout(LIMIT, sending).await;
        let (connection, sent) = sent.map_err(|_| no_answer(begun.load(Ordering::Relaxed)))??;
        connection.part().await;
        sent
    }

    /// Connects, encrypts and signs in, without sending. Returns the host.
    ///
    /// # Errors
    /// What went wrong, in words.
    pub async fn check(&self) -> Result<String, Undelivered> {
        let checking = async {
            let server = self.server()?;
            let mut connection = self.connect(&server).await?;
            connection.reset().await.map_err(|failed| self.undelivered(&failed, &server))?;
            Ok(connection)
        };
        let connection = tokio::time::timeout(LIMIT, checking).await.map_err(|_| no_answer(false))??;
        connection.part().await;
        Ok(self.config.host.clone())
    }

    fn server(&self) -> Result<MailServer<'_>, Undelivered> {
        let sign_in = self.config.user.as_ref().map(|(user, file)| {
            let password = secret::read_password(file, KEY, "password").map_err(Undelivered::misconfigured)?;
            Ok((user.as_str(), password))
        });
        Ok(MailServer {
            host: &self.config.host,
            port: self.config.port,
            encryption: self.config.encryption,
            tls: &self.tls,
            sign_in: sign_in.transpose()?,
            timeout: self.step_limit,
        })
    }

    async fn connect(&self, server: &MailServer<'_>) -> Result<Connection, Undelivered> {
        Connection::open(server).await.map_err(|failed| self.undelivered(&failed, server))
    }

    /// Hands the mail over, step by step. Before its end is sent (`begun`), it has certainly not arrived. After that,
    /// only an answer of the server can say so.
    async fn hand_over(
        &self,
        server: &MailServer<'_>,
        connection: &mut Connection,
        text: &str,
        begun: &AtomicBool,
    ) -> Result<Taken, Undelivered> {
        let failed = |failed: FailedStep| self.undelivered(&failed, server);
        connection.sender(&self.config.from, None).await.map_err(failed)?;
        let mut refused: Vec<(&String, FailedStep)> = Vec::new();
        for to in &self.config.to {
            match connection.recipient(to).await {
                Ok(()) => {}
                Err(failed) if code(&failed).is_some_and(|code| code != CLOSING) => refused.push((to, failed)),
                Err(error) => return Err(failed(error)),
            }
        }
        if refused.len() == self.config.to.len() {
            // A refusal that may pass says more than a final one.
            let at = refused.iter().position(|(_, failed)| code(failed) < Some(500)).unwrap_or(0);
            let error = refused.into_iter().nth(at).map(|(_, error)| failed(error));
            return Err(error.unwrap_or_else(|| Undelivered::certainly("nobody is to get the mail")));
        }
        connection.begin().await.map_err(failed)?;
        connection.write(text.as_bytes()).await.map_err(failed)?;
        begun.store(true, Ordering::Relaxed);
        connection.end().await.map_err(failed)?;
        let refused = refused.into_iter().map(|(to, error)| format!("{to}: {}", failed(error).what));
        Ok(Taken { code: 250, refused: refused.collect() })
    }

    /// The whole mail.
    fn mail(&self, message: &Message) -> String {
        let mut head = Headers::default();
        head.put("From", &self.config.from);
        head.put("To", &self.config.to.join(", "));
        head.text("Subject", &message.subject);
        head.put("Message-ID", &format!("<{}@{}>", message.id, self.domain(&message.computer)));
        head.date(jiff::Timestamp::from_millisecond(message.at).unwrap_or_default());
        // Prevents automatic replies (RFC 3834, section 5).
        head.put("Auto-Submitted", "auto-generated");
        head.put("MIME-Version", "1.0");
        let text = format!("{}\r\n", message.body().replace('\n', "\r\n\r\n"));
        let stands = |line: &str| line.is_ascii() && line.len() <= LINE && !line.starts_with('.');
        // With straight quotation marks an English text needs no encoding.
        let straight = text.replace(['\u{201c}', '\u{201d}'], "\"");
        if straight.lines().all(stands) {
            head.put("Content-Type", "text/plain; charset=utf-8");
            return head.into_text() + &straight;
        }
        head.content("text/plain; charset=utf-8", None);
        head.into_text() + &Base64Lines::of(&text)
    }

    /// The part of a Message-ID after the @.
    fn domain(&self, computer: &str) -> String {
        let of_sender = || self.config.from.rsplit('@').next().and_then(plain);
        plain(computer).or_else(of_sender).unwrap_or_else(|| "localhost".to_owned())
    }

    /// What went wrong, in our own words, with the server's code.
    fn undelivered(&self, failed: &FailedStep, server: &MailServer<'_>) -> Undelivered {
        let what = match &failed.why {
            Why::Refused(reply) => match reply.code {
                code @ (530 | 534 | 535 | 538) => format!("the mail server refuses user or password (code {code})"),
                code @ 550..=553 => format!("the mail server refuses the sender or a recipient (code {code})"),
                code @ 400..=499 => format!("the mail server cannot take it now (code {code})"),
                code => format!("the mail server refuses it (code {code})"),
            },
            Why::Io(error) if let Some(why) = reason::certificate_refused(error) => {
                format!("the certificate of the mail server is refused: {why}")
            }
            Why::Here(_) => "TLS cannot be set up: install the system's CA certificates".to_owned(),
            Why::Unresolved | Why::Io(_) if failed.step == Step::Connect => {
                format!("the mail server cannot be reached: {}", failed.words(server, "alerts.mail"))
            }
            Why::Silent if failed.step != Step::Greeting => return no_answer(failed.step == Step::End),
            _ => format!("the mail server: {}", failed.words(server, "alerts.mail")),
        };
        let may_have_arrived = failed.step == Step::End && code(failed).is_none();
        Undelivered { may_have_arrived, ..Undelivered::certainly(what) }
    }
}

/// The server's code, if its answer is what failed.
fn code(failed: &FailedStep) -> Option<u16> {
    match &failed.why {
        Why::Refused(reply) => Some(reply.code),
        _ => None,
    }
}

fn no_answer(may_have_arrived: bool) -> Undelivered {
    Undelivered { may_have_arrived, ..Undelivered::certainly("the mail server does not answer in time") }
}

/// The name as headers allow it (RFC 5321, section 4.1.2). Some computers have accents in their name.
fn plain(name: &str) -> Option<String> {
    let is_plain = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-.".contains(&byte));
    is_plain.then(|| name.to_owned())
}

#[cfg(test)]
mod tests;
