//! `type = "vdds"`: announces the PDF to the archive of a practice software, by VDDS-media stage 6.
//!
//! docsyncd starts the archive's program with an INI file that describes the letter. The program fetches the PDF by
//! starting `docsyncd vdds-export`. It writes its answer into the same INI file, sometimes after it has ended. Nothing
//! else counts as an answer, neither an exit code nor an output. The files are named after the delivery's key and lie
//! in a folder beside the ledger, so that the next attempt finds a late answer. An answer is classified by its code,
//! because its words may name patients.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use serde_json::Value;
use tokio::time::{Instant, sleep};

use super::command::{Ended, Run, crashed, ending, inherited, not_started};
use super::fault::{self, At, Doing};
use super::{Adapter, Checked, Invented, Item, Outcome, Planned, blocking, spooled, wording};
use crate::destinations::LostReply;
use crate::domain::document::{DocumentUuid, Metadata};
use crate::domain::failure::Code;
use crate::domain::reservation::Known;
use crate::formats::template::Context;
use crate::formats::vdds::{Announcement, Answer, answer, is_object_id, object_id, text};
use crate::patients::Unmatched;
use crate::system::clock;
use crate::system::durable::{Temporary, remove_if_there, sync_folder};
use crate::system::permissions;

mod archive;
mod settings;
#[cfg(test)]
mod tests;

use archive::Archive;
pub use settings::*;

/// The time between two looks for an answer. It counts if two looks see the same, because some programs write READY
/// first.
const LOOK: Duration = Duration::from_millis(250);
/// How long an answer may keep changing.
const SETTLED: Duration = Duration::from_secs(5);
/// The longest wait for a file of this machine.
const FILES_LIMIT: Duration = Duration::from_secs(10 * 60);
/// How long announcements and PDFs are kept. An archive may fetch a PDF later, and an answer is needed until it is in
/// the ledger.
const KEPT: Duration = Duration::from_secs(7 * 24 * 60 * 60);
/// The time by which an archive has usually fetched a PDF that it accepted.
const FETCHED: Duration = Duration::from_secs(60 * 60);
/// The most bytes of an INI file that are read.
const MAX_INI: u64 = 1 << 20;
/// Only the owner has access.
const MODE: u32 = 0o600;

/// The folder of announcements and PDFs.
pub fn exchange(ledger: &Path) -> PathBuf {
    let folder = ledger.with_file_name("vdds");
    std::path::absolute(&folder).unwrap_or(folder)
}

/// The PDF of the letter with this identifier of the archive, if it is in the folder.
pub fn exported_pdf(folder: &Path, id: &str) -> Option<PathBuf> {
    let id = id.to_ascii_lowercase();
    let pdf = is_object_id(&id).then(|| folder.join(format!("{id}.pdf")))?;
    pdf.is_file().then_some(pdf)
}

/// The file in which practice software and archives register; `None` on a system without one.
pub fn mmi_file() -> Option<PathBuf> {
    std::env::var_os("WINDIR").filter(|folder| !folder.is_empty()).map(|folder| Path::new(&folder).join("VDDS_MMI.INI"))
}

/// An INI file as text.
///
/// # Errors
/// It cannot be read.
pub fn read_ini(path: &Path) -> io::Result<String> {
    Ok(text(&read_ini_bytes(path)?))
}

/// The bytes of an INI file, up to the longest such file.
///
/// # Errors
/// It cannot be read.
pub fn read_ini_bytes(path: &Path) -> io::Result<Vec<u8>> {
    // A pipe may never end.
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::other("it is no file"));
    }
    let mut read = Vec::new();
    File::open(path)?.take(MAX_INI).read_to_end(&mut read)?;
    Ok(read)
}

/// The files of one letter.
#[derive(Clone)]
struct Files {
    folder: PathBuf,
    id: String,
}

impl Files {
    fn path(&self, extension: &str) -> PathBuf {
        self.folder.join(format!("{}.{extension}", self.id))
    }

    /// Writes both files over those of an earlier attempt.
    fn write(&self, announcement: &[u8], pdf: &Path) -> io::Result<()> {
        permissions::create_folder(&self.folder)?;
        sweep(&self.folder);
        let mut source = File::open(pdf)?;
        for (extension, content) in [("pdf", &mut source as &mut dyn io::Read), ("ini", &mut &*announcement)] {
            let mut temporary = Temporary::create(self.path(&format!("{extension}.tmp")), MODE)?;
            io::copy(content, temporary.writer())?;
            temporary.sync()?;
            temporary.replace(&self.path(extension))?;
        }
        sync_folder(&self.folder)
    }

    fn remove(&self) {
        for extension in ["ini", "pdf"] {
            let _ = remove_if_there(&self.path(extension));
        }
    }
}

/// The files in the folder that did not change for this time.
fn older(folder: &Path, than: Duration) -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let is_old = move |entry: &fs::DirEntry| {
        let changed = entry.metadata().and_then(|metadata| metadata.modified()).ok();
        changed.and_then(|changed| SystemTime::now().duration_since(changed).ok()).is_some_and(|age| age > than)
    };
    entries.filter(is_old).map(|entry| entry.path())
}

fn sweep(folder: &Path) {
    older(folder, KEPT).for_each(|path| drop(remove_if_there(&path)));
}

/// The number of PDFs that the archive accepted but has not fetched.
fn not_fetched(folder: &Path) -> usize {
    let of_pdf = |path: PathBuf| {
        let id = path.file_stem()?.to_str()?.to_owned();
        let said = read_ini(&path.with_extension("ini")).ok()?;
        path.extension().filter(|end| *end == "pdf").and(answer(&said, &id))
    };
    older(folder, FETCHED).filter_map(of_pdf).count()
}

/// The archive of a practice software.
pub struct VddsAdapter {
    config: VddsConfig,
    folder: PathBuf,
}

impl VddsAdapter {
    /// Starts nothing. Announcements and PDFs are kept beside `ledger`.
    pub fn new(config: VddsConfig, ledger: &Path) -> Self {
        Self { config, folder: exchange(ledger) }
    }

    fn named(&self, words: &str) -> String {
        format!("destination `{}`: {words}", self.config.name)
    }

    fn holds(&self) -> bool {
        self.config.on_lost_reply == LostReply::Hold
    }

    /// Runs work on files of this machine.
    async fn with_files<T: Send + 'static>(
        &self,
        whose: &str,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Outcome> {
        let claim = format!("{}\0{}\0{whose}", self.config.name, self.folder.display());
        let silent = |_| {
            Outcome::transient(Code::word("no_reason_file"), self.named("the folder of the ledger does not answer"))
        };
        blocking::run(claim, FILES_LIMIT, work).await.map_err(silent)
    }

    /// The archive. Several letters may look for it at the same time; `whose` tells the looks apart.
    async fn archive(&self, whose: &str) -> Result<Archive, Outcome> {
        let config = self.config.clone();
        let found = self.with_files(whose, move || Archive::find(&config)).await?;
        found.map_err(|words| Outcome::transient(Code::word("program_unusable"), self.named(&words)))
    }

    /// The announcement for the archive.
    fn announcement(&self, item: &Item, archive: &Archive, (id, patient_id): (&str, &str)) -> Result<Vec<u8>, Outcome> {
        let created = item.metadata.document.get("createdAt").and_then(|at| at.as_str()?.parse().ok());
        let created: jiff::Timestamp = created.unwrap_or_else(jiff::Timestamp::now);
        let created = created.to_zoned(jiff::tz::TimeZone::system());
        let kind = item.metadata.document_type().unwrap_or_default();
        let comment: String = kind.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { ' ' }).take(40).collect();
        let announcement = Announcement {
            practice_software: &archive.practice_software,
            patient_id,
            id,
            date: &created.strftime("%Y%m%d").to_string(),
            time: &created.strftime("%H:%M").to_string(),
            comment: comment.trim(),
        };
        // Everything else in it is ASCII.
        announcement.bytes().ok_or_else(|| wording::not_said(&self.config.name, &item.metadata))
    }

    /// Waits for the archive's answer until this time. A file that cannot be read now contains no answer yet.
    async fn answer(&self, files: &Files, wait: Duration) -> Option<Answer> {
        let (begun, mut before) = (Instant::now(), None);
        loop {
            let (path, id) = (files.path("ini"), files.id.clone());
            let look = move || read_ini(&path).ok().and_then(|said| Some((answer(&said, &id)?, said)));
            let now = self.with_files(&files.id, look).await.ok().flatten();
            let is_over = begun.elapsed() > wait.saturating_add(if now.is_some() { SETTLED } else { Duration::ZERO });
            match &now {
                Some((answer, _)) if now == before => return Some(*answer),
                _ if is_over => return None,
                _ => before = now,
            }
            sleep(LOOK).await;
        }
    }

    async fn outcome(&self, answer: Answer, files: &Files) -> Result<Outcome, Outcome> {
        let Answer::Refused(level) = answer else {
            return Ok(Outcome::delivered(format!("archive, object {}", files.id)));
        };
        // Only an answer to this attempt counts.
        let answered = files.clone();
        self.with_files(&files.id, move || answered.remove()).await?;
        let which = level.map_or_else(|| "no number".to_owned(), |level| level.to_string());
        let code = level.map_or(Code::word("refused_there"), |level| Code::Status(level.into()));
        let reason = format!(
            "the archive refuses the letter (ERRORLEVEL {which}): is the patient known there by this number? Its maker knows what \
             the level means"
        );
        Ok(Outcome::Permanent { code, reason: self.named(&reason) })
    }

    /// Nobody knows what happened to the letter.
    fn in_doubt(&self, code: Code, words: &str) -> Outcome {
        Outcome::Unconfirmed { code, reason: self.named(words) }
    }

    async fn hand_over(&self, item: &Item) -> Result<Outcome, Outcome> {
        spooled::verify(&self.config.name, item).await?;
        let (files, limit) = (Files { folder: self.folder.clone(), id: object_id(&item.key) }, self.config.timeout);
        let patient_id = wording::patient_id(&self.config.name, &self.config.patient_id, &item.metadata)?;
        if item.uncertain {
            // The archive may still be working on it.
            let committed = item.committed().await?;
            let begun = committed.as_ref().map_or(0, |committed| committed.at);
            let then = committed.and_then(|committed| Some(committed.patient?.as_str()?.to_owned()));
            let ago = Duration::from_millis(u64::try_from(clock::now().saturating_sub(begun)).unwrap_or(0));
            if let Some(answer) = self.answer(&files, limit.saturating_sub(ago)).await {
                return self.outcome(answer, &files).await;
            }
            if self.holds() {
                return Err(Outcome::cut_off("docsyncd ended before the archive had answered"));
            }
            // The letter may be with the patient of its announcement.
            if then.is_some_and(|then| then != patient_id) {
                return Err(Outcome::NeedsPerson(Unmatched::OtherNumber));
            }
        }
        let archive = self.archive(&files.id).await?;
        let announcement = self.announcement(item, &archive, (&files.id, &patient_id))?;
        let (pdf, written) = (item.pdf.path.clone(), files.clone());
        let written = self.with_files(&files.id, move || written.write(&announcement, &pdf)).await?;
        let at = At { destination: &self.config.name, folder: &self.folder };
        written.map_err(|error| fault::outcome(at, Doing::Write, &error))?;
        let path = files.path("ini").into_os_string().into_string();
        let path = path.map_err(|_| {
            spooled::unreadable("the ledger's path is not UTF-8: choose another `state.path`".to_owned())
        })?;

        item.committing_to(Some(&Value::from(patient_id))).await?;
        fault_point!("vdds.commit.before");
        let begun = Instant::now();
        let run = Run {
            program: archive.program,
            args: vec![path],
            environment: inherited().collect(),
            input: Vec::new(),
            limit,
        };
        let program = run.program.clone();
        let (ended, _) = run.until_the_end().await;
        fault_point!("vdds.commit.after");
        let (wait, code, words) = match ended {
            Ended::NotStarted(error) => return Err(not_started(&self.config.name, &program, &error)),
            Ended::Exited(status) => match ending(status) {
                Code::Exit(exit) if !crashed(exit) => {
                    let words = "the archive's program ended, and no answer came in time (READY=1)";
                    (limit.saturating_sub(begun.elapsed()), Code::word("out_of_time"), words)
                }
                code => (Duration::ZERO, code, "the archive's program crashed"),
            },
            Ended::OutOfTime => {
                (Duration::ZERO, Code::word("out_of_time"), "the archive's program did not end in time and was stopped")
            }
            Ended::Lost(_) => (Duration::ZERO, Code::word("lost"), "the archive's program cannot be waited for"),
        };
        match self.answer(&files, wait).await {
            Some(answer) => self.outcome(answer, &files).await,
            None => Err(self.in_doubt(code, words)),
        }
    }
}

#[async_trait]
impl Adapter for VddsAdapter {
    fn needs_file(&self) -> bool {
        true
    }

    async fn deliver(&self, item: &Item) -> Outcome {
        item.unseen(self.hand_over(item).await.unwrap_or_else(|outcome| outcome), self.holds()).await
    }

    fn holds_number(&self, invented: &Invented) -> bool {
        invented.text(&self.config.patient_id).is_some_and(|id| Announcement::of(id.trim()).bytes().is_some())
    }

    /// The program, and the patient's number that it would get.
    async fn plan(&self, _: &DocumentUuid, metadata: &Metadata, _: &Known) -> Result<Planned, String> {
        let id =
            self.config.patient_id.render(&Context::new(metadata)).map_err(|error| format!("patient_id: {error}"))?;
        let (program, problem) = match self.archive("plan").await {
            Ok(archive) => (archive.program.display().to_string(), None),
            Err(outcome) => ("the archive's program".to_owned(), Some(outcome.into_reason())),
        };
        Ok(Planned { place: format!("{program}, patient {}", id.trim()), otherwise: None, taken: false, problem })
    }

    /// Checks that the program exists and may be started. It is not started, because there is no letter for it.
    async fn check(&self) -> Result<Checked, String> {
        let archive = self.archive("check").await.map_err(Outcome::into_reason)?;
        let mut warnings = Vec::new();
        if !archive.export.is_some_and(|export| export.is_file()) {
            warnings.push(
                "an archive that comes back for the PDF finds no program of docsyncd: run `docsyncd vdds install`"
                    .to_owned(),
            );
        }
        let folder = self.folder.clone();
        let left = self.with_files("check", move || not_fetched(&folder)).await.map_err(Outcome::into_reason)?;
        if left > 0 {
            let words = "letters of the last days, but has not fetched their PDFs: look there";
            warnings.push(format!("the archive says that it has {left} {words}"));
        }
        let then = if self.holds() { "waits for a person" } else { "is announced again, by the same number" };
        let notes = vec![
            format!("its program is {}, which is not started to try more", archive.program.display()),
            format!("a letter whose answer is lost {then}"),
        ];
        Ok(Checked { notes, warnings })
    }

    /// No archive is known to allow two runs of its program at a time.
    fn max_connections(&self) -> Option<usize> {
        Some(1)
    }
}
