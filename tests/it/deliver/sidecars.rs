//! Sidecars as practice software reads them: the configurations of config/examples, and what other readers find in what
//! they give.

use std::path::Path;

use docsyncd_sandbox::NewDocument;
use serde_json::{Value, json};

use super::files_in;
use crate::dictated::*;
use crate::faults::tools::needs;
use crate::harness::Practice;

/// The practice of an example, whose folder is there, and whose service is the sandbox.
async fn practice_of(example: &str, folder: &str) -> Practice {
    let practice = Practice::with_documents(0).await;
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("config/examples");
    let text = std::fs::read_to_string(root.join(format!("{example}.toml"))).unwrap();
    let (_, own) = text.split_at(text.find("[destinations.").unwrap());
    practice.configure_wholly(&format!("{}{own}", practice.base_config()));
    std::fs::create_dir(practice.path(folder)).unwrap();
    practice
}

/// A letter of this patient; its uuid.
async fn letter(practice: &Practice, last: &str, first: &str) -> String {
    let patient = json!({"lastName": last, "firstName": first, "dateOfBirth": "1980-02-01"});
    let document = NewDocument {
        patient: Some(patient),
        document_type: Some(Some("referral_letter".to_owned())),
        created_at: Some("2026-11-27T10:00:00Z".to_owned()),
        ..small(&format!("letter of {first}"))
    };
    practice.sandbox.add(document).await.unwrap()
}

fn list(practice: &Practice, rows: &str) {
    std::fs::write(practice.path("patients.csv"), format!("PatNum;LName;FName;Birthdate\n{rows}")).unwrap();
}

async fn synced(practice: &Practice) {
    let synced = practice.sync().await;
    assert_eq!(synced.code, 0, "{synced:?}");
}

/// What the reader in Python finds in a file.
fn python(args: &[&str], file: &Path) -> Value {
    let read = std::process::Command::new("python3").args(args).arg(file).output().unwrap();
    assert!(read.status.success(), "{}: {}", file.display(), String::from_utf8_lossy(&read.stderr));
    serde_json::from_slice(&read.stdout).unwrap()
}

fn gdt(file: &Path) -> Vec<(String, String)> {
    let reader = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/python/gdt_reader.py");
    serde_json::from_value(python(&[reader], file)).unwrap()
}

const CSV: &str = "import csv, json, sys\n\
    print(json.dumps(list(csv.reader(open(sys.argv[1], encoding='utf-8-sig', newline=''), delimiter=';'))))";

fn owned(fields: &[(&str, &str)]) -> Vec<(String, String)> {
    fields.iter().map(|(field, value)| ((*field).to_owned(), (*value).to_owned())).collect()
}

#[tokio::test]
async fn gdt_of_the_example_is_what_another_reader_expects() {
    needs!("python3");
    let practice = practice_of("gdt", "import").await;
    list(&practice, "4711;Müller;Jörg;1980-02-01\n4712;Łukaszewicz;Zoë;1980-02-01\n");
    std::fs::write(practice.path("import/PVS1DOCS.001"), "not read yet").unwrap();
    for (number, last, written, first) in
        [(4711, "Müller", "Müller", "Jörg"), (4712, "Łukaszewicz", "Lukaszewicz", "Zoë")]
    {
        let uuid = letter(&practice, last, first).await;
        synced(&practice).await;
        let file = practice.path(&format!("import/PVS1DOCS.{:03}", number - 4711 + 2));
        let (size, number) = (std::fs::metadata(&file).unwrap().len(), number.to_string());
        let seen = format!("\\\\SRV\\GDT\\{number}_{}.pdf", short(&uuid));
        let expected = [
            ("8000", "6310"),
            ("8100", &format!("{size:05}")),
            ("8315", "PVS1"),
            ("8316", "DOCSYNCD"),
            ("9206", "3"),
            ("9218", "02.10"),
            ("3000", &number),
            ("3101", written),
            ("3102", first),
            ("3103", "01021980"),
            ("6200", "27112026"),
            ("8402", "ALLG00"),
            ("6302", short(&uuid)),
            ("6303", "PDF"),
            ("6304", "Überweisungsschreiben"),
            ("6305", &seen),
        ];
        assert_eq!(gdt(&file), owned(&expected));
        assert!(practice.path(&format!("import/{number}_{}.pdf", short(&uuid))).is_file());
    }
    assert_eq!(std::fs::read_to_string(practice.path("import/PVS1DOCS.001")).unwrap(), "not read yet");
    assert_eq!(files_in(&practice.path("import")), 5);
}

#[tokio::test]
async fn hprim_of_the_example_is_text_of_windows_with_the_patient_in_its_lines() {
    let practice = practice_of("hprim", "import").await;
    let uuid = letter(&practice, "Lefèvre", "Chloé").await;
    synced(&practice).await;
    let expected = format!(
        "{short}\r\nLEF\u{c8}VRE\r\nChlo\u{e9}\r\n\r\n\r\n\r\n01/02/1980\r\n\r\n{short}\r\n27/11/2026\r\n.          docsyncd\r\n\
         .          Cabinet\r\n\r\nDocument joint : {uuid}.pdf\r\n****FIN****\r\n****FINFICHIER****\r\n",
        short = short(&uuid)
    );
    let latin: Vec<u8> = expected.chars().map(|c| u8::try_from(c).unwrap()).collect();
    assert_eq!(std::fs::read(practice.path(&format!("import/{uuid}.hpr"))).unwrap(), latin);
    assert_eq!(std::fs::read(practice.path(&format!("import/{uuid}.pdf"))).unwrap(), pdf("letter of Chloé"));
}

#[tokio::test]
async fn a_letter_in_open_dentals_folder_counts_when_the_prefix_is_gone_from_its_name() {
    let practice = practice_of("opendental-folder", "OpenDentImages").await;
    list(&practice, "12;Van Dyke;Mary-Ann;1980-02-01\n");
    let uuid = letter(&practice, "Van Dyke", "Mary-Ann").await;
    let waits = practice.sync().await;
    assert!(waits.stdout.contains("1 waiting") && practice.sandbox.status_posts().is_empty(), "{waits:?}");
    let folder = practice.path("OpenDentImages/V/VanDykeMaryAnn12");
    let name = format!("2026-11-27_Referral letter_{}.pdf", short(&uuid));
    std::fs::rename(folder.join(format!("_135_{name}")), folder.join(name)).unwrap();
    let mut running = practice.run().await;
    practice.wait_for_posts(1).await;
    running.end().await;
    assert_eq!(posts_of(&practice.sandbox, &uuid), [(Some(true), None)]);
    assert_eq!(practice.show(&uuid).await["deliveries"][0]["proof"], "moved");
}

#[tokio::test]
async fn the_csv_index_of_the_example_is_read_as_it_was_meant() {
    needs!("python3");
    let practice = practice_of("csv-index", "import").await;
    let uuid = letter(&practice, "Ångström; \"Al\"", "Łucja").await;
    synced(&practice).await;
    let file = practice.path(&format!("import/{uuid}.csv"));
    let seen = format!("P:\\import\\{uuid}.pdf");
    let expected = json!([
        ["id", "last name", "first name", "date of birth", "date", "type", "file"],
        [uuid, "Ångström; \"Al\"", "Łucja", "01.02.1980", "27.11.2026", "referral_letter", seen],
    ]);
    assert_eq!(python(&["-c", CSV], &file), expected);
    let bytes = std::fs::read(file).unwrap();
    assert!(bytes.starts_with(b"\xef\xbb\xbfid;") && bytes.ends_with(b".pdf\r\n"));
}

/// Names that would add lines and fields, or end the file early, in whatever way lines end.
const EVIL: [&str; 6] = [
    "Doe\r\n0193101Mallory\r\n6305C:\\x.exe",
    "Doe\n0133000666",
    "Doe\r0133000666\r",
    "Doe\u{2028}3000666\u{85}3000666\u{b}3000666\u{c}\u{1c}\u{1e}3000666",
    "=HYPERLINK(\"http://evil.test\";\"x\")\r\n\"1\";\"2\"",
    "＝1+1；\u{201e}x\u{201d}\r\n＂；＂",
];

#[tokio::test]
async fn names_that_attack_add_no_line_and_no_field_to_gdt_and_csv() {
    needs!("python3");
    for encoding in ["windows-1252", "cp437", "iso-8859-1"] {
        let practice = Practice::with_documents(0).await;
        practice.configure(&format!(
            "file_name = \"{{{{ document.uuid }}}}.pdf\"\nsidecar_format = \"gdt\"\nsidecar_name = \"{{{{ file_stem }}}}.gdt\"\n\
             sidecar_encoding = \"{encoding}\"\nsidecar = \"80006310\\n3101{{{{ patient.lastName }}}}\\n3102{{{{ patient.firstName }}}}\"\n\
             [destinations.csv]\ntype = \"folder\"\npath = 'csv'\nfile_name = \"{{{{ document.uuid }}}}.pdf\"\n\
             sidecar_name = \"{{{{ file_stem }}}}.csv\"\nsidecar_newline = \"crlf\"\nsidecar_encoding = \"{other}\"\n\
             sidecar = \"a;b;c\\n{{{{ patient.lastName }}}};{{{{ patient.firstName }}}};end\\n\"\n\
             [[routes]]\nto = [\"pms\", \"csv\"]",
            other = if encoding == "cp437" { "utf-8" } else { "iso-8859-1" },
        ));
        std::fs::create_dir(practice.path("csv")).unwrap();
        let mut uuids = Vec::new();
        for evil in EVIL {
            uuids.push(letter(&practice, evil, evil).await);
        }
        synced(&practice).await;
        for uuid in uuids {
            let fields = gdt(&practice.inbox().join(format!("{uuid}.gdt")));
            let names: Vec<&str> = fields.iter().map(|(field, _)| field.as_str()).collect();
            assert_eq!(names, ["8000", "8100", "9206", "3101", "3102"], "{fields:?}");
            let csv = if encoding == "cp437" { CSV.to_owned() } else { CSV.replace("utf-8-sig", "iso-8859-1") };
            let rows = python(&["-c", &csv], &practice.path(&format!("csv/{uuid}.csv")));
            let [_, row] = rows.as_array().unwrap().as_slice() else { panic!("{rows}") };
            let [last, first, end] = row.as_array().unwrap().as_slice() else { panic!("{rows}") };
            assert_eq!((last, end), (first, &json!("end")));
            assert!(!last.as_str().unwrap().trim_start().starts_with(['=', '＝', '+', '-', '@']), "{rows}");
        }
    }
}

#[tokio::test]
async fn a_letter_whose_sidecar_cannot_be_written_fails_by_the_field_alone_and_others_go_on() {
    let practice = Practice::with_documents(0).await;
    practice.configure(
        "file_name = \"{{ document.uuid }}.pdf\"\nsidecar_encoding = \"windows-1252\"\nsidecar_unmappable = \"refuse\"\n\
         sidecar = \"name={{ patient.lastName }}\"",
    );
    let bad = letter(&practice, "Łukaszewicz", "Zoë").await;
    let good = letter(&practice, "Müller", "Jörg").await;
    let ended = practice.sync().await;
    assert_eq!(ended.code, 3, "{ended:?}");
    let posts = posts_of(&practice.sandbox, &bad);
    let [(Some(false), Some(error))] = posts.as_slice() else { panic!("{posts:?}") };
    assert!(error.contains("`patient.lastName`") && error.contains("windows-1252"), "{error}");
    assert!(!error.contains("ukasz") && !ended.stderr.contains("ukasz"), "{error}: {ended:?}");
    assert_eq!(posts_of(&practice.sandbox, &good), [(Some(true), None)]);
    assert_eq!(files_in(&practice.inbox()), 2);
}
