//! VDDS-media, stage 6: the INI files that docsyncd, the practice software and its archive exchange.
//!
//! Pure. docs/destinations.md has the sources. A letter is announced to the archive ([`Announcement`]). The archive
//! asks for its PDF by the letter's number ([`exported`]), and answers in the announcement itself ([`answer`]). The
//! participants are registered in `VDDS_MMI.INI` ([`registered`]).

mod ini;
mod mmi;
#[cfg(test)]
mod tests;

pub use ini::Ini;
pub use mmi::{OURS, registered, unregistered};

use crate::domain::document::RemoteIdentity;
use crate::formats::sidecar::{Charset, Fault, Form};

/// The form of all these files.
const FORM: Form = Form { charset: Charset::Windows1252, crlf: true, transliterates: false, is_gdt: false };

/// The bytes of such a file with this text.
///
/// # Errors
/// The text has a character that the files cannot contain.
pub fn bytes(text: &str) -> Result<Vec<u8>, Fault> {
    FORM.bytes(text)
}

/// The text of such a file. A byte order mark decides about the encoding, as in Windows.
pub fn text(bytes: &[u8]) -> String {
    match encoding_rs::Encoding::for_bom(bytes) {
        Some((encoding, _)) => encoding.decode_with_bom_removal(bytes).0.into_owned(),
        None => FORM.charset.decode(bytes),
    }
}

/// The letter's number for the archive (MMOID): the same in every attempt.
pub fn object_id(key: &str) -> String {
    RemoteIdentity::of_key(key).short()
}

/// Whether this can be an [`object_id`]. As a part of a file's name it then leads nowhere else.
pub fn is_object_id(id: &str) -> bool {
    id.len() == 20 && id.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// The announcement of a letter.
#[derive(Clone, Copy)]
pub struct Announcement<'a> {
    /// The section of the practice software in `VDDS_MMI.INI`.
    pub practice_software: &'a str,
    /// The patient's number in the practice software.
    pub patient_id: &'a str,
    /// [`object_id`]
    pub id: &'a str,
    /// When the letter was made, as `YYYYMMDD` and `HH:MM`.
    pub date: &'a str,
    /// As above.
    pub time: &'a str,
    /// A remark for people.
    pub comment: &'a str,
}

impl<'a> Announcement<'a> {
    /// An announcement with this patient, and nothing else.
    pub fn of(patient_id: &'a str) -> Self {
        Self { practice_software: "", patient_id, id: "", date: "", time: "", comment: "" }
    }

    /// The whole file. One archive is known to crash if a field is missing. The place of the PDF is missing, because
    /// only archives with DIRECTIMAGEIMPORT may get it; others ask for the PDF.
    pub fn text(&self) -> String {
        let Self { practice_software, patient_id, id, date, time, comment } = self;
        format!(
            "[PATID]\nPVS={practice_software}\nBVS={OURS}\nFROMPVS={practice_software}\nPRXNR=1\nPATID={patient_id}\nERRORLEVEL=0\n\
             READY=0\n[MMOS]\nCOUNT=1\n[MMO1]\nMMOID={id}\nPRXNR=1\nTYPE=Formular\nTYPENR=10\nEXT=PDF\nCOLORTYPE=LINEART\n\
             DATE={date}\nTIME={time}\nCOMMENT={comment}\n"
        )
    }

    /// The bytes of the file; `None` if a reader would find another number of the patient in it.
    pub fn bytes(&self) -> Option<Vec<u8>> {
        let written = bytes(&self.text()).ok()?;
        (Ini::parse(&text(&written)).get("PATID", "PATID") == Some(self.patient_id)).then_some(written)
    }
}

/// The archive's answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// The archive has the letter (ERRORLEVEL=0).
    Taken,
    /// The archive refuses the letter, with this ERRORLEVEL; `None` for an invalid level.
    Refused(Option<u8>),
}

/// The archive's answer in the announcement of the letter `id`; `None` before the answer. READY is written last, so
/// with it the answer is complete.
pub fn answer(text: &str, id: &str) -> Option<Answer> {
    let ini = Ini::parse(text);
    let is_anothers = ini.get("MMO1", "MMOID").is_some_and(|told| !told.eq_ignore_ascii_case(id));
    if is_anothers || ini.get("PATID", "READY") != Some("1") {
        return None;
    }
    Some(match ini.get("PATID", "ERRORLEVEL")?.parse() {
        Ok(0) => Answer::Taken,
        level => Answer::Refused(level.ok()),
    })
}

/// docsyncd's answer to an archive that asks for PDFs: the archive's whole file, first without the last word and then
/// with it. `path` gives the place of an object's PDF. Other sections stay unchanged. `None`: the file asks for
/// nothing.
pub fn exported(text: &str, path: impl Fn(&str) -> Option<String>) -> Option<[String; 2]> {
    const ASKED: &str = "MMOIDS";
    const TOLD: &str = "MMOPATH";
    let ini = Ini::parse(text);
    let wanted: Vec<(&str, &str)> =
        ini.entries(ASKED)?.filter(|(key, _)| key.len() > 5 && key.to_ascii_uppercase().starts_with("MMOID")).collect();
    let paths: Vec<String> = wanted.iter().filter_map(|(key, id)| Some(format!("{key}={}\n", path(id)?))).collect();
    let is_all = !wanted.is_empty() && paths.len() == wanted.len();
    let said = if is_all { "ERRORLEVEL=0\n" } else { "ERRORLEVEL=1\nERRORTEXT=docsyncd has no such letter\n" };
    let told = ini.entries(ASKED)?.filter(|(key, _)| {
        !["READY", "ERRORLEVEL", "ERRORTEXT"].iter().any(|answered| key.eq_ignore_ascii_case(answered))
    });
    let told: String = told.map(|(key, value)| format!("{key}={value}\n")).collect();
    let others = ini::without(text, &[ASKED, TOLD]);
    let with = |ready: u8| format!("{others}[{ASKED}]\n{told}{said}READY={ready}\n[{TOLD}]\n{}", paths.concat());
    Some([with(0), with(1)])
}
