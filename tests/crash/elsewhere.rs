//! The destinations on another machine, in this process: `cloud` and `lab` file by names over WebDAV and SFTP, and
//! their importers take what is there as that of the folder does; `service` takes each document once under its key over
//! HTTP, and `archive` is a bucket; `engine` takes each document once by its control id, over MLLP; `post` is a mail
//! server, whose mails are known by their Message-ID, `chart` a FHIR server, `pacs` a DICOM archive, and `dental` the
//! archive of a practice software, whose program docsyncd starts, and which starts docsyncd back. They outlive docsyncd.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;

use russh::keys::HashAlg;

use crate::fhir::Fhir;
use crate::harness::sha256;
use crate::letters::Letter;
use crate::peer::Peer;
use crate::{dicom, mail, mllp, oracle, ssh, vdds};

/// The password and the secret key of those that ask for one.
pub const SECRET: &str = "elsewhere";

/// Each with the folder in which it has its documents, wherever that is moved to.
const DESTINATIONS: [(&str, &str); 9] = [
    ("cloud", "/letters/"),
    ("service", "/inbox/"),
    ("lab", "/lab/"),
    ("archive", "/archive/"),
    ("engine", "/engine/"),
    ("post", "/post/"),
    ("chart", "/chart/"),
    ("pacs", "/pacs/"),
    ("dental", "/dental/"),
];
/// Those that file by names: with sidecars, and an importer.
const NAMED: [&str; 2] = ["cloud", "lab"];
const IMPORTED: &str = "/imported/";

pub struct Elsewhere {
    web: Peer,
    bucket: Peer,
    engine: mllp::Peer,
    ssh: ssh::Peer,
    mail: mail::Peer,
    chart: Peer,
    pacs: dicom::Peer,
    pub dental: vdds::Archive,
    /// Of what is visible, by path: what was seen whole does not change until it is imported.
    digests: Mutex<BTreeMap<String, (usize, String)>>,
}

impl Elsewhere {
    pub async fn start() -> Self {
        let (web, bucket, ssh) = (Peer::start().await, Peer::start().await, ssh::Peer::start(vec![ssh::ed25519(1)]));
        web.state().folders = Some(["/letters", "/inbox"].map(str::to_owned).into());
        bucket.state().bucket = Some("archive".to_owned());
        ssh.with(|state| state.password = SECRET.to_owned());
        std::fs::create_dir(ssh.root.path().join("lab")).unwrap();
        let engine = mllp::Peer::start().await;
        let chart = Peer::start().await;
        chart.state().fhir = Some(Fhir::default());
        let pacs = dicom::Peer::start().await;
        // Whatever test its program is asked for, it plays the archive.
        let dental = vdds::Archive::new("");
        Self { web, bucket, engine, ssh, mail: mail::Peer::start(), chart, pacs, dental, digests: Mutex::default() }
    }

    pub fn configuration(&self) -> String {
        let named = "file_name = \"{{ patient.lastName }}/{{ document.type }}.pdf\"\nsidecar = \"{{ document.uuid }}\"";
        format!(
            "[destinations.cloud]\ntype = \"webdav\"\nurl = \"{}\"\npath = \"/letters\"\n{named}\n\
             [destinations.service]\ntype = \"http\"\nurl = \"{}{{{{ key }}}}\"\n\
             headers = {{ \"If-None-Match\" = \"*\" }}\n\
             [destinations.lab]\ntype = \"sftp\"\nmax_connections = 2\nhost = \"127.0.0.1\"\nport = {}\nuser = \"{}\"\n\
             password_file = 'elsewhere-secret'\nhost_key = \"{}\"\npath = \"/lab\"\n{named}\n\
             [destinations.archive]\ntype = \"s3\"\nendpoint = \"{}\"\nregion = \"eu-west-3\"\nbucket = \"archive\"\n\
             access_key_id = \"AK\"\nsecret_access_key_file = 'elsewhere-secret'\nforce_path_style = true\n\
             file_name = \"{{{{ patient.lastName }}}}/{{{{ document.type }}}}.pdf\"\n\
             [destinations.engine]\ntype = \"hl7v2\"\nhost = \"127.0.0.1\"\nport = {}\nkeep_connection_open = true\n\
             [destinations.post]\ntype = \"smtp\"\nhost = \"127.0.0.1\"\nport = {}\nencryption = \"none\"\n\
             from = \"letters@practice.test\"\nto = \"inbox@clinic.test\"\n\
             [destinations.chart]\ntype = \"fhir\"\nbase_url = \"{}\"\ntimeout = \"2s\"\n\
             [destinations.pacs]\ntype = \"dicom\"\nhost = \"127.0.0.1\"\nport = {}\n\
             [destinations.dental]\ntype = \"vdds\"\narchive = \"{}\"\npatient_id = \"4711\"\ntimeout = \"3s\"\n",
            self.web.url("/"),
            self.web.url("/inbox/"),
            self.ssh.port,
            ssh::USER,
            self.ssh.keys[0].public_key().fingerprint(HashAlg::Sha256),
            self.bucket.url("/"),
            self.engine.address.port(),
            self.mail.port,
            self.chart.url("/fhir"),
            self.pacs.address.port(),
            vdds::SECTION,
        )
    }

    /// What is complete, each PDF with its sidecar, has another place then, and its names are free.
    pub fn import(&self, round: usize) {
        let filed = self.visible().into_keys().filter(|path| is_named(path) && !path.starts_with(IMPORTED));
        for pdf in filed.filter(|path| path.ends_with(".pdf")) {
            for path in [pdf.replace(".pdf", ".txt"), pdf] {
                self.digests.lock().unwrap().remove(&path);
                self.give_place(&path, &format!("{IMPORTED}{round}{path}"));
            }
        }
    }

    fn give_place(&self, from: &str, to: &str) {
        let mut state = self.web.state();
        if let Some(kept) = state.objects.remove(from) {
            state.objects.insert(to.to_owned(), kept);
            return;
        }
        let path = |path: &str| self.ssh.root.path().join(path.trim_start_matches('/'));
        self.ssh.with(|_| {
            std::fs::create_dir_all(path(to).parent().unwrap()).unwrap();
            let moved = std::fs::rename(path(from), path(to));
            moved.unwrap_or_else(|error| panic!("each PDF has its sidecar: {from}: {error}"));
        });
    }

    /// How often each content, by its SHA-256, is held by each of them.
    pub fn held(&self) -> BTreeMap<&'static str, BTreeMap<String, usize>> {
        let mut held: BTreeMap<_, BTreeMap<String, usize>> =
            DESTINATIONS.map(|(destination, _)| (destination, BTreeMap::new())).into();
        for (path, digest) in self.digests() {
            *held.entry(destination(&path)).or_default().entry(digest).or_default() += 1;
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

    /// All that lies there.
    fn objects(&self) -> BTreeMap<String, Vec<u8>> {
        let (mut objects, root) = (self.web.objects(), self.ssh.root.path());
        objects.extend(self.bucket.objects());
        objects.extend(self.engine.objects().into_iter().map(|(id, pdf)| (format!("/engine/{id}.pdf"), pdf)));
        objects.extend(self.mail.attached().into_iter().map(|(id, content)| (format!("/post/{id}"), content)));
        // Each is one object there, whatever its patient and study are called.
        objects.extend(
            self.pacs.objects().into_iter().map(|(id, pdf)| (format!("/pacs/{}.pdf", id.replace('/', "-")), pdf)),
        );
        objects.extend(self.dental.objects().into_iter().map(|(id, pdf)| (format!("/dental/{id}.pdf"), pdf)));
        let letters = self.chart.state().fhir.as_ref().unwrap().contents();
        objects.extend(letters.into_iter().map(|(id, content)| (format!("/chart/{id}.pdf"), content)));
        // What a dead process had sent may still be under way.
        self.ssh.with(|_| {
            for file in oracle::files(root) {
                let path = Path::new(&file).strip_prefix(root).unwrap();
                objects.insert(format!("/{}", path.display()), std::fs::read(&file).unwrap());
            }
        });
        objects
    }

    /// What people and importers see, wherever the importer has put it since.
    fn visible(&self) -> BTreeMap<String, Vec<u8>> {
        let mut objects = self.objects();
        objects.retain(|path, _| !is_temporary(path));
        objects
    }

    /// Nothing is half written under a name that somebody sees, and each PDF of those that file by names has its
    /// sidecar beside it.
    pub fn at_death(&self, letters: &[Letter]) {
        let digests = self.digests();
        let visible = self.visible();
        for (path, digest) in &digests {
            assert!(letters.iter().any(|letter| letter.sha256 == *digest), "{path} is no letter");
            if is_named(path) {
                let sidecar = &visible[&path.replace(".pdf", ".txt")];
                let is_its = |letter: &Letter| letter.sha256 == *digest && letter.uuid.as_bytes() == sidecar;
                assert!(letters.iter().any(is_its), "the sidecar of {path} is another's");
            }
        }
    }

    /// Each document has one sidecar, and nothing else is left; of trying the server out something may be, which a
    /// later try removes when it is old.
    pub fn at_the_end(&self, letters: &[Letter]) {
        let is_left = |path: &String| is_temporary(path) && !path.contains("/.docsyncd-check-");
        let left: Vec<String> = self.objects().into_keys().filter(is_left).collect();
        assert!(left.is_empty(), "left on the servers: {left:?}");
        for named in NAMED {
            let visible = self.visible().into_iter().filter(|(path, _)| destination(path) == named);
            let sidecars = visible.filter(|(path, _)| path.ends_with(".txt"));
            let mut told: Vec<Vec<u8>> = sidecars.map(|(_, content)| content).collect();
            let wanted = letters.iter().filter(|letter| letter.to.contains(&named));
            let mut uuids: Vec<Vec<u8>> = wanted.map(|letter| letter.uuid.clone().into_bytes()).collect();
            told.sort();
            uuids.sort();
            assert_eq!(told, uuids, "every document has one sidecar in {named}");
        }
    }
}

/// The one that holds what lies there.
fn destination(path: &str) -> &'static str {
    let found = DESTINATIONS.iter().find(|(_, folder)| path.contains(folder));
    found.unwrap_or_else(|| panic!("{path} lies in no destination")).0
}

fn is_named(path: &str) -> bool {
    NAMED.contains(&destination(path))
}

fn is_temporary(path: &str) -> bool {
    path.contains("/.docsyncd-")
}
