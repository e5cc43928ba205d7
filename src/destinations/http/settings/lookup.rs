//! `type = "http"`: how to ask a service for the patient, and for the document.

use super::{HttpBody, HttpConfig, HttpKeys, Lookup, fields, same_host};
use crate::destinations::settings::*;
use crate::formats::template::Context;

/// At least so many characters must differ between letters: a shorter part of a key would soon match another letter.
const TELLING: usize = 16;

/// Two identities that differ in every character, and that no template contains by itself.
const TWO: [&str; 2] = ["5eb1c0ffee5eb1c0ffee5eb1c0ffee00", "6fc2d100ff6fc2d100ff6fc2d100ff11"];

/// `lookup_url`, `lookup_field`, `lookup_match`
#[expect(clippy::option_option, reason = "the outer None is a wrong one, the inner one is none at all")]
pub(super) fn lookup(at: &mut At<'_, '_>, own: &mut HttpKeys, origin: &Url) -> Option<Option<Lookup>> {
    let Some(source) = own.lookup_url.take() else {
        at.warn_of_given(&["lookup_field", "lookup_match"], "has no effect without `lookup_url`");
        return Some(None);
    };
    same_host(at, "lookup_url", &source, origin)?;
    let url = template(at, "lookup_url", TemplateKind::Url, &source)?;
    let wanted = fields(at, "lookup_match", std::mem::take(&mut own.lookup_match))?;
    let mut wrong = |key: &str, what: &str, fix: &str| at.refuse(key, what, fix);
    let Some(field) = own.lookup_field.take() else {
        let fix = "Name the field that identifies a patient there: lookup_field = \"PatNum\".";
        return wrong("lookup_url", "does not say what of its answer is wanted: `lookup_field` is missing", fix);
    };
    if wanted.is_empty() {
        let fix = "Write lookup_match = { LName = \"{{ patient.lastName }}\", Birthdate = \"{{ patient.dateOfBirth | date }}\" }.";
        return wrong(
            "lookup_url",
            "is trusted with whom it finds: `lookup_match` is missing, by which that is compared",
            fix,
        );
    }
    let is_early = |template: &Template| template.mentions("lookup") || template.mentions("offset");
    if is_early(&url) || wanted.iter().any(|(_, value)| is_early(value)) {
        return wrong(
            "lookup_url",
            "or lookup_match uses {{ lookup }} or {{ offset }}, which are not known yet",
            "Remove it.",
        );
    }
    if !wanted.iter().any(|(_, value)| value.source().contains("patient")) {
        let fix = "Write lookup_match = { LName = \"{{ patient.lastName }}\", Birthdate = \"{{ patient.dateOfBirth | date }}\" }.";
        return wrong("lookup_match", "compares nothing of the patient: whoever is found would count", fix);
    }
    if !wanted.iter().any(|(_, value)| value.source().contains("dateOfBirth")) {
        let what = "compares no date of birth: two patients of one name are not told apart by it";
        at.warn("lookup_match", what);
    }
    Some(Some(Lookup { url, field, wanted }))
}

type Probe = (Option<Arc<Template>>, Vec<(String, Arc<Template>)>);

/// `probe_url`, `probe_contains`
pub(super) fn probe(at: &mut At<'_, '_>, own: &mut HttpKeys, origin: &Url) -> Option<Probe> {
    let Some(source) = own.probe_url.take() else {
        at.warn_of_given(&["probe_contains"], "has no effect without `probe_url`");
        return Some((None, Vec::new()));
    };
    same_host(at, "probe_url", &source, origin)?;
    let url = template(at, "probe_url", TemplateKind::Url, &source)?;
    let marks = fields(at, "probe_contains", std::mem::take(&mut own.probe_contains))?;
    if marks.is_empty() && !url.is_unique() {
        let fix = "Put {{ key }}, {{ uuid }} or {{ document.uuid }} into it; if it answers with a list, write probe_contains.";
        at.error("probe_url", "is the same for every document", fix);
    }
    if marks.is_empty() && url.is_unique() && !url.is_per_version() {
        let what = "is the same for each version of a document: put {{ key }} into it, or a letter that was rendered anew, or \
                    corrected, is not seen there";
        at.warn("probe_url", what);
    }
    if !marks.is_empty() && !marks.iter().any(|(_, mark)| mark.is_per_version()) {
        let fix = "Write {{ key }}, or a part of it such as {{ key | truncate(20) }}, that the document is sent with.";
        at.error("probe_contains", "is the same for several documents", fix);
    } else if marks.is_empty() && url.is_unique() && telling(&[&url]) < TELLING {
        let fix =
            "Put all of {{ key }}, {{ uuid }} or {{ document.uuid }} into it, whatever else is true of the document.";
        at.error("probe_url", &hardly_tells(), fix);
    } else if !marks.is_empty() && telling(&marks.iter().map(|(_, mark)| &**mark).collect::<Vec<_>>()) < TELLING {
        let fix =
            "Write {{ key }}, or a part of it such as {{ key | truncate(20) }}, whatever else is true of the document.";
        at.error("probe_contains", &hardly_tells(), fix);
    }
    Some((Some(url), marks))
}

fn hardly_tells() -> String {
    format!("hardly tells documents apart: fewer than {TELLING} characters of it are another document's own")
}

/// How many characters of the rendered templates differ between documents.
fn telling(templates: &[&Template]) -> usize {
    let differ = |template: &&Template| {
        let [one, other] = TWO.map(|identity| template.render(&Context::sample_of("file_name.pdf", identity)).ok());
        let (one, other) = (one?, other?);
        Some(one.chars().zip(other.chars()).filter(|(one, other)| one != other).count())
    };
    templates.iter().filter_map(differ).sum()
}

/// Whether the templates' variables are known, and the marks to look for are sent.
pub(super) fn fits(at: &mut At<'_, '_>, config: &HttpConfig) -> Option<()> {
    let (json, parts) = match &config.body {
        HttpBody::Raw => (None, &[][..]),
        HttpBody::Json(json) => (Some(json), &[][..]),
        HttpBody::Multipart { fields, .. } => (None, fields.as_slice()),
    };
    let sent: Vec<(&str, &Template)> = [("url", &*config.url)]
        .into_iter()
        .chain(json.map(|json| ("json", &**json)))
        .chain(parts.iter().map(|(_, part)| ("fields", &**part)))
        .chain(config.headers.iter().map(|(_, header)| ("headers", &**header)))
        .collect();
    let mut wrong = |key: &str, what: &str, fix: &str| at.refuse(key, what, fix);
    let asked = config.probe_url.iter().map(|url| ("probe_url", &**url));
    if config.lookup.is_none()
        && let Some((key, _)) = sent.iter().copied().chain(asked).find(|(_, template)| template.mentions("lookup"))
    {
        let fix = "Write lookup_url, lookup_field and lookup_match.";
        return wrong(key, "uses {{ lookup }}, and there is no `lookup_url`", fix);
    }
    if config.url.mentions("offset") {
        return wrong("url", "uses {{ offset }}, which is for lists", "Remove it.");
    }
    if config.lookup.is_some() && !sent.iter().any(|(_, template)| template.mentions("lookup")) {
        let fix =
            "Put {{ lookup }} into `url`, `json`, `fields` or `headers`, where the service takes the patient from.";
        return wrong("lookup_url", "finds a patient whom no document is sent to: {{ lookup }} is used nowhere", fix);
    }
    let [identity, _] = TWO;
    let context = Context::sample("file_name.pdf").with_identity(identity);
    let rendered: Vec<String> = sent.iter().filter_map(|(_, template)| template.render(&context).ok()).collect();
    let is_sent = |mark: &Template| {
        mark.render(&context).is_ok_and(|mark| rendered.iter().any(|text| text.contains(mark.trim())))
    };
    if config.probe_contains.iter().any(|(_, mark)| !is_sent(mark)) {
        let fix = "Put the same into `json`, `fields`, `headers` or `url`, where the service takes it from.";
        return wrong("probe_contains", "is nothing that a document is sent with, so none would be found", fix);
    }
    Some(())
}
