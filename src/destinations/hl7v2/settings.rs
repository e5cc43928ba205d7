//! `type = "hl7v2"`

use crate::config::settings::{DAY, duration};
use crate::destinations::settings::*;
use crate::domain::document::TypeMap;
use crate::formats::sidecar::Charset;

/// The registered port (IANA, "hl7").
const PORT: u16 = 2575;

/// The types of messages, in the forms that people write.
const HL7_MESSAGES: &[&str] = &["MDM^T02", "ORU^R01", "MDM", "ORU", "MDM^T02^MDM_T02", "ORU^R01^ORU_R01"];
/// The versions in which MDM and ORU have the form that docsyncd sends.
const HL7_VERSIONS: &[&str] =
    &["2.3", "2.3.1", "2.4", "2.5", "2.5.1", "2.6", "2.7", "2.7.1", "2.8", "2.8.1", "2.8.2", "2.9"];

settings! {
    /// Its own values in `[destinations.NAME]`.
    "destinations.*." Hl7v2Keys {
        message: Option<String>, Kind::Enum(HL7_MESSAGES), "message that carries the PDF", default("MDM^T02");
        version: Option<String>, Kind::Enum(HL7_VERSIONS), "version of HL7 that messages name", default("2.5.1");
        message_structure: Option<bool>, Kind::Bool, "whether MSH-9 names the structure as well, as in MDM^T02^MDM_T02",
            default("true");
        sending_application: Option<String>, Kind::Text, "who sends, as the receiver knows it (MSH-3)",
            default("DOCSYNCD");
        sending_facility: Option<String>, Kind::Text, "where that is (MSH-4)";
        receiving_application: Option<String>, Kind::Text, "whom messages are for (MSH-5)";
        receiving_facility: Option<String>, Kind::Text, "where that is (MSH-6)";
        assigning_authority: Option<String>, Kind::Text, "who gave `patient_id`, as NAME or NAME^OID^ISO (PID-3)";
        charset: Option<String>, Kind::Enum(&["UNICODE UTF-8", "8859/1", "8859/2", "8859/15", "ASCII"]),
            "character set of messages, in the words of MSH-18", default("UNICODE UTF-8");
        response_timeout: Option<Duration>, duration(10, DAY), "longest wait for an acknowledgment", default("30s");
        keep_connection_open: Option<bool>, Kind::Bool, "whether several messages go over one connection",
            default("false");
        ack_error: Option<String>, Kind::Enum(&["fail", "retry"]),
            "what an error (AE, CE) means that does not say of what: the document fails, or is sent again later",
            default("fail");
    }
}

/// How it is registered.
pub(crate) static KIND: DestinationKind = DestinationKind {
    word: "hl7v2",
    keys: &[
        HOST,
        &[SharedKeys::max_connections],
        TLS,
        &[SharedKeys::on_lost_reply, SharedKeys::patient_id, SharedKeys::type_map, SharedKeys::tls],
        Hl7v2Keys::KEYS,
    ],
    check: |at| Some(Arc::new(hl7v2(at)?)),
    presets: presets!("hl7v2"),
};

/// `type = "hl7v2"`
#[derive(Debug, Clone)]
pub struct Hl7v2Config {
    /// NAME of the destination.
    pub name: String,
    /// Name or address of the receiver.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// The files that TLS needs; `None`: the connection is not encrypted.
    pub tls: Option<TlsFiles>,
    /// ORU^R01; otherwise MDM^T02, and MDM^T10 for a replacement.
    pub is_oru: bool,
    /// MSH-12
    pub version: String,
    /// Whether MSH-9 also names the structure of the message.
    pub names_structure: bool,
    /// MSH-3 and MSH-4, in the syntax of HL7.
    pub sending: [String; 2],
    /// MSH-5 and MSH-6, likewise.
    pub receiving: [String; 2],
    /// The identifier of the patient at the receiver.
    pub patient_id: Arc<Template>,
    /// The authority that assigned it, with `&` between the parts; may be empty.
    pub assigning_authority: String,
    /// The code of each type of document.
    pub type_map: TypeMap,
    /// The encoding of messages.
    pub charset: Charset,
    /// The longest wait for an acknowledgment, and for any progress.
    pub response_timeout: Duration,
    /// Whether a connection is used for several messages.
    pub keeps_open: bool,
    /// Whether an error without a code may pass.
    pub retries_errors: bool,
    /// What to do with a document whose acknowledgment was lost.
    pub on_lost_reply: LostReply,
    /// Deliveries at a time.
    pub max_connections: usize,
}

impl Settings for Hl7v2Config {
    fn server(&self) -> Option<(String, u16)> {
        Some((self.host.clone(), self.port))
    }

    fn shows_letters(&self) -> bool {
        false
    }
}

fn hl7v2(at: &mut At<'_, '_>) -> Option<Hl7v2Config> {
    let (mut raw, mut own): (SharedKeys, Hl7v2Keys) = (at.read()?, at.read()?);
    let host = remote::host(at, raw.host.take());
    let tls = record::tls(at, host.as_deref(), &mut raw);
    let sending = [
        party(at, "sending_application", own.sending_application.take()),
        party(at, "sending_facility", own.sending_facility.take()),
    ];
    let receiving = [
        party(at, "receiving_application", own.receiving_application.take()),
        party(at, "receiving_facility", own.receiving_facility.take()),
    ];
    // It may also be written in the form of PID-3.
    let authority = own.assigning_authority.take().map(|text| text.replace('&', "^"));
    let authority = party(at, "assigning_authority", authority);
    let patient_id = record::patient_id(at, raw.patient_id.take());
    let type_map = record::type_map(at, &raw.type_map);
    let ([Some(application), Some(facility)], [Some(their_application), Some(their_facility)]) = (sending, receiving)
    else {
        return None;
    };
    Some(Hl7v2Config {
        name: at.name(),
        host: host?,
        port: raw.port.unwrap_or(PORT),
        tls: tls?,
        is_oru: own.message?.starts_with("ORU"),
        // In version 2.3 the field has no such component.
        names_structure: own.message_structure? && own.version.as_deref() != Some("2.3"),
        version: own.version?,
        sending: [application, facility],
        receiving: [their_application, their_facility],
        patient_id: patient_id?,
        // Within a component of PID-3 its parts are sub-components.
        assigning_authority: authority?.replace('^', "&"),
        type_map: type_map?,
        charset: own.charset.as_deref().and_then(Charset::in_hl7)?,
        response_timeout: own.response_timeout?,
        keeps_open: own.keep_connection_open?,
        retries_errors: own.ack_error.as_deref() == Some("retry"),
        on_lost_reply: raw.on_lost_reply.unwrap_or_default(),
        max_connections: raw.max_connections?,
    })
}

/// A name in HL7's type HD: `NAME`, or `NAME^OID^ISO`.
fn party(at: &mut At<'_, '_>, key: &str, text: Option<String>) -> Option<String> {
    let text = text.unwrap_or_default().trim().to_owned();
    if text.contains(['|', '~', '\\', '&']) || text.contains(char::is_control) {
        let fix = "Write the name alone, or with its identifier as in \"CLINIC^1.2.250.1.999^ISO\".";
        return at.refuse(key, "holds a sign that separates fields in HL7", fix);
    }
    Some(text)
}
