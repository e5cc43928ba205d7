//! Every point at which docsyncd can be made to die, and what makes it come by there.

/// What has to be prepared so that a start of docsyncd comes by a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// Nothing: work does.
    Work,
    /// Any start does, once. (An access token has always run out by then.)
    Start,
    /// The very first start does, once.
    FirstStart,
    /// The end does: docsyncd is told to stop when its work is done.
    Stop,
    /// The API shows patients and users as identifiers, so that they are read apart.
    RecordsApart,
    /// Letters come in that are written to the spool piece by piece.
    Large,
    /// Letters come in for the archive of a practice software, of which there are few.
    Dental,
    /// A download broke off in its body.
    CutDownload,
    /// Something that is nobody's lies in the spool.
    SpoolLeftover,
    /// The process died before between a PDF's rename and the ledger.
    Found,
    /// The system answers with errors: further `FAILPOINTS`.
    Errors(&'static str),
}

/// The points, in the order in which a document comes by.
pub const POINTS: &[(&str, Way)] = &[
    ("ledger.create.before", Way::Start),
    ("ledger.create.after", Way::Start),
    ("ledger.migrate.before", Way::Start),
    ("ledger.layout.before", Way::FirstStart),
    ("ledger.migrate.after", Way::Start),
    ("ledger.commit.before", Way::Work),
    ("ledger.commit.after", Way::Work),
    ("ledger.checkpoint.before", Way::Stop),
    ("ledger.checkpoint.after", Way::Stop),
    ("spool.clean.before", Way::SpoolLeftover),
    ("token.refresh.before", Way::Start),
    ("token.refresh.after", Way::Start),
    ("tokens.write.before", Way::Start),
    ("tokens.write.after", Way::Start),
    ("tokens.sync.before", Way::Start),
    ("tokens.sync.after", Way::Start),
    ("durable.replace.before", Way::Start),
    ("durable.replace.after", Way::Start),
    ("tokens.rename.after", Way::Start),
    ("tokens.sync_folder.after", Way::Start),
    ("token.first_use.before", Way::Start),
    ("credentials.look.before", Way::Work),
    ("stage.turn.before", Way::Work),
    ("api.list.before", Way::Work),
    ("api.list.after", Way::Work),
    ("api.document.before", Way::Work),
    ("api.document.after", Way::Work),
    ("api.record.before", Way::RecordsApart),
    ("api.record.after", Way::RecordsApart),
    ("api.download.before", Way::Work),
    ("api.download.after", Way::Work),
    ("api.chunk.before", Way::Work),
    ("api.chunk.after", Way::Work),
    ("spool.create.before", Way::Large),
    ("spool.create.after", Way::Large),
    ("spool.piece.after", Way::Large),
    ("spool.flush.after", Way::Large),
    ("spool.write.before", Way::Errors("spool.memory=return(12)")),
    ("spool.write.created", Way::Errors("spool.memory=return(12)")),
    ("spool.write.after", Way::Errors("spool.memory=return(12)")),
    ("spool.discard.before", Way::CutDownload),
    ("spool.discard.after", Way::CutDownload),
    ("durable.create_folder.before", Way::Work),
    ("durable.create_folder.after", Way::Work),
    ("durable.create.before", Way::Work),
    ("durable.create.after", Way::Work),
    ("durable.write.before", Way::Work),
    ("durable.write.after", Way::Work),
    ("durable.sync_file.before", Way::Work),
    ("durable.sync_file.after", Way::Work),
    ("folder.sidecar.before", Way::Work),
    ("folder.sidecar.after", Way::Work),
    ("filing.sidecar_remove.before", Way::Errors("folder.rename=3*return(5)")),
    ("filing.sidecar_remove.after", Way::Errors("folder.rename=3*return(5)")),
    ("folder.rename.before", Way::Work),
    ("filing.sidecar_last.before", Way::Work),
    ("filing.sidecar_last.after", Way::Work),
    ("files.hard_link.after", Way::Errors("files.rename_exclusively=return(22)")),
    ("files.rename.before", Way::Errors("files.rename_exclusively=return(22);files.hard_link=return(1)")),
    ("folder.rename.after", Way::Work),
    ("durable.sync_folder.before", Way::Work),
    ("durable.sync_folder.after", Way::Work),
    ("durable.remove.before", Way::Work),
    ("durable.remove.after", Way::Work),
    ("files.sync_existing.before", Way::Found),
    ("files.sync_existing.after", Way::Found),
    ("web.send.before", Way::Work),
    ("web.send.after", Way::Work),
    ("sftp.ask.before", Way::Work),
    ("sftp.ask.after", Way::Work),
    ("remote.put.before", Way::Work),
    ("remote.put.after", Way::Work),
    ("remote.sidecar.before", Way::Work),
    ("remote.sidecar.after", Way::Work),
    ("remote.rename.before", Way::Work),
    ("remote.rename.after", Way::Work),
    ("hl7v2.commit.before", Way::Work),
    ("hl7v2.commit.after", Way::Work),
    ("dicom.commit.before", Way::Work),
    ("dicom.commit.after", Way::Work),
    ("smtp.commit.before", Way::Work),
    ("smtp.commit.after", Way::Work),
    ("vdds.commit.before", Way::Dental),
    ("vdds.commit.after", Way::Dental),
    ("command.run.before", Way::Work),
    ("command.run.after", Way::Work),
    ("spool.remove.before", Way::Work),
    ("spool.remove.after", Way::Work),
    ("api.report.before", Way::Work),
    ("api.report.after", Way::Work),
];

/// The list above is the truth about the sources: each point stands in both, once.
pub fn check_against_sources() {
    let mut found = Vec::new();
    let mut folders = vec![std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.file_name().is_some_and(|name| name != "faults.rs") {
                let source = std::fs::read_to_string(&path).unwrap();
                found.extend(
                    source.split("fault_point!(\"").skip(1).map(|rest| rest.split('"').next().unwrap().to_owned()),
                );
            }
        }
    }
    let mut listed: Vec<String> = POINTS.iter().map(|(name, _)| (*name).to_owned()).collect();
    // Those of other commands than `run` are tried by `tests/it/backup.rs`.
    found.retain(|name| !["backup.", "restore.", "move."].iter().any(|command| name.starts_with(command)));
    found.sort();
    listed.sort();
    let unlisted: Vec<_> = found.iter().filter(|name| !listed.contains(name)).collect();
    let unknown: Vec<_> = listed.iter().filter(|name| !found.contains(name)).collect();
    assert!(unlisted.is_empty() && unknown.is_empty(), "not in the list: {unlisted:?}; not in src: {unknown:?}");
    assert_eq!(found, listed, "every name stands once in src and once in the list");
}
