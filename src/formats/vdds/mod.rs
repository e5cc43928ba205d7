//! VDDS-media, stage 6: the INI files that docsyncd, the practice software and its archive write to one another.
//!
//! Pure. What is known of them, and from where, stands in docs/destinations.md. A letter is announced to the archive
//! ([`Announcement`]); the archive asks for its PDF by the letter's number ([`exported`]), and answers in the
//! announcement itself ([`answer`]). Who takes part is entered in `VDDS_MMI.INI` ([`registered`]).

mod ini;
mod mmi;
#[cfg(test)]
mod tests;

pub use ini::Ini;
pub use mmi::{OURS, registered, unregistered};

use crate::domain::document::RemoteIdentity;
use crate::formats::sidecar::{Charset, Fault, Form};

/// The form of all of these files.
const FORM: Form = Form { charset: Charset::Windows1252, crlf: true, transliterates: false, is_gdt: false };

/// The text as the bytes of such a file.
///
/// # Errors
/// It has a character that they lack.
pub fn bytes(text: &str) -> Result<Vec<u8>, Fault> {
    FORM.bytes(text)
}

/// The bytes of such a file as text; a byte order mark decides, as it does in Windows.
pub fn text(bytes: &[u8]) -> String {
    match encoding_rs::Encoding::for_bom(bytes) {
        Some((encoding, _)) => encoding.decode_with_bom_removal(bytes).0.into_owned(),
        None => FORM.charset.decode(bytes),
    }
}

/// What a letter is called there (MMOID): the same at each try.
pub fn object_id(key: &str) -> String {
    RemoteIdentity::of_key(key).short()
}

/// Whether it can be one of [`object_id`], so that it leads nowhere else as a part of a file's name.
pub fn is_object_id(id: &str) -> bool {
    id.len() == 20 && id.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// What the archive is told of a letter.
#[derive(Clone, Copy)]
pub struct Announcement<'a> {
    /// The section of the practice software in `VDDS_MMI.INI`.
    pub practice_software: &'a str,
    /// Its number of the patient.
    pub patient_id: &'a str,
    /// [`object_id`]
    pub id: &'a str,
    /// When the letter was made, as `YYYYMMDD` and `HH:MM`.
    pub date: &'a str,
    /// As above.
    pub time: &'a str,
    /// What people read beside it there.
    pub comment: &'a str,
}

impl<'a> Announcement<'a> {
    /// A letter of this patient, of which nothing else is told.
    pub fn of(patient_id: &'a str) -> Self {
        Self { practice_software: "", patient_id, id: "", date: "", time: "", comment: "" }
    }

    /// The whole file. One archive is known to crash where a field is missing. It does not tell where the PDF lies,
    /// which only archives with DIRECTIMAGEIMPORT may be told: the archive asks for it.
    pub fn text(&self) -> String {
        let Self { practice_software, patient_id, id, date, time, comment } = self;
        format!(
            "[PATID]\nPVS={practice_software}\nBVS={OURS}\nFROMPVS={practice_software}\nPRXNR=1\nPATID={patient_id}\nERRORLEVEL=0\n\
             READY=0\n[MMOS]\nCOUNT=1\n[MMO1]\nMMOID={id}\nPRXNR=1\nTYPE=Formular\nTYPENR=10\nEXT=PDF\nCOLORTYPE=LINEART\n\
             DATE={date}\nTIME={time}\nCOMMENT={comment}\n"
        )
    }

    /// The same as the bytes of the file; `None` if a reader would find another number of the patient in it.
    pub fn bytes(&self) -> Option<Vec<u8>> {
        let written = bytes(&self.text()).ok()?;
        (Ini::parse(&text(&written)).get("PATID", "PATID") == Some(self.patient_id)).then_some(written)
    }
}

/// What the archive made of a letter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// It has it (ERRORLEVEL=0).
    Taken,
    /// It refuses it, with this ERRORLEVEL; `None`: with something that is no level.
    Refused(Option<u8>),
}

/// The archive's answer in the announcement of the letter `id`; `None`: there is none yet. READY is written last: with
/// it the rest is there.
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

/// Our answer to the archive that asks for PDFs, as the whole file that it asked with: first all but its last word,
/// then with it. `path` tells where the PDF of an object lies. Other sections stay as they are. `None`: nobody asks for
/// anything there.
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
