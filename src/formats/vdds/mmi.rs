//! `VDDS_MMI.INI`, the register of all participants: `[PVS]` and `[BVS]` list them (NAME1, NAME2, …), and each has a
//! section of its name. All lines but docsyncd's own stay unchanged.

use super::ini;

/// docsyncd's name in the register.
pub const OURS: &str = "DOCSYNCD";

/// The list of docsyncd: programs that keep pictures and documents.
const LIST: &str = "BVS";

/// The number of Windows, or of Unix, in the entries `…_OS`.
const SYSTEM: &str = if cfg!(windows) { "1" } else { "3" };

/// The lines with their ends, each with its section's name.
fn lines(bytes: &[u8]) -> impl Iterator<Item = (String, &[u8])> {
    bytes.split_inclusive(|byte| *byte == b'\n').scan(String::new(), |section, line| {
        if let Some(name) = ini::section(super::text(line).trim()) {
            *section = name.to_ascii_uppercase();
        }
        Some((section.clone(), line))
    })
}

/// The text on both sides of `=`; `None` without one, or in a remark.
fn entry(line: &[u8]) -> Option<(String, String)> {
    let text = super::text(line);
    let (key, value) = text.split_once('=').filter(|_| !text.trim_start().starts_with(';'))?;
    Some((key.trim().to_ascii_uppercase(), value.trim().to_owned()))
}

/// The file without docsyncd.
pub fn unregistered(bytes: &[u8]) -> Vec<u8> {
    let is_others = |(section, line): &(String, &[u8])| {
        let is_header = ini::section(super::text(line).trim()).is_some();
        match section.as_str() {
            OURS => !is_header && entry(line).is_none(),
            LIST => entry(line).is_none_or(|(_, value)| !value.eq_ignore_ascii_case(OURS)),
            _ => true,
        }
    };
    lines(bytes).filter(is_others).flat_map(|(_, line)| line).copied().collect()
}

/// The file with docsyncd, whose PDFs are fetched by starting this program.
pub fn registered(bytes: &[u8], program: &[u8]) -> Vec<u8> {
    let mut file = unregistered(bytes);
    let first = lines(&file).next().map_or(&[][..], |(_, line)| line);
    let end: &[u8] = if first.ends_with(b"\n") && !first.ends_with(b"\r\n") { b"\n" } else { b"\r\n" };
    if file.last().is_some_and(|last| *last != b'\n') {
        file.extend_from_slice(end);
    }
    let (mut number, mut after, mut at) = (0, None, 0);
    for (section, line) in lines(&file) {
        at += line.len();
        if section == LIST && !line.trim_ascii().is_empty() {
            after = Some(at);
            let named = entry(line).and_then(|(key, _)| key.strip_prefix("NAME")?.parse::<u32>().ok());
            number = number.max(named.unwrap_or(0));
        }
    }
    let of_lines = |lines: &[&[u8]]| lines.iter().flat_map(|line| [*line, end].concat()).collect::<Vec<u8>>();
    let name = format!("NAME{}={OURS}", number.saturating_add(1));
    match after {
        Some(after) => drop(file.splice(after..after, of_lines(&[name.as_bytes()]))),
        None => file.extend(of_lines(&[format!("[{LIST}]").as_bytes(), name.as_bytes()])),
    }
    let (header, system) = (format!("[{OURS}]"), format!("MMOEXPORT_OS={SYSTEM}"));
    let export = [b"MMOEXPORT=", program].concat();
    file.extend(of_lines(&[
        header.as_bytes(),
        b"NAME=docsyncd",
        &export,
        system.as_bytes(),
        b"STAGES=4",
        b"VERSION=1.4",
    ]));
    file
}
