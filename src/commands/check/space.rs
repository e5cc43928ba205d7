//! Whether waiting letters have room on the disk of the spool and of each folder.

use std::path::Path;

use super::super::told;
use super::findings::Findings;
use crate::config::Config;
use crate::formats::language::Language;
use crate::system::durable;

pub(super) fn check(config: &Config, language: Language, findings: &mut Findings) {
    // Two accounts may list the same document. Then less is needed.
    let needed = findings.seen.iter().map(|seen| seen.bytes).sum();
    let mut look = |what: &str, path: &Path| {
        let there = path.ancestors().find(|folder| folder.exists()).unwrap_or(Path::new("."));
        if let Some(wrong) = durable::free_space(there).ok().and_then(|free| short_of(there, free, needed, language)) {
            findings.fail(what, &wrong);
        }
    };
    look("spool", &config.state.path.with_file_name("spool"));
    for destination in config.destinations.values() {
        if let Some(folder) = destination.settings.folder()
            && folder.is_dir()
        {
            look(&format!("destination {}", destination.name), folder);
        }
    }
}

/// What is wrong if this many bytes are free and this many wait.
fn short_of(path: &Path, free: u64, needed: u64, language: Language) -> Option<String> {
    let path = path.display().to_string();
    let size = |bytes| told::size(language, bytes);
    let (left, waits) = (size(free), size(needed));
    match free {
        0 => Some(language.fill("check-full", &[("path", (&path).into())])),
        _ if free < needed => {
            let values = [("path", (&path).into()), ("left", (&left).into()), ("needed", (&waits).into())];
            Some(language.fill("check-short", &values))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disk_with_less_room_than_what_waits_needs_is_named() {
        let path = Path::new("/srv/import");
        let said = short_of(path, 1024 * 1024, 5 * 1024 * 1024, Language::English).unwrap();
        assert_eq!(
            said,
            "the disk that holds /srv/import has 1.0 MiB free, and what waits needs about 5.0 MiB: free space on it"
        );
        assert!(short_of(path, 0, 0, Language::English).unwrap().contains("is full"));
        assert_eq!(short_of(path, 5, 5, Language::English), None);
    }
}
