//! The contract suite on an archive whose program is this test, and the faults of such programs.

use std::collections::BTreeMap;
use std::sync::Arc;

use docsyncd_test_support::vdds::{Archive, WORDS};
use serde_json::json;
use tempfile::TempDir;

use super::super::contract::{Place, Spool, assert_delivered, keeps_the_contract, reason};
use super::*;
use crate::destinations::VddsProgram;
use crate::formats::template::{Template, TemplateKind};

const PDF: &[u8] = b"%PDF-1.7 letter";

/// Called by the archive's script; otherwise there is nothing to do.
#[test]
fn plays_the_archive() {
    docsyncd_test_support::vdds::play();
}

struct Office {
    archive: Archive,
    state: TempDir,
    config: VddsConfig,
}

impl Office {
    fn new() -> Self {
        let archive = Archive::new("destinations::vdds::tests::plays_the_archive");
        let config = VddsConfig {
            name: "pms".to_owned(),
            program: VddsProgram::Program(archive.program()),
            patient_id: Arc::new(Template::compile(TemplateKind::Field, "{{ patient.number }}").unwrap()),
            timeout: Duration::from_secs(60),
            on_lost_reply: LostReply::Resend,
        };
        Self { archive, state: tempfile::tempdir().unwrap(), config }
    }

    fn adapter(&self) -> VddsAdapter {
        VddsAdapter::new(self.config.clone(), &self.state.path().join("ledger.sqlite3"))
    }

    fn folder(&self) -> PathBuf {
        self.state.path().join("vdds")
    }

    fn files(&self) -> Vec<String> {
        let entries = fs::read_dir(self.folder()).into_iter().flatten().flatten();
        entries.map(|entry| entry.file_name().into_string().unwrap()).collect()
    }

    /// The outcome of the only letter, with a fault.
    async fn outcome(&self, fault: &str, item: &Item) -> Outcome {
        self.archive.inject(fault);
        self.adapter().deliver(item).await
    }
}

impl Place for Office {
    fn adapter(&self) -> Box<dyn Adapter> {
        Box::new(self.adapter())
    }

    fn objects(&self) -> BTreeMap<String, Vec<u8>> {
        self.archive.objects()
    }

    fn break_down(&self) {
        fs::remove_file(self.archive.program()).unwrap();
    }
}

/// A letter whose patient has a number.
fn item(spool: &Spool, number: u32) -> Item {
    let mut item = spool.item(number, PDF);
    Arc::make_mut(&mut item.metadata).number = Some(format!("47{number}"));
    item
}

mod with_uuids {
    use super::*;

    /// An archive for the items of the suite, which have no number.
    fn office() -> Office {
        let mut office = Office::new();
        office.config.patient_id = Arc::new(Template::compile(TemplateKind::Field, "{{ patient.uuid }}").unwrap());
        office
    }

    keeps_the_contract!(office());
}

#[tokio::test]
async fn a_letter_is_the_archives_when_it_says_so_whenever_and_however_it_does() {
    let (office, spool) = (Office::new(), Spool::new());
    for (number, fault) in [(1, ""), (2, "behind"), (3, "lock"), (4, "twice"), (5, "slow")] {
        let outcome = office.outcome(fault, &item(&spool, number)).await;
        let place = assert_delivered(&outcome);
        let id = object_id(&item(&spool, number).key);
        assert!(place.contains(&id), "{fault}: {place}");
        assert_eq!(office.archive.objects().get(&id).map(Vec::as_slice), Some(PDF), "{fault}");
        assert_eq!(office.archive.patients()[&id], format!("47{number}").into_bytes());
    }
    assert!(
        office.files().iter().all(|name| name.ends_with(".ini")),
        "the archive took the PDFs: {:?}",
        office.files()
    );
}

#[tokio::test]
async fn a_refusal_is_told_by_its_level_alone_and_is_asked_anew_at_the_next_try() {
    let (office, spool) = (Office::new(), Spool::new());
    let item = item(&spool, 1);
    for (fault, code) in [
        ("refuse 3", Code::Status(3)),
        ("refuse-late 12", Code::Status(12)),
        ("refuse kaputt", Code::word("refused_there")),
    ] {
        let outcome = office.outcome(fault, &item).await;
        assert!(matches!(&outcome, Outcome::Permanent { code: found, .. } if *found == code), "{fault}: {outcome:?}");
        assert!(!reason(&outcome).contains(WORDS) && !reason(&outcome).contains("kaputt"), "{outcome:?}");
        assert!(office.files().is_empty(), "{:?}", office.files());
    }
    assert_delivered(&office.adapter().deliver(&item).await);
}

/// The first attempt gets no valid answer. After the archive's time, the next attempt announces the letter with the
/// same identifier.
async fn is_tried_again(fault: &str, timeout: u64, holds: bool) {
    let (mut office, spool) = (Office::new(), Spool::new());
    // Windows starts programs slowly under wine.
    office.config.timeout = Duration::from_secs(timeout * if cfg!(windows) { 10 } else { 1 });
    office.config.on_lost_reply = if holds { LostReply::Hold } else { LostReply::Resend };
    let mut item = item(&spool, 1);
    match office.outcome(fault, &item).await {
        outcome @ Outcome::Unconfirmed { .. } if !holds => assert!(reason(&outcome).contains("`pms`")),
        Outcome::Held { .. } if holds => return,
        outcome => panic!("{fault}: {outcome:?}"),
    }
    item.uncertain = true;
    office.config.timeout = Duration::from_secs(if cfg!(windows) { 60 } else { 20 });
    assert_delivered(&office.adapter().deliver(&item).await);
    assert_eq!(office.archive.calls().into_values().collect::<Vec<_>>(), [2], "{fault}");
    assert_eq!(office.archive.objects().len(), 1, "{fault}");
}

#[tokio::test]
async fn no_answer_and_another_answer_are_none() {
    let faults =
        [("silent", 2), ("hang", 2), ("other", 2), ("half", 2), ("garbage", 2), ("crash", 60), ("crash-late", 60)];
    let tried = |holds| faults.map(|(fault, timeout)| is_tried_again(fault, timeout, holds));
    futures_util::future::join_all(tried(false).into_iter().chain(tried(true))).await;
}

#[tokio::test]
async fn an_answer_that_nobody_waited_for_counts_at_the_next_try() {
    for holds in [LostReply::Resend, LostReply::Hold] {
        let (mut office, spool) = (Office::new(), Spool::new());
        office.config.on_lost_reply = holds;
        let mut item = item(&spool, 1);
        office.archive.inject("slow");
        let adapter = office.adapter();
        tokio::select! {
            outcome = adapter.deliver(&item) => panic!("{outcome:?}"),
            () = async { while office.archive.calls().is_empty() { sleep(Duration::from_millis(20)).await } } => {}
        }
        // The started program died with docsyncd. It would survive a SIGKILL, so this test continues in its place.
        let said = read_ini(&office.folder().join(format!("{}.ini", object_id(&item.key)))).unwrap();
        let path = office.folder().join(format!("{}.ini", object_id(&item.key)));
        let later = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(600));
            fs::write(path, said.replace("READY=0", "READY=1")).unwrap();
        });
        item.uncertain = true;
        assert_delivered(&office.adapter().deliver(&item).await);
        later.join().unwrap();
        assert_eq!(office.archive.calls().into_values().sum::<usize>(), 1, "it was not started again");
    }
}

#[tokio::test]
async fn a_letter_that_may_lie_with_a_patient_is_not_announced_for_another() {
    let (mut office, spool) = (Office::new(), Spool::new());
    office.config.timeout = Duration::from_secs(if cfg!(windows) { 20 } else { 2 });
    let mut item = item(&spool, 1);
    let outcome = office.outcome("silent", &item).await;
    assert!(matches!(outcome, Outcome::Unconfirmed { .. }), "{outcome:?}");
    item.uncertain = true;
    office.config.patient_id = Arc::new(Template::compile(TemplateKind::Field, "0815").unwrap());
    assert_eq!(office.adapter().deliver(&item).await, Outcome::NeedsPerson(Unmatched::OtherNumber));
    assert_eq!(office.archive.calls().into_values().sum::<usize>(), 1);
}

#[tokio::test]
async fn a_letter_whose_patient_has_no_number_is_sent_nowhere() {
    let (office, spool) = (Office::new(), Spool::new());
    let unknown = office.adapter().deliver(&spool.item(1, PDF)).await;
    assert!(
        matches!(&unknown, Outcome::Own { code: Code::Word(word), .. } if word == "patient_unknown"),
        "{unknown:?}"
    );
    let mut foreign = item(&spool, 2);
    Arc::make_mut(&mut foreign.metadata).number = Some("4711\u{142}".to_owned());
    let outcome = office.adapter().deliver(&foreign).await;
    assert_eq!(outcome, Outcome::NeedsPerson(Unmatched::NotHeld));
    // A number that contains lines adds none.
    Arc::make_mut(&mut foreign.metadata).number = Some("4711\r\n[MMO1]\r\nMMOID=x".to_owned());
    assert_eq!(office.adapter().deliver(&foreign).await, Outcome::NeedsPerson(Unmatched::NotHeld));
    assert!(office.archive.calls().is_empty());
    let mut attacks = item(&spool, 3);
    Arc::make_mut(&mut attacks.metadata).document.insert("type".into(), json!("a\r\nREADY=1"));
    let outcome = office.adapter().deliver(&attacks).await;
    assert_delivered(&outcome);
    let id = object_id(&attacks.key);
    assert_eq!(office.archive.patients().keys().collect::<Vec<_>>(), [&id]);
}

#[tokio::test]
async fn what_is_left_is_told_by_check_and_goes_after_a_week() {
    let (office, spool) = (Office::new(), Spool::new());
    assert_delivered(&office.outcome("unfetched", &item(&spool, 1)).await);
    let warned = |checked: &Checked| checked.warnings.iter().any(|warning| warning.contains("has not fetched"));
    assert!(!warned(&office.adapter().check().await.unwrap()), "it may come for it yet");
    let age = |age: Duration| {
        for name in office.files() {
            let file = fs::OpenOptions::new().append(true).open(office.folder().join(name)).unwrap();
            file.set_modified(SystemTime::now() - age).unwrap();
        }
    };
    age(FETCHED * 2);
    let checked = office.adapter().check().await.unwrap();
    assert!(warned(&checked) && checked.warnings.iter().any(|warning| warning.contains("vdds install")), "{checked:?}");
    age(KEPT * 2);
    assert_delivered(&office.adapter().deliver(&item(&spool, 2)).await);
    assert_eq!(office.files(), [format!("{}.ini", object_id(&item(&spool, 2).key))]);
}

#[test]
fn nothing_but_a_letter_of_ours_is_given_to_who_asks() {
    let folder = tempfile::tempdir().unwrap();
    let id = object_id("a key");
    fs::write(folder.path().join(format!("{id}.pdf")), PDF).unwrap();
    fs::write(folder.path().join("secret.pdf"), PDF).unwrap();
    assert!(exported_pdf(folder.path(), &id.to_uppercase()).is_some());
    for other in ["secret", "../vdds/secret", "", "00000000000000000000", &format!("../{id}")] {
        assert_eq!(exported_pdf(folder.path(), other), None, "{other}");
    }
}
