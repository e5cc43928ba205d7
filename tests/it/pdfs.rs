//! What is a PDF, in the same words of the standard for docsyncd and for the sandbox, which share no code.

use std::collections::BTreeMap;

use docsyncd::domain::document::PdfHead;
use docsyncd_sandbox::Options;

use crate::harness::Practice;

/// A file that begins so, and whether it is a PDF (ISO 32000-1, implementation note 13).
fn table() -> Vec<(&'static str, Vec<u8>, bool)> {
    let letter = b"%PDF-1.7\n% a letter\n%%EOF\n";
    let after = |before: &[u8]| [before, letter].concat();
    vec![
        ("plain", letter.to_vec(), true),
        ("byte-order-mark", after(b"\xef\xbb\xbf"), true),
        ("blanks", after(b"\r\n \n"), true),
        ("mail", after(b"Content-Type: application/pdf\r\n\r\n"), true),
        ("macbinary", after(&[b"\0\x06letter".as_slice(), &[0; 120]].concat()), true),
        ("last-possible", after(&[b'x'; 1019]), true),
        ("too-late", after(&[b'x'; 1020]), false),
        ("page", after(b"<!doctype html><title>"), false),
        ("page-behind-a-mark", after(b" \xef\xbb\xbf\n<?xml version='1.0'?>"), false),
        ("json", after(b"{\"error\": \""), false),
        ("json-list", after(b"\n[\""), false),
        ("empty", Vec::new(), false),
        ("half-a-header", b"%PDF".to_vec(), false),
        ("header-only", b"%PDF-".to_vec(), false),
        ("header-and-blanks", b"junk %PDF-\r\n".to_vec(), false),
        ("text", b"Service unavailable".repeat(100), false),
    ]
}

#[tokio::test]
async fn the_sandbox_serves_what_docsyncd_takes_for_a_pdf_and_it_is_filed_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let mut expected = BTreeMap::new();
    for (name, content, is_pdf) in table() {
        assert_eq!(PdfHead::is_of_pdf(&content), is_pdf, "{name}");
        std::fs::write(folder.path().join(format!("{name}.pdf")), &content).unwrap();
        if is_pdf {
            expected.insert(name.to_owned(), content);
        }
    }
    let options = Options { pdf_dir: Some(folder.path().to_owned()), documents: 0, ..Options::default() };
    let practice = Practice::with_options(options).await;
    practice.configure("file_name = \"{{ document.pdf.fileName }}\"");
    let synced = practice.sync().await;
    assert_eq!(synced.code, 0, "{synced:?}");
    let filed = std::fs::read_dir(practice.inbox()).unwrap().map(|entry| entry.unwrap().path());
    let filed = filed.map(|path| {
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        (name, std::fs::read(path).unwrap())
    });
    assert_eq!(filed.collect::<BTreeMap<_, _>>(), expected);
}
