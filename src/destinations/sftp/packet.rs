//! SFTP version 3 (draft-ietf-secsh-filexfer-02) as bytes: the requests that docsyncd sends and the answers that it
//! reads.
//!
//! Own code, because the client crates know only the statuses 0 to 8, and end the session at any other: ProFTPD answers
//! 11 to a rename onto a name that is taken, and full disks and quotas are 14 and 15. The text of a status is never
//! read.

/// The longest packet that is accepted, in bytes. A piece of a file is 32 KiB, a list of extensions far less.
pub(super) const MAX_PACKET: usize = 256 * 1024;

/// The version that every server speaks.
pub(super) const VERSION: u32 = 3;

/// Kinds of packets (section 3).
pub(super) mod kind {
    pub const INIT: u8 = 1;
    pub const VERSION: u8 = 2;
    pub const OPEN: u8 = 3;
    pub const CLOSE: u8 = 4;
    pub const READ: u8 = 5;
    pub const WRITE: u8 = 6;
    pub const LSTAT: u8 = 7;
    pub const OPENDIR: u8 = 11;
    pub const READDIR: u8 = 12;
    pub const REMOVE: u8 = 13;
    pub const MKDIR: u8 = 14;
    pub const STAT: u8 = 17;
    pub const RENAME: u8 = 18;
    pub const STATUS: u8 = 101;
    pub const HANDLE: u8 = 102;
    pub const DATA: u8 = 103;
    pub const NAME: u8 = 104;
    pub const ATTRS: u8 = 105;
    pub const EXTENDED: u8 = 200;
    pub const EXTENDED_REPLY: u8 = 201;
}

/// Statuses with a meaning here (section 7, and version 6, section 9.1, for those above 8).
pub(super) mod status {
    pub const OK: u32 = 0;
    pub const EOF: u32 = 1;
    pub const NO_SUCH_FILE: u32 = 2;
    pub const PERMISSION_DENIED: u32 = 3;
    pub const NO_SPACE: u32 = 14;
    pub const QUOTA_EXCEEDED: u32 = 15;
}

/// Modes for opening a file (section 6.3).
pub(super) const READ: u32 = 0x01;
/// To write a file that does not exist yet (SSH_FXF_WRITE, CREAT, EXCL).
pub(super) const WRITE_NEW: u32 = 0x02 | 0x08 | 0x20;
/// To write a file anew, whatever it contained.
pub(super) const WRITE_ANEW: u32 = 0x02 | 0x08 | 0x10;

/// A packet that is being written; its length comes first.
pub(super) struct Request(Vec<u8>);

impl Request {
    pub(super) fn new(kind: u8, id: u32) -> Self {
        let mut bytes = vec![0, 0, 0, 0, kind];
        bytes.extend_from_slice(&id.to_be_bytes());
        Self(bytes)
    }

    pub(super) fn number(mut self, number: u32) -> Self {
        self.0.extend_from_slice(&number.to_be_bytes());
        self
    }

    pub(super) fn long(mut self, number: u64) -> Self {
        self.0.extend_from_slice(&number.to_be_bytes());
        self
    }

    pub(super) fn text(mut self, bytes: &[u8]) -> Self {
        // Names and pieces of files: far below 4 GiB.
        self.0.extend_from_slice(&u32::try_from(bytes.len()).unwrap_or(u32::MAX).to_be_bytes());
        self.0.extend_from_slice(bytes);
        self
    }

    pub(super) fn finish(mut self) -> Vec<u8> {
        let length = u32::try_from(self.0.len().saturating_sub(4)).unwrap_or(u32::MAX).to_be_bytes();
        if let Some(start) = self.0.get_mut(..4) {
            start.copy_from_slice(&length);
        }
        self.0
    }
}

/// Reads the parts of a packet; `None` if the packet is shorter than it claims.
pub(super) struct PacketReader<'a>(pub(super) &'a [u8]);

impl<'a> PacketReader<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    pub(super) fn byte(&mut self) -> Option<u8> {
        self.take(1)?.first().copied()
    }

    pub(super) fn number(&mut self) -> Option<u32> {
        self.take(4)?.try_into().ok().map(u32::from_be_bytes)
    }

    pub(super) fn long(&mut self) -> Option<u64> {
        self.take(8)?.try_into().ok().map(u64::from_be_bytes)
    }

    pub(super) fn text(&mut self) -> Option<&'a [u8]> {
        let length = usize::try_from(self.number()?).ok()?;
        self.take(length)
    }
}

/// What a server says about a file (section 5), if anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Attributes {
    pub(super) size: Option<u64>,
    pub(super) permissions: Option<u32>,
    /// Seconds since 1970, by the server's clock.
    pub(super) modified: Option<u32>,
}

/// The bits of `permissions` for the file type, and their values.
const TYPE: u32 = 0o170_000;
pub(super) const FOLDER: u32 = 0o040_000;
pub(super) const FILE: u32 = 0o100_000;
pub(super) const LINK: u32 = 0o120_000;

impl Attributes {
    pub(super) fn read(reader: &mut PacketReader<'_>) -> Option<Self> {
        let flags = reader.number()?;
        let size = if flags & 0x1 != 0 { Some(reader.long()?) } else { None };
        if flags & 0x2 != 0 {
            reader.long()?;
        }
        let permissions = if flags & 0x4 != 0 { Some(reader.number()?) } else { None };
        let mut modified = None;
        if flags & 0x8 != 0 {
            reader.number()?;
            modified = Some(reader.number()?);
        }
        if flags & 0x8000_0000 != 0 {
            for _ in 0..reader.number()? {
                reader.text()?;
                reader.text()?;
            }
        }
        Some(Self { size, permissions, modified })
    }

    /// One of [`FOLDER`], [`FILE`], [`LINK`] or another kind; without information it is a file.
    pub(super) fn kind(self) -> u32 {
        self.permissions.map_or(FILE, |permissions| permissions & TYPE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_has_its_length_before_it() {
        let bytes = Request::new(kind::RENAME, 7).text(b"a").text(b"bc").finish();
        assert_eq!(bytes, [0, 0, 0, 16, 18, 0, 0, 0, 7, 0, 0, 0, 1, b'a', 0, 0, 0, 2, b'b', b'c']);
    }

    #[test]
    fn attributes_are_read_whatever_stands_between_them() {
        let mut bytes = vec![0x80, 0, 0, 0xf];
        bytes.extend(9_u64.to_be_bytes());
        bytes.extend(0_u64.to_be_bytes());
        bytes.extend(0o040_755_u32.to_be_bytes());
        bytes.extend([0, 0, 0, 1, 0, 0, 0, 5, 0, 0, 0, 1, 0, 0, 0, 1, b'x', 0, 0, 0, 0]);
        let mut reader = PacketReader(&bytes);
        let attributes = Attributes::read(&mut reader).unwrap();
        assert_eq!((attributes.size, attributes.kind(), attributes.modified), (Some(9), FOLDER, Some(5)));
        assert!(reader.0.is_empty());
        for length in 0..bytes.len() {
            assert_eq!(Attributes::read(&mut PacketReader(&bytes[..length])), None, "{length}");
        }
    }

    #[test]
    fn a_text_that_claims_to_be_longer_than_the_packet_is_none() {
        assert_eq!(PacketReader(&[0xff, 0xff, 0xff, 0xff, 1]).text(), None);
    }
}
