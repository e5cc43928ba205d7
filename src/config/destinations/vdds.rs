//! `type = "vdds"`

use super::super::build::Builder;
use super::super::patients;
use super::super::settings;
use super::super::validated::LostReply;
use super::super::vdds::{VddsConfig, VddsProgram};
use super::{SECTION, lost_reply, own_file, program, record};

pub(super) fn vdds(name: &str, raw: settings::Destination, builder: &mut Builder<'_>) -> Option<VddsConfig> {
    let found = match (raw.archive, raw.program) {
        (Some(section), None) => Some(VddsProgram::Archive(section)),
        (None, Some(path)) => Some(VddsProgram::Program(program(name, path, builder))),
        (given, _) => {
            let what = if given.is_some() { "stands beside `program`" } else { "is missing, and so is `program`" };
            let fix = "Write the section of VDDS_MMI.INI that has MMOINFIMPORT, such as archive = \"PVS_ARCHIV\", or that program itself.";
            builder.error(SECTION, Some(name), "archive", what, fix);
            None
        }
    };
    own_file(name, if matches!(found, Some(VddsProgram::Program(_))) { "program" } else { "archive" }, builder);
    if raw.patient_id.is_none() && !patients::is_given(builder.merged) {
        let what = "is missing, and without [patients] only the cloud service's number of the patient is known, which no archive knows";
        builder.warn(SECTION, Some(name), "patient_id", what);
    }
    let patient_id = record::patient_id(name, raw.patient_id, builder);
    Some(VddsConfig {
        name: name.to_owned(),
        program: found?,
        patient_id: patient_id?,
        timeout: raw.timeout?,
        on_lost_reply: lost_reply(raw.on_lost_reply.as_deref()).unwrap_or(LostReply::Resend),
    })
}
