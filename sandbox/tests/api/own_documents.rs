//! One's own PDFs in place of invented ones.

use docsyncd_sandbox::{Options, Sandbox, SandboxError};

use crate::harness::{Practice, text};

#[tokio::test]
async fn each_pdf_of_the_folder_is_one_document_also_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("b.PDF"), "%PDF-1.7 b").unwrap();
    std::fs::write(folder.path().join("a é.pdf"), "%PDF-1.7 a!").unwrap();
    std::fs::write(folder.path().join("notes.txt"), "no").unwrap();
    let options = Options {
        pdf_dir: Some(folder.path().to_owned()),
        store: Some(folder.path().join("store.sqlite3")),
        ..Options::default()
    };
    for _ in 0..2 {
        let practice = Practice::start(options.clone()).await;
        let uuids = practice.uuids("").await;
        assert_eq!(uuids.len(), 2);
        let mut names = Vec::new();
        for uuid in uuids {
            let document = practice.json(&format!("/documents/{uuid}")).await;
            let file = practice.get(&text(&document["pdf"], "url")).send().await.unwrap();
            let bytes = file.bytes().await.unwrap();
            assert_eq!(document["pdf"]["size"], bytes.len());
            names.push((text(&document["pdf"], "fileName"), bytes));
        }
        names.sort();
        assert_eq!(names, [("a é.pdf".into(), "%PDF-1.7 a!".into()), ("b.PDF".into(), "%PDF-1.7 b".into())]);
        practice.sandbox.shutdown().await;
    }
}

#[tokio::test]
async fn a_missing_or_empty_folder_is_a_clear_error() {
    let folder = tempfile::tempdir().unwrap();
    for path in [folder.path().to_owned(), folder.path().join("missing")] {
        let error = Sandbox::start(Options { pdf_dir: Some(path.clone()), ..Options::default() }).await.err().unwrap();
        assert!(matches!(error, SandboxError::PdfDir { .. }));
        assert!(error.to_string().contains(&path.display().to_string()), "{error}");
    }
}
