//! An archive of IHE XDM with one document (ITI TF-1, section 16; ITI TF-2, 3.32), which the recipient's software files
//! by itself. Nothing in it is compressed, and all lengths come before the content, as streaming readers need it
//! (APPNOTE.TXT 6.3, 4.3).

use flate2::Crc;
use ring::digest::{Context as Sha1, SHA1_FOR_LEGACY_USE_ONLY};

use super::super::files::PIECE;
use super::super::remote::Source;
use super::super::{Item, Outcome, wording};
use crate::config::{SmtpConfig, XdmConfig};
use crate::document::hex;

mod metadata;

/// The archive's name, by the French doctrine.
pub(super) const FILE_NAME: &str = "IHE_XDM.zip";
/// The PDF's name in the metadata.
const DOCUMENT: &str = "DOC0001.PDF";
const FOLDER: &str = "IHE_XDM/SUBSET01";

const INDEX: &str = include_str!("xdm/INDEX.HTM");
const README: &str = include_str!("xdm/README.TXT");

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

/// METADATA.XML, if it can say the patient's identifier as it is.
pub(super) fn metadata_of(config: &SmtpConfig, xdm: &XdmConfig, item: &Item, hash: &str) -> Result<String, Outcome> {
    match metadata::says_patient(&item.metadata) {
        true => Ok(metadata::of(config, xdm, item, hash)),
        false => Err(wording::not_said(&config.name, &item.metadata)),
    }
}

/// A ZIP archive of uncompressed files.
#[derive(Default)]
struct Archive {
    written: Vec<u8>,
    /// The directory at its end.
    directory: Vec<u8>,
    files: u16,
    /// The length of everything before the directory.
    length: u64,
}

impl Archive {
    fn add(&mut self, name: &str, content: &[u8]) {
        let mut crc = Crc::new();
        crc.update(content);
        if self.header(name, crc.sum(), content.len() as u64).is_some() {
            self.written.extend_from_slice(content);
        }
    }

    /// Begins a file whose content follows; returns everything before that content.
    fn begin(&mut self, name: &str, crc: u32, size: u64) -> Option<Vec<u8>> {
        self.header(name, crc, size)?;
        Some(std::mem::take(&mut self.written))
    }

    fn header(&mut self, name: &str, crc: u32, size: u64) -> Option<()> {
        const LOCAL: u32 = 0x0403_4b50;
        const CENTRAL: u32 = 0x0201_4b50;
        const VERSION: u16 = 10;
        // 1 January 1980: the same in every attempt.
        const DATE: u16 = 0x21;
        let (size, offset) = (u32::try_from(size).ok()?, u32::try_from(self.length).ok()?);
        let mut entry = Vec::new();
        // Version, flags, method (stored), time, date.
        for value in [VERSION, 0, 0, 0, DATE] {
            entry.extend(value.to_le_bytes());
        }
        for value in [crc, size, size] {
            entry.extend(value.to_le_bytes());
        }
        entry.extend(u16::try_from(name.len()).ok()?.to_le_bytes());
        entry.extend([0; 2]);

        let begin = self.written.len();
        self.written.extend(LOCAL.to_le_bytes());
        self.written.extend(&entry);
        self.written.extend(name.as_bytes());
        self.length += (self.written.len() - begin) as u64 + u64::from(size);

        self.directory.extend(CENTRAL.to_le_bytes());
        self.directory.extend(VERSION.to_le_bytes());
        self.directory.extend(entry);
        // Length of the comment, disk, attributes.
        self.directory.extend([0; 10]);
        self.directory.extend(offset.to_le_bytes());
        self.directory.extend(name.as_bytes());
        self.files += 1;
        Some(())
    }

    /// Everything after the last file.
    fn end(self) -> Option<Vec<u8>> {
        const END: u32 = 0x0605_4b50;
        let (size, offset) = (u32::try_from(self.directory.len()).ok()?, u32::try_from(self.length).ok()?);
        let mut end = self.directory;
        end.extend(END.to_le_bytes());
        end.extend([0; 4]);
        end.extend([self.files.to_le_bytes(); 2].as_flattened());
        end.extend(size.to_le_bytes());
        end.extend(offset.to_le_bytes());
        end.extend([0; 2]);
        Some(end)
    }
}
