//! The contract of file names, written down a second time: from the design and from Microsoft's "Naming Files, Paths,
//! and Namespaces", not from the code that keeps it.

use std::path::{Component, Path};

/// The longest part, in bytes.
const MOST_BYTES: usize = 200;
/// What Windows takes for a device, whatever case it is in and whatever extension follows.
const DEVICES: [&str; 7] = ["con", "prn", "aux", "nul", "conin$", "conout$", "clock$"];
/// What follows COM and LPT; the superscript digits are digits to Windows.
const PORTS: &str = "0123456789¹²³";
/// What Windows allows in no name. The colon would open a stream of another file.
const FORBIDDEN: &str = "<>:\"/\\|?*";
/// Unicode Standard Annex 9: what changes the direction of the text after it.
const BIDIRECTIONAL: [char; 12] = [
    '\u{061c}', '\u{200e}', '\u{200f}', '\u{202a}', '\u{202b}', '\u{202c}', '\u{202d}', '\u{202e}', '\u{2066}',
    '\u{2067}', '\u{2068}', '\u{2069}',
];

fn is_device(part: &str) -> bool {
    // Windows cuts at the first dot and then drops blanks: `CON .tar.gz` is the console.
    let base = part.split('.').next().unwrap_or_default().trim_end().to_lowercase();
    let port = ["com", "lpt"].iter().find_map(|name| base.strip_prefix(name));
    DEVICES.contains(&base.as_str()) || port.is_some_and(|rest| rest.chars().count() == 1 && PORTS.contains(rest))
}

/// One part of a path keeps the contract.
pub fn assert_part(part: &str) {
    assert!(!part.is_empty(), "an empty part");
    assert!(part.len() <= MOST_BYTES, "{} bytes: {part:?}", part.len());
    assert!(!part.ends_with('.') && !part.ends_with(char::is_whitespace), "its end is dropped by Windows: {part:?}");
    assert!(!part.starts_with(char::is_whitespace), "its beginning cannot be seen: {part:?}");
    assert!(!is_device(part), "a device: {part:?}");
    for c in part.chars() {
        assert!(!c.is_control() && !FORBIDDEN.contains(c) && !BIDIRECTIONAL.contains(&c), "{c:?} in {part:?}");
    }
    let mut components = Path::new(part).components();
    assert!(matches!(components.next(), Some(Component::Normal(_))) && components.next().is_none(), "{part:?}");
}

/// A rendered path keeps the contract: it leads down, and its parts are names.
pub fn assert_path(parts: &[String]) {
    assert!(!parts.is_empty() && parts.len() <= 16, "{parts:?}");
    parts.iter().for_each(|part| assert_part(part));
    let root = Path::new("/share");
    let whole = parts.iter().fold(root.to_path_buf(), |path, part| path.join(part));
    assert!(
        whole.starts_with(root) && whole.components().count() == parts.len() + 2,
        "it leaves the folder: {parts:?}"
    );
}
