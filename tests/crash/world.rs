//! A practice that is killed again and again: the sandbox, two accounts, twelve destinations, and docsyncd as a process.

use std::path::{Path, PathBuf};

use docsyncd_sandbox::{ApiKey, Options, Quirks, Sandbox, SingleShape};
use fastrand::Rng;

use crate::elsewhere::{self, Elsewhere};
use crate::harness::{Practice, Running};
use crate::letters::{self, Letter};
use crate::{importer, oracle, signed_in};

/// Signs in with an API key.
const CLAIRE: &str = "claire.delaunay@cabinet-delaunay.example";
/// Her keys: every life of docsyncd has another, so that what an earlier one had sent can be told from its own.
const CLAIRE_KEYS: usize = 100;
/// Owns the documents of the account that signed in in the browser.
const PAUL_KEY: &str = "pauls-key";
const PAUL: &str = "paul.renard@cabinet-delaunay.example";

/// Where everything of a practice lies, and what its documents are.
pub struct World {
    pub practice: Practice,
    /// The destinations on another machine.
    pub elsewhere: Elsewhere,
    pub letters: Vec<Letter>,
    pub random: Rng,
    /// How often docsyncd was started.
    lives: usize,
    /// How many PDFs the practice system has taken from the folder.
    imports: usize,
    /// Whether the practice's software takes letters into the records, which is waited for.
    pub takes: bool,
}

impl World {
    pub async fn new(random: Rng) -> Self {
        let quirks = Quirks {
            // A reply that is lost with the process must not cost the sign-in; the test of rotation has the other case.
            refresh_grace: Some(std::time::Duration::from_secs(3600)),
            ..Quirks::default()
        };
        let mut api_keys: Vec<ApiKey> =
            (0..CLAIRE_KEYS).map(|life| ApiKey::of_user(claires_key(life), CLAIRE)).collect();
        api_keys.push(ApiKey::of_user(PAUL_KEY, PAUL));
        let mut practice = Practice::with_options(Options { api_keys, quirks, ..Options::default() }).await;
        let elsewhere = Elsewhere::start().await;
        practice.env.insert("WINDIR".into(), elsewhere.dental.windows());
        Self { practice, elsewhere, letters: Vec::new(), random, lives: 0, imports: 0, takes: false }
    }

    /// The folders and the configuration; apart from [`Self::new`] because disks may have to be put there first.
    pub async fn furnish(&self) {
        self.export_patients(true);
        for folder in [self.inbox(), self.imported(), self.taken(), self.recorded(), self.state()] {
            std::fs::create_dir_all(folder).unwrap();
        }
        self.practice.write_secret("client-secret", signed_in::SECRET);
        self.practice.write_secret("elsewhere-secret", elsewhere::SECRET);
        self.practice.configure_wholly(&format!(
            "[api]\nbase_url = \"{url}\"\ntimeout = \"10s\"\n\
             [accounts.claire]\napi_key_file = 'api-key'\n\
             [accounts.paul]\nauth = \"oauth\"\nclient_id = \"sandbox-client\"\nclient_secret_file = 'client-secret'\n\
             [sync]\npoll_interval = \"250ms\"\npdf_grace = \"0s\"\n[retry]\ninitial = \"10ms\"\nmax = \"200ms\"\n\
             [state]\npath = 'state/ledger.sqlite3'\n\
             [destinations.pms]\ntype = \"folder\"\npath = 'disk/inbox'\n\
             file_name = \"{{{{ patient.lastName }}}}/{{{{ patient.firstName }}}}/{{{{ document.type }}}}.pdf\"\n\
             sidecar = \"{{{{ document.uuid }}}}\"\n\
             [destinations.scan]\ntype = \"command\"\nprogram = '{program}'\nargs = ['{flag}', '{taken}']\n\
             [destinations.record]\ntype = \"folder\"\npath = 'disk/record'\n\
             file_name = \"{{{{ patient.number }}}}/{{{{ document.type }}}}.pdf\"\n{confirm}\n\
             sidecar = \"{{{{ file_name }}}} {{{{ document.uuid }}}}\"\nsidecar_name = \"RECORD.{{{{ number3 }}}}\"\nsidecar_after = true\n\
             [patients]\nfile = 'patients.csv'\nnumber = \"number\"\nlast_name = \"last\"\nfirst_name = \"first\"\n\
             date_of_birth = \"born\"\n\
             {elsewhere}\
             {routes}",
            url = self.sandbox().url(),
            confirm = if self.takes { "confirm = \"moved:done\"" } else { "" },
            elsewhere = self.elsewhere.configuration(),
            program = std::env::current_exe().unwrap().display(),
            flag = importer::FLAG,
            taken = self.taken().display(),
            routes =
                letters::ROUTES.map(|(kind, to)| format!("[[routes]]\ntypes = [{kind:?}]\nto = {to:?}\n")).concat(),
        ));
        let installed = self.practice.docsyncd(&["vdds", "install"]).await;
        assert_eq!(installed.code, 0, "{installed:?}");
        signed_in::sign_in(&self.practice, "paul", PAUL, &signed_in::SCOPES).await;
    }

    pub fn sandbox(&self) -> &Sandbox {
        &self.practice.sandbox
    }

    /// What stands for the disk of the practice system.
    pub fn disk(&self) -> PathBuf {
        self.practice.path("disk")
    }

    /// The folder of the destination `pms`.
    pub fn inbox(&self) -> PathBuf {
        self.disk().join("inbox")
    }

    /// Where the practice system puts what it takes from that folder.
    pub fn imported(&self) -> PathBuf {
        self.disk().join("imported")
    }

    /// The practice system takes what is complete from its folder: each PDF with its sidecar.
    pub fn import(&mut self) {
        for pdf in oracle::files(&self.inbox()).into_iter().filter(|file| file.ends_with(".pdf")) {
            let folder = self.imported().join(self.imports.to_string());
            std::fs::create_dir(&folder).unwrap();
            for (file, name) in
                [(PathBuf::from(&pdf), "letter.pdf"), (Path::new(&pdf).with_extension("txt"), "letter.txt")]
            {
                std::fs::rename(file, folder.join(name)).unwrap();
            }
            self.imports += 1;
        }
        self.elsewhere.import(self.lives);
    }

    /// The folder of the program of the destination `scan`.
    pub fn taken(&self) -> PathBuf {
        self.disk().join("taken")
    }

    /// Where the practice's software puts what it took into a patient's record; without such a one, its import folder.
    pub fn recorded(&self) -> PathBuf {
        let record = self.disk().join("record");
        if self.takes { record.join("done") } else { record }
    }

    /// What the sidecars tell that are to come after their letters.
    pub fn told_of_records(&self) -> Vec<String> {
        let files = oracle::files(&self.disk().join("record")).into_iter();
        let sidecars = files.filter(|file| file.contains("/RECORD."));
        sidecars.map(|file| std::fs::read_to_string(file).unwrap()).collect()
    }

    /// Takes what lies in the import folder into the records, each letter under another name, until the practice is
    /// gone. A letter is taken when its sidecar is there, which stays.
    pub fn take_into_records(&self) -> tokio::task::JoinHandle<()> {
        let (record, done) = (self.disk().join("record"), self.recorded());
        let mut random = Rng::with_seed(7);
        tokio::spawn(async move {
            let mut taken = 0;
            while done.is_dir() {
                for folder in std::fs::read_dir(&record).into_iter().flatten().flatten().map(|entry| entry.path()) {
                    let files = || std::fs::read_dir(&folder).into_iter().flatten().flatten().map(|entry| entry.path());
                    let sidecars =
                        files().filter(|file| file.extension().is_some_and(|end| end.len() == 3 && end != "pdf"));
                    let told: String = sidecars.filter_map(|file| std::fs::read_to_string(file).ok()).collect();
                    for file in files() {
                        let number = folder.file_name().unwrap_or_default();
                        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
                        let is_whole = name.ends_with(".pdf") && told.contains(&format!("{name} "));
                        if folder == done || !is_whole || random.bool() {
                            continue;
                        }
                        let to = done.join(format!("{}-{taken}.pdf", number.display()));
                        taken += 1;
                        let _ = std::fs::rename(&file, to);
                    }
                }
                tokio::time::sleep(std::time::Duration::from_millis(50)).await;
            }
        })
    }

    /// The practice's software exported its list an hour ago, so that a shorter one needs no minute of rest: with
    /// everybody, or not yet with those who came last.
    pub fn export_patients(&self, is_whole: bool) {
        let mut rows: Vec<String> = self.letters.iter().map(Letter::row).collect();
        rows.truncate(if is_whole { rows.len() } else { rows.len().saturating_sub(4) });
        rows.push("nobody;Nobody;Here;31.01.1970".to_owned());
        // Half of it would not be believed.
        rows.extend((0..200).map(|number| format!("x{number};Filler;Number {number};31.01.1970")));
        rows.sort();
        rows.dedup();
        let exported = self.practice.path("patients.tmp");
        std::fs::write(&exported, format!("number;last;first;born\n{}\n", rows.join("\n"))).unwrap();
        let hour_ago = std::time::SystemTime::now() - std::time::Duration::from_secs(3600);
        std::fs::File::options().write(true).open(&exported).unwrap().set_modified(hour_ago).unwrap();
        std::fs::rename(exported, self.practice.path("patients.csv")).unwrap();
    }

    /// The folder of ledger, spool and sign-ins.
    pub fn state(&self) -> PathBuf {
        self.practice.path("state")
    }

    /// Some documents come in, now and then one that is the same letter as another.
    pub async fn letters_arrive(&mut self, count: usize) {
        for number in 0..count {
            if self.random.u8(..) < 40 && !self.letters.is_empty() {
                let of = &self.letters[self.random.usize(..self.letters.len())];
                self.letters.push(letters::add_twin(&self.practice.sandbox, of).await);
                continue;
            }
            let key = if self.random.bool() { claires_key(0) } else { PAUL_KEY.to_owned() };
            let letter = letters::add(&self.practice.sandbox, &mut self.random, &key, number == 0).await;
            self.letters.push(letter);
        }
        let is_whole = !self.takes || self.random.bool();
        self.export_patients(is_whole);
    }

    /// Letters come in that take several writes of a file.
    pub async fn large_letters_arrive(&mut self, count: usize) {
        for _ in 0..count {
            let letter = letters::add_large(&self.practice.sandbox, &mut self.random, PAUL_KEY).await;
            self.letters.push(letter);
        }
        self.export_patients(true);
    }

    /// Letters come in for the archive of the practice software.
    pub async fn dental_letters_arrive(&mut self, count: usize) {
        for _ in 0..count {
            let letter = letters::add_dental(&self.practice.sandbox, &mut self.random, PAUL_KEY).await;
            self.letters.push(letter);
        }
        self.export_patients(true);
    }

    /// Gives the next life credentials of its own: a key, and an access token that has to be renewed first.
    pub fn begin_life(&mut self) {
        self.practice.write_secret("api-key", &claires_key(self.lives));
        signed_in::make_due(&self.practice, "paul");
        self.lives += 1;
    }

    /// Starts docsyncd with these points in force.
    pub fn start(&mut self, points: &str) -> Running {
        self.begin_life();
        let mut command = self.practice.command(&["run"]);
        command.env("FAILPOINTS", points);
        Running::spawn(command)
    }

    /// Whether the API shows patients and users as identifiers only.
    pub fn show_records_apart(&self, apart: bool) {
        let single_shows = if apart { SingleShape::Identifiers } else { SingleShape::Objects };
        self.sandbox().set_quirks(Quirks { single_shows, ..self.sandbox().quirks() });
    }

    /// Waits until every document's success is reported.
    pub async fn until_all_reported(&self) {
        self.export_patients(true);
        let wanted: std::collections::HashSet<&str> = self.letters.iter().map(|letter| letter.uuid.as_str()).collect();
        let done = self.sandbox().wait_for(
            |view| {
                let reported: std::collections::HashSet<&str> = view
                    .status_posts()
                    .filter(|post| post.success == Some(true))
                    .map(|post| post.document.as_str())
                    .collect();
                wanted.iter().all(|uuid| reported.contains(uuid))
            },
            crate::harness::PATIENCE,
        );
        done.await.expect("every document is reported in time");
    }
}

fn claires_key(life: usize) -> String {
    assert!(life < CLAIRE_KEYS, "more lives than keys");
    format!("claires-key-{life}")
}
