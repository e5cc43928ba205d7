//! A real OpenSSH server for a test: one `sshd -i` for each connection, on a port that the system gives.

use std::collections::BTreeMap;
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};

use crate::faults::tools::there;
use crate::harness::{Practice, collect};

/// The server. Ends with its connections when it is dropped.
pub struct OpenSsh {
    dir: tempfile::TempDir,
    pub port: u16,
    connections: Arc<Mutex<Vec<TcpStream>>>,
}

fn sshd() -> Option<PathBuf> {
    ["/usr/sbin/sshd", "/usr/bin/sshd", "/usr/local/sbin/sshd"]
        .map(PathBuf::from)
        .into_iter()
        .find(|path| path.is_file())
}

fn output_of(program: &str, args: &[&str]) -> String {
    let output = Command::new(program).args(args).output().unwrap();
    assert!(output.status.success(), "{program} {args:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// Makes a pair of keys without a comment.
pub fn make_key(path: &Path, kind: &str, passphrase: &str) {
    output_of("ssh-keygen", &["-q", "-t", kind, "-N", passphrase, "-C", "", "-f", path.to_str().unwrap()]);
}

impl OpenSsh {
    /// `None` where it is not installed. `options` are those of its SFTP, such as `-R`.
    pub fn start(options: &str) -> Option<Self> {
        if !there("openssh-server", sshd().is_some()) {
            return None;
        }
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("inbox")).unwrap();
        // Compiled into sshd; without root it is not used.
        let _ = std::fs::create_dir_all("/run/sshd");
        make_key(&dir.path().join("host_ed25519"), "ed25519", "");
        make_key(&dir.path().join("host_rsa"), "rsa", "");
        make_key(&dir.path().join("id"), "ed25519", "");
        std::fs::copy(dir.path().join("id.pub"), dir.path().join("authorized_keys")).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let server = Self { dir, port, connections: Arc::default() };
        server.configure("host_ed25519", options);
        let (config, connections) = (server.path("sshd_config"), Arc::downgrade(&server.connections));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (Ok(stream), Some(connections)) = (stream, connections.upgrade()) else { return };
                connections.lock().unwrap().push(stream.try_clone().unwrap());
                let (input, output) = (OwnedFd::from(stream.try_clone().unwrap()), OwnedFd::from(stream));
                let mut command = Command::new(sshd().unwrap());
                command.arg("-i").arg("-f").arg(&config).stdin(Stdio::from(input)).stdout(Stdio::from(output));
                let mut child = command.stderr(Stdio::null()).spawn().unwrap();
                std::thread::spawn(move || child.wait());
            }
        });
        Some(server)
    }

    /// Writes its configuration; a connection that comes then goes by it.
    pub fn configure(&self, host_key: &str, options: &str) {
        let (host_key, allowed, inbox) = (self.path(host_key), self.path("authorized_keys"), self.inbox());
        let sftp = format!("internal-sftp -d {} {options}", inbox.display());
        let config = format!(
            "HostKey {}\nAuthorizedKeysFile {}\nPermitRootLogin prohibit-password\nPasswordAuthentication no\n\
             KbdInteractiveAuthentication no\nUsePAM no\nStrictModes no\nMaxStartups 100\n\
             Subsystem sftp {sftp}\nForceCommand {sftp}\n",
            host_key.display(),
            allowed.display()
        );
        std::fs::write(self.path("sshd_config"), config).unwrap();
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub fn inbox(&self) -> PathBuf {
        self.path("inbox")
    }

    /// `SHA256:…` of one of its keys.
    pub fn fingerprint(&self, host_key: &str) -> String {
        let file = self.path(&format!("{host_key}.pub"));
        output_of("ssh-keygen", &["-lf", file.to_str().unwrap()]).split(' ').nth(1).unwrap().to_owned()
    }

    /// `[destinations.lab]`, with `more` keys; the user's key is copied beside the practice's configuration.
    pub fn destination(&self, practice: &Practice, more: &str) -> String {
        practice.write_secret("sftp-key", &std::fs::read_to_string(self.path("id")).unwrap());
        let (port, user, path) = (self.port, output_of("id", &["-un"]), self.inbox());
        format!(
            "[destinations.lab]\ntype = \"sftp\"\nhost = \"127.0.0.1\"\nport = {port}\nuser = \"{user}\"\n\
             key_file = 'sftp-key'\npath = '{}'\ntimeout = \"20s\"\n{more}\n",
            path.display()
        )
    }

    /// Ends every connection, in the middle of whatever is under way.
    pub fn hang_up(&self) {
        for connection in self.connections.lock().unwrap().drain(..) {
            let _ = connection.shutdown(Shutdown::Both);
        }
    }

    /// Connections so far.
    pub fn connections(&self) -> usize {
        self.connections.lock().unwrap().len()
    }

    /// All files in its folder, temporary ones too: SHA-256 by relative path.
    pub fn filed(&self) -> BTreeMap<String, String> {
        let mut files = BTreeMap::new();
        collect(&self.inbox(), &self.inbox(), &mut files);
        files
    }
}

impl Drop for OpenSsh {
    fn drop(&mut self) {
        self.hang_up();
        // The thread that listens wakes up, and finds that nobody is left.
        self.connections = Arc::default();
        let _ = TcpStream::connect(("127.0.0.1", self.port));
    }
}
