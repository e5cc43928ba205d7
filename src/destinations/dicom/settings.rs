//! `type = "dicom"`

use crate::destinations::settings::*;
use crate::domain::document::TypeMap;

/// The registered ports (IANA, "acr-nema" and "dicom-tls").
const PORT: u16 = 104;
const TLS_PORT: u16 = 2762;

/// The longest title of an application entity (DICOM PS3.5, section 6.2), and of a code and its system, in characters.
const SHORT: usize = 16;

/// The default of `destinations.*.title`.
const TITLE: &str = "{{ document.type }} {{ document.createdAt | date }}";

settings! {
    /// Its own values in `[destinations.NAME]`.
    "destinations.*." DicomKeys {
        called_ae_title: Option<String>, Kind::Text, "title of the archive's application entity", default("ANY-SCP");
        calling_ae_title: Option<String>, Kind::Text, "title of docsyncd's own", default("DOCSYNCD");
        title: Option<String>, Kind::Template, "title of a letter", default(TITLE);
    }
}

/// How it is registered.
pub(crate) static KIND: DestinationKind = DestinationKind {
    word: "dicom",
    keys: &[
        &[SharedKeys::host.optional(), SharedKeys::port],
        SIGN_IN,
        &[SharedKeys::verify],
        LIMITS,
        &[SharedKeys::url.optional()],
        WEB,
        ASKED,
        &[SharedKeys::patient_id, SharedKeys::type_map, SharedKeys::tls],
        DicomKeys::KEYS,
    ],
    check: |at| Some(Arc::new(dicom(at)?)),
    presets: presets!("dicom"),
};

/// `type = "dicom"`
#[derive(Debug, Clone)]
pub struct DicomConfig {
    /// NAME of the destination.
    pub name: String,
    /// How to reach the archive.
    pub archive: DicomArchive,
    /// The identifier of the patient in the archive.
    pub patient_id: Arc<Template>,
    /// The title of a letter.
    pub title: Arc<Template>,
    /// The code of each type of document.
    pub type_map: TypeMap,
    /// Whether a letter counts only if the archive shows it.
    pub verifies: bool,
    /// What to do with a letter whose answer was lost, if nobody may query it.
    pub on_lost_reply: LostReply,
    /// What proves that the archive keeps a letter.
    pub confirm: Option<Confirm>,
    /// Deliveries at a time.
    pub max_connections: usize,
}

/// `host`, or `url`
#[derive(Debug, Clone)]
pub enum DicomArchive {
    /// DIMSE, over associations.
    Host(Box<DicomHost>),
    /// DICOMweb.
    Web {
        /// How to reach it.
        connection: Box<WebConnection>,
        /// The URL below which `studies` is.
        base: Url,
    },
}

/// An archive that uses associations.
#[derive(Debug, Clone)]
pub struct DicomHost {
    /// Host name or address.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// The files that TLS needs; `None`: the connection is not encrypted.
    pub tls: Option<TlsFiles>,
    /// The archive's application entity title.
    pub called: String,
    /// docsyncd's own title.
    pub calling: String,
    /// The longest wait for an answer, and for any progress.
    pub timeout: Duration,
}

impl Settings for DicomConfig {
    fn confirm(&self) -> Option<&Confirm> {
        self.confirm.as_ref()
    }

    fn server(&self) -> Option<(String, u16)> {
        match &self.archive {
            DicomArchive::Host(host) => Some((host.host.clone(), host.port)),
            DicomArchive::Web { connection, .. } => connection.dialled(),
        }
    }
}

fn dicom(at: &mut At<'_, '_>) -> Option<DicomConfig> {
    let (mut raw, mut own): (SharedKeys, DicomKeys) = (at.read()?, at.read()?);
    let verifies = match raw.verify.as_deref() {
        None | Some("none") => false,
        Some("query") => true,
        Some(_) => {
            let fix = "Write \"none\" or \"query\".";
            return at.refuse("verify", "is not for a DICOM archive, which shows no content", fix);
        }
    };
    let patient_id = record::patient_id(at, raw.patient_id.take());
    let title = template(at, "title", TemplateKind::Field, &own.title.take()?);
    for (kind, code) in &raw.type_map {
        if code.split('|').any(|part| part.len() > SHORT) {
            let what = format!(
                "has a code for {kind} of which DICOM writes none: a code and its system have at most {SHORT} signs"
            );
            at.warn("type_map", &what);
        }
    }
    let type_map = record::type_map(at, &raw.type_map);
    let confirm = confirm::of_query(at, &mut raw);
    let on_lost_reply = raw.on_lost_reply.unwrap_or_default();
    let max_connections = raw.max_connections?;
    let archive = archive(at, raw, own);
    Some(DicomConfig {
        name: at.name(),
        archive: archive?,
        patient_id: patient_id?,
        title: title?,
        type_map: type_map?,
        verifies,
        on_lost_reply,
        confirm,
        max_connections,
    })
}

fn archive(at: &mut At<'_, '_>, mut raw: SharedKeys, own: DicomKeys) -> Option<DicomArchive> {
    let Some(url) = raw.url.take() else {
        at.warn_of_given(&["bearer_token_file", "user", "password_file", "proxy"], "has no effect with `host`");
        return host(at, raw, own).map(Box::new).map(DicomArchive::Host);
    };
    at.warn_of_given(&["port", "tls", "called_ae_title", "calling_ae_title"], "has no effect with `url`");
    if raw.host.is_some() {
        let fix = "Write `host` for C-STORE, or `url` for DICOMweb.";
        return at.refuse("url", "stands beside `host`", fix);
    }
    let origin = origin(at, "url", &url)?;
    let base = url.trim().trim_end_matches('/').parse::<url::Url>().ok();
    let base = base.filter(|base| !url.contains('{') && base.query().is_none() && base.fragment().is_none());
    if base.is_none() {
        let fix = "Write the address below which `studies` is, as in https://HOST/dicom-web.";
        at.error("url", "holds values, a query or a fragment", fix);
    }
    let connection = Box::new(connection(at, "url", origin, &mut raw, false)?);
    Some(DicomArchive::Web { connection, base: base? })
}

fn host(at: &mut At<'_, '_>, mut raw: SharedKeys, mut own: DicomKeys) -> Option<DicomHost> {
    if raw.host.is_none() {
        let fix = "Add host = \"pacs.practice.test\" for C-STORE, or url = \"https://pacs.practice.test/dicom-web\" for DICOMweb.";
        return at.refuse("host", "is missing, and so is `url`", fix);
    }
    let host = remote::host(at, raw.host.take());
    let tls = record::tls(at, host.as_deref(), &mut raw);
    let called = title(at, "called_ae_title", &own.called_ae_title.take()?);
    let calling = title(at, "calling_ae_title", &own.calling_ae_title.take()?);
    Some(DicomHost {
        host: host?,
        port: raw.port.unwrap_or(if raw.tls? { TLS_PORT } else { PORT }),
        tls: tls?,
        called: called?,
        calling: calling?,
        timeout: raw.timeout?,
    })
}

/// The title of an application entity.
fn title(at: &mut At<'_, '_>, key: &str, text: &str) -> Option<String> {
    let text = text.trim();
    let is_title = (1..=SHORT).contains(&text.len())
        && text.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic() && byte != b'\\');
    if !is_title {
        let fix = "Write the title as the archive's operator tells it.";
        let what = format!("is no application entity title: 1 to {SHORT} letters, digits and signs without accents");
        return at.refuse(key, &what, fix);
    }
    Some(text.to_owned())
}
