//! An INI file as Windows reads it. Names ignore letter case, the first entry of a name counts, and quotation marks
//! around a value are no part of it.

/// Sections with their entries, in the order of the file.
#[derive(Debug)]
pub struct Ini<'a>(Vec<(&'a str, Vec<(&'a str, &'a str)>)>);

impl<'a> Ini<'a> {
    /// Ignores lines that are no entry, and entries outside of sections.
    pub fn parse(text: &'a str) -> Self {
        let mut sections: Vec<(&str, Vec<(&str, &str)>)> = Vec::new();
        for line in text.lines().map(str::trim).filter(|line| !line.starts_with(';')) {
            if let Some(name) = section(line) {
                sections.push((name, Vec::new()));
            } else if let (Some((_, entries)), Some((key, value))) = (sections.last_mut(), line.split_once('=')) {
                let value = value.trim();
                let bare = value.strip_prefix('"').and_then(|value| value.strip_suffix('"'));
                entries.push((key.trim(), bare.unwrap_or(value)));
            }
        }
        Self(sections)
    }

    /// The entries of a section; `None` without that section.
    pub fn entries(&self, section: &str) -> Option<impl Iterator<Item = (&'a str, &'a str)> + '_> {
        let found = self.0.iter().find(|(name, _)| name.eq_ignore_ascii_case(section))?;
        Some(found.1.iter().copied())
    }

    /// The sections with this entry.
    pub fn sections_with(&self, key: &str) -> impl Iterator<Item = &'a str> {
        self.0
            .iter()
            .filter(move |(_, entries)| entries.iter().any(|(name, _)| name.eq_ignore_ascii_case(key)))
            .map(|(name, _)| *name)
    }

    /// One value.
    pub fn get(&self, section: &str, key: &str) -> Option<&'a str> {
        self.entries(section)?.find(|(name, _)| name.eq_ignore_ascii_case(key)).map(|(_, value)| value)
    }
}

/// The lines outside of these sections.
pub(super) fn without(text: &str, sections: &[&str]) -> String {
    let (mut is_kept, mut kept) = (true, String::new());
    for line in text.lines() {
        if let Some(name) = section(line.trim()) {
            is_kept = !sections.iter().any(|other| name.eq_ignore_ascii_case(other));
        }
        if is_kept {
            kept.push_str(line.trim_end_matches('\r'));
            kept.push('\n');
        }
    }
    kept
}

/// The name of the section that begins with this line.
pub(super) fn section(line: &str) -> Option<&str> {
    line.strip_prefix('[')?.split_once(']').map(|(name, _)| name.trim())
}
