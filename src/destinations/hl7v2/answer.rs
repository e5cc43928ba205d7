//! A receiver's answer: an MLLP block (HL7, "Transport Specification: MLLP, Release 1") with an acknowledgment (HL7
//! v2.5.1, section 2.9). Only its codes are kept.

/// The start of a block.
pub(super) const START: u8 = 0x0b;
/// The end of a block; a carriage return follows.
pub(super) const END: u8 = 0x1c;

/// The longest acknowledgment, in bytes.
const MAX_BYTES: usize = 64 * 1024;

/// The bytes are no HL7 over MLLP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotHl7;

/// A block that is being received.
#[derive(Debug, Default)]
pub struct Block {
    bytes: Vec<u8>,
    has_begun: bool,
    has_ended: bool,
    is_followed: bool,
}

impl Block {
    /// Takes the next bytes; returns whether the block is whole.
    ///
    /// # Errors
    /// [`NotHl7`]
    pub fn take(&mut self, piece: &[u8]) -> Result<bool, NotHl7> {
        for byte in piece {
            match *byte {
                b'\r' | b'\n' if !self.has_begun => {}
                // What follows may contradict the block.
                byte if self.has_ended => {
                    self.is_followed |= !matches!(byte, b'\r' | b'\n');
                    if self.bytes.len() < MAX_BYTES {
                        self.bytes.push(if matches!(byte, START | END) { b'\r' } else { byte });
                    }
                }
                START if !self.has_begun => self.has_begun = true,
                // The start of an earlier block that broke off.
                START => return Err(NotHl7),
                _ if !self.has_begun || self.bytes.len() == MAX_BYTES => return Err(NotHl7),
                END => {
                    self.has_ended = true;
                    self.bytes.push(b'\r');
                }
                byte => self.bytes.push(byte),
            }
        }
        Ok(self.has_ended)
    }

    /// Whether unexpected bytes came after the block.
    pub fn is_followed(&self) -> bool {
        self.is_followed
    }

    /// The meaning of its acknowledgment; `None` if it does not acknowledge the message with this control id (MSH-10).
    pub fn meaning(&self, id: &str) -> Option<Meaning> {
        let mut segments = self.bytes.split(|byte| matches!(byte, b'\r' | b'\n')).filter(|line| !line.is_empty());
        let [b'M', b'S', b'H', field, component, _, _, part, ..] = *segments.next()? else { return None };
        let segments: Vec<Vec<&[u8]>> = segments.map(|line| line.split(|byte| *byte == field).collect()).collect();
        let called = |name: &'static [u8]| segments.iter().filter(move |fields| fields.first() == Some(&name));
        let is_of_it = |fields: &&Vec<&[u8]>| field_of(fields, 2) == Some(id.as_bytes());
        let first = called(b"MSA").next().filter(is_of_it)?;
        // If several acknowledge this message, one that is no yes counts.
        let is_no = |fields: &&Vec<&[u8]>| !matches!(field_of(fields, 1), Some(b"AA" | b"CA"));
        let acknowledged = called(b"MSA").filter(is_of_it).find(is_no).unwrap_or(first);
        let at = |fields: &[&[u8]], number: usize, nth: usize| {
            let text = fields.get(number)?.split(|byte| *byte == component).nth(nth)?;
            std::str::from_utf8(text.split(|byte| *byte == part).next()?.trim_ascii()).ok()?.parse::<u16>().ok()
        };
        let refused = |general| {
            // The error code is in ERR-3, before version 2.5 in ERR-1, and in the oldest versions in MSA-6.
            let of_errors = called(b"ERR").flat_map(|fields| [at(fields, 3, 0), at(fields, 1, 3)]).flatten();
            let mut codes = of_errors.chain(at(acknowledged, 6, 0));
            let mut of_application = called(b"ERR").filter_map(|fields| at(fields, 5, 0));
            let patient = of_application.find(|code| (902..=905).contains(code)).map(Meaning::Patient);
            patient.or_else(|| codes.find_map(Meaning::of_code)).unwrap_or(general)
        };
        // ERR-4 (HL7 table 0516) distinguishes errors from warnings and information, which also come with a yes. Before
        // version 2.5 there is no such field: then any code but 0 ("message accepted") is an error.
        let is_severe = |fields: &Vec<&[u8]>| match field_of(fields, 4) {
            Some(b"E" | b"F") => true,
            Some(b"W" | b"I") => false,
            _ => {
                let says_something = fields.iter().skip(1).any(|field| !field.trim_ascii().is_empty());
                says_something && ![at(fields, 3, 0), at(fields, 1, 3)].contains(&Some(0))
            }
        };
        let takes_back = || {
            called(b"ERR").any(is_severe)
                || at(acknowledged, 6, 0).is_some_and(|code| code != 0)
                || called(b"QAK").any(|fields| matches!(field_of(fields, 2), Some(b"AE" | b"AR")))
        };
        Some(match *field_of(acknowledged, 1)? {
            [b'A' | b'C', b'A'] if takes_back() => refused(Meaning::Error),
            [b'A', b'A'] => Meaning::Taken { again: true },
            [b'C', b'A'] => Meaning::Taken { again: false },
            [b'A' | b'C', b'E'] => refused(Meaning::Error),
            [b'A' | b'C', b'R'] => refused(Meaning::Rejected),
            _ => return None,
        })
    }
}

fn field_of<'a>(fields: &[&'a [u8]], number: usize) -> Option<&'a [u8]> {
    fields.get(number).copied().map(<[u8]>::trim_ascii)
}

/// The meaning of an acknowledgment, by its codes (HL7 tables 0008 and 0357).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meaning {
    /// The receiver keeps the message.
    Taken {
        /// Whether another message may follow over the connection: after an accept acknowledgment, an application
        /// acknowledgment may come.
        again: bool,
    },
    /// The receiver already has a message with this control id (205).
    Known,
    /// The receiver does not know the patient by the given identifiers (902 to 905, of the French profile of ANS).
    Patient(u16),
    /// Something in the message is missing or not understood (100 to 103, 204).
    Message(u16),
    /// The receiver takes no messages of this type, event, version or processing id (200 to 203).
    Kind(u16),
    /// A record is locked, or the receiver has a fault of its own (206, 207).
    Passing(u16),
    /// An error without a code (AE, CE).
    Error,
    /// A rejection without a code (AR, CR).
    Rejected,
}

impl Meaning {
    fn of_code(code: u16) -> Option<Self> {
        Some(match code {
            205 => Self::Known,
            100..=103 | 204 => Self::Message(code),
            200..=203 => Self::Kind(code),
            206 | 207 => Self::Passing(code),
            _ => return None,
        })
    }
}
