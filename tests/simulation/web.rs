//! Destinations that are services, simulated. Of those that speak HTTP, the real adapters `http`, `s3` and `fhir`, this
//! server answers the requests instead of the network (src/destinations/web_client/simulated.rs); the others are in
//! [`spoken`].

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use reqwest::Url;
use ring::digest;
use secrecy::SecretString;
use serde_json::{Value, json};

use super::calls::{Calls, Came, File, Line, is_temporary};
use super::clock;
use super::destination::{UnderWay, from_spool};
use super::plan::Service as How;
use super::spoken;
use super::world::{Shared, World};
use crate::config::Secret;
use crate::destinations::{
    Adapter, Checked, FhirAdapter, FhirConfig, FhirPatient, FhirProfile, HttpAdapter, HttpBody, HttpConfig, Item,
    LostReply, Outcome, S3Adapter, S3Config, WebConnection, WebSignIn,
};
use crate::domain::document::{LOINC, TypeMap};
use crate::formats::template::{Template, TemplateKind, TextFormat};
use crate::system::tls::TlsFiles;

/// About as many calls as a delivery makes.
const CALLS: u64 = 4;
/// The header by which an object says which delivery it is.
const KEY: &str = "x-amz-meta-docsyncd-key";

tokio::task_local! {
    /// The delivery that makes the requests of this task.
    pub(super) static CALLS_OF: Arc<(Calls, How)>;
}

/// A request.
pub(crate) struct Asked {
    pub(crate) method: String,
    pub(crate) path: String,
    /// The values of its query.
    pub(crate) query: String,
    /// Whether anything may be overwritten.
    pub(crate) on_condition: bool,
    /// What it says of the delivery.
    pub(crate) key: Option<String>,
    pub(crate) body: Vec<u8>,
}

/// What comes of it.
pub(crate) enum Answered {
    With {
        status: u16,
        headers: Vec<(&'static str, String)>,
        body: Vec<u8>,
    },
    Offline,
    /// It broke before all was sent.
    Broken,
    /// All was sent, and no answer came.
    Lost,
}

/// Whether this task is of a simulation.
pub(crate) fn is_simulated() -> bool {
    CALLS_OF.try_with(|_| ()).is_ok()
}

/// Asks the server of the destination whose delivery this task is.
pub(crate) async fn ask(asked: Asked) -> Answered {
    let of = CALLS_OF.with(Arc::clone);
    let (calls, how) = &*of;
    let came = calls.call(&asked.method, &asked.path, |world| answer(calls, *how, world, &asked)).await;
    let brings = matches!(asked.method.as_str(), "PUT" | "POST");
    let with = |status| Answered::With { status, headers: Vec::new(), body: Vec::new() };
    match came {
        Came::Answered(answered) => answered,
        Came::Offline => Answered::Offline,
        // A gateway says so, or nobody does.
        Came::Broken if clock::percent(30) => with(503),
        Came::Broken => Answered::Broken,
        Came::Lost if brings && clock::percent(30) => with(504),
        Came::Lost => Answered::Lost,
    }
}

fn answer(calls: &Calls, how: How, world: &mut World, asked: &Asked) -> Answered {
    let path = asked.path.as_str();
    let with = |status| Answered::With { status, headers: Vec::new(), body: Vec::new() };
    if let How::Fhir { heeds } = how {
        let (status, body) = fhir(calls, heeds, world, asked);
        return Answered::With { status, headers: Vec::new(), body: body.to_string().into_bytes() };
    }
    if matches!(asked.method.as_str(), "HEAD" | "PUT") {
        calls.stranger_comes(world, path, 20);
    }
    match asked.method.as_str() {
        "PUT" | "POST" => bring(calls, how, world, asked),
        // An address at which the service tells whether it has a document.
        "GET" if path.starts_with("/probe/") => {
            let there = format!("{}/", path.replace("/probe/", "/post/"));
            let is_there = calls.server(world).files.keys().any(|path| path.starts_with(&there));
            with(if is_there { 200 } else { 404 })
        }
        "GET" | "HEAD" => match calls.server(world).files.get(path) {
            Some(file) => {
                let length = ("content-length", file.content.len().to_string());
                let key = file.key.clone().filter(|_| how != How::Bucket { keeps_keys: false });
                let headers = key.map(|key| (KEY, key)).into_iter().chain([length]).collect();
                let body = if asked.method == "GET" { file.content.clone() } else { Vec::new() };
                Answered::With { status: 200, headers, body }
            }
            None => with(if path.trim_end_matches('/') == "/docs" { 200 } else { 404 }),
        },
        "DELETE" => {
            let removed = calls.server(world).files.remove(path);
            if removed.is_some() && !is_temporary(path) {
                world.violate(|| format!("{path} was removed"));
            }
            with(204)
        }
        _ => with(405),
    }
}

fn bring(calls: &Calls, how: How, world: &mut World, asked: &Asked) -> Answered {
    let with = |status| Answered::With { status, headers: Vec::new(), body: Vec::new() };
    let path = match how {
        How::Post => format!("{}/{}", asked.path, calls.server(world).files.len()),
        _ => asked.path.clone(),
    };
    if calls.refuses(world) {
        return with(422);
    }
    let is_there = calls.server(world).files.contains_key(&path);
    if is_there && asked.on_condition {
        return with(412);
    }
    let file = File { content: asked.body.clone(), is_whole: true, is_strangers: false, key: asked.key.clone() };
    if is_temporary(&path) {
        calls.server(world).files.insert(path, file);
    } else {
        calls.give(world, &path, file);
    }
    with(if is_there { 200 } else { 201 })
}

/// A FHIR server, whose letters are files with their identifier as the key.
fn fhir(calls: &Calls, heeds: bool, world: &mut World, asked: &Asked) -> (u16, Value) {
    const LETTERS: &str = "/fhir/DocumentReference";
    let shown = |path: &str, file: &File| {
        let hash = STANDARD.encode(digest::digest(&digest::SHA1_FOR_LEGACY_USE_ONLY, &file.content));
        json!({"resourceType": "DocumentReference", "id": path.rsplit('/').next(), "status": "current",
            "masterIdentifier": {"system": "urn:ietf:rfc:3986", "value": file.key},
            "content": [{"attachment": {"hash": hash, "size": file.content.len()}}]})
    };
    let having = |world: &mut World, identifier: &str| {
        let is_it = |file: &File| file.key.as_deref().is_some_and(|key| identifier.ends_with(key));
        let files = calls.server(world).files.iter().filter(|(_, file)| is_it(file));
        files.map(|(path, file)| shown(path, file)).collect::<Vec<_>>()
    };
    match (asked.method.as_str(), asked.path.as_str()) {
        ("GET", LETTERS) => {
            let entries: Vec<Value> =
                having(world, &asked.query).into_iter().map(|one| json!({"resource": one})).collect();
            (200, json!({"resourceType": "Bundle", "type": "searchset", "entry": entries}))
        }
        ("GET", path) => match calls.server(world).files.get(path) {
            Some(file) => (200, shown(path, file)),
            None => (404, Value::Null),
        },
        _ if calls.refuses(world) => (422, Value::Null),
        _ => {
            let letter: Value = serde_json::from_slice(&asked.body).unwrap();
            let text = |value: &Value| value.as_str().unwrap().to_owned();
            let key = text(&letter["masterIdentifier"]["value"]);
            if let Some(there) = having(world, &key).pop().filter(|_| heeds && asked.on_condition) {
                return (200, there);
            }
            let content = STANDARD.decode(text(&letter["content"][0]["attachment"]["data"])).unwrap();
            let path = format!("{LETTERS}/{}", calls.server(world).files.len());
            let file = File { content, is_whole: true, is_strangers: false, key: Some(key) };
            let created = shown(&path, &file);
            calls.give(world, &path, file);
            (201, created)
        }
    }
}

/// The destination, as a daemon uses it.
pub(super) struct Web {
    line: Line,
    how: How,
    adapter: Box<dyn Adapter>,
}

pub(super) fn template(kind: TemplateKind, source: &str) -> Arc<Template> {
    Arc::new(Template::compile(kind, source).unwrap())
}

fn connection(index: usize) -> WebConnection {
    WebConnection {
        name: format!("destination{index}"),
        origin: origin(index),
        sign_in: WebSignIn::None,
        tls: TlsFiles::default(),
        proxy: None,
        timeout: Duration::from_secs(20),
        max_connections: 4,
    }
}

fn origin(index: usize) -> Url {
    format!("http://server{index}.test/").parse().unwrap()
}

fn http(index: usize, how: How) -> HttpConfig {
    let at = |path: &str| template(TemplateKind::Url, &format!("{}{path}/{{{{ key }}}}", origin(index)));
    let is_put = how == How::Put;
    let condition = || ("If-None-Match".to_owned(), template(TemplateKind::Text(TextFormat::Plain), "*"));
    HttpConfig {
        connection: connection(index),
        url: at(if is_put { "put" } else { "post" }),
        is_put,
        body: HttpBody::Raw,
        file_name: template(TemplateKind::RemoteName, "{{ document.uuid }}.pdf"),
        headers: is_put.then(condition).into_iter().collect(),
        header_files: Vec::new(),
        success: vec![200, 201, 204],
        probe_url: (!is_put).then(|| at("probe")),
        lookup: None,
        probe_contains: Vec::new(),
        resend_after: Duration::from_secs(300),
        check_url: None,
        conflict_is_found: false,
        html_is_success: false,
        on_lost_reply: LostReply::Resend,
        confirm: None,
    }
}

fn s3(index: usize) -> S3Config {
    S3Config {
        connection: connection(index),
        endpoint: origin(index),
        region: "eu".to_owned(),
        bucket: "docs".to_owned(),
        prefix: "in/".to_owned(),
        access_key_id: "AK".to_owned(),
        secret_access_key: Secret::Given(SecretString::from("a secret")),
        path_style: true,
        storage_class: None,
        server_side_encryption: None,
        falls_back: true,
        file_name: template(TemplateKind::RemoteName, "{{ document.type }}.pdf"),
    }
}

fn fhir_config(index: usize) -> FhirConfig {
    FhirConfig {
        connection: connection(index),
        base: origin(index).join("fhir").unwrap(),
        profile: FhirProfile::Mhd,
        patient: FhirPatient::Contained,
        patient_id: template(TemplateKind::Field, "7"),
        type_map: TypeMap::new(LOINC).unwrap(),
        author: None,
        file_name: template(TemplateKind::RemoteName, "{{ document.uuid }}.pdf"),
        on_lost_reply: LostReply::Resend,
        resend_after: Duration::from_secs(300),
        confirm: None,
    }
}

impl Web {
    pub(super) fn new(world: Shared, index: usize, how: How) -> Self {
        let adapter = spoken::adapter(index, how).unwrap_or_else(|| match how {
            How::Bucket { .. } => Box::new(S3Adapter::new(s3(index))),
            How::Fhir { .. } => Box::new(FhirAdapter::new(fhir_config(index))),
            _ => Box::new(HttpAdapter::new(http(index, how))),
        });
        Self { line: Line { world, index, imports: false, calls: CALLS }, how, adapter }
    }

    async fn with<T>(&self, calls: Calls, work: impl Future<Output = T>) -> T {
        CALLS_OF.scope(Arc::new((calls, self.how)), work).await
    }
}

#[async_trait]
impl Adapter for Web {
    async fn deliver(&self, item: &Item) -> Outcome {
        let under_way = UnderWay::begin(&self.line.world, self.line.index, item);
        let calls = self.line.of(item);
        // A damaged file is noticed before anything is asked.
        let outcome = match from_spool(&self.line.world, item) {
            (item, true) => self.with(calls, self.adapter.deliver(&item)).await,
            (_, false) => Outcome::SpoolDamaged,
        };
        self.line.ended(item, &outcome);
        drop(under_way);
        outcome
    }

    async fn check(&self) -> Result<Checked, String> {
        let checked = self.with(self.line.of_nobody(), self.adapter.check()).await;
        self.line.tell(|| format!("check: {checked:?}"));
        checked
    }
}
