//! `type = "hl7v2"`

use crate::config::build::At;
use crate::config::hl7v2::Hl7v2Config;
use crate::config::settings;
use crate::destinations::settings::{record, remote, web};
use crate::formats::sidecar::Charset;

/// The registered port (IANA, "hl7").
const PORT: u16 = 2575;

pub(crate) fn hl7v2(at: &mut At<'_, '_>, mut raw: settings::Destination) -> Option<Hl7v2Config> {
    let host = remote::host(at, raw.host.take());
    let is_encrypted = raw.tls?;
    record::without_tls(at, host.as_deref(), is_encrypted);
    let client_certificate = web::client_certificate(at, &mut raw);
    let sending = [
        party(at, "sending_application", raw.sending_application.take()),
        party(at, "sending_facility", raw.sending_facility.take()),
    ];
    let receiving = [
        party(at, "receiving_application", raw.receiving_application.take()),
        party(at, "receiving_facility", raw.receiving_facility.take()),
    ];
    // It may also be written in the form of PID-3.
    let authority = raw.assigning_authority.take().map(|text| text.replace('&', "^"));
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
        is_encrypted,
        ca_file: raw.ca_file.take().map(|path| at.path("ca_file", &path)),
        client_certificate: client_certificate?,
        is_oru: raw.message?.starts_with("ORU"),
        // In version 2.3 the field has no such component.
        names_structure: raw.message_structure? && raw.version.as_deref() != Some("2.3"),
        version: raw.version?,
        sending: [application, facility],
        receiving: [their_application, their_facility],
        patient_id: patient_id?,
        // Within a component of PID-3 its parts are sub-components.
        assigning_authority: authority?.replace('^', "&"),
        type_map: type_map?,
        charset: raw.charset.as_deref().and_then(Charset::in_hl7)?,
        response_timeout: raw.response_timeout?,
        keeps_open: raw.keep_connection_open?,
        retries_errors: raw.ack_error.as_deref() == Some("retry"),
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
