//! What every adapter that names letters in a folder must also keep: the proofs that the destination's software took
//! them.

use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;

use super::{CANARY, Place, Spool, reason};
use crate::config::{Confirm, Evidence, SidecarLine};
use crate::destinations::{Adapter, Item, Others, Outcome, SidecarConfig, Unproved};
use crate::domain::failure::Code;
use crate::domain::proof::{AGAIN, Proof, Sight};
use crate::formats::sidecar::Charset;
use crate::formats::template::{Template, TemplateKind, TextFormat};

/// A destination under test in which letters have names. Paths are below its folder.
pub(in crate::destinations) trait NamedPlace: Place {
    /// From now on, letters have these names, this sidecar and this proof.
    fn configure(&mut self, file_name: &str, sidecar: Option<SidecarConfig>, confirm: Confirm);
    /// A person writes a file and its folders, or removes a file.
    fn write(&self, path: &str, content: Option<&[u8]>);
    /// The folder goes away with its content.
    fn go_away(&self);
}

/// What the ledger knows of other letters.
#[derive(Default)]
pub(in crate::destinations) struct Known {
    pub(in crate::destinations) places: Vec<String>,
    pub(in crate::destinations) contents: Vec<String>,
}

#[async_trait]
impl Others for Known {
    async fn have(&self, path: &str, place: &str) -> bool {
        self.places.iter().any(|known| known == path || known == place)
    }

    async fn sent(&self, sha256: &str) -> bool {
        self.contents.iter().any(|known| known == sha256)
    }
}

pub(in crate::destinations) fn confirm(success: Evidence, failed: Option<Evidence>) -> Confirm {
    Confirm { success, failed, within: std::time::Duration::from_secs(60), charset: Charset::Utf8 }
}

pub(in crate::destinations) fn moved(folder: &str) -> Evidence {
    Evidence::Moved(folder.to_owned())
}

fn line(text: &str) -> Evidence {
    Evidence::Sidecar(SidecarLine::parse(text).unwrap())
}

const ONE: &[u8] = b"%PDF-1.7 letter one";
const TWO: &[u8] = b"%PDF-1.7 letter two";

/// A filed letter, as the ledger has it.
pub(in crate::destinations) async fn filed(
    adapter: &dyn Adapter,
    spool: &Spool,
    number: u32,
    content: &[u8],
) -> Unproved {
    let item = spool.item(number, content);
    let Outcome::Delivered { filed: Some(filed), place, .. } = adapter.deliver(&item).await else { panic!() };
    spool.record(&item);
    let (size, sha256) = (item.pdf.size, item.pdf.sha256.clone());
    Unproved {
        uuid: item.uuid,
        key: item.key,
        has_editions: false,
        is_first: true,
        filed: *filed,
        place,
        size,
        sha256,
        metadata: item.metadata,
    }
}

/// The results of a look in short.
pub(in crate::destinations) fn said(sights: &[Sight]) -> Vec<&'static str> {
    let word = |sight: &Sight| match sight {
        Sight::Waits => "waits",
        Sight::Gone(_) => "gone",
        Sight::Proved { proof, .. } => proof.as_str(),
        Sight::Refused { reason: words, .. } => {
            assert!(words.starts_with("destination `pms`: ") && !words.contains(CANARY) && !words.contains(".pdf"));
            "refused"
        }
    };
    sights.iter().map(word).collect()
}

async fn look(adapter: &dyn Adapter, letters: &[Unproved]) -> Vec<&'static str> {
    said(&adapter.look(letters, &Known::default()).await.unwrap_or_else(|outcome| panic!("{outcome:?}")))
}

const NAME: &str = "letters/{{ patient.firstName }} {{ document.audio }}.pdf";
const FIRST: &str = "letters/Zoé 1.pdf";
const SECOND: &str = "letters/Zoé 2.pdf";

pub(in crate::destinations) async fn what_is_gone_was_taken(mut place: impl NamedPlace) {
    place.configure(NAME, None, confirm(Evidence::Taken, None));
    let (adapter, spool) = (place.adapter(), Spool::new());
    let letters = [filed(&*adapter, &spool, 1, ONE).await, filed(&*adapter, &spool, 2, TWO).await];
    assert_eq!((letters[0].filed.path.as_str(), letters[0].filed.folder()), (FIRST, "letters"));
    assert_eq!(look(&*adapter, &letters).await, ["waits", "waits"]);
    place.write(FIRST, None);
    assert_eq!(look(&*adapter, &letters).await, ["gone", "waits"]);
    // Another file at the letter's place proves nothing. A letter that still lies there waits.
    place.write(FIRST, Some(b"another"));
    place.write(SECOND, None);
    assert_eq!(look(&*adapter, &letters).await, ["waits", "gone"]);
    place.go_away();
    let outcome = adapter.look(&letters, &Known::default()).await.unwrap_err();
    assert!(reason(&outcome).contains("`pms`"), "{outcome:?}");
}

pub(in crate::destinations) async fn a_letter_that_was_there_already_can_be_proved(mut place: impl NamedPlace) {
    place.configure(NAME, None, confirm(Evidence::Taken, None));
    let (adapter, spool) = (place.adapter(), Spool::new());
    filed(&*adapter, &spool, 1, ONE).await;
    spool.forget();
    let again = filed(&*place.adapter(), &spool, 1, ONE).await;
    assert_eq!(again.filed.path, FIRST);
}

pub(in crate::destinations) async fn what_lies_in_the_other_folder_was_moved(mut place: impl NamedPlace) {
    place.configure(NAME, None, confirm(moved("done"), Some(moved("refused"))));
    let (adapter, spool) = (place.adapter(), Spool::new());
    let letters = [filed(&*adapter, &spool, 1, ONE).await, filed(&*adapter, &spool, 2, TWO).await];
    // A copy proves nothing while the letter is still there, and the letter's absence alone proves nothing.
    place.write("done/Zoé 1.pdf", Some(ONE));
    assert_eq!(look(&*adapter, &letters).await, ["waits", "waits"]);
    place.write(SECOND, None);
    assert_eq!(look(&*adapter, &letters).await, ["waits", "waits"]);
    place.write("done/a stranger's.pdf", Some(&TWO[1..]));
    assert_eq!(look(&*adapter, &letters).await, ["waits", "waits"]);
    place.write(FIRST, None);
    assert_eq!(look(&*adapter, &letters).await, ["moved", "waits"]);
    // The letter is found by its content under another name, or below the same sub-folder.
    place.write("done/PMS-7.pdf", Some(TWO));
    let sights = adapter.look(&letters, &Known::default()).await.ok().unwrap();
    assert_eq!(said(&sights), ["moved", "moved"]);
    let Sight::Proved { place: Some(shown), .. } = &sights[1] else { panic!() };
    assert!(shown.ends_with("PMS-7.pdf"), "{shown}");
    place.write("done/PMS-7.pdf", None);
    place.write("done/letters/Zoé 2.pdf", Some(TWO));
    assert_eq!(look(&*adapter, &letters).await, ["moved", "moved"]);
    // If it is in both folders, it was refused.
    place.write("refused/Zoé 2 (1).pdf", Some(TWO));
    assert_eq!(look(&*adapter, &letters).await, ["moved", "refused"]);
    place.go_away();
    assert!(adapter.look(&letters, &Known::default()).await.is_err());
}

pub(in crate::destinations) async fn a_name_proves_only_what_the_importer_changed(mut place: impl NamedPlace) {
    place.configure(NAME, None, confirm(moved("done"), None));
    // This file was there before.
    place.write("done/Zoé 2.pdf", Some(b"of last year"));
    let (adapter, spool) = (place.adapter(), Spool::new());
    let letters = [filed(&*adapter, &spool, 1, ONE).await, filed(&*adapter, &spool, 2, TWO).await];
    assert_eq!(letters[1].filed.before, ["done/Zoé 2.pdf"]);
    place.write(FIRST, None);
    place.write(SECOND, None);
    place.write("done/Zoé 1.pdf", Some(b"%PDF-1.7 stamped"));
    assert_eq!(look(&*adapter, &letters).await, ["moved", "waits"]);
    // The file belongs to another letter, by its content or by the ledger's record of its place.
    let digest = crate::destinations::files::Digest::of(b"%PDF-1.7 stamped");
    for known in [
        Known { contents: vec![digest.sha256], ..Known::default() },
        Known { places: vec!["done/Zoé 1.pdf".to_owned()], ..Known::default() },
    ] {
        assert_eq!(said(&adapter.look(&letters, &known).await.ok().unwrap()), ["waits", "waits"]);
    }
    place.write("done/Zoé 2.pdf", Some(TWO));
    assert_eq!(look(&*adapter, &letters).await, ["moved", "moved"]);
}

/// The paths of the files below its folder.
fn names(place: &impl NamedPlace) -> Vec<String> {
    let below = |path: &str| path.rsplit_once("/inbox/").map_or(path, |(_, below)| below).to_owned();
    place.objects().keys().map(|path| below(path)).collect()
}

/// Servers tell times in whole seconds.
async fn a_second() {
    tokio::time::sleep(std::time::Duration::from_millis(1100)).await;
}

pub(in crate::destinations) async fn what_lay_there_before_proves_nothing(mut place: impl NamedPlace) {
    for (evidence, old, new) in [
        (moved("done"), "done/old.pdf", "done/new.pdf"),
        (moved("done"), "done/Zoé 1.pdf", "done/Zoé 1.pdf"),
        (Evidence::Renamed, "letters/old.pdf", "letters/new.pdf"),
    ] {
        place.configure(NAME, None, confirm(evidence, None));
        place.write(old, Some(ONE));
        a_second().await;
        let (adapter, spool) = (place.adapter(), Spool::new());
        let letter = [filed(&*adapter, &spool, 1, ONE).await];
        // A person removes it.
        place.write(FIRST, None);
        assert_eq!(look(&*adapter, &letter).await, ["waits"], "{old}");
        place.write(new, Some(ONE));
        assert_eq!(look(&*adapter, &letter).await, ["moved"], "{new}");
        for path in BTreeSet::from([old, new]) {
            place.write(path, None);
        }
    }
}

pub(in crate::destinations) async fn a_letter_that_was_refused_can_be_filed_anew(mut place: impl NamedPlace) {
    place.configure(NAME, None, confirm(moved("done"), Some(moved("refused"))));
    let (adapter, spool) = (place.adapter(), Spool::new());
    let letter = [filed(&*adapter, &spool, 1, ONE).await];
    place.write(FIRST, None);
    place.write("refused/Zoé 1.pdf", Some(ONE));
    assert_eq!(look(&*adapter, &letter).await, ["refused"]);
    spool.refuse(&letter[0].uuid);
    a_second().await;
    let letter = [filed(&*adapter, &spool, 1, ONE).await];
    assert_eq!(letter[0].filed.path, FIRST);
    place.write(FIRST, None);
    assert_eq!(look(&*adapter, &letter).await, ["waits"], "that was the filing before");
    place.write("done/Zoé 1.pdf", Some(ONE));
    assert_eq!(look(&*adapter, &letter).await, ["moved"]);
    // It is refused again, under the same name.
    place.write("refused/Zoé 1.pdf", Some(ONE));
    assert_eq!(look(&*adapter, &letter).await, ["refused"]);

    for is_last in [false, true] {
        let own = SidecarConfig { is_last, ..sidecar("{{ file_stem }}.ini") };
        place.configure(NAME, Some(own), confirm(line("READY=1"), Some(line("ERRORLEVEL!=0"))));
        let (adapter, spool) = (place.adapter(), Spool::new());
        let (first, second) = ("letters/Zoé 1.ini", "letters/Zoé 1_00000001.ini");
        let letter = [filed(&*adapter, &spool, 1, ONE).await];
        place.write(first, Some(b"READY=0\nERRORLEVEL=3\n"));
        assert_eq!(look(&*adapter, &letter).await, ["refused"]);
        spool.refuse(&letter[0].uuid);
        // The letter and its sidecar are still there, and the software has finished with them.
        let letter = [filed(&*adapter, &spool, 1, ONE).await];
        assert_eq!(letter[0].filed.path, "letters/Zoé 1_00000001.pdf");
        assert_eq!(look(&*adapter, &letter).await, ["waits"]);
        place.write(second, Some(b"READY=1\nERRORLEVEL=0\n"));
        assert_eq!(look(&*adapter, &letter).await, ["sidecar"]);
        // A person has removed the sidecars, so that the software begins again.
        spool.refuse(&letter[0].uuid);
        place.write(first, None);
        place.write(second, None);
        let letter = [filed(&*adapter, &spool, 1, ONE).await];
        assert!(names(&place).contains(&first.to_owned()), "{:?}", letter[0].filed.path);
        for path in names(&place) {
            place.write(&path, None);
        }
    }
}

pub(in crate::destinations) async fn one_file_proves_one_letter(mut place: impl NamedPlace) {
    place.configure(NAME, None, confirm(moved("done"), None));
    let (adapter, spool) = (place.adapter(), Spool::new());
    let letters = [filed(&*adapter, &spool, 1, ONE).await, filed(&*adapter, &spool, 2, ONE).await];
    // The second letter was moved, and a person removed the first.
    place.write(FIRST, None);
    place.write(SECOND, None);
    place.write("done/Zoé 2.pdf", Some(ONE));
    assert_eq!(look(&*adapter, &letters).await, ["waits", "moved"]);
    let second = Known { places: vec![SECOND.to_owned()], ..Known::default() };
    assert_eq!(said(&adapter.look(&letters[..1], &second).await.ok().unwrap()), ["waits"], "the second is not due");
    place.write("done/Zoé 2.pdf", None);
    place.write("done/new.pdf", Some(ONE));
    assert_eq!(look(&*adapter, &letters).await, ["moved", "waits"]);
    let shown = |sights: Vec<Sight>| match sights.into_iter().next() {
        Some(Sight::Proved { place: Some(place), .. }) => place,
        _ => panic!(),
    };
    let at = shown(adapter.look(&letters[..1], &Known::default()).await.ok().unwrap());
    let first = Known { places: vec![at], ..Known::default() };
    assert_eq!(said(&adapter.look(&letters[1..], &first).await.ok().unwrap()), ["waits"]);
}

pub(in crate::destinations) async fn what_has_another_name_was_renamed(mut place: impl NamedPlace) {
    place.configure(NAME, None, confirm(Evidence::Renamed, None));
    let (adapter, spool) = (place.adapter(), Spool::new());
    let letters = [filed(&*adapter, &spool, 1, ONE).await, filed(&*adapter, &spool, 2, ONE).await];
    place.write(FIRST, None);
    // Neither the second letter proves the first, nor a temporary file, nor a file in another folder.
    place.write("letters/.docsyncd-1.tmp", Some(ONE));
    place.write("letters/deeper/1.pdf", Some(ONE));
    place.write("1.pdf", Some(ONE));
    place.write("letters/1.pdf", Some(TWO));
    assert_eq!(look(&*adapter, &letters).await, ["waits", "waits"]);
    place.write("letters/1.pdf", Some(ONE));
    let sights = adapter.look(&letters, &Known::default()).await.ok().unwrap();
    assert!(
        matches!(&sights[..], [Sight::Proved { proof: Proof::Moved, place: Some(place), .. }, Sight::Waits]
            if place.ends_with("1.pdf") && !place.contains("Zoé")),
        "{:?}",
        said(&sights)
    );
    place.write(SECOND, None);
    assert_eq!(look(&*adapter, &letters).await, ["moved", "waits"]);
}

fn sidecar(name: &str) -> SidecarConfig {
    let compile = |kind, source: &str| Arc::new(Template::compile(kind, source).unwrap());
    SidecarConfig::new(
        compile(TemplateKind::Text(TextFormat::Plain), "READY=0\nERRORLEVEL=0\n"),
        compile(TemplateKind::SidecarName, name),
    )
}

pub(in crate::destinations) async fn what_the_sidecar_says_counts(mut place: impl NamedPlace) {
    place.configure(NAME, Some(sidecar("{{ file_stem }}.ini")), confirm(line("READY=1"), Some(line("ERRORLEVEL!=0"))));
    let (adapter, spool) = (place.adapter(), Spool::new());
    let letters = [filed(&*adapter, &spool, 1, ONE).await, filed(&*adapter, &spool, 2, TWO).await];
    assert_eq!(letters[0].filed.sidecar.as_deref(), Some("Zoé 1.ini"));
    assert_eq!(look(&*adapter, &letters).await, ["waits", "waits"]);
    for (content, expected) in [
        (Some(&b"READY=1\nERRORLEVEL=0\n"[..]), "sidecar"),
        (Some(b"\xef\xbb\xbf ready = 1\r\nErrorLevel=0\r\n"), "sidecar"),
        (Some(b"READY=1\nERRORLEVEL=12\n"), "refused"),
        (Some(b"READY=0\nERRORLEVEL=12\n"), "refused"),
        (Some(b"READY=1\n"), "sidecar"),
        (Some(b"READY=11\nERRORLEVEL=0\n"), "waits"),
        (Some(b""), "waits"),
        // A sidecar that vanished is no success, whatever it said before.
        (None, "waits"),
    ] {
        place.write("letters/Zoé 1.ini", content);
        assert_eq!(look(&*adapter, &letters).await, [expected, "waits"], "{content:?}");
    }
    let long = [b"READY=1\n".to_vec(), vec![b'x'; 70_000]].concat();
    place.write("letters/Zoé 1.ini", Some(&long));
    assert_eq!(look(&*adapter, &letters).await, ["waits", "waits"]);
}

pub(in crate::destinations) async fn a_sidecar_that_says_itself_what_is_waited_for_is_not_written(
    mut place: impl NamedPlace,
) {
    let compile = |kind, source: &str| Arc::new(Template::compile(kind, source).unwrap());
    let content = compile(
        TemplateKind::Text(TextFormat::Plain),
        "NAME={{ patient.firstName }}\n{{ patient.note | default(\"\") }}\n",
    );
    let named = SidecarConfig::new(content, compile(TemplateKind::SidecarName, "{{ file_stem }}.ini"));
    for (note, is_written) in [("READY=1", false), ("ERRORLEVEL=2", false), ("READY=10", true)] {
        for is_last in [false, true] {
            let (success, failed) = (line("READY=1"), Some(line("ERRORLEVEL!=0")));
            place.configure(NAME, Some(SidecarConfig { is_last, ..named.clone() }), confirm(success, failed));
            let (adapter, spool) = (place.adapter(), Spool::new());
            let mut item = spool.item(1, ONE);
            Arc::make_mut(&mut item.metadata).patient.insert("note".to_owned(), note.into());
            let outcome = adapter.deliver(&item).await;
            let is_refused = matches!(&outcome, Outcome::Own { code, .. } if *code == Code::word("not_filled_in"));
            assert_eq!((is_refused, names(&place).len()), (!is_written, 2 * usize::from(is_written)), "{outcome:?}");
            for path in names(&place) {
                place.write(&path, None);
            }
        }
    }
}

pub(in crate::destinations) async fn after_a_restore_what_was_moved_is_not_filed_again(mut place: impl NamedPlace) {
    place.configure(NAME, None, confirm(moved("done"), Some(moved("refused"))));
    let restored = |item: Item| Item { restored: true, uncertain: true, tried: true, ..item };
    let (adapter, spool) = (place.adapter(), Spool::new());
    for (number, folder, expected) in [(1, "done", "moved"), (2, "refused", "refused"), (3, "done/letters", "moved")] {
        let content = format!("%PDF-1.7 letter {number}").into_bytes();
        place.write(&format!("{folder}/Zoé {number}.pdf"), Some(&content));
        let item = restored(spool.item(number, &content));
        let Outcome::Delivered { filed: Some(filed), place: at, .. } = adapter.deliver(&item).await else { panic!() };
        spool.record(&item);
        assert_eq!((filed.name(), names(&place).contains(&filed.path)), (&*format!("Zoé {number}.pdf"), false));
        let Item { uuid, key, metadata, pdf, .. } = item;
        let letter = Unproved {
            uuid,
            key,
            has_editions: false,
            is_first: true,
            filed: *filed,
            place: at,
            size: pdf.size,
            sha256: pdf.sha256,
            metadata,
        };
        assert_eq!(look(&*adapter, &[letter]).await, [expected]);
    }
    // The intent is known, and the letter was taken since.
    let item = spool.item(4, TWO);
    assert!(matches!(adapter.deliver(&item).await, Outcome::Delivered { .. }));
    place.write("letters/Zoé 4.pdf", None);
    place.write("done/Zoé 4.pdf", Some(TWO));
    assert!(matches!(place.adapter().deliver(&restored(item)).await, Outcome::Delivered { .. }));
    // A file of its name with another content may be the letter after the software changed it. A person decides.
    place.write("done/Zoé 5.pdf", Some(ONE));
    let item = restored(spool.item(5, b"%PDF-1.7 letter five"));
    assert!(matches!(adapter.deliver(&item).await, Outcome::Held { .. }));
    // The files of other letters prove nothing.
    let item = restored(spool.item(6, b"%PDF-1.7 letter six"));
    assert!(matches!(adapter.deliver(&item).await, Outcome::Delivered { .. }));
    let letters = names(&place).into_iter().filter(|path| path.starts_with("letters/")).collect::<Vec<_>>();
    assert_eq!(letters, ["letters/Zoé 6.pdf"]);
}

/// The sight of one letter, as the next look is compared with it.
async fn sight(adapter: &dyn Adapter, letter: &Unproved) -> Sight {
    adapter.look(std::slice::from_ref(letter), &Known::default()).await.ok().unwrap().remove(0)
}

pub(in crate::destinations) async fn what_is_being_written_is_not_the_same_at_two_looks(mut place: impl NamedPlace) {
    let (ready, failed) = (line("READY=1"), line("ERRORLEVEL!=0"));
    place.configure(NAME, Some(sidecar("{{ file_stem }}.ini")), confirm(ready, Some(failed)));
    let (adapter, spool) = (place.adapter(), Spool::new());
    let letter = filed(&*adapter, &spool, 1, ONE).await;
    let mut before = Sight::Waits;
    // Each is the same file with more content. The length is not what distinguishes them.
    for content in ["READY=1", "READY=1\n", "READY=1\nA=1\n", "READY=1\nA=2\n", "READY=1\nERRORLEVEL=3", "READY=10"] {
        place.write("letters/Zoé 1.ini", Some(content.as_bytes()));
        let now = sight(&*adapter, &letter).await;
        assert_ne!(now, before, "{content}");
        assert_eq!(now, sight(&*adapter, &letter).await, "{content}");
        let rest = now.seen().map_or(0, |seen| seen.rest.as_secs());
        let expected = if content == "READY=10" { 0 } else { if content.ends_with('\n') { 2 } else { 10 } };
        assert_eq!(rest, expected, "{content}");
        before = now;
    }
    // The same holds for a file that is known only by its name, and for each other kind of evidence.
    for (evidence, folder) in [(moved("done"), "done"), (Evidence::Renamed, "letters"), (Evidence::Taken, "x")] {
        place.configure(NAME, None, confirm(evidence, None));
        let adapter = place.adapter();
        let letter = filed(&*adapter, &spool, 2, TWO).await;
        place.write(SECOND, None);
        let content = [&b"%PDF-1.7 stamped"[..], b"%PDF-1.7 stamped and more", TWO];
        let pieces = if folder == "done" { &content[..] } else { &content[2..] };
        let name = if folder == "letters" { "2.pdf" } else { "Zoé 2.pdf" };
        let sights: Vec<Sight> = {
            let mut sights = Vec::new();
            for piece in pieces {
                place.write(&format!("{folder}/{name}"), Some(piece));
                sights.push(sight(&*adapter, &letter).await);
            }
            sights
        };
        assert!(sights.iter().all(|sight| sight.seen().is_some_and(|seen| seen.rest == AGAIN)), "{:?}", said(&sights));
        assert!(sights.windows(2).all(|two| two[0] != two[1]));
        place.write(&format!("{folder}/{name}"), None);
        spool.forget();
    }
}

pub(in crate::destinations) async fn an_empty_file_or_a_beginning_of_the_letter_proves_nothing(
    mut place: impl NamedPlace,
) {
    place.configure(NAME, None, confirm(moved("done"), Some(moved("refused"))));
    let letter_of = [&b"%PDF-1.7\n"[..], &(0..=255).cycle().take(4000).collect::<Vec<u8>>(), b"\n%%EOF\n"].concat();
    let (adapter, spool) = (place.adapter(), Spool::new());
    let letter = filed(&*adapter, &spool, 1, &letter_of).await;
    place.write(FIRST, None);
    let zeros = [&letter_of[..2000], &vec![0; letter_of.len() - 2000]].concat();
    let nearly = [&letter_of[..3900], b" and the end of another"].concat();
    let parts = [0, 1, 5, 15, 16, 17, 100, 1000, 2047, letter_of.len() - 1].map(|end| letter_of[..end].to_vec());
    for part in parts.into_iter().chain([zeros, nearly, b"<html>%PDF-1.7</html> and more".to_vec()]) {
        for folder in ["done", "refused"] {
            place.write(&format!("{folder}/Zoé 1.pdf"), Some(&part));
            assert_eq!(look(&*adapter, std::slice::from_ref(&letter)).await, ["waits"], "{} bytes", part.len());
        }
    }
    // If nothing is known of a letter any more, only a longer file proves it.
    let mut unknown = letter.clone();
    unknown.filed.beginnings = Default::default();
    for (content, of_known, of_unknown) in [
        (&b"%PDF-1.4 made anew by the importer"[..], "moved", "waits"),
        (&[&letter_of[..], b"stamp"].concat(), "moved", "moved"),
        (&letter_of, "moved", "moved"),
    ] {
        place.write("refused/Zoé 1.pdf", Some(b""));
        place.write("done/Zoé 1.pdf", Some(content));
        let letters = [letter.clone(), unknown.clone()];
        for (letter, expected) in letters.iter().zip([of_known, of_unknown]) {
            assert_eq!(look(&*adapter, std::slice::from_ref(letter)).await, [expected], "{}", content.len());
        }
    }
}

pub(in crate::destinations) async fn a_sidecars_name_is_its_letters_until_that_is_proved(mut place: impl NamedPlace) {
    let ready = || confirm(line("READY=1"), None);
    for (success, failed) in [(line("READY=1"), None), (Evidence::Taken, Some(line("ERRORLEVEL!=0")))] {
        for is_last in [false, true] {
            let index = SidecarConfig { is_last, ..sidecar("index.ini") };
            place.configure(NAME, Some(index), confirm(success.clone(), failed.clone()));
            let (adapter, spool) = (place.adapter(), Spool::new());
            let one = filed(&*adapter, &spool, 1, ONE).await;
            // The software takes it away, and says nothing yet.
            place.write("letters/index.ini", None);
            let waits = adapter.deliver(&spool.item(2, TWO)).await;
            assert!(matches!(waits, Outcome::Transient { .. }) && reason(&waits).contains("number3"), "{waits:?}");
            assert!(!place.objects().keys().any(|path| path.ends_with("Zoé 2.pdf")), "no letter without its sidecar");
            spool.prove(&one.uuid);
            let two = filed(&*adapter, &spool, 2, TWO).await;
            assert_eq!(two.filed.sidecar.as_deref(), Some("index.ini"));
            for file in [FIRST, SECOND, "letters/index.ini"] {
                place.write(file, None);
            }
        }
    }
    // The next number is free.
    for is_last in [false, true] {
        place.configure(NAME, Some(SidecarConfig { is_last, ..sidecar("P.{{ number3 }}") }), ready());
        let (adapter, spool) = (place.adapter(), Spool::new());
        filed(&*adapter, &spool, 1, ONE).await;
        place.write("letters/P.001", None);
        assert_eq!(filed(&*adapter, &spool, 2, TWO).await.filed.sidecar.as_deref(), Some("P.002"));
        for file in [FIRST, SECOND, "letters/P.002"] {
            place.write(file, None);
        }
    }
}

pub(in crate::destinations) async fn a_check_says_that_the_other_folder_is_missing(mut place: impl NamedPlace) {
    place.configure(NAME, None, confirm(moved("done"), None));
    let warnings = place.adapter().check().await.unwrap().warnings;
    assert!(
        warnings.iter().any(|warning| warning.contains("`done`") && warning.contains("not there yet")),
        "{warnings:?}"
    );
    place.write("done/any.pdf", Some(ONE));
    let warnings = place.adapter().check().await.unwrap().warnings;
    assert!(!warnings.iter().any(|warning| warning.contains("`done`")), "{warnings:?}");
}

/// The suite for destinations where letters have names; `$place` makes a fresh one.
macro_rules! keeps_the_confirm_contract {
    ($place:expr) => {
        $crate::destinations::contract::confirm::keeps_the_confirm_contract! { $place;
            what_is_gone_was_taken
            a_letter_that_was_there_already_can_be_proved
            what_lies_in_the_other_folder_was_moved
            a_name_proves_only_what_the_importer_changed
            what_lay_there_before_proves_nothing
            a_letter_that_was_refused_can_be_filed_anew
            one_file_proves_one_letter
            what_has_another_name_was_renamed
            what_the_sidecar_says_counts
            what_is_being_written_is_not_the_same_at_two_looks
            an_empty_file_or_a_beginning_of_the_letter_proves_nothing
            a_sidecars_name_is_its_letters_until_that_is_proved
            a_sidecar_that_says_itself_what_is_waited_for_is_not_written
            after_a_restore_what_was_moved_is_not_filed_again
            a_check_says_that_the_other_folder_is_missing
        }
    };
    ($place:expr; $($test:ident)*) => {
        mod confirm_contract {
            use super::*;
            $(
                #[tokio::test]
                async fn $test() {
                    $crate::destinations::contract::confirm::$test($place).await;
                }
            )*
        }
    };
}
pub(in crate::destinations) use keeps_the_confirm_contract;
