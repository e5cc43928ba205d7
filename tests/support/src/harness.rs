//! A practice for a test: a sandbox, a folder for everything, a configuration, and the program as a process.

mod held;

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use docsyncd_sandbox::{Options, Sandbox};
pub use held::Held;
use sha2::{Digest as _, Sha256};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};
use tokio::sync::watch;

/// How long a test waits for anything before it fails. Far more than is needed: the machines are slow at times, and
/// wine is slower still.
pub const PATIENCE: Duration = Duration::from_secs(if cfg!(windows) { 180 } else { 60 });

/// How a person or the system tells the program to end.
pub const STOPS: &[&str] = if cfg!(windows) { &["BREAK"] } else { &["TERM", "INT"] };

/// A practice.
pub struct Practice {
    /// The API.
    pub sandbox: Sandbox,
    /// Everything else; removed at the end.
    pub dir: TempDir,
    /// Variables of the environment for the program.
    pub env: BTreeMap<String, String>,
}

/// A program that has ended.
#[derive(Debug)]
pub struct Ended {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Ended {
    /// Runs a program to its end.
    pub async fn of(mut command: Command) -> Self {
        command.stdin(Stdio::null()).kill_on_drop(true);
        let output = loop {
            let ended = tokio::time::timeout(PATIENCE, command.output()).await;
            match ended.unwrap_or_else(|_| panic!("{command:?} did not end")) {
                // A copy of the program: another test began a process of its own while it was still being written.
                Err(error) if error.kind() == ErrorKind::ExecutableFileBusy => {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
                ended => break ended.expect("the program starts"),
            }
        };
        Self {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).expect("UTF-8"),
            stderr: String::from_utf8(output.stderr).expect("UTF-8"),
        }
    }
}

/// The program that is tested: `DOCSYNCD_TEST_PROGRAM`, for measurements of one that was built as it is installed, else
/// the one that was built with the tests, which lies beside the folder of theirs.
pub fn program() -> PathBuf {
    let built = || {
        let tests = std::env::current_exe().expect("this program");
        let name = format!("docsyncd{}", std::env::consts::EXE_SUFFIX);
        tests
            .ancestors()
            .skip(2)
            .map(|folder| folder.join(&name))
            .find(|path| path.is_file())
            .expect("docsyncd is built")
    };
    std::env::var_os("DOCSYNCD_TEST_PROGRAM").map_or_else(built, PathBuf::from)
}

/// Whether [`program`] is optimized, so that its figures count.
pub fn is_as_installed() -> bool {
    !cfg!(debug_assertions) || std::env::var_os("DOCSYNCD_TEST_PROGRAM").is_some()
}

/// An address of this machine at which nobody listens, and which nobody else gets, given back or not: other tests that
/// ask for any port, or connect, do so at 127.0.0.1.
pub struct UnusedAddress {
    _socket: tokio::net::TcpSocket,
    pub address: std::net::SocketAddr,
}

pub fn unused_address() -> UnusedAddress {
    static NEXT: std::sync::atomic::AtomicU8 = std::sync::atomic::AtomicU8::new(1);
    let own = [127, 0, 77, NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed)];
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.bind((own, 0).into()).unwrap();
    let address = socket.local_addr().unwrap();
    UnusedAddress { _socket: socket, address }
}

impl Practice {
    /// With this many invented documents, one account `main` and one folder `pms`.
    pub async fn with_documents(documents: usize) -> Self {
        Self::with_options(Options { documents, ..Options::default() }).await
    }

    pub async fn with_options(options: Options) -> Self {
        let sandbox = Sandbox::start(options).await.expect("the sandbox starts");
        let dir = tempfile::tempdir().expect("a temporary folder");
        // Whatever the language of who runs the tests.
        let env = BTreeMap::from([("LC_ALL".to_owned(), "C".to_owned())]);
        let practice = Self { sandbox, dir, env };
        std::fs::create_dir(practice.inbox()).unwrap();
        practice.write_secret("api-key", practice.sandbox.api_key());
        practice.configure("");
        practice
    }

    /// A path below the practice's folder, as the program writes it.
    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name.replace('/', std::path::MAIN_SEPARATOR_STR))
    }

    /// The folder that documents are filed into.
    pub fn inbox(&self) -> PathBuf {
        self.path("inbox")
    }

    pub fn ledger(&self) -> PathBuf {
        self.path("state/ledger.sqlite3")
    }

    pub fn spool(&self) -> PathBuf {
        self.path("state/spool")
    }

    pub fn config_path(&self) -> PathBuf {
        self.path("docsyncd.toml")
    }

    /// Writes a file that only the owner can read.
    pub fn write_secret(&self, name: &str, content: &str) {
        std::fs::write(self.path(name), content).unwrap();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            std::fs::set_permissions(self.path(name), std::fs::Permissions::from_mode(0o600)).unwrap();
        }
    }

    /// Writes the usual configuration, quick for tests, followed by `more` TOML. Keys of the usual part can be changed
    /// by the environment.
    pub fn configure(&self, more: &str) {
        self.configure_wholly(&format!(
            "{}\n[destinations.pms]\ntype = \"folder\"\npath = 'inbox'\n{more}\n",
            self.base_config()
        ));
    }

    /// The usual configuration without any destination.
    pub fn base_config(&self) -> String {
        format!(
            "[api]\nbase_url = \"{}\"\ntimeout = \"10s\"\n[accounts.main]\napi_key_file = 'api-key'\n\
             [sync]\npoll_interval = \"1h\"\npdf_grace = \"0s\"\n[retry]\ninitial = \"10ms\"\nmax = \"200ms\"\n\
             [state]\npath = 'state/ledger.sqlite3'\n",
            self.sandbox.url()
        )
    }

    pub fn configure_wholly(&self, toml: &str) {
        std::fs::write(self.config_path(), toml).unwrap();
        // Whatever the umask: one that others can write names no program.
        #[cfg(unix)]
        std::fs::set_permissions(self.config_path(), std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    }

    /// The program with these arguments, not started yet.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(program());
        command.arg("--config").arg(self.config_path()).args(args);
        command.envs(&self.env).stdin(Stdio::null()).kill_on_drop(true);
        command
    }

    /// Makes whatever fails wait far longer than a `sync` does, for tests in which it would wait in vain.
    pub fn without_patience(&mut self) {
        for key in ["INITIAL", "MAX"] {
            self.env.insert(format!("DOCSYNCD__RETRY__{key}"), "6h".into());
        }
    }

    /// Runs the program to its end.
    pub async fn docsyncd(&self, args: &[&str]) -> Ended {
        Ended::of(self.command(args)).await
    }

    /// Runs the program without `--config`, in the practice's folder.
    pub async fn docsyncd_without_config(&self, args: &[&str]) -> Ended {
        let mut command = Command::new(program());
        command.args(args).current_dir(self.dir.path()).envs(&self.env);
        Ended::of(command).await
    }

    pub async fn sync(&self) -> Ended {
        self.docsyncd(&["sync"]).await
    }

    /// Starts `docsyncd run` and waits until it says that it runs.
    pub async fn run(&self) -> Running {
        let mut running = Running::spawn(self.command(&["run"]));
        running.wait_for_log("docsyncd runs").await;
        running
    }

    /// The same without waiting.
    pub fn start(&self) -> Running {
        Running::spawn(self.command(&["run"]))
    }

    /// All files in the inbox: SHA-256 by relative path.
    pub fn filed(&self) -> BTreeMap<String, String> {
        let mut files = BTreeMap::new();
        collect(&self.inbox(), &self.inbox(), &mut files);
        files
    }

    /// Every document of the sandbox lies in the inbox exactly once, byte for byte, and nothing else does; nothing is
    /// left in the spool.
    pub async fn assert_all_filed(&self) {
        let mut expected = Vec::new();
        for document in self.sandbox.documents().await.unwrap() {
            if document.pdf.is_some() {
                expected.push(sha256(&self.sandbox.pdf_bytes(&document.uuid).await.unwrap()));
            }
        }
        let mut found: Vec<String> = self.filed().into_values().collect();
        expected.sort();
        found.sort();
        assert_eq!(found, expected, "{:#?}", self.filed());
        self.assert_spool_empty();
    }

    pub fn assert_spool_empty(&self) {
        let left: Vec<_> = std::fs::read_dir(self.spool()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert!(left.is_empty(), "{left:?}");
    }

    /// `docsyncd show UUID --json`
    pub async fn show(&self, uuid: &str) -> serde_json::Value {
        let shown = self.docsyncd(&["show", uuid, "--json"]).await;
        assert_eq!(shown.code, 0, "{shown:?}");
        serde_json::from_str(&shown.stdout).unwrap()
    }

    /// The state of a document, as `show` says.
    pub async fn state(&self, uuid: &str) -> String {
        self.show(uuid).await["state"].as_str().unwrap().to_owned()
    }

    /// Waits until this many status posts have arrived.
    pub async fn wait_for_posts(&self, count: usize) {
        self.sandbox.wait_for(|view| view.status_posts().count() >= count, PATIENCE).await.expect("status posts");
    }
}

pub fn collect(root: &Path, folder: &Path, files: &mut BTreeMap<String, String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(root, &path, files);
        } else {
            let name = path.strip_prefix(root).unwrap().to_string_lossy().replace('\\', "/");
            match std::fs::read(&path) {
                Ok(content) => drop(files.insert(name, sha256(&content))),
                // A temporary file got its name, or was removed, since it was listed.
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => panic!("{name}: {error}"),
            }
        }
    }
}

pub fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// `docsyncd run` as a process, with its log lines.
pub struct Running {
    child: Child,
    log: Arc<Mutex<String>>,
    grown: watch::Receiver<u64>,
}

impl Running {
    /// Starts it; what it writes to standard error is gathered.
    pub fn spawn(mut command: Command) -> Self {
        #[cfg(windows)]
        command.creation_flags(windows_sys::Win32::System::Threading::CREATE_NEW_PROCESS_GROUP);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("the program starts");
        let log = Arc::new(Mutex::new(String::new()));
        let (grow, grown) = watch::channel(0);
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let sink = Arc::clone(&log);
        tokio::spawn(async move {
            while let Ok(Some(line)) = lines.next_line().await {
                {
                    let mut log = sink.lock().unwrap();
                    log.push_str(&line);
                    log.push('\n');
                }
                grow.send_modify(|count| *count += 1);
            }
        });
        Self { child, log, grown }
    }

    /// Everything it logged so far.
    pub fn log(&self) -> String {
        self.log.lock().unwrap().clone()
    }

    /// Waits until the log contains `text`.
    pub async fn wait_for_log(&mut self, text: &str) {
        self.wait_for_logs(text, 1).await;
    }

    /// Waits until the log contains `text` this many times.
    pub async fn wait_for_logs(&mut self, text: &str, times: usize) {
        let log = Arc::clone(&self.log);
        let wait = self.grown.wait_for(|_| log.lock().unwrap().matches(text).count() >= times);
        let found = matches!(tokio::time::timeout(PATIENCE, wait).await, Ok(Ok(_)));
        assert!(found || self.log().matches(text).count() >= times, "no {text:?} in the log:\n{}", self.log());
    }

    /// After its end: waits until the last of its lines has been read.
    pub async fn whole_log(&mut self) {
        let closed = async { while self.grown.changed().await.is_ok() {} };
        tokio::time::timeout(PATIENCE, closed).await.expect("standard error is closed");
    }

    pub fn id(&self) -> u32 {
        self.child.id().expect("it runs")
    }

    /// Sends a signal by name, as in `kill -TERM`.
    #[cfg(unix)]
    pub fn signal(&self, name: &str) {
        let sent = std::process::Command::new("kill").arg(format!("-{name}")).arg(self.id().to_string()).status();
        assert!(sent.expect("kill runs").success());
    }

    /// Waits for its end and returns the exit code.
    pub async fn ended(&mut self) -> i32 {
        let status = tokio::time::timeout(PATIENCE, self.child.wait()).await;
        status.unwrap_or_else(|_| panic!("it did not end:\n{}", self.log())).unwrap().code().unwrap_or(-1)
    }

    /// Sends Ctrl-Break, the only one of a console's events that can be sent to one process alone.
    #[cfg(windows)]
    pub fn signal(&self, name: &str) {
        use windows_sys::Win32::System::Console::{CTRL_BREAK_EVENT, GenerateConsoleCtrlEvent};
        assert_eq!(name, "BREAK", "Windows has no other");
        // SAFETY: takes two numbers; the process is the first of its group, so that its id is the group's.
        let sent = unsafe { GenerateConsoleCtrlEvent(CTRL_BREAK_EVENT, self.id()) };
        assert!(sent != 0, "{}", std::io::Error::last_os_error());
    }

    /// Ends it when it has done what a test is about: politely where that can be done from outside, which must succeed,
    /// and by force on Windows, where wine brings Ctrl-Break to no group of processes.
    pub async fn end(&mut self) {
        if cfg!(windows) {
            self.kill().await;
        } else {
            assert_eq!(self.stop().await, 0, "{}", self.log());
        }
    }

    /// Ends it as a service manager would, and returns the exit code.
    pub async fn stop(&mut self) -> i32 {
        self.signal(STOPS[0]);
        self.ended().await
    }

    /// Ends it as a power cut would.
    pub async fn kill(&mut self) {
        self.child.kill().await.unwrap();
    }
}
