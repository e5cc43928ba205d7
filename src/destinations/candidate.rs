//! The names that a document may get in its folder, in the order in which they are tried. Pure.

use super::Item;
use crate::domain::document::{DocumentUuid, Metadata};
use crate::domain::name;
use crate::domain::reservation::{Known, Place};
use crate::formats::template::{Context, Template, TemplateError};

/// The most names that are tried for one document: the plain one, the one with the short uuid, then numbered ones.
pub(super) const MAX_NAMES: usize = 1000;

/// How many versions beyond the known one a restored ledger may have forgotten.
const FORGOTTEN: u32 = 4;

/// The names under which a document may lie that a restored ledger has forgotten: the version's number, and the index
/// of the name. The name with the short uuid comes first, because the plain one may be another document's.
pub(super) fn forgotten(item: &Item, known: &Known) -> impl Iterator<Item = (u32, usize)> + use<> {
    let versions = known.version..=known.version.saturating_add(FORGOTTEN);
    let is_restored = item.restored;
    versions.take_while(move |_| is_restored).flat_map(|version| [(version, 1), (version, 0)])
}

/// The folders that `file_name` gives for the delivery of this key, joined by `/`, and the name in them.
pub(super) fn wanted(file_name: &Template, metadata: &Metadata, key: &str) -> Result<(String, String), TemplateError> {
    let rendered = file_name.render(&Context::new(metadata).with_identity(key))?;
    let path = name::relative_path(&rendered).join("/");
    let (within, file) = split(&path);
    Ok((within.to_owned(), file.to_owned()))
}

/// Splits a path into its folders and its name.
pub(super) fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

/// The folders of a path.
pub(super) fn parts(within: &str) -> impl Iterator<Item = &str> {
    within.split('/').filter(|part| !part.is_empty())
}

/// A path below a folder; without a path, the folder itself.
pub(super) fn below(folder: &str, path: &str) -> String {
    match (folder, path) {
        ("", _) => path.to_owned(),
        (_, "") => folder.to_owned(),
        ("/", _) => format!("/{path}"),
        _ => format!("{folder}/{path}"),
    }
}

/// A possible name of the document in its folder.
pub(super) struct Candidate {
    pub(super) name: String,
    /// The name without the version's number.
    pub(super) family: String,
}

impl Candidate {
    /// `Letter.pdf`, `Letter_1a2b3c4d.pdf`, `Letter_1a2b3c4d_2.pdf`…; for the second version `Letter_v2.pdf`,
    /// `Letter_1a2b3c4d_v2.pdf`…
    pub(super) fn of(uuid: &DocumentUuid, file: &str, version: u32, index: usize) -> Self {
        let short = uuid.short();
        let family = match index {
            0 => String::new(),
            1 => short,
            n => format!("{short}_{n}"),
        };
        let version = if version > 1 { format!("v{version}") } else { String::new() };
        let both =
            [family.as_str(), &version].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("_");
        let with = |suffix: &str| if suffix.is_empty() { file.to_owned() } else { name::with_suffix(file, suffix) };
        Self { name: with(&both), family: with(&family) }
    }
}

/// The index of the name that the document already has, or of the one that matches its earlier version's.
pub(super) fn known_before(
    known: &Known,
    candidate: impl Fn(usize) -> Candidate,
    place: impl Fn(&str) -> Place,
) -> Option<usize> {
    let own = (0..MAX_NAMES).find(|index| known.own.contains(&place(&candidate(*index).name)));
    own.or_else(|| (0..MAX_NAMES).find(|index| known.families.contains(&place(&candidate(*index).family))))
}

/// The name that a delivery would try first, and the next one, as far as they can be predicted.
pub(super) fn planned(
    uuid: &DocumentUuid,
    file: &str,
    known: &Known,
    place: impl Fn(&str) -> Place,
) -> (String, String) {
    let candidate = |index: usize| Candidate::of(uuid, file, known.version, index);
    let is_new = known.own.is_empty() && known.families.is_empty();
    let first = if is_new { 0 } else { known_before(known, candidate, place).unwrap_or(0) };
    (candidate(first).name, candidate(first + 1).name)
}

/// The start of temporary names.
pub(super) const TEMPORARY: &str = ".docsyncd-";

/// The temporary name of a delivery's file: the same for every attempt, so that one attempt removes what another left.
pub(super) fn temporary(key: &str, end: &str) -> String {
    let plain = (1..=64).contains(&key.len()) && key.bytes().all(|b| b.is_ascii_alphanumeric());
    let key = if plain { key.to_owned() } else { super::files::Digest::of(key.as_bytes()).sha256 };
    format!("{TEMPORARY}{key}{end}")
}
