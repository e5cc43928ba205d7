//! The destinations on another machine, in this process: `cloud` files by names over WebDAV, and its importer takes what is
//! there as that of the folder does; `service` takes each document once under its key over HTTP. They outlive docsyncd.

use std::collections::BTreeMap;
use std::sync::Mutex;

use crate::harness::sha256;
use crate::letters::Letter;
use crate::peer::Peer;

const CLOUD: &str = "/letters/";
const IMPORTED: &str = "/imported/";
const SERVICE: &str = "/inbox/";

pub struct Elsewhere {
    peer: Peer,
    /// Of what is visible, by path: what was seen whole does not change until it is imported.
    digests: Mutex<BTreeMap<String, (usize, String)>>,
}

impl Elsewhere {
    pub async fn start() -> Self {
        let peer = Peer::start().await;
        peer.state().folders = Some(["/letters", "/inbox"].map(str::to_owned).into());
        Self { peer, digests: Mutex::default() }
    }

    pub fn configuration(&self) -> String {
        format!(
            "[destinations.cloud]\ntype = \"webdav\"\nurl = \"{}\"\npath = \"/letters\"\n\
             file_name = \"{{{{ patient.lastName }}}}/{{{{ document.type }}}}.pdf\"\n\
             sidecar = \"{{{{ document.uuid }}}}\"\n\
             [destinations.service]\ntype = \"http\"\nurl = \"{}{{{{ key }}}}\"\n\
             headers = {{ \"If-None-Match\" = \"*\" }}\n",
            self.peer.url("/"),
            self.peer.url(SERVICE),
        )
    }

    /// What is complete, each PDF with its sidecar, has another place then, and its names are free.
    pub fn import(&self) {
        let mut state = self.peer.state();
        let number = state.received.len();
        let filed = state.objects.keys().filter(|path| path.starts_with(CLOUD) && path.ends_with(".pdf"));
        for pdf in filed.cloned().collect::<Vec<_>>() {
            for path in [pdf.replace(".pdf", ".txt"), pdf] {
                self.digests.lock().unwrap().remove(&path);
                let kept = state.objects.remove(&path).expect("each PDF has its sidecar");
                state.objects.insert(format!("{IMPORTED}{number}{path}"), kept);
            }
        }
    }

    /// How often each content, by its SHA-256, is held by each of the two.
    pub fn held(&self) -> [(&'static str, BTreeMap<String, usize>); 2] {
        let mut held = [("cloud", BTreeMap::new()), ("service", BTreeMap::new())];
        for (path, digest) in self.digests() {
            let [cloud, service] = &mut held;
            let of = if path.starts_with(SERVICE) { service } else { cloud };
            *of.1.entry(digest).or_default() += 1;
        }
        held
    }

    /// The SHA-256 of each PDF that is visible, by its path.
    fn digests(&self) -> BTreeMap<String, String> {
        let mut known = self.digests.lock().unwrap();
        let pdfs = self.visible().into_iter().filter(|(path, _)| !path.ends_with(".txt"));
        let mut digest = |path: &str, content: &[u8]| match known.get(path) {
            Some((length, digest)) if *length == content.len() => digest.clone(),
            _ => {
                let digest = sha256(content);
                known.insert(path.to_owned(), (content.len(), digest.clone()));
                digest
            }
        };
        pdfs.map(|(path, content)| {
            let digest = digest(&path, &content);
            (path, digest)
        })
        .collect()
    }

    /// The next look reads everything anew.
    pub fn forget(&self) {
        self.digests.lock().unwrap().clear();
    }

    /// What people and importers see, wherever the importer has put it since.
    fn visible(&self) -> BTreeMap<String, Vec<u8>> {
        self.peer.objects().into_iter().filter(|(path, _)| !is_temporary(path)).collect()
    }

    /// Nothing is half written under a name that somebody sees, and each PDF has its sidecar beside it.
    pub fn at_death(&self, letters: &[Letter]) {
        let visible = self.visible();
        for (path, digest) in &self.digests() {
            assert!(letters.iter().any(|letter| letter.sha256 == *digest), "{path} is no letter");
            if !path.starts_with(SERVICE) {
                let sidecar = &visible[&path.replace(".pdf", ".txt")];
                let is_its = |letter: &Letter| letter.sha256 == *digest && letter.uuid.as_bytes() == sidecar;
                assert!(letters.iter().any(is_its), "the sidecar of {path} is another's");
            }
        }
    }

    /// Each document has one sidecar, and nothing else is left; of trying the server out something may be, which a later try
    /// removes when it is old.
    pub fn at_the_end(&self, letters: &[Letter]) {
        let is_left = |path: &String| is_temporary(path) && !path.contains("/.docsyncd-check-");
        let left: Vec<String> = self.peer.objects().into_keys().filter(is_left).collect();
        assert!(left.is_empty(), "left on the server: {left:?}");
        let sidecars = self.visible().into_iter().filter(|(path, _)| path.ends_with(".txt"));
        let mut told: Vec<Vec<u8>> = sidecars.map(|(_, content)| content).collect();
        let mut uuids: Vec<Vec<u8>> = letters.iter().map(|letter| letter.uuid.clone().into_bytes()).collect();
        told.sort();
        uuids.sort();
        assert_eq!(told, uuids, "every document has one sidecar");
    }
}

fn is_temporary(path: &str) -> bool {
    path.contains("/.docsyncd-")
}
