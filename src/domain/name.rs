//! File names that every system accepts: turns rendered text into the parts of a path below a folder.
//!
//! Pure text: no templates, no disk. The adapter checks whether a name is taken. The rules are those of Windows on
//! every system, because Windows machines read the shares that a Linux machine writes (Microsoft, "Naming Files, Paths,
//! and Namespaces").

use unicode_normalization::UnicodeNormalization as _;

/// Replaces a missing value, and a name of which nothing is left.
pub const UNKNOWN: &str = "unknown";

/// The longest part of a path, in bytes. File systems allow 255; the rest leaves room for a suffix of ours or an
/// importer's.
pub const MAX_PART_BYTES: usize = 200;

/// The deepest path, in parts including the file name.
const MAX_PARTS: usize = 16;

/// As long as a short uuid, the number of a name, and that of a version.
const LONGEST_SUFFIX: &str = "____________________";

/// The longest extension that is kept when a name is cut, in bytes.
const MAX_EXTENSION_BYTES: usize = 16;

/// The parts of the path in a rendered `file_name`: sub-folders first, the file's name last, never empty.
///
/// Slashes and backslashes separate parts. Parts of which nothing is left are dropped, so `..` and a leading slash have
/// no effect. Sanitizing the result again changes nothing.
pub fn relative_path(rendered: &str) -> Vec<String> {
    let mut parts: Vec<String> = rendered.split(['/', '\\']).filter_map(part).collect();
    if parts.len() > MAX_PARTS {
        let file = parts.pop();
        parts.truncate(MAX_PARTS - 1);
        parts.extend(file);
    }
    if parts.is_empty() {
        parts.push(UNKNOWN.to_owned());
    }
    parts
}

/// One name from a rendered text; slashes and backslashes become `_`.
pub fn file_name(rendered: &str) -> String {
    part(rendered).unwrap_or_else(|| UNKNOWN.to_owned())
}

/// Makes a value safe anywhere in a name: it creates no folder, hides no file and ends in no dot. If nothing is left,
/// it becomes `unknown`.
pub fn value(text: &str) -> String {
    let replaced = legal_text(text);
    let trimmed = replaced.trim_matches(|c: char| c.is_whitespace() || c == '.');
    let cut = cut(trimmed, MAX_PART_BYTES);
    if cut.is_empty() { UNKNOWN.to_owned() } else { cut.to_owned() }
}

/// `Letter.pdf` with `1a2b3c4d` gives `Letter_1a2b3c4d.pdf`. A long name is cut before the suffix.
pub fn with_suffix(name: &str, suffix: &str) -> String {
    let (stem, extension) = split_extension(name);
    let tail = format!("_{}{extension}", cut(suffix, MAX_PART_BYTES / 2));
    file_name(&format!("{}{tail}", cut(stem, MAX_PART_BYTES.saturating_sub(tail.len()))))
}

/// Tells `unchanged` of everything that happens to a rendered text on its way to these parts of a path: it was cleaned
/// and cut, and a part that is a device's name was marked.
///
/// # Errors
/// The first error of `unchanged`, which gets a text and what became of it.
pub fn kept<E>(rendered: &str, parts: &[String], unchanged: impl Fn(&str, &str) -> Result<(), E>) -> Result<(), E> {
    unchanged(rendered, &parts.join("/"))?;
    let is_marked = |part: &&String| {
        let stem = part.split('.').next().unwrap_or_default().trim_end();
        stem.strip_suffix('_').is_some_and(is_device)
    };
    parts.iter().filter(is_marked).try_for_each(|part| unchanged(part, ""))
}

/// The same for a name that may get the longest suffix ([`with_suffix`]) that distinguishes names.
///
/// # Errors
/// As [`kept`].
pub fn kept_with_suffix<E>(name: &str, unchanged: impl Fn(&str, &str) -> Result<(), E>) -> Result<(), E> {
    unchanged(name, &with_suffix(name, LONGEST_SUFFIX))
}

/// A name without its extension.
pub fn stem(name: &str) -> &str {
    split_extension(name).0
}

/// Characters that change the direction of the text after them. With one, `Letter<RLO>fdp.exe` looks like
/// `Letterexe.pdf` (Unicode Standard Annex 9, section 2).
pub fn is_bidirectional(c: char) -> bool {
    matches!(c, '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Invisible characters, which could make different names look the same: format and zero-width characters, line and
/// paragraph separators, fillers.
pub fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{00ad}' | '\u{034f}' | '\u{0600}'..='\u{0605}' | '\u{06dd}' | '\u{070f}' | '\u{115f}' | '\u{1160}'
        | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200d}' | '\u{2028}' | '\u{2029}'
        | '\u{2060}'..='\u{2065}' | '\u{206a}'..='\u{206f}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}' | '\u{fffe}' | '\u{ffff}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e007f}')
}

/// Replaces a character that is not allowed in a name; `None` drops it.
fn legal(c: char) -> Option<char> {
    match c {
        '/' | '\\' | ':' | '*' | '?' | '"' | '<' | '>' | '|' => Some('_'),
        c if c.is_control() || is_bidirectional(c) || is_invisible(c) => None,
        c => Some(c),
    }
}

/// The text in allowed characters and NFC, so that one name has one spelling. It is composed a second time, because
/// dropped characters may have separated two others. That never creates a forbidden character.
fn legal_text(text: &str) -> String {
    // ASCII is already composed.
    if text.is_ascii() {
        return text.chars().filter_map(legal).collect();
    }
    text.nfc().filter_map(legal).nfc().collect()
}

fn part(text: &str) -> Option<String> {
    let replaced = legal_text(text);
    let trimmed = trim_end(replaced.trim_start());
    // Twice, because marking a device name may make a name of full length too long again.
    let marked = shorten(&mark_device(&shorten(trimmed)));
    (!marked.is_empty()).then_some(marked)
}

/// Windows drops dots and spaces at the end, so `a.` and `a` would be the same file.
fn trim_end(text: &str) -> &str {
    text.trim_end_matches(|c: char| c.is_whitespace() || c == '.')
}

fn shorten(name: &str) -> String {
    if name.len() <= MAX_PART_BYTES {
        return name.to_owned();
    }
    let (stem, extension) = split_extension(name);
    format!("{}{extension}", cut(stem, MAX_PART_BYTES.saturating_sub(extension.len())))
}

/// At most `bytes` bytes of `text`: whole characters, without a dot or space at the end.
fn cut(text: &str, bytes: usize) -> &str {
    let most = bytes.min(text.len());
    let end = (0..=most).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    trim_end(text.get(..end).unwrap_or_default())
}

/// The stem, and the extension with its dot, or an empty one.
fn split_extension(name: &str) -> (&str, &str) {
    name.rfind('.')
        .filter(|dot| *dot > 0)
        .and_then(|dot| name.split_at_checked(dot))
        .filter(|(_, extension)| (2..=MAX_EXTENSION_BYTES + 1).contains(&extension.len()))
        .unwrap_or((name, ""))
}

/// `CON.pdf` becomes `CON_.pdf`: Windows opens the device, whatever the extension.
fn mark_device(name: &str) -> String {
    let base = name.split('.').next().unwrap_or(name).trim_end();
    match name.strip_prefix(base) {
        Some(rest) if is_device(base) => format!("{base}_{rest}"),
        _ => name.to_owned(),
    }
}

/// Whether Windows takes this name for a device, whatever the extension.
pub fn is_device(base: &str) -> bool {
    let upper = base.to_ascii_uppercase();
    let number = |rest: &str| {
        let mut chars = rest.chars();
        chars.next().is_some_and(|c| c.is_ascii_digit() || "¹²³".contains(c)) && chars.next().is_none()
    };
    matches!(upper.as_str(), "CON" | "PRN" | "AUX" | "NUL" | "CONIN$" | "CONOUT$" | "CLOCK$")
        || ["COM", "LPT"].iter().filter_map(|device| upper.strip_prefix(device)).any(number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn joined(rendered: &str) -> String {
        relative_path(rendered).join("|")
    }

    #[test]
    fn only_separators_make_folders_and_none_leads_out() {
        assert_eq!(joined("a/b\\c.pdf"), "a|b|c.pdf");
        assert_eq!(joined("/../../etc//./passwd"), "etc|passwd");
        assert_eq!(joined("C:\\x\\.. \\y.pdf"), "C_|x|y.pdf");
        assert_eq!(joined("../ . /.. ./"), UNKNOWN);
        assert_eq!(file_name("a/b\\c"), "a_b_c");
    }

    #[test]
    fn characters_that_windows_refuses_or_nobody_sees_are_gone() {
        assert_eq!(joined("a:b*c?d\"e<f>g|h.pdf"), "a_b_c_d_e_f_g_h.pdf");
        assert_eq!(joined("  a\u{0}\u{1f}\u{7f}\u{85}\u{202e}\u{200b}\u{feff}b. . "), "ab");
        assert_eq!(value(" ..\u{200b}a/b. "), "a_b");
        assert_eq!(value("..\u{202e}"), UNKNOWN);
    }

    #[test]
    fn two_spellings_of_a_name_are_one() {
        let spelled = ["Zoe\u{308} A\u{30a}s", "Zoë Ås", "Zoe\u{200b}\u{308} \u{212b}s"];
        for text in spelled {
            assert_eq!(
                (value(text).as_str(), joined(text).as_str(), file_name(text).as_str()),
                ("Zoë Ås", "Zoë Ås", "Zoë Ås")
            );
        }
        // Also composes across the end of a value.
        assert_eq!(file_name(&format!("{}{}", value("Zoe"), "\u{308}.pdf")), "Zoë.pdf");
    }

    #[test]
    fn composing_makes_no_character_that_is_not_legal() {
        for c in ('\0'..=char::MAX).filter(|c| legal(*c) == Some(*c)) {
            assert!(c.to_string().nfc().all(|composed| legal(composed) == Some(composed)), "{c:?}");
        }
    }

    #[test]
    fn device_names_are_marked_whatever_their_case_and_extension() {
        for (name, expected) in [
            ("con", "con_"),
            ("Aux.tar.gz", "Aux_.tar.gz"),
            ("NUL.pdf", "NUL_.pdf"),
            ("CON .txt", "CON_ .txt"),
            ("com0.pdf", "com0_.pdf"),
            ("LPT³", "LPT³_"),
            ("COM10.pdf", "COM10.pdf"),
            ("CONIN$", "CONIN$_"),
            ("clock$.x", "clock$_.x"),
            ("console.pdf", "console.pdf"),
        ] {
            assert_eq!(file_name(name), expected);
        }
        assert_eq!(joined("aux/x.pdf"), "aux_|x.pdf");
    }

    #[test]
    fn long_names_are_cut_between_characters_and_keep_their_extension() {
        let name = file_name(&format!("{}.pdf", "é".repeat(300)));
        assert_eq!((name.len(), name.ends_with("é.pdf")), (200, true));
        assert_eq!(file_name(&format!("a.{}", "x".repeat(300))).len(), 200);
        assert_eq!(joined(&"d/".repeat(40)).split('|').count(), 16);
        // Cutting may reveal a device name.
        assert_eq!(file_name(&format!("con{}x.pdf", " ".repeat(300))), "con_.pdf");
    }

    #[test]
    fn a_suffix_goes_before_the_extension_and_always_fits() {
        assert_eq!(with_suffix("Letter.pdf", "1a2b3c4d"), "Letter_1a2b3c4d.pdf");
        assert_eq!(with_suffix("Letter", "1a2b3c4d_2"), "Letter_1a2b3c4d_2");
        let long = with_suffix(&file_name(&format!("{}.pdf", "x".repeat(300))), "1a2b3c4d");
        assert_eq!((long.len(), long.ends_with("x_1a2b3c4d.pdf")), (200, true));
        assert_eq!((stem("a.b.pdf"), stem(".pdf")), ("a.b", ".pdf"));
    }

    fn assert_contract(part: &str) {
        assert!(!part.is_empty() && part.len() <= MAX_PART_BYTES, "{part:?}");
        assert!(part != "." && part != "..", "{part:?}");
        assert!(!part.ends_with(['.', ' ']) && !part.starts_with(' '), "{part:?}");
        assert!(part.chars().all(|c| legal(c) == Some(c)), "{part:?}");
        assert!(!is_device(part.split('.').next().unwrap().trim_end()), "{part:?}");
    }

    proptest! {
        #[test]
        fn whatever_is_rendered_the_parts_keep_the_contract(text in "(\\PC|[./\\\\ \u{0}-\u{1f}]|con|lpt1|\u{202e}){0,90}") {
            let parts = relative_path(&text);
            prop_assert!(!parts.is_empty() && parts.len() <= MAX_PARTS);
            parts.iter().for_each(|part| assert_contract(part));
            prop_assert_eq!(relative_path(&parts.join("/")), parts);
        }

        #[test]
        fn long_and_odd_names_keep_the_contract_with_and_without_suffix(text in "(con|[ .]|é|\\.pdf|x{0,60}| {0,99}){0,30}") {
            let name = file_name(&text);
            assert_contract(&name);
            prop_assert_eq!(&file_name(&name), &name);
            for suffix in ["1a2b3c4d", "1a2b3c4d_999", ""] {
                let suffixed = with_suffix(&name, suffix);
                assert_contract(&suffixed);
                prop_assert_ne!(suffixed, name.clone());
            }
        }
    }
}
