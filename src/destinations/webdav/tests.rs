//! The contract suite on a collection in this process, and the differences between WebDAV servers.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use secrecy::SecretString;

use super::super::contract::{
    CANARY, NamedPlace, Place, RemotePlace, SECRET, Spool, assert_delivered, connection, keeps_the_confirm_contract,
    keeps_the_contract, keeps_the_remote_contract, keeps_the_sidecar_contract, reason, remote_folder,
};
use super::*;
use crate::config::{Confirm, Secret};
use crate::destinations::{RemoteFolder, SidecarConfig, WebSignIn};
use docsyncd_test_support::peer::{EndsNames, Fault, Kept, Peer};

const FILE_NAME: &str = "{{ patient.lastName }} ä#?/{{ document.audio }}.pdf";

fn config(peer: &Peer, file_name: &str) -> WebDavConfig {
    let password = Secret::Given(SecretString::from(SECRET));
    WebDavConfig {
        connection: connection(&peer.url("/"), WebSignIn::Basic { user: "u".to_owned(), password }),
        url: peer.url("/dav/u").parse().unwrap(),
        folder: remote_folder(file_name),
    }
}

struct Collection {
    peer: Peer,
    config: WebDavConfig,
}

async fn collection(file_name: &'static str) -> Collection {
    let peer = Peer::start().await;
    peer.state().folders = Some(["/dav", "/dav/u", "/dav/u/inbox"].map(str::to_owned).into());
    Collection { config: config(&peer, file_name), peer }
}

impl Place for Collection {
    fn adapter(&self) -> Box<dyn Adapter> {
        let adapter = WebDavAdapter::new(self.config.clone());
        // The test for overwriting is already done: the requests counted and lost here belong to the deliveries.
        adapter.desk.overwrites.set(false).unwrap();
        Box::new(adapter)
    }

    /// Without the temporary files, which an importer ignores.
    fn objects(&self) -> BTreeMap<String, Vec<u8>> {
        let is_temporary = |path: &String| path.contains("/.docsyncd-") && path.ends_with(".tmp");
        self.peer.objects().into_iter().filter(|(path, _)| !is_temporary(path)).collect()
    }

    fn break_down(&self) {
        self.peer.state().closed = Some(503);
    }
}

impl RemotePlace for Collection {
    /// The reply to the MOVE: the PUT before it succeeds.
    fn lose_next_reply(&self) {
        self.peer.state().other_faults.push_back((Method::from_bytes(b"MOVE").unwrap(), Fault::LoseReply));
    }

    fn cut_after(&self, bytes: usize) {
        self.peer.state().other_faults.push_back((Method::PUT, Fault::CutAfter(bytes)));
    }

    fn occupy(&self, name: &str, content: &[u8]) {
        let kept = Kept { content: content.to_vec(), headers: reqwest::header::HeaderMap::new() };
        self.peer.state().objects.insert(name.to_owned(), kept);
    }

    fn revoke_credentials(&self) {
        self.peer.state().closed = Some(401);
    }
}

impl NamedPlace for Collection {
    fn configure(&mut self, file_name: &str, sidecar: Option<SidecarConfig>, confirm: Confirm) {
        let confirm = Some(confirm);
        self.config.folder = RemoteFolder { sidecar, confirm, ..remote_folder(file_name) };
    }

    fn write(&self, path: &str, content: Option<&[u8]>) {
        let (path, mut state) = (format!("/dav/u/inbox/{path}"), self.peer.state());
        let Some(content) = content else { return drop(state.objects.remove(&path).unwrap()) };
        for (end, _) in path.match_indices('/').skip(1) {
            state.folders.as_mut().unwrap().insert(path[..end].to_owned());
        }
        let now = httpdate::fmt_http_date(std::time::SystemTime::now()).try_into().unwrap();
        let kept =
            Kept { content: content.to_vec(), headers: [(reqwest::header::LAST_MODIFIED, now)].into_iter().collect() };
        state.objects.insert(path, kept);
    }

    fn go_away(&self) {
        let mut state = self.peer.state();
        state.objects.clear();
        state.folders = Some(BTreeSet::from(["/dav".to_owned()]));
    }
}

keeps_the_contract!(collection(FILE_NAME).await);
#[tokio::test]
async fn letters_are_seen_where_they_were_put() {
    crate::destinations::contract::kept::letters_are_seen_where_they_were_put(collection(FILE_NAME).await).await;
}
keeps_the_confirm_contract!(collection(FILE_NAME).await);
keeps_the_sidecar_contract!(collection(FILE_NAME).await);
keeps_the_remote_contract!(collection(FILE_NAME).await, &format!("/dav/u/inbox/{CANARY} ä#_/1.pdf"));

#[tokio::test]
async fn a_server_that_only_says_that_it_replaced_something_is_tested_once_and_raises_no_alarm() {
    for (overwrites, in_words) in [(false, true), (true, true), (false, false)] {
        let (place, spool) = (collection("{{ key }}.pdf").await, Spool::new());
        place.peer.state().replaces_in_words = in_words;
        place.peer.state().overwrites = overwrites;
        let adapter = WebDavAdapter::new(place.config.clone());
        for number in 1..=2 {
            let item = spool.item(number, format!("%PDF-1.7 {number}").as_bytes());
            assert_delivered(&remote::deliver(&adapter.server, &adapter.config.folder, &item, &adapter.desk).await);
            assert_eq!(adapter.has_replaced().await, in_words && overwrites);
            assert!(!adapter.has_replaced().await, "each rename is told of once");
        }
        assert_eq!(adapter.desk.overwrites.get(), in_words.then_some(&overwrites));
        assert_eq!(place.objects().len(), 2);
    }
}

fn moves() -> Method {
    Method::from_bytes(b"MOVE").unwrap()
}

#[tokio::test]
async fn a_file_gets_its_name_by_a_move_that_says_not_to_overwrite() {
    let (place, spool) = (collection(FILE_NAME).await, Spool::new());
    let item = spool.item(1, b"%PDF-1.7 letter");
    let shown = assert_delivered(&place.adapter().deliver(&item).await);
    assert_eq!(shown, place.peer.url(&format!("/dav/u/inbox/{CANARY} ä#_/1.pdf")));
    let put = place.peer.received(&Method::PUT).remove(0);
    assert_eq!(put.path, format!("/dav/u/inbox/{CANARY}%20%C3%A4%23_/.docsyncd-{}.tmp", item.key));
    let moved = place.peer.received(&moves()).remove(0);
    assert_eq!(moved.path, put.path);
    assert_eq!(moved.header("overwrite"), Some("F"));
    let target = place.peer.url(&format!("/dav/u/inbox/{CANARY}%20%C3%A4%23_/1.pdf"));
    assert_eq!(moved.header("destination"), Some(target.as_str()));
    let basic =
        format!("Basic {}", base64::Engine::encode(&base64::engine::general_purpose::STANDARD, format!("u:{SECRET}")));
    assert_eq!(moved.header("authorization"), Some(basic.as_str()));
    assert_eq!(place.peer.objects().len(), 1, "no temporary file is left");
}

#[tokio::test]
async fn answers_mean_what_they_say() {
    let spool = Spool::new();
    type Expected<'a> = &'a dyn Fn(&Outcome) -> bool;
    let down = |outcome: &Outcome| matches!(outcome, Outcome::Unavailable { .. });
    let passing = |outcome: &Outcome| matches!(outcome, Outcome::Transient { .. });
    let cases: [(Method, u16, Expected<'_>); 9] = [
        (moves(), 502, &|outcome| matches!(outcome, Outcome::Transient { reason, .. } if reason.contains("https"))),
        (moves(), 423, &passing),
        (moves(), 500, &passing),
        (Method::PUT, 423, &passing),
        (Method::PUT, 409, &passing),
        (Method::PUT, 507, &|outcome| matches!(outcome, Outcome::NoRoom(_))),
        (Method::PUT, 413, &|outcome| matches!(outcome, Outcome::Permanent { .. })),
        (Method::PUT, 403, &down),
        (Method::from_bytes(b"PROPFIND").unwrap(), 401, &down),
    ];
    for (method, status, expected) in cases {
        let place = collection(FILE_NAME).await;
        place.peer.state().other_faults.push_back((method.clone(), Fault::Refuse(status, None)));
        let item = spool.item(1, b"%PDF-1.7 letter");
        let outcome = place.adapter().deliver(&item).await;
        assert!(expected(&outcome), "{method} {status}: {outcome:?}");
        reason(&outcome);
        assert!(place.objects().is_empty());
        spool.forget();
        assert_delivered(&place.adapter().deliver(&item).await);
        spool.forget();
    }
}

#[tokio::test]
async fn a_folder_that_is_missing_is_never_made_and_those_below_it_are() {
    let (place, spool) = (collection("a/b/{{ document.audio }}.pdf").await, Spool::new());
    assert_delivered(&place.adapter().deliver(&spool.item(1, b"%PDF-1.7 letter")).await);
    assert!(place.objects().contains_key("/dav/u/inbox/a/b/1.pdf"));
    place.peer.state().folders = Some(BTreeSet::from(["/dav".to_owned()]));
    let outcome = place.adapter().deliver(&spool.item(2, b"%PDF-1.7 other")).await;
    assert!(matches!(outcome, Outcome::Unavailable { .. }), "{outcome:?}");
    assert!(place.adapter().check().await.unwrap_err().contains("`path`"));
}

#[tokio::test]
async fn a_check_says_whether_the_server_overwrites() {
    let place = collection(FILE_NAME).await;
    assert!(place.adapter().check().await.unwrap().notes[0].contains("refuses to overwrite"));
    place.peer.state().overwrites = true;
    let complaint = place.adapter().check().await.unwrap_err();
    assert!(complaint.contains("document.uuid"), "{complaint}");
    let unique = WebDavAdapter::new(config(&place.peer, "{{ document.uuid }}.pdf"));
    assert_eq!(unique.check().await.unwrap().warnings.len(), 1);
    assert!(place.peer.objects().is_empty());
}

#[tokio::test]
async fn where_the_server_overwrites_a_name_has_to_be_one_documents() {
    let (place, spool) = (collection(FILE_NAME).await, Spool::new());
    let adapter = WebDavAdapter::new(config(&place.peer, FILE_NAME));
    // A refusal for another reason says nothing about overwriting, and is not remembered.
    for _ in 0..2 {
        place.peer.state().other_faults.push_back((moves(), Fault::Refuse(423, None)));
    }
    place.peer.state().overwrites = true;
    let outcome = adapter.deliver(&spool.item(1, b"%PDF-1.7 letter")).await;
    assert!(matches!(outcome, Outcome::Transient { .. }), "{outcome:?}");
    let outcome = adapter.deliver(&spool.item(1, b"%PDF-1.7 letter")).await;
    assert!(matches!(outcome, Outcome::Unavailable { .. }), "{outcome:?}");
    assert!(reason(&outcome).contains("{{ key }}") && place.peer.objects().is_empty());
    let unique = WebDavAdapter::new(config(&place.peer, "{{ key }}.pdf"));
    assert_delivered(&unique.deliver(&spool.item(1, b"%PDF-1.7 letter")).await);
    place.peer.state().overwrites = false;
    let other = WebDavAdapter::new(config(&place.peer, FILE_NAME));
    assert_delivered(&other.deliver(&spool.item(2, b"%PDF-1.7 other")).await);
    assert_eq!(place.peer.objects().len(), 2, "nothing of the question stays");
}

#[tokio::test]
async fn a_success_of_a_move_that_did_nothing_is_none() {
    // 200 is no valid answer to a MOVE; 201 is, but untrue.
    for status in [200, 201] {
        let (place, spool) = (collection(FILE_NAME).await, Spool::new());
        let item = spool.item(1, b"%PDF-1.7 letter");
        place.peer.state().other_faults.push_back((moves(), Fault::Refuse(status, None)));
        let outcome = place.adapter().deliver(&item).await;
        assert!(matches!(outcome, Outcome::Transient { .. }), "{status}: {outcome:?}");
        assert!(item.names.known().await.unwrap().intent.is_some(), "{status}");
        assert_delivered(&place.adapter().deliver(&item).await);
        assert_eq!(place.peer.objects().len(), 1);
    }
}

#[tokio::test]
async fn what_a_look_says_of_the_resource_itself_counts() {
    let spool = Spool::new();
    for (status, is_delivered) in [(404, true), (410, true), (500, false), (423, false)] {
        let place = collection("{{ document.audio }}.pdf").await;
        place.peer.state().inner_status = Some(status);
        let outcome = place.adapter().deliver(&spool.item(1, b"%PDF-1.7 letter")).await;
        assert_eq!(matches!(outcome, Outcome::Delivered { .. }), is_delivered, "{status}: {outcome:?}");
        assert!(is_delivered || matches!(outcome, Outcome::Transient { .. }), "{status}: {outcome:?}");
        spool.forget();
    }
}

#[tokio::test]
async fn a_check_removes_what_checks_left_that_were_cut_off() {
    let place = collection("{{ document.audio }}.pdf").await;
    let now = std::time::SystemTime::now();
    let kept = |minutes: u64| {
        let date = httpdate::fmt_http_date(now - Duration::from_secs(minutes * 60));
        let headers = [(reqwest::header::LAST_MODIFIED, HeaderValue::from_str(&date).unwrap())];
        Kept { content: b"docsyncd check\n".to_vec(), headers: headers.into_iter().collect() }
    };
    let inbox = |name: &str| format!("/dav/u/inbox/{name}");
    for (name, minutes) in [(".docsyncd-check-1-a.tmp", 11), (".docsyncd-check-2-a.tmp", 5), ("letter.tmp", 99)] {
        place.peer.state().objects.insert(inbox(name), kept(minutes));
    }
    place.adapter().check().await.unwrap();
    let left: Vec<String> = place.peer.objects().into_keys().collect();
    assert_eq!(left, [inbox(".docsyncd-check-2-a.tmp"), inbox("letter.tmp")]);
}

#[tokio::test]
async fn nothing_in_a_name_means_something_in_an_address() {
    let name = "a;b=c,d!e$f&g'h(i)j*k+l:m@n%o#p?q[r] é~.-_.pdf";
    let server = WebDavServer {
        url: "http://h.test/dav/u%40x/".parse().unwrap(),
        client: WebClient::new(connection(
            "http://h.test/",
            WebSignIn::Basic { user: "u".to_owned(), password: Secret::Given(SecretString::from(SECRET)) },
        )),
        keeps_semicolons: OnceCell::new(),
        says_replaced: AtomicBool::new(false),
    };
    let encoded = "a%3Bb%3Dc%2Cd%21e%24f%26g%27h%28i%29j%2Ak%2Bl%3Am%40n%25o%23p%3Fq%5Br%5D%20%C3%A9~.-_.pdf";
    assert_eq!(server.at(&format!("/in/./../{name}")).as_str(), format!("http://h.test/dav/u%40x/in/{encoded}"));
    assert_eq!(server.at("/").as_str(), "http://h.test/dav/u%40x/");
    assert_eq!(server.at(".").as_str(), "http://h.test/dav/u%40x");
}

#[tokio::test]
async fn a_semicolon_is_part_of_a_name_and_never_its_end() {
    for (ends_names, plain, twin) in [
        (None, "Meier; Berta.pdf", "Meier; Berta_"),
        (Some((';', EndsNames::AsWritten)), "Meier; Berta.pdf", "Meier; Berta_"),
        // The server never keeps the `;`: another character replaces it, and no file lies elsewhere.
        (Some((';', EndsNames::Decoded)), "Meier_ Berta.pdf", "Meier_ Berta_"),
    ] {
        let (place, spool) = (collection("Meier; Berta.pdf").await, Spool::new());
        place.peer.state().ends_names = ends_names;
        for number in [1, 2] {
            let item = spool.item(number, format!("%PDF-1.7 {number}").as_bytes());
            assert_delivered(&place.adapter().deliver(&item).await);
            spool.record(&item);
        }
        let objects = place.peer.objects();
        let names: Vec<&str> = objects.keys().filter_map(|path| path.strip_prefix("/dav/u/inbox/")).collect();
        assert!(names.len() == 2 && names[0] == plain && names[1].starts_with(twin), "{ends_names:?}: {names:?}");
    }
}

#[tokio::test]
async fn a_file_that_lies_elsewhere_than_its_name_says_is_no_delivery() {
    let (place, spool) = (collection("Meier, Berta.pdf").await, Spool::new());
    place.peer.state().ends_names = Some((',', EndsNames::Decoded));
    let item = spool.item(1, b"%PDF-1.7 letter");
    for lost in [false, true] {
        if lost {
            place.peer.state().objects.clear();
            place.lose_next_reply();
            let outcome = place.adapter().deliver(&item).await;
            assert!(matches!(outcome, Outcome::Transient { .. }), "{outcome:?}");
        }
        let outcome = place.adapter().deliver(&item).await;
        assert!(matches!(outcome, Outcome::Permanent { .. }) && reason(&outcome).contains("elsewhere"), "{outcome:?}");
        assert!(item.names.known().await.unwrap().intent.is_none(), "a retry sends it again");
        assert_eq!(place.peer.objects().into_keys().collect::<Vec<_>>(), ["/dav/u/inbox/Meier"]);
    }
    place.peer.state().ends_names = None;
    assert_delivered(&place.adapter().deliver(&item).await);
    assert!(place.peer.objects().contains_key("/dav/u/inbox/Meier, Berta.pdf"));
}

#[tokio::test]
async fn what_an_importer_takes_at_once_is_delivered_whatever_its_name() {
    let spool = Spool::new();
    for name in ["Meier; Berta.pdf", "letter.pdf"] {
        let place = collection(name).await;
        place.peer.state().imports_at_once = true;
        assert_delivered(&place.adapter().deliver(&spool.item(1, b"%PDF-1.7 letter")).await);
        assert!(place.peer.objects().is_empty(), "nothing of the question stays: {:?}", place.peer.objects().keys());
        spool.forget();
    }
}
