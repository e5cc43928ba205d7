//! Numbers in sidecars, headers and announcements, as their readers find them.

use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use super::super::contract::{Spool, connection};
use super::super::{Item, Outcome, wording};
use super::*;
use crate::config::Settings;
use crate::destinations::{FolderConfig, HttpBody, HttpConfig, LostReply, WebSignIn};
use crate::formats::sidecar::{Charset, Form};
use crate::formats::template::tests::numbers::odd_numbers;
use crate::formats::template::{TemplateKind, TextFormat};
use crate::patients::Unmatched;

const CHARSETS: [Charset; 7] = [
    Charset::Utf8,
    Charset::Utf8Bom,
    Charset::Windows1252,
    Charset::Iso8859_1,
    Charset::Iso8859_15,
    Charset::Cp437,
    Charset::Cp850,
];

fn template(kind: TemplateKind, source: &str) -> Arc<Template> {
    Arc::new(Template::compile(kind, source).unwrap())
}

fn sidecar(charset: Charset, is_gdt: bool) -> SidecarConfig {
    let (format, source) = match is_gdt {
        true => (TextFormat::Gdt, "80006310\n3000{{ patient.number }}\n3101{{ patient.lastName }}\n"),
        false => (TextFormat::Plain, "NAME={{ patient.firstName }}\nPATID={{ patient.number }}\n"),
    };
    let mut config = SidecarConfig::new(
        template(TemplateKind::Text(format), source),
        template(TemplateKind::SidecarName, "{{ file_stem }}.txt"),
    );
    config.form = Form { charset, crlf: true, transliterates: true, is_gdt };
    config
}

fn of(item: &Item, number: &str) -> Item {
    let mut item = item.clone();
    Arc::make_mut(&mut item.metadata).number = Some(number.to_owned());
    item
}

/// The number in a sidecar; `None`: the letter needs a person.
fn read(charset: Charset, is_gdt: bool, item: &Item) -> Option<String> {
    let content = match wording::sidecar_content("pms", &sidecar(charset, is_gdt), item, "a.pdf") {
        Ok(content) => content,
        Err(outcome) => {
            assert!(matches!(outcome, Outcome::NeedsPerson(Unmatched::NotHeld)), "{outcome:?}");
            return None;
        }
    };
    let text = charset.decode(&content);
    let value = |line: &str| match is_gdt {
        true => line.get(3..)?.strip_prefix("3000").map(str::to_owned),
        false => line.strip_prefix("PATID=").map(str::to_owned),
    };
    Some(text.split("\r\n").find_map(value).unwrap())
}

#[test]
fn a_number_is_read_as_it_is_in_every_encoding_or_the_letter_needs_a_person() {
    let item = Spool::new().item(1, b"%PDF-1.7");
    let mut runner = TestRunner::new(ProptestConfig::with_cases(1000));
    let result = runner.run(&odd_numbers(), |number| {
        let item = of(&item, &number);
        for charset in CHARSETS {
            for is_gdt in [false, true].into_iter().filter(|is_gdt| !is_gdt || charset.in_gdt().is_some()) {
                if let Some(read) = read(charset, is_gdt, &item) {
                    prop_assert_eq!(&read, &number, "{:?}", charset);
                }
            }
        }
        Ok(())
    });
    result.unwrap();
    for charset in CHARSETS {
        assert_eq!(read(charset, false, &of(&item, "12/345")).as_deref(), Some("12/345"));
        for number in ["Ł12", "１２", "e\u{301}1"] {
            let read = read(charset, false, &of(&item, number));
            assert_eq!(read.as_deref(), charset.is_unicode().then_some(number), "{charset:?}");
        }
    }
}

#[test]
fn an_archive_of_vdds_reads_the_number_as_it_is_or_gets_none() {
    let mut runner = TestRunner::new(ProptestConfig::with_cases(1000));
    let result = runner.run(&odd_numbers(), |number| {
        if let Some(written) = crate::formats::vdds::Announcement::of(&number).bytes() {
            let text = Charset::Windows1252.decode(&written);
            let lines: Vec<&str> = text.split("\r\n").filter_map(|line| line.strip_prefix("PATID=")).collect();
            prop_assert_eq!(lines, [number.as_str()]);
        }
        Ok(())
    });
    result.unwrap();
    assert!(crate::formats::vdds::Announcement::of("12/345").bytes().is_some());
    for number in ["\"12\"", "Ł12", "e\u{301}1", "1\r\n2"] {
        assert_eq!(crate::formats::vdds::Announcement::of(number).bytes(), None, "{number}");
    }
}

fn destination(kind: &'static str, settings: impl Settings) -> Destination {
    let settings = Arc::new(settings);
    Destination { name: "pms".to_owned(), kind, settings, needs_number: true, expect_taken: false }
}

#[test]
fn check_knows_what_a_destination_cannot_hold() {
    let folder = FolderConfig {
        name: "pms".to_owned(),
        path: "/".into(),
        file_name: template(TemplateKind::FileName, "{{ patient.lastName }}_{{ patient.number }}.pdf"),
        marker: None,
        sidecar: Some(sidecar(Charset::Windows1252, true)),
        file_mode: 0o600,
        dir_mode: 0o700,
        reader: None,
        on_lost_reply: LostReply::Resend,
        confirm: None,
    };
    let folder = holds_number(&destination("folder", folder));
    let number = template(TemplateKind::Field, "{{ patient.number }}");
    let http = |headers: Vec<(String, Arc<Template>)>| {
        let http = HttpConfig {
            connection: connection("https://h.test/", WebSignIn::None),
            url: template(TemplateKind::Url, "https://h.test/{{ patient.number }}"),
            is_put: true,
            body: HttpBody::Raw,
            file_name: template(TemplateKind::RemoteName, "x.pdf"),
            headers,
            header_files: Vec::new(),
            success: vec![200],
            lookup: None,
            probe_url: None,
            probe_contains: Vec::new(),
            resend_after: std::time::Duration::ZERO,
            check_url: None,
            conflict_is_found: false,
            html_is_success: false,
            on_lost_reply: LostReply::Resend,
            confirm: None,
        };
        holds_number(&destination("http", http))
    };
    for (number, in_folder) in
        [("4711", true), ("A-12", true), ("12/345", false), ("471.", false), ("Ł12", false), ("ä12", true)]
    {
        assert_eq!(folder(number), in_folder, "{number}");
        assert!(http(Vec::new())(number), "{number}");
    }
    let in_header = http(vec![("X-Patient".to_owned(), number)]);
    assert!(in_header("12/345") && !in_header("ä12"));
}
