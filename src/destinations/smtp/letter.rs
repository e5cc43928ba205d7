//! A letter as a mail: everything but the PDF, which is read from the spool while it is sent.

use jiff::Timestamp;

use super::super::files::PIECE;
use super::super::remote::Source;
use super::super::wording::not_filled_in;
use super::super::{Item, Outcome, candidate};
use super::xdm;
use crate::config::mail_address;
use crate::destinations::{Attach, SmtpConfig};
use crate::domain::document::{Metadata, Spooled};
use crate::formats::template::{Changed, Context, Template};
use crate::system::clock;
use crate::system::smtp::{Base64Lines, Connection, FailedStep, Headers};

/// A letter.
pub(super) struct MailLetter {
    /// The recipient.
    pub(super) to: String,
    /// `Message-ID`: the same in every attempt.
    pub(super) message_id: String,
    head: String,
    /// The attachment before and after the PDF.
    around: (Vec<u8>, Vec<u8>),
    pdf: u64,
    tail: String,
}

/// Why a letter was not sent whole.
pub(super) enum Broken {
    /// A step failed.
    Step(FailedStep),
    /// The PDF cannot be read.
    Spool(Outcome),
}

impl MailLetter {
    /// # Errors
    /// The outcome of a delivery whose mail cannot be written, or whose recipient is not allowed.
    pub(super) async fn of(config: &SmtpConfig, item: &Item) -> Result<Self, Outcome> {
        let context = Context::new(&item.metadata).with_identity(&item.key);
        let file_name = match &config.attach {
            Attach::Xdm(_) => xdm::FILE_NAME.to_owned(),
            Attach::Pdf => {
                let wanted = candidate::wanted(&config.attachment_name, &item.metadata, &item.key);
                wanted.map_err(|error| not_filled_in(&config.name, "attachment_name", &error))?.1
            }
        };
        let context = context.with_pdf(&file_name, &item.pdf, &item.key);
        let to = recipient(config, &context)?;
        let subject = render(config, "subject", &config.subject, &context)?;
        let body = render(config, "body", &config.body, &context)?;
        let message_id = message_id(config, &item.key);
        let (around, media_type) = match &config.attach {
            Attach::Pdf => ((Vec::new(), Vec::new()), "application/pdf"),
            Attach::Xdm(codes) => (xdm::around(config, codes, item).await?, "application/zip"),
        };

        let mut head = Headers::default();
        head.date(written(&item.metadata));
        head.put("From", &config.from);
        head.put("To", &to);
        head.text("Subject", &subject);
        head.put("Message-ID", &message_id);
        if let Some(before) = &item.replaces {
            let before = self::message_id(config, before);
            head.put("In-Reply-To", &before);
            head.put("References", &before);
        }
        // In French secure mail, the answer to it is the proof.
        head.put("Disposition-Notification-To", &config.from);
        head.put("MIME-Version", "1.0");
        // Base64 has no underscore.
        let boundary = format!("_docsyncd_{}", item.key);
        head.put("Content-Type", &format!("multipart/mixed; boundary=\"{boundary}\""));
        let mut text = Headers::default();
        text.content("text/plain; charset=utf-8", None);
        let body = Base64Lines::of(&body.lines().map(|line| format!("{line}\r\n")).collect::<String>());
        let mut attached = Headers::default();
        attached.content(media_type, Some(&file_name));
        let (head, text, attached) = (head.into_text(), text.into_text(), attached.into_text());
        let head = format!("{head}--{boundary}\r\n{text}{body}\r\n--{boundary}\r\n{attached}");
        Ok(Self { to, message_id, head, around, pdf: item.pdf.size, tail: format!("\r\n--{boundary}--\r\n") })
    }

    /// The length of the whole mail, in bytes.
    pub(super) fn size(&self) -> u64 {
        let content = self.around.0.len() as u64 + self.pdf + self.around.1.len() as u64;
        self.head.len() as u64 + Base64Lines::length(content) + self.tail.len() as u64
    }

    /// Sends the mail, without the dot after it.
    ///
    /// # Errors
    /// [`Broken`]
    pub(super) async fn write(&self, pdf: &Spooled, to: &mut Connection) -> Result<(), Broken> {
        let mut source = Source::of_spool(pdf).await.map_err(Broken::Spool)?;
        let mut lines = Base64Lines::default();
        let mut piece = self.head.clone() + &lines.push(&self.around.0);
        loop {
            to.write(piece.as_bytes()).await.map_err(Broken::Step)?;
            match source.next(PIECE).await.map_err(Broken::Spool)? {
                Some(bytes) => piece = lines.push(&bytes),
                None => break,
            }
        }
        let rest = lines.push(&self.around.1) + &lines.end() + &self.tail;
        to.write(rest.as_bytes()).await.map_err(Broken::Step)
    }
}

/// The recipient of a letter with these values.
pub(super) fn recipient(config: &SmtpConfig, context: &Context) -> Result<String, Outcome> {
    let wrong = |code, words: &str| Outcome::permanent(code, format!("destination `{}`: {words}", config.name));
    let given = render(config, "to", &config.to, context)?;
    let to = address(&given, context).map_err(|changed| not_filled_in(&config.name, "to", &changed.into()))?;
    let to = to.ok_or_else(|| wrong("not_filled_in", "`to` gives no mail address for this document"))?;
    match config.allows(&to) {
        true => Ok(to),
        false => Err(wrong("not_allowed", "`to` gives an address whose domain is none of `allowed_domains`")),
    }
}

/// The address in a rendered text; `None` if it holds none, whatever its identifiers are.
///
/// # Errors
/// The text cannot be an address because of an identifier in it.
pub(super) fn address(given: &str, context: &Context) -> Result<Option<String>, Changed> {
    let Some(to) = mail_address(given) else {
        // With a harmless text instead of the identifier, it would be an address.
        context.held(given, |identifier| mail_address(&given.replace(identifier, "1")).is_none())?;
        return Ok(None);
    };
    context.unchanged(given, &to)?;
    Ok(Some(to))
}

fn render(config: &SmtpConfig, option: &str, template: &Template, context: &Context) -> Result<String, Outcome> {
    template.render(context).map_err(|error| not_filled_in(&config.name, option, &error))
}

fn message_id(config: &SmtpConfig, key: &str) -> String {
    format!("<{key}@{}>", config.from.rsplit('@').next().unwrap_or_default())
}

/// When the document was made, so that all attempts send the same time.
pub(super) fn written(metadata: &Metadata) -> Timestamp {
    let created = metadata.document.get("createdAt").and_then(|at| at.as_str()?.parse().ok());
    created.or_else(|| Timestamp::from_millisecond(clock::now()).ok()).unwrap_or_default()
}
