//! What a DICOM archive says on an association after a letter: bytes that should be PDUs with an answer in them.

use docsyncd::destinations::{Answers, Message};

/// The instance that was sent.
const INSTANCE: &str = "2.25.128340689238725241038936486597958332431";
/// The longest message; bytes.
const MOST: usize = 64 * 1024;

/// A byte for the size of its pieces, and what comes.
pub fn check(input: &[u8]) {
    let Some((size, said)) = input.split_first() else { return };
    let read = |size: usize| {
        let (mut answers, mut messages) = (Answers::default(), Vec::new());
        for piece in said.chunks(size) {
            answers.push(piece);
            loop {
                match answers.message() {
                    Ok(Some(message)) => messages.push(message),
                    Ok(None) => break,
                    Err(lost) => return (messages, Some(lost)),
                }
            }
        }
        (messages, None)
    };
    let (whole, pieces) = (read(said.len().max(1)), read(usize::from(size % 8) + 1));
    assert_eq!(whole, pieces, "in pieces of {size}");
    for message in &whole.0 {
        assert!(message.command.len() <= MOST && message.data.len() <= MOST);
        if message.stored(INSTANCE) == Some(0x0000) {
            assert!(accepts(message), "{message:?}");
        }
    }
}

/// A second opinion: the elements of an answer to message 1 that stored something, as they are written.
fn accepts(message: &Message) -> bool {
    let has = |element: [u8; 10]| message.command.windows(10).any(|bytes| bytes == element);
    has([0, 0, 0x00, 0x01, 2, 0, 0, 0, 0x01, 0x80])
        && has([0, 0, 0x20, 0x01, 2, 0, 0, 0, 1, 0])
        && has([0, 0, 0x00, 0x09, 2, 0, 0, 0, 0, 0])
}
