//! Small documents that a test dictates, and questions about what the sandbox saw.

use std::time::Duration;

use docsyncd_sandbox::{Fault, FaultKind, NewDocument, NewPdf, RequestRecord, Route, Sandbox};

use crate::harness::{PATIENCE, Practice};

/// A few bytes that pass for a PDF; other text gives other bytes.
pub fn pdf(text: &str) -> Vec<u8> {
    format!("%PDF-1.7\n% {text}\n%%EOF\n").into_bytes()
}

/// A document with such a PDF.
pub fn small(text: &str) -> NewDocument {
    NewDocument { pdf: NewPdf::Bytes(pdf(text)), ..NewDocument::default() }
}

/// The short uuid that a file's name may end in: the last eight digits.
pub fn short(uuid: &str) -> &str {
    &uuid[uuid.len() - 8..]
}

/// Adds this many small documents, each changed by `with`, and returns their uuids.
pub async fn add_small(
    practice: &Practice,
    count: usize,
    with: impl Fn(usize, NewDocument) -> NewDocument,
) -> Vec<String> {
    let mut uuids = Vec::new();
    for number in 0..count {
        let document = with(number, small(&format!("letter {number}")));
        uuids.push(practice.sandbox.add(document).await.unwrap());
    }
    uuids
}

/// Adds a document that the API lists and refuses to show: it fails for good, also when nothing else is there.
pub async fn add_refused(practice: &Practice) -> String {
    let uuid = practice.sandbox.add(small("refused")).await.unwrap();
    practice.sandbox.inject(Fault::always(Route::Document, FaultKind::status(403)).for_document(&uuid));
    uuid
}

/// A practice with this many small documents as they come.
pub async fn practice_with_small(count: usize) -> (Practice, Vec<String>) {
    let practice = Practice::with_documents(0).await;
    let uuids = add_small(&practice, count, |_, document| document).await;
    (practice, uuids)
}

/// The PDFs of so many small documents, sorted.
pub fn small_pdfs(count: usize) -> Vec<Vec<u8>> {
    let mut contents: Vec<Vec<u8>> = (0..count).map(|number| pdf(&format!("letter {number}"))).collect();
    contents.sort();
    contents
}

/// The PDFs that a destination has, sorted.
pub fn sorted(objects: std::collections::BTreeMap<String, Vec<u8>>) -> Vec<Vec<u8>> {
    let mut found: Vec<Vec<u8>> = objects.into_values().collect();
    found.sort();
    found
}

/// Takes [`Practice::without_patience`] back.
pub fn patient(practice: &mut Practice) {
    practice.env.retain(|name, _| !name.starts_with("DOCSYNCD__RETRY__"));
}

pub fn is_list(request: &RequestRecord) -> bool {
    request.path == "/documents"
}

/// Whether this list was asked for what is new, not for certain documents.
pub fn is_walk(request: &RequestRecord) -> bool {
    is_list(request) && !query(request).iter().any(|(name, _)| name == "uuid[]")
}

pub fn is_download(request: &RequestRecord) -> bool {
    request.path.starts_with("/files/") || request.path.starts_with("/downloads/")
}

/// The query's names and values.
pub fn query(request: &RequestRecord) -> Vec<(String, String)> {
    let query = request.query.as_deref().unwrap_or_default();
    url::form_urlencoded::parse(query.as_bytes()).into_owned().collect()
}

/// How often the document's file was asked for, whatever the answer.
pub async fn downloads_of(practice: &Practice, uuid: &str) -> usize {
    let documents = practice.sandbox.documents().await.unwrap();
    let pdf = documents.into_iter().find(|document| document.uuid == uuid).and_then(|document| document.pdf).unwrap();
    practice.sandbox.requests().iter().filter(|request| is_download(request) && request.path.contains(&pdf)).count()
}

/// `success` and `error` of every accepted status post about the document.
pub fn posts_of(sandbox: &Sandbox, uuid: &str) -> Vec<(Option<bool>, Option<String>)> {
    let posts = sandbox.status_posts().into_iter();
    posts.filter(|post| post.document == uuid).map(|post| (post.success, post.error)).collect()
}

/// Every one of these documents was reported as synchronized, exactly once, and nothing else was reported.
pub fn assert_each_reported_once(practice: &Practice, uuids: &[String]) {
    let posts = practice.sandbox.status_posts();
    let failed: Vec<_> = posts.iter().filter(|post| post.success != Some(true) || post.error.is_some()).collect();
    assert!(failed.is_empty(), "{failed:#?}");
    let mut posted: Vec<_> = posts.into_iter().map(|post| post.document).collect();
    let mut expected = uuids.to_vec();
    posted.sort();
    expected.sort();
    assert_eq!(posted, expected);
}

/// Nothing but lists was asked for since [`Sandbox::forget_requests`].
pub fn assert_only_lists(practice: &Practice) {
    let others: Vec<_> = practice.sandbox.requests().into_iter().filter(|request| !is_list(request)).collect();
    assert!(others.is_empty(), "{others:#?}");
}

/// Waits until this many further requests for what is new were answered.
pub async fn wait_for_walks(practice: &Practice, count: usize) {
    let walks = |view: &docsyncd_sandbox::View| view.requests().filter(|request| is_walk(request)).count();
    let before = practice.sandbox.look(walks);
    practice.sandbox.wait_for(|view| walks(view) >= before + count, PATIENCE).await.expect("polls");
}

/// `docsyncd status --json`
pub async fn status(practice: &Practice) -> serde_json::Value {
    let shown = practice.docsyncd(&["status", "--json"]).await;
    assert!(matches!(shown.code, 0 | 4), "{shown:?}");
    serde_json::from_str(&shown.stdout).unwrap()
}

/// Of all status posts the only one that tells of a failure, and what it says.
pub fn only_failure(practice: &Practice) -> String {
    let posts = practice.sandbox.status_posts();
    let failed: Vec<_> = posts.iter().filter(|post| post.success != Some(true)).collect();
    let [failed] = failed.as_slice() else { panic!("{posts:?}") };
    failed.error.clone().unwrap()
}

/// Waits until this scope is paused, and nothing else.
pub async fn wait_for_pause(practice: &Practice, scope: &str) {
    let is_paused = async {
        while paused(practice).await != [scope] {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(PATIENCE, is_paused).await.expect("it is paused");
}

/// The scopes of everything that is paused.
pub async fn paused(practice: &Practice) -> Vec<String> {
    let status = status(practice).await;
    let pauses = status["pauses"].as_array().unwrap().iter();
    pauses.map(|pause| pause["scope"].as_str().unwrap().to_owned()).collect()
}
