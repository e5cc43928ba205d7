//! `type = "vdds"`

use crate::config::build::At;
use crate::config::patients;
use crate::config::settings;
use crate::config::vdds::{VddsConfig, VddsProgram};
use crate::destinations::settings::{own_file, program, record};

pub(crate) fn vdds(at: &mut At<'_, '_>, raw: settings::Destination) -> Option<VddsConfig> {
    let found = match (raw.archive, raw.program) {
        (Some(section), None) => Some(VddsProgram::Archive(section)),
        (None, Some(path)) => Some(VddsProgram::Program(program(at, path))),
        (given, _) => {
            let what = if given.is_some() { "stands beside `program`" } else { "is missing, and so is `program`" };
            let fix = "Write the section of VDDS_MMI.INI that has MMOINFIMPORT, such as archive = \"PVS_ARCHIV\", or that program itself.";
            at.refuse("archive", what, fix)
        }
    };
    own_file(at, if matches!(found, Some(VddsProgram::Program(_))) { "program" } else { "archive" });
    if raw.patient_id.is_none() && !patients::is_given(at.builder.merged) {
        let what = "is missing, and without [patients] only the cloud service's number of the patient is known, which no archive knows";
        at.warn("patient_id", what);
    }
    let patient_id = record::patient_id(at, raw.patient_id);
    Some(VddsConfig {
        name: at.name(),
        program: found?,
        patient_id: patient_id?,
        timeout: raw.timeout?,
        on_lost_reply: raw.on_lost_reply.unwrap_or_default(),
    })
}
