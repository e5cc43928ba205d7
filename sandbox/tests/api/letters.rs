//! The invented PDFs, read by a library that did not write them.

use std::collections::BTreeSet;

use docsyncd_sandbox::{Options, Sandbox};
use lopdf::Document;

async fn all_letters(options: Options) -> Vec<(docsyncd_sandbox::DocumentSummary, Vec<u8>)> {
    let sandbox = Sandbox::start(options).await.unwrap();
    let mut letters = Vec::new();
    for document in sandbox.documents().await.unwrap() {
        let bytes = sandbox.pdf_bytes(&document.uuid).await.unwrap();
        letters.push((document, bytes));
    }
    letters
}

#[tokio::test(flavor = "multi_thread")]
async fn every_letter_is_a_valid_pdf_of_the_usual_size() {
    let letters = all_letters(Options { documents: 40, seed: 11, ..Options::default() }).await;
    let mut types = BTreeSet::new();
    for (document, bytes) in &letters {
        let parsed = Document::load_mem(bytes).unwrap();
        assert_eq!(parsed.get_pages().len(), 1, "{}", document.uuid);
        assert!((25_000..=35_000).contains(&bytes.len()), "{}: {} bytes", document.uuid, bytes.len());
        types.insert(document.document_type.clone());
    }
    assert!(types.len() >= 11, "{types:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_letter_says_who_it_is_about() {
    let letters = all_letters(Options { documents: 40, seed: 1, ..Options::default() }).await;
    let mut named = 0;
    for (document, bytes) in &letters {
        let text = Document::load_mem(bytes).unwrap().extract_text(&[1]).unwrap();
        assert!(text.contains("Delaunay"));
        if document.patient_last_name.as_deref().is_some_and(|name| text.contains(name)) {
            named += 1;
        }
    }
    assert!(named >= 30, "only {named} letters name their patient");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_seed_gives_the_same_documents_and_another_seed_others() {
    let options = Options { documents: 12, seed: 5, ..Options::default() };
    let (first, second) = (all_letters(options.clone()).await, all_letters(options.clone()).await);
    assert_eq!(first, second);
    let other = all_letters(Options { seed: 6, ..options }).await;
    assert!(first.iter().zip(&other).all(|(one, two)| one.0.uuid != two.0.uuid && one.1 != two.1));
}

#[tokio::test(flavor = "multi_thread")]
async fn letters_are_at_least_as_large_as_wanted() {
    let wanted = 90 << 10;
    for (_, bytes) in all_letters(Options { documents: 6, pdf_bytes: wanted, ..Options::default() }).await {
        assert!(bytes.len() as u64 >= wanted);
        Document::load_mem(&bytes).unwrap();
    }
}

#[tokio::test]
async fn added_documents_are_newer_than_those_of_the_start() {
    let sandbox = Sandbox::start(Options { documents: 1_000, ..Options::default() }).await.unwrap();
    assert_eq!(sandbox.document_count().await.unwrap(), 1_000);
    let added = sandbox.add_documents(10).await.unwrap();
    let newest: Vec<String> =
        sandbox.documents().await.unwrap().into_iter().map(|document| document.uuid).skip(1_000).collect();
    assert_eq!(BTreeSet::from_iter(added), BTreeSet::from_iter(newest));
}
