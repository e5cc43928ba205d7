//! `type = "vdds"`

use crate::destinations::settings::*;

settings! {
    /// Its own values in `[destinations.NAME]`.
    "destinations.*." VddsKeys {
        archive: Option<String>, Kind::Text, "section of VDDS_MMI.INI that has the program to run (MMOINFIMPORT)";
    }
}

/// How it is registered.
pub(crate) static KIND: DestinationKind = DestinationKind {
    word: "vdds",
    keys: &[
        &[SharedKeys::program.optional(), SharedKeys::timeout, SharedKeys::on_lost_reply, SharedKeys::patient_id],
        VddsKeys::KEYS,
    ],
    check: |at| Some(Arc::new(vdds(at)?)),
    presets: presets!("vdds", "z1"),
};

/// `type = "vdds"`
#[derive(Debug, Clone)]
pub struct VddsConfig {
    /// NAME of the destination.
    pub name: String,
    /// Which program takes announcements.
    pub program: VddsProgram,
    /// What the patient is known by there.
    pub patient_id: Arc<Template>,
    /// The longest wait for its answer.
    pub timeout: Duration,
    /// What becomes of a document whose answer was lost.
    pub on_lost_reply: LostReply,
}

/// `archive` or `program`
#[derive(Debug, Clone)]
pub enum VddsProgram {
    /// MMOINFIMPORT in this section of `VDDS_MMI.INI`.
    Archive(String),
    /// This one: an absolute path, or a name to be found in PATH.
    Program(PathBuf),
}

impl Settings for VddsConfig {
    fn shows_letters(&self) -> bool {
        false
    }
}

fn vdds(at: &mut At<'_, '_>) -> Option<VddsConfig> {
    let (raw, own): (SharedKeys, VddsKeys) = (at.read()?, at.read()?);
    let found = match (own.archive, raw.program) {
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
