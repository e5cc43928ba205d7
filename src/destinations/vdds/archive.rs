//! The archive, by its entries in `VDDS_MMI.INI`.

use std::path::PathBuf;

use super::super::command::find;
use super::super::fault;
use super::{mmi_file, read_ini};
use crate::destinations::{VddsConfig, VddsProgram};
use crate::formats::vdds::{Ini, OURS};

/// The path and the content of `VDDS_MMI.INI`.
fn mmi() -> Result<(PathBuf, String), String> {
    let file = mmi_file().ok_or(
        "VDDS_MMI.INI is looked for in the folder of Windows (WINDIR), which this system does not have: write `program` instead of `archive`",
    )?;
    let read = read_ini(&file).map_err(|error| {
        format!("{} cannot be read ({}): is the archive installed here?", file.display(), fault::system_text(&error))
    });
    read.map(|text| (file, text))
}

/// An archive's entries in `VDDS_MMI.INI`.
pub(super) struct Archive {
    pub(super) program: PathBuf,
    /// The practice software's section.
    pub(super) practice_software: String,
    /// The program that the archive starts to fetch a PDF.
    pub(super) export: Option<PathBuf>,
}

impl Archive {
    /// Finds the archive's program and its other entries.
    pub(super) fn find(config: &VddsConfig) -> Result<Self, String> {
        let mmi = mmi();
        let ini = Ini::parse(mmi.as_ref().map_or("", |(_, text)| text));
        let (program, section) = match &config.program {
            VddsProgram::Program(program) => (program.clone(), None),
            VddsProgram::Archive(section) => {
                let (file, _) = mmi.as_ref().map_err(Clone::clone)?;
                let program = ini.get(section, "MMOINFIMPORT").filter(|program| !program.is_empty());
                let program = program.ok_or_else(|| {
                    let sections = ini.sections_with("MMOINFIMPORT").collect::<Vec<_>>().join(", ");
                    let others = if sections.is_empty() { "no section".to_owned() } else { format!("only {sections}") };
                    format!(
                        "{} has no MMOINFIMPORT in a section [{section}], {others} has: correct `archive`, or ask the archive's maker \
                         for VDDS-media stage 6",
                        file.display()
                    )
                })?;
                (PathBuf::from(program), Some(section))
            }
        };
        let listed = ini.entries("PVS").into_iter().flatten().filter(|(key, _)| is_name(key)).map(|(_, name)| name);
        let listed: Vec<&str> = listed.collect();
        let own = listed.iter().find(|name| section.is_some_and(|section| name.eq_ignore_ascii_case(section)));
        Ok(Self {
            program: find(&program)?,
            practice_software: own.or(listed.first()).copied().unwrap_or_default().to_owned(),
            export: ini.get(OURS, "MMOEXPORT").map(PathBuf::from),
        })
    }
}

/// Whether this key of a list names a section: NAME1, NAME2…
fn is_name(key: &str) -> bool {
    key.len() > 4 && key.to_ascii_uppercase().starts_with("NAME")
}
