//! A number arrives unchanged or not at all: what is written is read back as its reader would.

use std::collections::BTreeMap;
use std::sync::Mutex;

use proptest::prelude::*;

use super::*;
use crate::domain::name;

/// Numbers as no practice has them: made of what is special somewhere.
pub(crate) fn odd_numbers() -> impl Strategy<Value = String> {
    const SPECIAL: [&str; 24] = [
        "CON", "nul", "COM1", "lpt³", "e\u{301}", "\u{301}", "😀", "{{", "%2F", "''", "\"\"", "..", "&amp;", "=?",
        "\\E\\", "\u{200b}", "\u{202e}", "\u{2028}", "\u{feff}", "\u{fdd0}", "\u{fdd1}", "\u{fdd2}", "\u{fffe}", "  ",
    ];
    const SIGNS: &str = "./\\:*?\"<>|,;$&^~%#'=+@-_ ()[]\u{a0}\t\u{1}\u{7f}\u{85}ŁłéßäÄŸ²½１Ａİ＝｜";
    let signs: Vec<String> = SIGNS.chars().map(String::from).collect();
    let part = prop_oneof![
        4 => "[0-9]{1,4}",
        2 => "[A-Za-z]{1,3}",
        2 => proptest::sample::select(signs),
        1 => proptest::sample::select(SPECIAL.map(str::to_owned).to_vec()),
        1 => Just("x".repeat(70)),
    ];
    proptest::collection::vec(part, 1..5)
        .prop_map(|parts| parts.concat().trim().to_owned())
        .prop_filter("a number is never empty", |number| !number.is_empty())
}

fn of(number: &str) -> Context {
    let pdf = Spooled { path: "/spool/x".into(), in_memory: None, size: 7, sha256: "ab".into() };
    Context::new(&Metadata { number: Some(number.to_owned()), ..letter() }).with_pdf("Letter.pdf", &pdf, "k1")
}

/// Compiled once: compiling takes longer than rendering, and a thousand numbers are tried.
fn compiled(kind: TemplateKind, source: &str) -> Template {
    static COMPILED: Mutex<BTreeMap<String, Template>> = Mutex::new(BTreeMap::new());
    let mut compiled = COMPILED.lock().unwrap();
    let template = || Template::compile(kind, source).unwrap();
    compiled.entry(format!("{kind:?} {source}")).or_insert_with(template).clone()
}

fn written(kind: TemplateKind, source: &str, number: &str) -> Option<String> {
    let rendered = compiled(kind, source).render(&of(number));
    if let Err(error) = &rendered {
        assert_eq!(error.changed(), Some(Changed { is_number: true }), "{source} {number:?} {error}");
        assert!(number.chars().count() < 3 || !error.to_string().contains(number), "{error}");
    }
    rendered.ok()
}

fn path(source: &str, number: &str) -> Option<Vec<String>> {
    written(TemplateKind::FileName, source, number).map(|text| name::relative_path(&text))
}

fn in_xml(text: &str) -> String {
    [("&quot;", "\""), ("&#39;", "'"), ("&#13;", "\r"), ("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&")]
        .iter()
        .fold(text.to_owned(), |text, (escape, c)| text.replace(escape, c))
}

/// What each reader finds, for each way in which a template can get at the number.
fn read_back(number: &str) -> Vec<(&'static str, String)> {
    let mut found = Vec::new();
    let mut put = |what, read: Option<String>| found.extend(read.map(|read| (what, read)));
    for expression in [
        "patient.number",
        "patient['number']",
        "patient.number ~ ''",
        "[patient.number] | join",
        "{'n': patient.number}.n",
        "patient.number | default('x')",
    ] {
        let n = format!("{{{{ {expression} }}}}");
        put(
            "the file's name",
            path(&format!("{n}.pdf"), number).and_then(|parts| Some(parts.last()?.strip_suffix(".pdf")?.to_owned())),
        );
        let folders = path(&format!("a/{n}/{{{{ patient.lastName }}}}_{n}.pdf"), number);
        put("a folder", folders.as_ref().map(|parts| parts[1].clone()));
        put(
            "beside words",
            folders.map(|parts| parts[2].trim_start_matches("Müller_Dupont_").trim_end_matches(".pdf").to_owned()),
        );
        let sidecar =
            written(TemplateKind::SidecarName, &format!("{n}.txt"), number).map(|text| name::file_name(&text));
        put("a sidecar's name", sidecar.map(|name| name.trim_end_matches(".txt").to_owned()));
        put("an argument", written(TemplateKind::Argument, &n, number));
        put("a field", written(TemplateKind::Field, &n, number));
        put("a plain text", written(TemplateKind::Text(TextFormat::Plain), &n, number));
        put(
            "XML",
            written(TemplateKind::Text(TextFormat::Xml), &format!("<a>{n}</a>"), number)
                .map(|text| in_xml(&text[3..text.len() - 4])),
        );
        let json = written(TemplateKind::JsonBody, &format!("{{\"a\": {n}, \"b\": \"x{n}\"}}"), number);
        let json: Option<Json> = json.map(|text| serde_json::from_str(&text).unwrap());
        put("JSON", json.as_ref().map(|json| json["a"].as_str().unwrap().to_owned()));
        put("a text in JSON", json.map(|json| json["b"].as_str().unwrap()[1..].to_owned()));
        put(
            "GDT",
            written(TemplateKind::Text(TextFormat::Gdt), &format!("3000{n}\n"), number)
                .map(|text| text[4..text.len() - 1].to_owned()),
        );
        let csv = written(TemplateKind::Text(TextFormat::Csv), &format!("a;{n};\"{n}\";b\n"), number);
        for at in [1, 2] {
            put(
                "CSV",
                csv.as_ref().map(|text| {
                    let mut reader =
                        ::csv::ReaderBuilder::new().delimiter(b';').has_headers(false).from_reader(text.as_bytes());
                    reader.records().next().unwrap().unwrap()[at].to_owned()
                }),
            );
        }
        for kind in [TemplateKind::Url, TemplateKind::Search] {
            let url =
                written(kind, &format!("https://h.test/p/{n}?q={n}"), number).map(|url| url::Url::parse(&url).unwrap());
            let part = url.as_ref().map(|url| url.path_segments().unwrap().nth(1).unwrap().to_owned());
            put(
                "a URL's path",
                part.map(|part| percent_encoding::percent_decode_str(&part).decode_utf8().unwrap().into_owned()),
            );
            put("a URL's query", url.map(|url| url.query_pairs().next().unwrap().1.into_owned()));
        }
    }
    found
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]
    #[test]
    fn a_number_is_read_as_it_is_or_the_letter_is_refused(number in odd_numbers()) {
        for (what, read) in read_back(&number) {
            prop_assert_eq!(&read, &number, "{}", what);
        }
    }
}

#[test]
fn every_usual_number_goes_everywhere() {
    for number in ["4711", "00471", "A12", "P-000123", "2026.17", "12_3", "7 b"] {
        assert_eq!(read_back(number).len(), 6 * 17, "{number}");
        assert!(read_back(number).iter().all(|(_, read)| read == number), "{number}");
    }
}

#[test]
fn what_a_place_cannot_hold_of_a_number_is_refused_and_words_are_cleaned() {
    for (source, refused) in [
        ("{{ patient.number }}.pdf", &["12/345", "471.", ".471", "CON", "com1", "1\u{202e}2", "e\u{301}1", " "][..]),
        ("{{ patient.lastName }} {{ patient.number }}/x.pdf", &["12/345", "a:b"]),
        ("{% macro m(n) %}{{ n }}{% endmacro %}{{ m(patient.number) }}", &["12/345"]),
        ("{% set n %}{{ patient.number }}{% endset %}{{ n }}", &["12/345"]),
        ("{{ patient.number | upper }}", &["a/1"]),
        ("{% for n in [patient.number] %}{{ n }}{% endfor %}", &["12/345"]),
    ] {
        for number in refused.iter().filter(|number| **number != " ") {
            assert_eq!(path(source, number), None, "{source} {number}");
        }
    }
    // An explicit filter is the administrator's will.
    assert_eq!(path("{{ patient.number | replace('/', '-') }}.pdf", "12/345").unwrap(), ["12-345.pdf"]);
    assert_eq!(path("{{ patient.lastName ~ '_' ~ patient.number }}.pdf", "12").unwrap(), ["Müller_Dupont_12.pdf"]);
}

#[test]
fn a_name_is_cut_in_its_words_and_never_in_a_number() {
    let long = "x".repeat(300);
    let whole = path(&format!("{{{{ patient.number }}}}_{long}.pdf"), "4711").unwrap();
    assert!(whole[0].starts_with("4711_x") && whole[0].len() == 200, "{whole:?}");
    assert_eq!(path(&format!("{long}_{{{{ patient.number }}}}.pdf"), "4711"), None);
    // Also where only another document of that name would have it cut.
    let nearly = "x".repeat(190);
    assert_eq!(path(&format!("{nearly}_{{{{ patient.number }}}}.pdf"), "4711"), None);
    let deep = format!("{}{{{{ patient.number }}}}/x.pdf", "d/".repeat(20));
    assert_eq!(path(&deep, "4711"), None);
}

#[test]
fn a_uuid_is_not_changed_either() {
    let metadata = metadata(json!({"uuid": "1a/2b"}), json!({"uuid": "3c/4d"}));
    for source in ["{{ document.uuid }}.pdf", "{{ patient.uuid }}.pdf"] {
        let error = Template::compile(TemplateKind::FileName, source).unwrap().render(&Context::new(&metadata));
        assert_eq!(error.unwrap_err().changed(), Some(Changed { is_number: false }), "{source}");
    }
}

#[test]
fn where_a_number_and_a_uuid_are_lost_a_person_is_asked_for_the_number() {
    let nearly = "x".repeat(150);
    // The name alone cuts the uuid, and another document of that name would have the number cut.
    for source in [
        format!("{nearly}_{{{{ patient.number }}}}_{{{{ document.uuid }}}}.pdf"),
        format!("{nearly}_{{{{ document.uuid }}}}_{{{{ patient.number }}}}.pdf"),
    ] {
        let metadata =
            Metadata { number: Some("7".repeat(30)), ..metadata(json!({"uuid": "1".repeat(36)}), json!({})) };
        let template = Template::compile(TemplateKind::FileName, &source).unwrap();
        let error = template.render(&Context::new(&metadata)).unwrap_err();
        assert_eq!(error.changed(), Some(Changed { is_number: true }), "{source}");
    }
}
