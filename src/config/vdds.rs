//! What an archive that is spoken to by VDDS-media is configured with.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::validated::LostReply;
use crate::formats::template::Template;

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
