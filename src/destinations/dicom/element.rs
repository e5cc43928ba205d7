//! Data elements (DICOM PS3.5, section 7) in little endian: writes them, and reads single ones from a command or an
//! answer.
//!
//! The crate `dicom-object` does the same with a dictionary of all of DICOM and the character sets of the world. It
//! would add a megabyte to docsyncd for forty elements, all of which are known here.

/// Group and element.
pub(super) type Tag = (u16, u16);

pub(super) const AFFECTED_CLASS: Tag = (0x0000, 0x0002);
pub(super) const COMMAND: Tag = (0x0000, 0x0100);
pub(super) const MESSAGE_ID: Tag = (0x0000, 0x0110);
pub(super) const ANSWERED_ID: Tag = (0x0000, 0x0120);
pub(super) const PRIORITY: Tag = (0x0000, 0x0700);
pub(super) const DATA_SET_TYPE: Tag = (0x0000, 0x0800);
pub(super) const STATUS: Tag = (0x0000, 0x0900);
pub(super) const AFFECTED_INSTANCE: Tag = (0x0000, 0x1000);
pub(super) const SOP_CLASS: Tag = (0x0008, 0x0016);
pub(super) const SOP_INSTANCE: Tag = (0x0008, 0x0018);
pub(super) const LEVEL: Tag = (0x0008, 0x0052);
pub(super) const STUDY: Tag = (0x0020, 0x000d);
pub(super) const SERIES: Tag = (0x0020, 0x000e);
pub(super) const DOCUMENT_LENGTH: Tag = (0x0042, 0x0015);

/// (0000,0800) of a message without a data set.
pub(super) const NO_DATA_SET: u16 = 0x0101;
/// The length of a value that ends with a delimiter.
const UNDEFINED: u32 = u32::MAX;

/// A sequence of elements, in the order of their tags.
pub(super) struct Elements {
    pub(super) bytes: Vec<u8>,
    /// Whether each element names its type (Explicit VR).
    is_explicit: bool,
}

impl Elements {
    pub(super) fn new(is_explicit: bool) -> Self {
        Self { bytes: Vec::new(), is_explicit }
    }

    /// Writes the head of an element, before its value.
    pub(super) fn head(&mut self, (group, element): Tag, vr: [u8; 2], length: u32) {
        self.bytes.extend(group.to_le_bytes());
        self.bytes.extend(element.to_le_bytes());
        let is_long = matches!(&vr, b"OB" | b"SQ");
        if self.is_explicit {
            self.bytes.extend(vr);
        }
        match (self.is_explicit, is_long) {
            (true, true) => self.bytes.extend([0, 0]),
            (true, false) => {
                return self.bytes.extend(u16::try_from(length).unwrap_or(u16::MAX).to_le_bytes());
            }
            (false, _) => {}
        }
        self.bytes.extend(length.to_le_bytes());
    }

    /// Writes a value, padded to an even length.
    pub(super) fn put(&mut self, tag: Tag, vr: &[u8; 2], value: &[u8]) -> &mut Self {
        let padding = match vr {
            b"UI" | b"OB" => 0,
            _ => b' ',
        };
        let is_odd = value.len() % 2 == 1;
        self.head(tag, *vr, u32::try_from(value.len() + usize::from(is_odd)).unwrap_or(u32::MAX));
        self.bytes.extend_from_slice(value);
        self.bytes.extend(is_odd.then_some(padding));
        self
    }

    pub(super) fn text(&mut self, tag: Tag, vr: &[u8; 2], value: &str) -> &mut Self {
        self.put(tag, vr, value.as_bytes())
    }

    pub(super) fn number(&mut self, tag: Tag, value: u16) -> &mut Self {
        self.put(tag, b"US", &value.to_le_bytes())
    }

    /// A sequence of one item.
    pub(super) fn item(&mut self, tag: Tag, item: &Elements) {
        let length = u32::try_from(item.bytes.len()).unwrap_or(u32::MAX);
        self.head(tag, *b"SQ", length.saturating_add(8));
        self.bytes.extend([0xfe, 0xff, 0x00, 0xe0]);
        self.bytes.extend(length.to_le_bytes());
        self.bytes.extend_from_slice(&item.bytes);
    }

    /// The elements after their total length, as in a command and the head of a file (groups 0000 and 0002).
    pub(super) fn with_length(self, group: u16) -> Vec<u8> {
        let mut whole = Self::new(self.is_explicit);
        whole.put((group, 0), b"UL", &u32::try_from(self.bytes.len()).unwrap_or(u32::MAX).to_le_bytes());
        whole.bytes.extend(self.bytes);
        whole.bytes
    }
}

/// The value of an element in Implicit VR; `None` if it is missing, or follows an element of undefined length.
pub(super) fn value(mut bytes: &[u8], wanted: Tag) -> Option<&[u8]> {
    loop {
        let ([g0, g1, e0, e1, l0, l1, l2, l3], rest) = bytes.split_first_chunk::<8>()?;
        let length = u32::from_le_bytes([*l0, *l1, *l2, *l3]);
        let length = usize::try_from(length).ok().filter(|_| length != UNDEFINED)?;
        let (value, behind) = rest.split_at_checked(length)?;
        if (u16::from_le_bytes([*g0, *g1]), u16::from_le_bytes([*e0, *e1])) == wanted {
            return Some(value);
        }
        bytes = behind;
    }
}

/// A number of 16 bits.
pub(super) fn number(bytes: &[u8], wanted: Tag) -> Option<u16> {
    value(bytes, wanted)?.try_into().ok().map(u16::from_le_bytes)
}

/// A number of 32 bits.
pub(super) fn long(bytes: &[u8], wanted: Tag) -> Option<u32> {
    value(bytes, wanted)?.try_into().ok().map(u32::from_le_bytes)
}

/// A UID, without its padding.
pub(super) fn uid(bytes: &[u8], wanted: Tag) -> Option<&str> {
    let text = std::str::from_utf8(value(bytes, wanted)?).ok()?;
    Some(text.trim_matches(['\0', ' ']))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bytes that DCMTK's dump2dcm writes (+te and +ti).
    #[test]
    fn elements_have_the_bytes_of_the_standard() {
        let write = |is_explicit| {
            let mut item = Elements::new(is_explicit);
            item.text((0x0008, 0x0100), b"SH", "57134-9");
            let mut all = Elements::new(is_explicit);
            all.text(SOP_INSTANCE, b"UI", "1.2").text((0x0010, 0x0020), b"LO", "odd").item((0x0040, 0xa043), &item);
            all.put((0x0042, 0x0011), b"OB", b"%PDF-");
            all.bytes
        };
        let explicit = b"\x08\0\x18\0UI\x04\x001.2\0\x10\0\x20\0LO\x04\0odd \x40\0\x43\xa0SQ\0\0\x18\0\0\0\xfe\xff\0\xe0\x10\0\0\0\
            \x08\0\0\x01SH\x08\x0057134-9 \x42\0\x11\0OB\0\0\x06\0\0\0%PDF-\0";
        assert_eq!(write(true), explicit);
        let implicit =
            b"\x08\0\x18\0\x04\0\0\x001.2\0\x10\0\x20\0\x04\0\0\0odd \x40\0\x43\xa0\x18\0\0\0\xfe\xff\0\xe0\x10\0\0\0\
            \x08\0\0\x01\x08\0\0\x0057134-9 \x42\0\x11\0\x06\0\0\0%PDF-\0";
        assert_eq!(write(false), implicit);
    }

    #[test]
    fn what_is_read_is_bounded_by_what_is_there() {
        let mut all = Elements::new(false);
        all.text(SOP_INSTANCE, b"UI", "1.2").number(STATUS, 0xa700);
        assert_eq!((uid(&all.bytes, SOP_INSTANCE), number(&all.bytes, STATUS)), (Some("1.2"), Some(0xa700)));
        assert_eq!((value(&all.bytes, STUDY), long(&all.bytes, STATUS)), (None, None));
        for end in 0..all.bytes.len() {
            assert_eq!(number(&all.bytes[..end], STATUS), None);
        }
        let endless = [&all.bytes[..12], b"\x08\0\x99\0\xff\xff\xff\xff", &all.bytes[12..]].concat();
        assert_eq!((uid(&endless, SOP_INSTANCE), number(&endless, STATUS)), (Some("1.2"), None));
    }
}
