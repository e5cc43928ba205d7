//! Templates: the text that an administrator wrote, and after a NUL byte the value that a patient's record holds.

use docsyncd::domain::document::{Metadata, Record, Spooled};
use docsyncd::domain::name;
use docsyncd::formats::sidecar::{self, Charset, Form};
use docsyncd::formats::template::{Context, Template, TemplateKind, TextFormat};
use serde_json::{Value, json};

use super::names;

const KINDS: [TemplateKind; 12] = [
    TemplateKind::FileName,
    TemplateKind::RemoteName,
    TemplateKind::SidecarName,
    TemplateKind::Argument,
    TemplateKind::Text(TextFormat::Plain),
    TemplateKind::Text(TextFormat::Xml),
    TemplateKind::Text(TextFormat::Json),
    TemplateKind::Text(TextFormat::Csv),
    TemplateKind::Text(TextFormat::Gdt),
    TemplateKind::Url,
    TemplateKind::JsonBody,
    TemplateKind::Field,
];
/// The largest results.
const MOST_OF_NAME: usize = 32 * 1024;
const MOST_OF_TEXT: usize = 4 * 1024 * 1024;
/// A value this long that shows in an error was put there, and is not a word of ours.
const TELLING: usize = 12;

/// Whatever the template and the value are, what comes out is what its place can take.
pub fn check(input: &[u8]) {
    let (source, value) = super::halves(input);
    let metadata = metadata(&value);
    let pdf = Spooled { path: "/spool/1-0.pdf".into(), in_memory: None, size: 7, sha256: "ab".into() };
    let context = Context::new(&metadata).with_file("/spool/1-0.pdf").with_pdf("Letter.pdf", &pdf, "k1");
    let context = context.with_pdf_in_base64();
    for kind in KINDS {
        let template = match Template::compile(kind, &source) {
            Ok(template) => template,
            Err(error) => {
                assert!(!error.to_string().is_empty());
                continue;
            }
        };
        assert_eq!(template.source(), source);
        match template.render(&context) {
            Ok(rendered) => {
                assert_eq!(template.render(&context).as_ref(), Ok(&rendered), "the same every time");
                fits(kind, &source, &rendered);
            }
            Err(error) => {
                let tells = value.len() >= TELLING && error.to_string().contains(&value);
                assert!(!tells || source.contains(&value), "a value shows: {error}");
            }
        }
    }
    usual(&context, &value);
}

fn metadata(value: &str) -> Metadata {
    let record = |value: Value| -> Record { value.as_object().cloned().unwrap_or_default() };
    Metadata {
        number: None,
        account: "main".to_owned(),
        document: record(json!({"uuid": "5f0c11aa-0000", "type": value, "createdAt": value, "isAnonymized": false,
                                "pdf": {"uuid": "p", "size": 12}})),
        patient: record(json!({"lastName": value, "firstName": "Zoé", "email": null, "notes": [value, {"x": value}]})),
        user: record(json!({"email": value})),
    }
}

fn fits(kind: TemplateKind, source: &str, rendered: &str) {
    let controls = |text: &str| text.chars().any(char::is_control);
    match kind {
        TemplateKind::FileName | TemplateKind::RemoteName | TemplateKind::SidecarName => {
            assert!(rendered.len() <= MOST_OF_NAME);
            let parts = name::relative_path(rendered);
            names::assert_path(&parts);
            names::assert_part(&name::file_name(rendered));
            assert!(parts.len() == 1 || source.contains(['/', '\\']), "a value made a folder: {parts:?}");
        }
        TemplateKind::Argument => {
            assert!(rendered.len() <= MOST_OF_NAME);
            assert!(!rendered.contains('\0') || source.contains('\0'), "{rendered:?}");
            assert!(!controls(rendered) || controls(source), "{rendered:?}");
            assert!(!rendered.starts_with('-') || source.starts_with(['-', '{']), "{rendered:?}");
        }
        TemplateKind::Url | TemplateKind::Search => {
            assert!(rendered.len() <= MOST_OF_NAME);
            for separator in ['/', '\\', '?', '#', '&', '=', '@', ':', ' ', '\r', '\n'] {
                assert!(!rendered.contains(separator) || source.contains(separator), "a value separates: {rendered:?}");
            }
        }
        TemplateKind::JsonBody => assert!(rendered.len() <= MOST_OF_TEXT),
        TemplateKind::Field => fits(TemplateKind::Text(TextFormat::Plain), source, rendered),
        TemplateKind::Text(format) => {
            assert!(rendered.len() <= MOST_OF_TEXT);
            let one_line = !source.contains(['\n', '\r']);
            if matches!(format, TextFormat::Plain | TextFormat::Csv) && one_line {
                assert!(!controls(rendered) || controls(source), "a value added a line: {rendered:?}");
            }
            if format == TextFormat::Gdt {
                gdt(rendered);
            }
            // `safe` says that a value is markup already.
            if format == TextFormat::Xml && !source.contains('<') && !source.contains("safe") {
                assert!(!rendered.contains('<'), "a value added markup: {rendered:?}");
            }
        }
    }
}

/// What is written is as many lines as it says, of lengths that they say.
fn gdt(rendered: &str) {
    let form = Form { charset: Charset::Windows1252, is_gdt: true, ..Form::default() };
    let Ok(file) = form.bytes(rendered) else { return };
    let (mut rest, mut count) = (file.as_slice(), 0);
    while !rest.is_empty() {
        let length = std::str::from_utf8(&rest[..3]).unwrap().parse().unwrap();
        let (line, behind) = rest.split_at(length);
        assert!(line.ends_with(b"\r\n") && !line[..length - 2].contains(&b'\n') && line[3..7].is_ascii());
        (rest, count) = (behind, count + 1);
    }
    let own = sidecar::lines(rendered).filter(|(_, line)| !line.starts_with("8100") && !line.starts_with("9206"));
    assert_eq!(count, own.count() + 2, "{rendered:?}");
}

/// The templates of the examples, with this value in every place.
fn usual(context: &Context, value: &str) {
    let render = |kind, source: &str| Template::compile(kind, source).unwrap().render(context);
    let named =
        "{{ patient.lastName }}_{{ patient.firstName }}/{{ document.createdAt | date }}_{{ document.type }}.pdf";
    let parts = name::relative_path(&render(TemplateKind::FileName, named).unwrap());
    names::assert_path(&parts);
    assert!(parts.len() == 2 && parts[1].ends_with(".pdf"), "{parts:?}");
    if let Ok(text) = render(TemplateKind::Text(TextFormat::Json), "{\"name\": {{ patient.lastName }}}") {
        let read: Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
        assert_eq!(read, json!({ "name": value }));
    }
    if let Ok(text) = render(TemplateKind::Text(TextFormat::Plain), "[p]\nname={{ patient.lastName }}\n") {
        assert_eq!(text.lines().count(), 2, "{text:?}");
    }
    if let Ok(text) = render(TemplateKind::Text(TextFormat::Csv), "1;{{ patient.lastName }};2\n") {
        let quoted = text.starts_with("1;\"") && text.ends_with("\";2\n");
        assert!(text.lines().count() == 1 && (quoted || text.matches(';').count() == 2), "{text:?}");
        let field = text.strip_prefix("1;").map(|rest| rest.strip_prefix('"').unwrap_or(rest)).unwrap();
        assert!(!field.trim_start().starts_with(['=', '+', '-', '@']), "{text:?}");
    }
    if let Ok(argument) = render(TemplateKind::Argument, "{{ patient.lastName }}") {
        assert!(!argument.starts_with('-'), "{argument:?}");
    }
    if let Ok(text) = render(TemplateKind::Text(TextFormat::Xml), "<n>{{ patient.lastName }}</n>") {
        assert_eq!(text.matches('<').count(), 2, "{text:?}");
    }
}
