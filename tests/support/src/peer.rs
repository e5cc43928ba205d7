//! A server that keeps documents, in this process: for the contract suite of the adapters and for the tests of the
//! program. It keeps what is PUT or POSTed, as an upload service, a WebDAV folder or an S3 bucket does, and fails on
//! demand.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::{StreamExt as _, stream};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full, StreamBody};
use hyper::body::{Bytes, Frame, Incoming};
use hyper::header::{HeaderMap, HeaderValue};
use hyper::service::service_fn;
use hyper::{Method, Request, Response};
use hyper_util::rt::TokioIo;
use tokio::sync::Notify;

use crate::dicom::DicomWeb;
use crate::double::Double;
use crate::fhir::Fhir;
use crate::open_dental::OpenDental;

/// What happens to a request instead of the usual.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// It is carried out, and the connection ends without an answer.
    LoseReply,
    /// The connection ends after so many bytes of the body; nothing is kept.
    CutAfter(usize),
    /// Nothing is kept; the answer has this status and header.
    Refuse(u16, Option<(&'static str, String)>),
    /// It is carried out, and answered with this status.
    AnswerWith(u16),
    /// Nothing is kept; the answer has this status and body.
    Says(u16, &'static str),
    /// Nothing is kept; a page for people is the answer, with this status.
    WebPage(u16),
    /// It is carried out, and nothing is answered for ever.
    Silence,
}

/// A request as it came.
#[derive(Debug, Clone)]
pub struct Received {
    pub method: Method,
    /// With its query.
    pub path: String,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
}

impl Received {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().expect("ASCII"))
    }
}

/// Something that is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    pub content: Vec<u8>,
    pub headers: HeaderMap,
}

/// How a sign in Destination is taken for the end of the name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndsNames {
    /// Unless it is encoded.
    AsWritten,
    /// Also then, as wsgidav has it of `;`.
    Decoded,
}

#[derive(Debug, Default)]
pub struct State {
    /// What is kept, by its path, decoded.
    pub objects: BTreeMap<String, Kept>,
    /// Of WebDAV; a PUT into one that is missing is refused. `None`: there is no such thing as a folder.
    pub folders: Option<BTreeSet<String>>,
    /// Of S3; it answers for itself.
    pub bucket: Option<String>,
    /// For the next requests that bring something (PUT, POST, MOVE), one each.
    pub faults: VecDeque<Fault>,
    /// The same for those of another kind.
    pub other_faults: VecDeque<(Method, Fault)>,
    /// What every request must have in Authorization.
    pub authorization: Option<String>,
    /// Every request is refused with this status.
    pub closed: Option<u16>,
    /// What is PUT is taken away at once, by an importer.
    pub imports: bool,
    /// What is given a name is taken away at once, by an importer.
    pub imports_at_once: bool,
    /// Of WebDAV: the sign that is taken for the end of the name that a file is to get.
    pub ends_names: Option<(char, EndsNames)>,
    /// Every answer to a GET is cut.
    pub cuts_answers: bool,
    /// Of WebDAV: every MOVE is answered as nginx has it, with 204.
    pub replaces_in_words: bool,
    /// Whether If-None-Match and Overwrite mean nothing here.
    pub overwrites: bool,
    /// The answer to a PUT with If-None-Match, where that is not known.
    pub condition_unknown: Option<u16>,
    /// The same for a PUT with a checksum in a header of S3.
    pub checksum_unknown: Option<u16>,
    /// Of WebDAV: what is missing is told of with status 207, and this inside.
    pub inner_status: Option<u16>,
    /// Every request is answered with a page for people, and status 200.
    pub page_for_everything: bool,
    /// Of S3: everything that was ever put or removed, by its version. `None`: it keeps no versions.
    pub versions: Option<BTreeMap<String, String>>,
    /// It is Open Dental and nothing else.
    pub open_dental: Option<OpenDental>,
    /// It is a FHIR server and nothing else.
    pub fhir: Option<Fhir>,
    /// It is a DICOM archive and nothing else.
    pub dicom: Option<DicomWeb>,
    /// Every request, in order.
    pub received: Vec<Received>,
    /// After each request that was carried out.
    changed: Arc<Notify>,
    posts: usize,
}

/// The server.
pub type Peer = Double<State>;

impl Peer {
    pub async fn start() -> Self {
        Self::serving(|stream, state| async move {
            let service = service_fn(move |request| handle(state.clone(), request));
            // An error of the service is how a connection is cut.
            let _ = hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
        })
        .await
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Waits until this is so.
    pub async fn wait_for(&self, mut is_so: impl FnMut(&State) -> bool) {
        let changed = self.state().changed.clone();
        loop {
            let change = changed.notified();
            if is_so(&self.state()) {
                return;
            }
            change.await;
        }
    }

    /// What the next request that brings something meets.
    pub fn inject(&self, fault: Fault) {
        self.state().faults.push_back(fault);
    }

    /// The contents of what is kept, by path.
    pub fn objects(&self) -> BTreeMap<String, Vec<u8>> {
        self.state().objects.iter().map(|(path, kept)| (path.clone(), kept.content.clone())).collect()
    }

    /// Every request of this method.
    pub fn received(&self, method: &Method) -> Vec<Received> {
        self.state().received.iter().filter(|request| request.method == *method).cloned().collect()
    }
}

type Answer = Response<BoxBody<Bytes, io::Error>>;

fn whole(body: &[u8]) -> BoxBody<Bytes, io::Error> {
    Full::new(Bytes::copy_from_slice(body)).map_err(|never| match never {}).boxed()
}

fn answer(status: u16, body: &[u8]) -> Answer {
    let mut answer = Response::new(whole(body));
    *answer.status_mut() = hyper::StatusCode::from_u16(status).expect("a status");
    answer
}

fn cut<T>() -> io::Result<T> {
    Err(io::ErrorKind::ConnectionAborted.into())
}

async fn handle(state: Arc<Mutex<State>>, request: Request<Incoming>) -> io::Result<Answer> {
    let (head, mut body) = request.into_parts();
    let brings = matches!(head.method.as_str(), "PUT" | "POST" | "MOVE");
    let fault = {
        let mut state = state.lock().expect("no panic before");
        let other = state.other_faults.iter().position(|(method, _)| *method == head.method);
        match other {
            Some(index) => state.other_faults.remove(index).map(|(_, fault)| fault),
            None if brings => state.faults.pop_front(),
            None => None,
        }
    };
    let mut content = Vec::new();
    while let Some(frame) = body.frame().await {
        let Ok(frame) = frame else { return cut() };
        content.extend_from_slice(frame.data_ref().map_or(&[][..], |data| data));
        if matches!(fault, Some(Fault::CutAfter(limit)) if content.len() >= limit) {
            return cut();
        }
    }
    let path = head.uri.path_and_query().map_or_else(String::new, ToString::to_string);
    let received = Received { method: head.method, path, headers: head.headers, body: content };
    let answer = {
        let mut state = state.lock().expect("no panic before");
        state.received.push(received.clone());
        match &fault {
            Some(Fault::Refuse(status, header)) => {
                let mut refusal = answer(*status, b"{\"error\":\"Canaryworth is refused\"}");
                if let Some((name, value)) = header {
                    refusal.headers_mut().insert(*name, HeaderValue::from_str(value).expect("a value"));
                }
                return Ok(refusal);
            }
            Some(Fault::Says(status, body)) => return Ok(answer(*status, body.as_bytes())),
            Some(Fault::WebPage(status)) => {
                return Ok(answer(*status, b"\n<!DOCTYPE html><title>Canaryworth, sign in</title>"));
            }
            Some(Fault::CutAfter(_)) => return cut(),
            _ => carry_out(&mut state, &received),
        }
    };
    state.lock().expect("no panic before").changed.notify_waiters();
    if received.method == "GET" && state.lock().expect("no panic before").cuts_answers {
        return Ok(cut_answer());
    }
    match fault {
        Some(Fault::LoseReply) => cut(),
        Some(Fault::AnswerWith(status)) => Ok(self::answer(status, b"")),
        Some(Fault::Silence) => {
            tokio::time::sleep(Duration::from_secs(3600)).await;
            cut()
        }
        _ => Ok(answer),
    }
}

/// One of status 200 that ends before its body does.
fn cut_answer() -> Answer {
    let beginning = stream::iter([Ok(Frame::data(Bytes::from_static(b"{\"state\":")))]);
    let end = stream::once(async {
        // Until the beginning is on its way.
        tokio::time::sleep(Duration::from_millis(50)).await;
        cut()
    });
    Response::new(http_body_util::BodyExt::boxed(StreamBody::new(beginning.chain(end))))
}

/// The usual.
fn carry_out(state: &mut State, request: &Received) -> Answer {
    if let Some(status) = state.closed {
        return answer(status, b"Canaryworth is not welcome");
    }
    if state.authorization.is_some() && state.authorization.as_deref() != request.header("authorization") {
        return answer(401, b"");
    }
    if state.page_for_everything {
        return answer(200, b"<!doctype html><title>Canaryworth, sign in</title>");
    }
    if let Some(open_dental) = &mut state.open_dental {
        let (status, body) = open_dental.answer(request);
        let mut answer = answer(status, &body);
        if let Some(link) = &open_dental.link {
            answer.headers_mut().insert("link", link.parse().expect("a header"));
        }
        return answer;
    }
    if let Some(fhir) = &mut state.fhir {
        let (status, body, place) = fhir.answer(request);
        let mut answer = answer(status, &body);
        if let Some(place) = place {
            answer.headers_mut().insert("location", place.parse().expect("a header"));
        }
        return answer;
    }
    if let Some(dicom) = &mut state.dicom {
        let (status, body) = dicom.answer(request);
        return answer(status, &body);
    }
    let (path, query) = request.path.split_once('?').unwrap_or((&request.path, ""));
    let path = decoded(path);
    let mut answer = carry_out_at(state, request, path.clone());
    let Some(versions) = &mut state.versions else { return answer };
    match query.split('&').find_map(|part| part.strip_prefix("versionId=")) {
        Some(version) => {
            versions.remove(version);
            *answer.status_mut() = hyper::StatusCode::NO_CONTENT;
        }
        None if matches!(request.method.as_str(), "PUT" | "DELETE") && answer.status() != 412 => {
            let version = format!("v{}", state.received.len());
            answer.headers_mut().insert("x-amz-version-id", HeaderValue::from_str(&version).expect("a value"));
            versions.insert(version, path);
            // To remove what is not there is a success as well.
            if answer.status() == 404 {
                *answer.status_mut() = hyper::StatusCode::NO_CONTENT;
            }
        }
        None => {}
    }
    answer
}

fn carry_out_at(state: &mut State, request: &Received, path: String) -> Answer {
    match request.method.as_str() {
        "PUT" => put(state, request, path),
        "POST" => {
            state.posts += 1;
            let kept = Kept { content: request.body.clone(), headers: request.headers.clone() };
            state.objects.insert(format!("{path}/{}", state.posts), kept);
            answer(201, b"{}")
        }
        "GET" | "HEAD" => match state.objects.get(&path) {
            Some(kept) => found(request, kept),
            None if state.bucket.as_ref().is_some_and(|bucket| path.trim_matches('/') == bucket) => answer(200, b""),
            None if state.folders.as_ref().is_some_and(|folders| folders.contains(path.trim_end_matches('/'))) => {
                answer(200, b"<!doctype html><title>Index</title>")
            }
            None => answer(404, b""),
        },
        "DELETE" => answer(if state.objects.remove(&path).is_some() { 204 } else { 404 }, b""),
        "PROPFIND" if request.header("depth") == Some("1") => members(state, path.trim_end_matches('/')),
        "PROPFIND" => properties(state, path.trim_end_matches('/')),
        "MKCOL" => make_folder(state, path.trim_end_matches('/')),
        "MOVE" => give_name(state, request, &path),
        _ => answer(405, b""),
    }
}

fn properties(state: &State, path: &str) -> Answer {
    let of_it = match state.objects.get(path) {
        Some(kept) => format!("<d:resourcetype/>{}", of_file(kept)),
        None if state.folders.as_ref().is_some_and(|folders| folders.contains(path)) => {
            "<d:resourcetype><d:collection/></d:resourcetype>".to_owned()
        }
        None if state.inner_status.is_some() => {
            format!("<d:status>HTTP/1.1 {} So</d:status>", state.inner_status.unwrap_or_default())
        }
        None => return answer(404, b""),
    };
    answer(207, format!("<d:multistatus xmlns:d=\"DAV:\"><d:response>{of_it}</d:response></d:multistatus>").as_bytes())
}

/// What stands as it is in an address.
const NAMES: &percent_encoding::AsciiSet = &percent_encoding::NON_ALPHANUMERIC.remove(b'/').remove(b'.').remove(b'-');

/// When it was changed last is what its header of that name says.
fn of_file(kept: &Kept) -> String {
    let modified = kept.headers.get("last-modified").map_or("", |value| value.to_str().expect("ASCII"));
    let size = kept.content.len();
    format!("<d:getlastmodified>{modified}</d:getlastmodified><d:getcontentlength>{size}</d:getcontentlength>")
}

/// A folder and what lies in it.
fn members(state: &State, folder: &str) -> Answer {
    if state.folders.as_ref().is_some_and(|folders| !folders.contains(folder)) {
        return answer(404, b"");
    }
    let lies_there = |path: &str| path.rsplit_once('/').is_some_and(|(within, _)| within == folder);
    let href = |path: &str| percent_encoding::utf8_percent_encode(path, NAMES).to_string();
    let mut list = "<d:multistatus xmlns:d=\"DAV:\">".to_owned();
    let folders = state.folders.iter().flatten().filter(|path| *path == folder || lies_there(path));
    for path in folders {
        let of_it = "<d:resourcetype><d:collection/></d:resourcetype>";
        list.push_str(&format!("<d:response><d:href>{}/</d:href>{of_it}</d:response>", href(path)));
    }
    for (path, kept) in state.objects.iter().filter(|(path, _)| lies_there(path)) {
        list.push_str(&format!("<d:response><d:href>{}</d:href>{}</d:response>", href(path), of_file(kept)));
    }
    answer(207, (list + "</d:multistatus>").as_bytes())
}

fn found(request: &Received, kept: &Kept) -> Answer {
    let mut found = answer(200, &kept.content);
    let is_shown = |name: &str| name == "content-type" || name.starts_with("x-amz-meta-");
    for (name, value) in kept.headers.iter().filter(|(name, _)| is_shown(name.as_str())) {
        found.headers_mut().insert(name.clone(), value.clone());
    }
    if request.method == Method::HEAD {
        found.headers_mut().insert("content-length", HeaderValue::from(kept.content.len()));
        *found.body_mut() = whole(b"");
    }
    found
}

fn put(state: &mut State, request: &Received, path: String) -> Answer {
    if state.folders.is_some() && !has_folder(state, &path) {
        return answer(409, b"");
    }
    if let Some(status) = state.checksum_unknown.filter(|_| request.headers.contains_key("x-amz-checksum-sha256")) {
        return answer(status, b"<Error><Code>InvalidArgument</Code></Error>");
    }
    if request.headers.contains_key("if-none-match") {
        if let Some(status) = state.condition_unknown {
            return answer(status, b"");
        }
        if !state.overwrites && state.objects.contains_key(&path) {
            return answer(412, b"");
        }
    }
    let mut headers = request.headers.clone();
    let now = httpdate::fmt_http_date(std::time::SystemTime::now());
    headers.insert("last-modified", HeaderValue::try_from(now).expect("ASCII"));
    let kept = Kept { content: request.body.clone(), headers };
    let is_new = state.objects.insert(path.clone(), kept).is_none();
    if state.imports {
        state.objects.remove(&path);
    }
    answer(if is_new { 201 } else { 204 }, b"")
}

fn has_folder(state: &State, path: &str) -> bool {
    let parent = path.rsplit_once('/').map_or("", |(parent, _)| parent);
    parent.is_empty() || state.folders.as_ref().is_none_or(|folders| folders.contains(parent))
}

fn make_folder(state: &mut State, path: &str) -> Answer {
    let has_parent = has_folder(state, path);
    match &mut state.folders {
        None => answer(405, b""),
        Some(_) if !has_parent => answer(409, b""),
        Some(folders) => answer(if folders.insert(path.to_owned()) { 201 } else { 405 }, b""),
    }
}

fn give_name(state: &mut State, request: &Received, path: &str) -> Answer {
    let destination = request.header("destination").unwrap_or_default();
    let Some(written) = destination.strip_prefix("http://").and_then(|rest| rest.find('/').map(|at| &rest[at..]))
    else {
        return answer(502, b"");
    };
    let before = |name: &str, sign| name.split_once(sign).map_or(name, |(name, _)| name).to_owned();
    let target = match state.ends_names {
        None => decoded(written),
        Some((sign, EndsNames::AsWritten)) => decoded(&before(written, sign)),
        Some((sign, EndsNames::Decoded)) => before(&decoded(written), sign),
    };
    if !state.objects.contains_key(path) {
        return answer(404, b"");
    }
    if !has_folder(state, &target) {
        return answer(409, b"");
    }
    if state.objects.contains_key(&target) && request.header("overwrite") == Some("F") && !state.overwrites {
        return answer(412, b"");
    }
    let Some(kept) = state.objects.remove(path) else { return answer(404, b"") };
    if state.imports_at_once && target.ends_with(".pdf") {
        return answer(201, b"");
    }
    let is_new = state.objects.insert(target, kept).is_none();
    answer(if is_new && !state.replaces_in_words { 201 } else { 204 }, b"")
}

fn decoded(path: &str) -> String {
    percent_encoding::percent_decode_str(path).decode_utf8_lossy().into_owned()
}
