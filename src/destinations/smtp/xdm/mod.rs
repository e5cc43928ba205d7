//! An archive of IHE XDM with one document (ITI TF-1, section 16; ITI TF-2, 3.32), which the recipient's software files
//! automatically.

use flate2::Crc;
use ring::digest::{Context as Sha1, SHA1_FOR_LEGACY_USE_ONLY};

use super::super::files::PIECE;
use super::super::remote::Source;
use super::super::{Item, Outcome, wording};
use crate::destinations::{SmtpConfig, XdmConfig};
use crate::domain::document::hex;
use crate::formats::zip::Archive;

mod metadata;

/// The archive's name, by the French doctrine.
pub(super) const FILE_NAME: &str = "IHE_XDM.zip";
/// The PDF's name in the metadata.
const DOCUMENT: &str = "DOC0001.PDF";
const FOLDER: &str = "IHE_XDM/SUBSET01";

const INDEX: &str = include_str!("INDEX.HTM");
const README: &str = include_str!("README.TXT");

/// The archive before and after the PDF.
pub(super) async fn around(config: &SmtpConfig, xdm: &XdmConfig, item: &Item) -> Result<(Vec<u8>, Vec<u8>), Outcome> {
    let (mut crc, mut hash) = (Crc::new(), Sha1::new(&SHA1_FOR_LEGACY_USE_ONLY));
    let mut source = Source::of_spool(&item.pdf).await?;
    while let Some(piece) = source.next(PIECE).await? {
        crc.update(&piece);
        hash.update(&piece);
    }
    let metadata = metadata_of(config, xdm, item, &hex(hash.finish().as_ref()))?;
    let (metadata_path, document_path) = (format!("{FOLDER}/METADATA.XML"), format!("{FOLDER}/{DOCUMENT}"));
    let mut archive = Archive::default();
    for (name, content) in [("INDEX.HTM", INDEX), ("README.TXT", README), (&metadata_path, &metadata)] {
        archive.add(name, content.as_bytes());
    }
    let before = archive.begin(&document_path, crc.sum(), item.pdf.size);
    before.and_then(|before| Some((before, archive.end()?))).ok_or_else(|| {
        let words = format!("destination `{}`: the PDF is too large for an archive", config.name);
        Outcome::permanent("too_large", words)
    })
}

/// METADATA.XML, if the patient's identifier can stand in it unchanged.
pub(super) fn metadata_of(config: &SmtpConfig, xdm: &XdmConfig, item: &Item, hash: &str) -> Result<String, Outcome> {
    match metadata::says_patient(&item.metadata) {
        true => Ok(metadata::of(config, xdm, item, hash)),
        false => Err(wording::not_said(&config.name, &item.metadata)),
    }
}
