//! An archive over associations (PS3.7): C-STORE stores, C-FIND queries, C-ECHO tests. Each uses an association of its
//! own.

use serde_json::Value;

use super::association::{Association, Context, NoAssociation};
use super::element::{self, Elements};
use super::object::{ObjectParts, Uids};
use super::{Archive, InArchive, PDF_STORAGE, length_is};
use crate::destinations::files::PIECE;
use crate::destinations::line::Lost;
use crate::destinations::remote::Source;
use crate::destinations::{DicomHost, Item, Outcome};
use crate::domain::failure::Code;
use crate::system::tls::Tls;

/// Verification, and Study Root Query/Retrieve - FIND (PS3.4).
const VERIFICATION: &str = "1.2.840.10008.1.1";
const FIND: &str = "1.2.840.10008.5.1.4.1.2.2.1";
/// Commands (PS3.7, annex E).
pub(super) const C_STORE: u16 = 0x0001;
const C_FIND: u16 = 0x0020;
const C_ECHO: u16 = 0x0030;
/// The id of the only message under way on an association.
pub(super) const MESSAGE: u16 = 1;
/// The most results of a query.
const MOST_SHOWN: usize = 100;

const NO_PDFS: &str = "it takes no PDFs (Encapsulated PDF Storage): have that switched on there";

/// The archive.
pub(super) struct Dimse {
    pub(super) host: DicomHost,
    pub(super) tls: Option<Tls>,
}

impl Dimse {
    async fn associate(&self, archive: &Archive, wanted: &[&'static str]) -> Result<Association, Outcome> {
        let opened = Association::open(&archive.name, &self.host, self.tls.as_ref(), wanted).await;
        opened.map_err(|lost| failed(archive, lost))
    }

    /// Tests whether the archive works and takes PDFs.
    pub(super) async fn echo(&self, archive: &Archive) -> Result<(), Outcome> {
        let mut association = self.associate(archive, &[VERIFICATION, PDF_STORAGE]).await?;
        if association.context(PDF_STORAGE).is_none() {
            association.release().await;
            return Err(Outcome::unavailable("refused_there", archive.said(NO_PDFS)));
        }
        if let Some(context) = association.context(VERIFICATION) {
            let lost = |lost| before(archive, lost);
            association.command(context, command(VERIFICATION, C_ECHO, false)).await.map_err(lost)?;
            if association.answer().await.map_err(lost)?.status_of(C_ECHO) != Some(0x0000) {
                let words = "it does not answer C-ECHO with success";
                return Err(Outcome::unavailable("refused_there", archive.said(words)));
            }
        }
        association.release().await;
        Ok(())
    }

    /// Queries the archive for a letter.
    pub(super) async fn find(&self, archive: &Archive, uids: &Uids, size: u64) -> InArchive {
        let opened = Association::open(&archive.name, &self.host, self.tls.as_ref(), &[FIND]).await;
        let mut association = match opened {
            Ok(association) => association,
            // An archive that rejects associations for queries may still take letters.
            Err(NoAssociation::Rejected(true) | NoAssociation::Lost(Lost::Cut | Lost::Foreign)) => {
                return InArchive::Hidden;
            }
            Err(lost) => return InArchive::Unseen(failed(archive, lost)),
        };
        let Some(context) = association.context(FIND) else {
            association.release().await;
            return InArchive::Hidden;
        };
        let mut wanted = Elements::new(context.is_explicit);
        wanted
            .text(element::SOP_INSTANCE, b"UI", &uids.instance)
            .text(element::LEVEL, b"CS", "IMAGE")
            .text(element::STUDY, b"UI", &uids.study)
            .text(element::SERIES, b"UI", &uids.series)
            .put(element::DOCUMENT_LENGTH, b"UL", b"");
        let asked = async {
            association.command(context, command(FIND, C_FIND, true)).await?;
            association.data(context, &wanted.bytes, true).await?;
            let (mut found, mut shown) = (InArchive::Nothing, 0);
            loop {
                let answer = association.answer().await?;
                match answer.status_of(C_FIND) {
                    Some(0xff00 | 0xff01) if shown < MOST_SHOWN => {
                        shown += 1;
                        found = judge(&answer.data, uids, size, found);
                    }
                    Some(0x0000) => return Ok(found),
                    _ => return Ok(InArchive::Hidden),
                }
            }
        };
        match asked.await {
            Ok(found) => {
                association.release().await;
                found
            }
            // An archive that refuses queries ends the association.
            Err(Lost::Cut | Lost::Foreign) => InArchive::Hidden,
            Err(lost @ Lost::Silent) => InArchive::Unseen(before(archive, lost)),
        }
    }

    /// Sends a letter, in the syntax that the archive accepts. Success: the archive says that it keeps it.
    pub(super) async fn store(
        &self,
        archive: &Archive,
        (item, uids): (&Item, &Uids),
        letter: impl Fn(bool) -> Result<ObjectParts, Outcome>,
        patient: &Value,
    ) -> Result<(), Outcome> {
        let association = self.associate(archive, &[PDF_STORAGE]).await?;
        let Some(context) = association.context(PDF_STORAGE) else {
            association.release().await;
            return Err(Outcome::unavailable("refused_there", archive.said(NO_PDFS)));
        };
        let letter = letter(context.is_explicit)?;
        c_store(archive, association, context, (item, &uids.instance), letter, patient).await
    }
}

async fn c_store(
    archive: &Archive,
    mut association: Association,
    context: Context,
    (item, instance): (&Item, &str),
    letter: ObjectParts,
    patient: &Value,
) -> Result<(), Outcome> {
    let unsent = |lost| before(archive, lost);
    let mut request = command(PDF_STORAGE, C_STORE, true);
    request.text(element::AFFECTED_INSTANCE, b"UI", instance);
    association.command(context, request).await.map_err(unsent)?;
    association.data(context, &letter.head, false).await.map_err(unsent)?;
    let (mut source, mut tail) = (Source::of_spool(&item.pdf).await?, letter.tail);
    while let Some(mut piece) = source.next(PIECE).await? {
        // Only the last piece may be odd; the first byte after the PDF makes it even.
        if piece.len() % 2 == 1 && !tail.is_empty() {
            piece.push(tail.remove(0));
        }
        association.data(context, &piece, false).await.map_err(unsent)?;
    }
    if !association.is_quiet() {
        let words = "it answers, or ends the association, before it has the whole letter";
        return Err(Outcome::transient(Code::word("broken_off"), archive.said(words)));
    }
    item.committing_to(Some(patient)).await?;
    fault_point!("dicom.commit.before");
    // From here on the archive may have the letter.
    let answered = match association.data(context, &tail, true).await {
        Ok(()) => association.answer().await,
        Err(lost) => Err(lost),
    };
    fault_point!("dicom.commit.after");
    let answer = answered.map_err(|lost| after(archive, lost))?;
    match answer.stored(instance) {
        Some(status) => {
            association.release().await;
            archive.of_status(status)
        }
        None => Err(after(archive, Lost::Foreign)),
    }
}

/// A command, up to its specific elements.
fn command(class: &str, command: u16, has_data: bool) -> Elements {
    let mut elements = Elements::new(false);
    elements.text(element::AFFECTED_CLASS, b"UI", class);
    elements.number(element::COMMAND, command).number(element::MESSAGE_ID, MESSAGE);
    if has_data {
        elements.number(element::PRIORITY, 0);
    }
    elements.number(element::DATA_SET_TYPE, if has_data { 0x0000 } else { element::NO_DATA_SET });
    elements
}

/// The result after one more answer to a query.
fn judge(shown: &[u8], uids: &Uids, size: u64, before: InArchive) -> InArchive {
    let is = |tag, uid: &str| element::uid(shown, tag).is_none_or(|told| told.is_empty() || told == uid);
    let is_its = element::uid(shown, element::SOP_INSTANCE) == Some(&uids.instance) && is(element::STUDY, &uids.study);
    match (is_its, before) {
        (true, _) => match element::long(shown, element::DOCUMENT_LENGTH) {
            Some(length) if !length_is(length.into(), size) => InArchive::Other,
            _ => InArchive::Ours,
        },
        // The answer shows an object that nobody asked for.
        (false, InArchive::Nothing) => InArchive::Hidden,
        (false, before) => before,
    }
}

fn failed(archive: &Archive, failed: NoAssociation) -> Outcome {
    match failed {
        NoAssociation::Down(code, words) => Outcome::unavailable(code, archive.said(&words)),
        NoAssociation::Rejected(true) => {
            let words = "it rejects the association: check `called_ae_title` and `calling_ae_title`, and whether it knows this computer";
            Outcome::unavailable("refused_there", archive.said(words))
        }
        NoAssociation::Rejected(false) => {
            Outcome::transient(Code::word("busy"), archive.said("it rejects the association for the moment"))
        }
        NoAssociation::Lost(Lost::Cut) => {
            let words = "it ends the connection at once: it may want TLS (`tls`), a certificate (`client_cert_file`), or know this computer";
            Outcome::transient(Code::word("broken_off"), archive.said(words))
        }
        NoAssociation::Lost(lost) => before(archive, lost),
    }
}

/// The connection was lost before all was sent.
fn before(archive: &Archive, lost: Lost) -> Outcome {
    let (code, words) = words(archive, lost);
    Outcome::transient(Code::word(code), archive.said(&words))
}

/// The connection was lost after all was sent.
fn after(archive: &Archive, lost: Lost) -> Outcome {
    let (code, words) = words(archive, lost);
    Outcome::Unconfirmed { code: Code::word(code), reason: archive.said(&words) }
}

fn words(archive: &Archive, lost: Lost) -> (&'static str, String) {
    match lost {
        Lost::Cut => ("broken_off", "the association ended before its answer".to_owned()),
        Lost::Silent => ("no_answer", format!("no answer in time (destinations.{}.timeout)", archive.name)),
        Lost::Foreign => ("not_understood", "it does not answer in DICOM: check `host`, `port` and `tls`".to_owned()),
    }
}
