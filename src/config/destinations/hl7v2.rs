//! `type = "hl7v2"`

use super::super::build::Builder;
use super::super::hl7v2::Hl7v2Config;
use super::super::settings;
use super::super::validated::LostReply;
use super::{SECTION, lost_reply, record, remote, web};
use crate::sidecar::Charset;

/// The registered port (IANA, "hl7").
const PORT: u16 = 2575;

pub(super) fn hl7v2(name: &str, mut raw: settings::Destination, builder: &mut Builder<'_>) -> Option<Hl7v2Config> {
    let host = remote::host(name, raw.host.take(), builder);
    let is_encrypted = raw.tls?;
    record::without_tls(name, host.as_deref(), is_encrypted, builder);
    let client_certificate = web::client_certificate(name, &mut raw, builder);
    let sending = [
        party(name, "sending_application", raw.sending_application.take(), builder),
        party(name, "sending_facility", raw.sending_facility.take(), builder),
    ];
    let receiving = [
        party(name, "receiving_application", raw.receiving_application.take(), builder),
        party(name, "receiving_facility", raw.receiving_facility.take(), builder),
    ];
    // It may also be written in the form of PID-3.
    let authority = raw.assigning_authority.take().map(|text| text.replace('&', "^"));
    let authority = party(name, "assigning_authority", authority, builder);
    let patient_id = record::patient_id(name, raw.patient_id.take(), builder);
    let type_map = record::type_map(name, &raw.type_map, builder);
    let ([Some(application), Some(facility)], [Some(their_application), Some(their_facility)]) = (sending, receiving)
    else {
        return None;
    };
    Some(Hl7v2Config {
        name: name.to_owned(),
        host: host?,
        port: raw.port.unwrap_or(PORT),
        is_encrypted,
        ca_file: raw.ca_file.take().map(|path| builder.path(SECTION, Some(name), "ca_file", &path)),
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
        on_lost_reply: lost_reply(raw.on_lost_reply.as_deref()).unwrap_or(LostReply::Resend),
        max_connections: raw.max_connections?,
    })
}

/// A name in HL7's type HD: `NAME`, or `NAME^OID^ISO`.
fn party(name: &str, key: &str, text: Option<String>, builder: &mut Builder<'_>) -> Option<String> {
    let text = text.unwrap_or_default().trim().to_owned();
    if text.contains(['|', '~', '\\', '&']) || text.contains(char::is_control) {
        let fix = "Write the name alone, or with its identifier as in \"CLINIC^1.2.250.1.999^ISO\".";
        builder.error(SECTION, Some(name), key, "holds a sign that separates fields in HL7", fix);
        return None;
    }
    Some(text)
}
