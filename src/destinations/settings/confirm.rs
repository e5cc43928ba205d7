//! `confirm`, `confirm_failed`, `confirm_within`

use std::sync::Arc;

use super::keys::SharedKeys;
use super::sidecar::SidecarConfig;
use crate::config::build::At;
use crate::config::{Confirm, Evidence, SidecarLine};
use crate::domain::name;
use crate::formats::sidecar::Charset;
use crate::formats::template::{Context, Template};

/// What a letter gets in the destination, and a look could see.
pub(crate) struct Given<'a> {
    pub(crate) file_name: Option<&'a Arc<Template>>,
    pub(crate) sidecar: Option<&'a SidecarConfig>,
}

/// For a destination that names the PDF below a folder.
pub(crate) fn of_folder(at: &mut At<'_, '_>, raw: &mut SharedKeys, given: &Given<'_>) -> Option<Confirm> {
    let failed = raw.confirm_failed.take();
    let success = text(at, raw)?;
    let success = evidence(at, "confirm", &success, given);
    let failed = failed.map(|text| evidence(at, "confirm_failed", &text, given));
    let confirm = Confirm {
        success: success?,
        failed: failed.map_or(Some(None), |failed| failed.map(Some))?,
        within: raw.confirm_within?,
        charset: given.sidecar.map(|sidecar| sidecar.form.charset).unwrap_or_default(),
    };
    if confirm.failed.as_ref().is_some_and(|failed| is_the_same(failed, &confirm.success)) {
        let fix = "Name what the software does with a letter that it refuses, or remove it.";
        return at.refuse("confirm_failed", "is the same as `confirm`", fix);
    }
    Some(confirm)
}

/// For a server with a search.
pub(crate) fn of_query(at: &mut At<'_, '_>, raw: &mut SharedKeys) -> Option<Confirm> {
    let text = text(at, raw)?;
    if text.trim().eq_ignore_ascii_case("query") {
        return Some(Confirm {
            success: Evidence::Query,
            failed: None,
            within: raw.confirm_within?,
            charset: Charset::default(),
        });
    }
    let fix = "Write confirm = \"query\", or remove it.";
    at.refuse("confirm", "is not for a server that is searched, which shows no files", fix)
}

/// For an HTTP service.
pub(crate) fn of_http(at: &mut At<'_, '_>, raw: &mut SharedKeys, has_probe: bool) -> Option<Confirm> {
    let text = text(at, raw)?;
    let mut wrong = |what: &str, fix: &str| at.refuse("confirm", what, fix);
    if !text.trim().eq_ignore_ascii_case("probe") {
        return wrong(
            "is not for a service over HTTP, which shows no files",
            "Write confirm = \"probe\", and `probe_url`.",
        );
    }
    if !has_probe {
        let fix = "Write the address that shows a document that was taken: probe_url = \"https://…/{{ key }}\".";
        return wrong("is \"probe\", and `probe_url` is missing", fix);
    }
    Some(Confirm { success: Evidence::Probe, failed: None, within: raw.confirm_within?, charset: Charset::default() })
}

/// `confirm`, without which the others mean nothing.
fn text(at: &mut At<'_, '_>, raw: &mut SharedKeys) -> Option<String> {
    let text = raw.confirm.take();
    for key in ["confirm_failed", "confirm_within"] {
        // An explicit default is allowed: `config show` prints it.
        if text.is_none() && at.is_own(key) {
            let fix = "Write what the software does with a letter that it takes, as in confirm = \"taken\".";
            at.error(key, "means nothing without `confirm`", fix);
        }
    }
    text
}

fn is_the_same(one: &Evidence, other: &Evidence) -> bool {
    match (one, other) {
        // On some systems these are one folder.
        (Evidence::Moved(one), Evidence::Moved(other)) => one.to_lowercase() == other.to_lowercase(),
        _ => one == other,
    }
}

fn evidence(at: &mut At<'_, '_>, key: &str, text: &str, given: &Given<'_>) -> Option<Evidence> {
    let is_success = key == "confirm";
    let (word, rest) = text.split_once(':').map_or((text, None), |(word, rest)| (word, Some(rest)));
    let found = match (word.trim().to_ascii_lowercase().as_str(), rest) {
        ("taken", None) if is_success => Ok(Evidence::Taken),
        ("renamed", None) if is_success => Ok(Evidence::Renamed),
        ("moved", Some(folder)) => moved(folder, given.file_name).map(Evidence::Moved),
        ("sidecar", Some(line)) => sidecar(line, is_success, given.sidecar).map(Evidence::Sidecar),
        ("probe", None) => Err((
            "is \"probe\", which is for a service over HTTP".to_owned(),
            "Write what the software does with the file: \"taken\", \"moved:DIR\", \"renamed\" or \"sidecar:KEY=VALUE\".",
        )),
        _ if is_success => Err((
            "is none of \"taken\", \"moved:DIR\", \"renamed\", \"sidecar:KEY=VALUE\"".to_owned(),
            "Write what the software does with a letter that it takes, as in confirm = \"moved:imported\".",
        )),
        _ => Err((
            "is none of \"moved:DIR\", \"sidecar:KEY=VALUE\", \"sidecar:KEY!=VALUE\"".to_owned(),
            "Write what the software does with a letter that it refuses, as in confirm_failed = \"moved:refused\".",
        )),
    };
    found.map_err(|(what, fix)| at.error(key, &what, fix)).ok()
}

type Wrong = (String, &'static str);

/// The folder, with `/`.
fn moved(folder: &str, file_name: Option<&Arc<Template>>) -> Result<String, Wrong> {
    let fix = "Name a folder of its own below `path`, as in \"moved:imported\".";
    let text = folder.trim().replace('\\', "/");
    let parts: Vec<&str> = text.trim_end_matches('/').split('/').filter(|part| *part != ".").collect();
    if parts.iter().any(|part| part.is_empty() || *part == ".." || part.contains(':')) || parts.is_empty() {
        return Err(("does not name a folder below `path`".to_owned(), fix));
    }
    let folder = parts.join("/");
    // Values make other folders, which are unknown in advance.
    let rendered = file_name.and_then(|template| template.render(&Context::sample("")).ok());
    if let Some(rendered) = rendered {
        let mut filed = name::relative_path(&rendered);
        filed.pop();
        if filed.join("/").to_lowercase() == folder.to_lowercase() {
            return Err(("names a folder that `file_name` files into".to_owned(), fix));
        }
    }
    Ok(folder)
}

fn sidecar(line: &str, is_success: bool, sidecar: Option<&SidecarConfig>) -> Result<SidecarLine, Wrong> {
    let Some(line) = SidecarLine::parse(line).filter(|line| !(is_success && line.is_negative())) else {
        let what = if is_success {
            "is not \"sidecar:KEY=VALUE\""
        } else {
            "is not \"sidecar:KEY=VALUE\" or \"sidecar:KEY!=VALUE\""
        };
        return Err((what.to_owned(), "Write the line that the software writes, as in \"sidecar:READY=1\"."));
    };
    let Some(sidecar) = sidecar else {
        return Err(("waits for a line in the sidecar, and there is none".to_owned(), "Write `sidecar`."));
    };
    if sidecar.content.render(&Context::sample("file_name.pdf")).is_ok_and(|text| line.holds_in(&text)) {
        let fix = "Let `sidecar` say something else, as in READY=0, which the software changes.";
        return Err(("holds already of what `sidecar` writes".to_owned(), fix));
    }
    Ok(line)
}
