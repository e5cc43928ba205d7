//! What a bundle may contain of the ledger: `status.json`, `ledger.json`, `history.json`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::shown::{History, Ledger, Soundness, Status, history, paused, status};
use super::words::{Names, Word};
use super::{Lack, within};
use crate::config::{Auth, Loaded};
use crate::domain::health::Facts;
use crate::ledger::glance::{Unseen, glance};
use crate::ledger::pauses::{self, Pause};
use crate::ledger::{QueryResult, process};
use crate::system::durable;
use crate::views::facts::{Present, facts};
use crate::views::named::{Named, named};
use crate::views::{self, DocumentHistory, Summary};
use rusqlite::Connection;

/// How long to wait for another program's lock on the ledger.
const PATIENCE: Duration = Duration::from_secs(2);
/// How long reading may take, because the ledger may lie on a share that hangs.
const LIMIT: Duration = Duration::from_secs(15);
/// How long SQLite may search for damage. In a large ledger that takes minutes.
const CHECK_LIMIT: Duration = Duration::from_secs(10);
/// The most findings of SQLite that are counted.
const MOST_FINDINGS: u64 = 100;

/// The facts. They contain what a bundle must not, and never leave this module.
struct Read {
    layout: i64,
    summary: Result<(Summary, Facts), Unseen>,
    pauses: Result<Vec<Pause>, Unseen>,
    documents: BTreeMap<String, u64>,
    deliveries: BTreeMap<String, u64>,
    /// In the order of the arguments; `None` for an unknown document.
    histories: Vec<Option<DocumentHistory>>,
    page: Option<String>,
}

/// The content for the bundle.
#[derive(Default)]
pub(super) struct Gathered {
    pub(super) status: Option<Status>,
    pub(super) ledger: Option<Ledger>,
    pub(super) histories: Vec<History>,
    /// The address of the running daemon's page.
    pub(super) page: Option<std::net::SocketAddr>,
    pub(super) missing: Vec<(&'static str, Lack)>,
}

/// Reads the ledger at `path`. `loaded`: the configuration, if it can be used.
pub(super) fn look(
    path: &Path,
    loaded: Option<&Loaded>,
    documents: &[String],
    running: bool,
    names: &mut Names,
) -> Gathered {
    let accounts = || loaded.into_iter().flat_map(|loaded| loaded.config.accounts.values());
    let signs_in = |auth: &Auth| matches!(auth, Auth::OAuth(_));
    let present = Present::new(running, accounts().map(|account| (account.name.clone(), signs_in(&account.auth))));
    let (file, wanted) = (path.to_owned(), documents.to_vec());
    let mut known = Gathered::default();
    let sizes = within(LIMIT, {
        let file = file.clone();
        move || sizes(&file)
    });
    let read = match within(LIMIT, move || read(&file, &present, &wanted)) {
        Ok(read) => read.map_err(Lack::from),
        Err(late) => Err(late),
    };
    let read = match read {
        Ok(read) => read,
        Err(why) => {
            known.missing.extend(["status.json", "ledger.json"].map(|file| (file, why)));
            known.missing.extend(documents.first().map(|_| ("history.json", why)));
            return known;
        }
    };
    match (loaded, read.summary) {
        (None, _) => known.missing.push(("status.json", Lack::Configuration)),
        (Some(_), Err(why)) => known.missing.push(("status.json", why.into())),
        (Some(loaded), Ok((summary, found))) => known.status = Some(status(loaded, path, summary, &found, names)),
    }
    known.histories = read.histories.iter().flatten().map(|shown| history(shown, names)).collect();
    known
        .missing
        .extend(read.histories.iter().filter(|shown| shown.is_none()).map(|_| ("history.json", Lack::NotKnown)));
    known.page = read.page.filter(|_| running).and_then(|address| address.parse().ok());
    let (quick_check, unchecked) = match soundness(path.to_owned()) {
        Ok(sound) => (Some(sound), None),
        Err(why) => (None, Some(("quick_check", why))),
    };
    known.missing.extend(unchecked);
    if let Err(why) = read.pauses {
        known.missing.push(("pauses", why.into()));
    }
    let (sizes, pauses) = (sizes.unwrap_or_default(), read.pauses.unwrap_or_default());
    known.ledger = Some(Ledger {
        layout: read.layout,
        bytes: sizes.ledger,
        log_bytes: sizes.log,
        spool_files: sizes.spool.0,
        spool_bytes: sizes.spool.1,
        free_bytes: sizes.free,
        documents: words(&read.documents),
        deliveries: words(&read.deliveries),
        pauses: pauses.iter().map(|pause| paused(pause, names)).collect(),
        quick_check,
    });
    known
}

fn read(path: &Path, present: &Present, wanted: &[String]) -> Result<Read, Unseen> {
    let seen = glance(path, PATIENCE)?;
    let db = &seen.db;
    let mut read = Read {
        layout: seen.layout,
        summary: Err(Unseen::Foreign),
        pauses: Err(Unseen::Foreign),
        documents: BTreeMap::new(),
        deliveries: BTreeMap::new(),
        histories: wanted.iter().map(|_| None).collect(),
        page: None,
    };
    if !seen.is_known {
        return Ok(read);
    }
    read.summary = views::summary(db).and_then(|summary| Ok((summary, facts(db, present)?))).map_err(Unseen::from);
    read.pauses = pauses::all(db).map_err(Unseen::from);
    // Pages that are damaged are not counted.
    read.documents = counts(db, "SELECT state, documents FROM document_count").unwrap_or_default();
    read.deliveries = counts(db, "SELECT state, count(*) FROM delivery GROUP BY state").unwrap_or_default();
    for (text, shown) in wanted.iter().zip(&mut read.histories) {
        if let Ok(Named::One(ids)) = named(db, text)
            && let Some(id) = ids.first()
        {
            *shown = views::show(db, *id).ok();
        }
    }
    read.page = process::all(db).ok().and_then(|mut all| all.remove(process::STATUS_PAGE));
    Ok(read)
}

fn counts(db: &Connection, sql: &str) -> QueryResult<BTreeMap<String, u64>> {
    db.prepare(sql)?.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
}

fn words(counts: &BTreeMap<String, u64>) -> BTreeMap<Word, u64> {
    counts.iter().filter_map(|(word, count)| Some((Word::other(word)?, *count))).collect()
}

/// SQLite's check of the file (SQLite, "PRAGMA quick_check"). Only the number of findings, because they name rows.
fn soundness(path: PathBuf) -> Result<Soundness, Lack> {
    let looked = within(CHECK_LIMIT, move || {
        let seen = glance(&path, PATIENCE)?;
        let mut statement = seen.db.prepare(&format!("PRAGMA quick_check({MOST_FINDINGS})"))?;
        let rows = statement.query_map([], |row| row.get::<_, String>(0))?;
        let found = rows.collect::<QueryResult<Vec<_>>>()?;
        let findings = found.iter().filter(|said| *said != "ok").count();
        Ok::<_, Unseen>(Soundness { ok: findings == 0, findings: findings as u64 })
    });
    match looked? {
        Ok(sound) => Ok(sound),
        Err(Unseen::Damaged) => Ok(Soundness { ok: false, findings: 1 }),
        Err(why) => Err(why.into()),
    }
}

/// Bytes.
#[derive(Default)]
struct Sizes {
    ledger: Option<u64>,
    log: Option<u64>,
    spool: (u64, u64),
    free: Option<u64>,
}

fn sizes(path: &Path) -> Sizes {
    let size = |path: &Path| std::fs::metadata(path).ok().map(|file| file.len());
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    let folder = path.parent().unwrap_or(Path::new("."));
    let spooled = std::fs::read_dir(folder.join("spool")).into_iter().flatten().flatten();
    let spooled = spooled.filter_map(|entry| Some(entry.metadata().ok()?.len()));
    Sizes {
        ledger: size(path),
        log: size(Path::new(&log)),
        spool: spooled.fold((0, 0), |(files, bytes), size| (files + 1, bytes + size)),
        free: durable::free_space(folder).ok(),
    }
}
