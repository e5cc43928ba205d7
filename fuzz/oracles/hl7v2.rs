//! What a receiver of HL7 v2 answers: bytes that should be a block of MLLP with an acknowledgment in it.

use docsyncd::destinations::{Block, Meaning, NotHl7};

/// The control id of the message that was sent.
const ID: &str = "608d8484a1fe430efb09";

/// A byte for the size of its pieces, and the answer.
pub fn check(input: &[u8]) {
    let Some((size, answer)) = input.split_first() else { return };
    let read = |size: usize| {
        let mut block = Block::default();
        for piece in answer.chunks(size) {
            if block.take(piece)? {
                return Ok(Some(block));
            }
        }
        Ok::<_, NotHl7>(None)
    };
    let (whole, pieces) = (read(answer.len().max(1)), read(usize::from(size % 8) + 1));
    let meaning = |read: &Result<Option<Block>, NotHl7>| match read {
        Ok(Some(block)) => Some(block.meaning(ID)),
        Ok(None) | Err(NotHl7) => None,
    };
    assert_eq!(meaning(&whole), meaning(&pieces), "in pieces of {size}");
    let Some(Some(Meaning::Taken { .. })) = meaning(&whole) else { return };
    assert!(accepts(answer), "{:?}", String::from_utf8_lossy(answer));
}

/// A second opinion: a block with a header, and a segment of an acknowledgment of ours that says yes.
fn accepts(answer: &[u8]) -> bool {
    let Some(begin) = answer.iter().position(|byte| *byte == 0x0b) else { return false };
    let Some(end) = answer.iter().position(|byte| *byte == 0x1c) else { return false };
    let Some(block) = answer.get(begin + 1..end) else { return false };
    let lines: Vec<&[u8]> = block.split(|byte| b"\r\n".contains(byte)).filter(|line| !line.is_empty()).collect();
    let Some(separator) = lines.first().and_then(|line| line.strip_prefix(b"MSH")?.first()) else { return false };
    lines.iter().any(|line| {
        let fields: Vec<&[u8]> = line.split(|byte| byte == separator).map(<[u8]>::trim_ascii).collect();
        matches!(fields.as_slice(), [b"MSA", b"AA" | b"CA", id, ..] if *id == ID.as_bytes())
    })
}
