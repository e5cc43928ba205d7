//! ZIP archives. Nothing in them is compressed, and all lengths come before the content, as streaming readers need it
//! (APPNOTE.TXT 6.3, 4.3). Pure.

use flate2::Crc;

/// An archive in the making.
#[derive(Default)]
pub struct Archive {
    written: Vec<u8>,
    /// The directory at its end.
    directory: Vec<u8>,
    files: u16,
    /// The length of everything before the directory.
    length: u64,
}

impl Archive {
    /// Adds a file. Leaves out one of 4 GiB or more, which no archive can hold.
    pub fn add(&mut self, name: &str, content: &[u8]) {
        let mut crc = Crc::new();
        crc.update(content);
        if self.header(name, crc.sum(), content.len() as u64).is_some() {
            self.written.extend_from_slice(content);
        }
    }

    /// Begins a file whose content follows, with its checksum and its length in bytes. Returns everything before that
    /// content; `None` if no archive can hold it.
    pub fn begin(&mut self, name: &str, crc: u32, size: u64) -> Option<Vec<u8>> {
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

    /// Everything after the last file's content, with what was not returned before. `None` if it is too large.
    pub fn end(self) -> Option<Vec<u8>> {
        const END: u32 = 0x0605_4b50;
        let (size, offset) = (u32::try_from(self.directory.len()).ok()?, u32::try_from(self.length).ok()?);
        let mut end = self.written;
        end.extend(self.directory);
        end.extend(END.to_le_bytes());
        end.extend([0; 4]);
        end.extend([self.files.to_le_bytes(); 2].as_flattened());
        end.extend(size.to_le_bytes());
        end.extend(offset.to_le_bytes());
        end.extend([0; 2]);
        Some(end)
    }
}
