//! An SSH server for the tests: SFTP over a folder, with faults on demand. The crash test uses it, too.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::net::Shutdown;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use russh::keys::ssh_key::private::Ed25519Keypair;
use russh::keys::{PrivateKey, PublicKey};
use russh::server::{self, Auth, ChannelOpenHandle, Msg, Response, Session, VerifiedPublicKey};
use russh::{Channel, ChannelId, MethodKind, MethodSet};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::task::JoinHandle;

use super::packet::{PacketReader, READ, Request, kind, status};

pub(super) const USER: &str = "practice12";

/// The server's faults, and what it saw of its clients.
#[derive(Default)]
pub(super) struct State {
    pub(super) lose_rename: bool,
    /// The connection breaks at the next file to be written; the file is still opened, but only before the next rename.
    pub(super) open_late: bool,
    late: Option<(PathBuf, u32)>,
    pub(super) cut_after: Option<usize>,
    pub(super) revoked: bool,
    pub(super) overwrites: bool,
    pub(super) no_fsync: bool,
    /// Refuses to open a file that must be new.
    pub(super) no_new_files: bool,
    pub(super) answers_nonsense: bool,
    /// Sends this, or nothing, instead of a greeting, and ends the connection.
    pub(super) hangs_up_with: Option<&'static [u8]>,
    /// Status instead of "failure" if a name is taken.
    pub(super) status_of_taken: Option<u32>,
    pub(super) status_of_write: Option<u32>,
    /// This many renames are refused, whatever the names.
    pub(super) refused_renames: usize,
    pub(super) free: u64,
    pub(super) password: String,
    /// The password method is offered too, and refused.
    pub(super) only_in_a_dialogue: bool,
    pub(super) allowed_key: Option<PublicKey>,
    /// Methods to sign in; all if empty.
    pub(super) methods: Vec<MethodKind>,
    pub(super) connections: usize,
    pub(super) sign_ins: usize,
    pub(super) fsyncs: usize,
    pub(super) largest_write: usize,
    sockets: Vec<std::net::TcpStream>,
}

pub(super) struct Peer {
    pub(super) root: tempfile::TempDir,
    pub(super) state: Arc<Mutex<State>>,
    pub(super) port: u16,
    pub(super) keys: Vec<PrivateKey>,
    listening: JoinHandle<()>,
}

pub(super) fn ed25519(seed: u8) -> PrivateKey {
    PrivateKey::from(Ed25519Keypair::from_seed(&[seed; 32]))
}

impl Peer {
    /// Listens, with these keys.
    pub(super) fn start(keys: Vec<PrivateKey>) -> Self {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("inbox")).unwrap();
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let port = listener.local_addr().unwrap().port();
        let state = Arc::new(Mutex::new(State { free: u64::MAX / 2, ..State::default() }));
        let config = server::Config {
            keys: keys.clone(),
            auth_rejection_time: Duration::ZERO,
            auth_rejection_time_initial: Some(Duration::ZERO),
            ..server::Config::default()
        };
        let listener = tokio::net::TcpListener::from_std(listener).unwrap();
        let (shared, folder, config) = (state.clone(), root.path().to_owned(), Arc::new(config));
        let listening = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let guest = Guest { state: shared.clone(), root: folder.clone(), channel: None };
                let config = config.clone();
                let stream = stream.into_std().unwrap();
                let socket = stream.try_clone().unwrap();
                let mut stream = tokio::net::TcpStream::from_std(stream).unwrap();
                let hangs_up_with = shared.lock().unwrap().hangs_up_with;
                tokio::spawn(async move {
                    if let Some(words) = hangs_up_with {
                        let _ = stream.write_all(words).await;
                        let _ = stream.shutdown().await;
                        return;
                    }
                    if let Ok(session) = server::run_stream(config, stream, guest).await {
                        let _ = session.await;
                    }
                });
                let mut state = shared.lock().unwrap();
                state.connections += 1;
                state.sockets.push(socket);
            }
        });
        Self { root, state, port, keys, listening }
    }

    pub(super) fn with<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        change(&mut self.state.lock().unwrap())
    }

    pub(super) fn inbox(&self) -> PathBuf {
        self.root.path().join("inbox")
    }

    /// Ends every connection.
    pub(super) fn hang_up(&self) {
        self.with(|state| state.sockets.drain(..).for_each(|socket| drop(socket.shutdown(Shutdown::Both))));
    }

    /// Stops listening.
    pub(super) fn stop(&self) {
        self.listening.abort();
        self.hang_up();
    }
}

struct Guest {
    state: Arc<Mutex<State>>,
    root: PathBuf,
    channel: Option<Channel<Msg>>,
}

impl Guest {
    fn auth(&self, method: MethodKind, right: impl FnOnce(&State) -> bool) -> Auth {
        let mut state = self.state.lock().unwrap();
        state.sign_ins += 1;
        let allowed = state.methods.is_empty() || state.methods.contains(&method);
        if allowed && !state.revoked && right(&state) { Auth::Accept } else { reject(&state) }
    }
}

fn reject(state: &State) -> Auth {
    let all = [MethodKind::PublicKey, MethodKind::Password, MethodKind::KeyboardInteractive];
    let methods: &[MethodKind] = if state.methods.is_empty() { &all } else { &state.methods };
    Auth::Reject { proceed_with_methods: Some(MethodSet::from(methods)), partial_success: false }
}

impl server::Handler for Guest {
    type Error = russh::Error;

    async fn auth_none(&mut self, _: &str) -> Result<Auth, Self::Error> {
        Ok(reject(&self.state.lock().unwrap()))
    }

    async fn auth_password(&mut self, user: &str, password: &str) -> Result<Auth, Self::Error> {
        Ok(self.auth(MethodKind::Password, |state| {
            user == USER && password == state.password && !state.only_in_a_dialogue
        }))
    }

    async fn auth_publickey(&mut self, user: &str, key: VerifiedPublicKey<'_>) -> Result<Auth, Self::Error> {
        let shown = key.public_key.key_data().clone();
        Ok(self.auth(MethodKind::PublicKey, |state| {
            user == USER && state.allowed_key.as_ref().is_some_and(|allowed| *allowed.key_data() == shown)
        }))
    }

    async fn auth_keyboard_interactive<'a>(
        &'a mut self,
        user: &str,
        _: &str,
        response: Option<Response<'a>>,
    ) -> Result<Auth, Self::Error> {
        let Some(mut response) = response else {
            let prompts = vec![("Password: ".into(), false)];
            return Ok(Auth::Partial { name: "".into(), instructions: "".into(), prompts: prompts.into() });
        };
        let given = response.next().map(|bytes| bytes.to_vec()).unwrap_or_default();
        Ok(self.auth(MethodKind::KeyboardInteractive, |state| user == USER && given == state.password.as_bytes()))
    }

    async fn channel_open_session(
        &mut self,
        channel: Channel<Msg>,
        reply: ChannelOpenHandle,
        _: &mut Session,
    ) -> Result<(), Self::Error> {
        self.channel = Some(channel);
        reply.accept().await;
        Ok(())
    }

    async fn subsystem_request(&mut self, id: ChannelId, name: &str, session: &mut Session) -> Result<(), Self::Error> {
        assert_eq!(name, "sftp");
        session.channel_success(id)?;
        let stream = self.channel.take().unwrap().into_stream();
        let files = Files {
            state: self.state.clone(),
            root: self.root.clone(),
            open: BTreeMap::new(),
            listed: None,
            written: 0,
        };
        tokio::spawn(files.serve(stream));
        Ok(())
    }
}

/// When it was last changed.
fn seconds(found: &fs::Metadata) -> u32 {
    let seconds = found.modified().unwrap().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
    u32::try_from(seconds).unwrap()
}

/// Opens a file as SFTP asks (section 6.3): to read, or to write a file that is created, emptied, or must not exist.
fn open(path: &Path, how: u32) -> std::io::Result<fs::File> {
    let mut options = fs::OpenOptions::new();
    options.read(how == READ).write(how & 0x02 != 0).create(how & 0x08 != 0);
    options.truncate(how & 0x10 != 0).create_new(how & 0x20 != 0).open(path)
}

/// The answer is lost, and the connection with it.
struct Lost;

struct Files {
    state: Arc<Mutex<State>>,
    root: PathBuf,
    open: BTreeMap<Vec<u8>, fs::File>,
    /// The entries of a folder that are still to be sent.
    listed: Option<Vec<(String, fs::Metadata)>>,
    written: usize,
}

impl Files {
    async fn serve<S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin>(mut self, mut stream: S) {
        loop {
            let mut length = [0; 4];
            if stream.read_exact(&mut length).await.is_err() {
                return;
            }
            let mut packet = vec![0; u32::from_be_bytes(length) as usize];
            if stream.read_exact(&mut packet).await.is_err() {
                return;
            }
            let mut reader = PacketReader(&packet);
            let (what, id) = (reader.byte().unwrap(), reader.number().unwrap());
            let Ok(answer) = self.answer(what, id, &mut reader) else { return };
            if stream.write_all(&answer).await.is_err() {
                return;
            }
        }
    }

    /// A path of the client; it begins at the root.
    fn path(&self, reader: &mut PacketReader<'_>) -> PathBuf {
        let text = String::from_utf8(reader.text().unwrap().to_vec()).unwrap();
        self.root.join(text.trim_start_matches('/'))
    }

    fn answer(&mut self, what: u8, id: u32, reader: &mut PacketReader<'_>) -> Result<Vec<u8>, Lost> {
        let state = self.state.clone();
        let mut state = state.lock().unwrap();
        let told =
            |number| Request::new(kind::STATUS, id).number(number).text(b"the server's words: Canaryworth").text(b"");
        let of = |done: std::io::Result<()>| match done {
            Ok(()) => told(status::OK),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => told(status::NO_SUCH_FILE),
            Err(_) => told(4),
        };
        if state.answers_nonsense && what != kind::INIT {
            return Ok(vec![0xff, 0xff, 0xff, 0xff, 101]);
        }
        let answer = match what {
            kind::INIT => {
                let hello = Request::new(kind::VERSION, 3).text(b"statvfs@openssh.com").text(b"2");
                if state.no_fsync { hello } else { hello.text(b"fsync@openssh.com").text(b"1") }
            }
            kind::LSTAT | kind::STAT => match fs::symlink_metadata(self.path(reader)) {
                Ok(found) => {
                    let permissions = if found.is_dir() { 0o040_755 } else { 0o100_644 };
                    let seconds = seconds(&found);
                    let told = Request::new(kind::ATTRS, id).number(0xd).long(found.len()).number(permissions);
                    told.number(seconds).number(seconds)
                }
                Err(_) => told(status::NO_SUCH_FILE),
            },
            kind::OPEN => {
                let path = self.path(reader);
                let how = reader.number().unwrap();
                if state.open_late && how != READ {
                    state.open_late = false;
                    state.late = Some((path, how));
                    return Err(Lost);
                }
                let opened = (!state.no_new_files || how & 0x20 == 0).then(|| open(&path, how));
                match opened {
                    None => told(8),
                    Some(Ok(file)) => {
                        let handle = id.to_be_bytes().to_vec();
                        self.open.insert(handle.clone(), file);
                        Request::new(kind::HANDLE, id).text(&handle)
                    }
                    Some(Err(error)) => of(Err(error)),
                }
            }
            kind::OPENDIR => match fs::read_dir(self.path(reader)) {
                Ok(entries) => {
                    let entries = entries.map(|entry| {
                        let path = entry.unwrap().path();
                        (path.file_name().unwrap().to_str().unwrap().to_owned(), fs::metadata(&path).unwrap())
                    });
                    self.listed = Some(entries.collect());
                    Request::new(kind::HANDLE, id).text(b"folder")
                }
                Err(error) => of(Err(error)),
            },
            kind::READDIR => match self.listed.as_mut().unwrap().pop() {
                None => told(status::EOF),
                Some((name, found)) => {
                    let permissions = if found.is_dir() { 0o040_755 } else { 0o100_644 };
                    let entry = Request::new(kind::NAME, id).number(1).text(name.as_bytes()).text(b"as ls -l has it");
                    let entry = entry.number(0xd).long(found.len()).number(permissions);
                    entry.number(0).number(seconds(&found))
                }
            },
            kind::CLOSE if self.listed.take().is_some() => told(status::OK),
            kind::CLOSE => {
                of(self.open.remove(reader.text().unwrap()).map(drop).ok_or_else(|| std::io::Error::other("")))
            }
            kind::READ => {
                let file = self.open.get_mut(reader.text().unwrap()).unwrap();
                file.seek(SeekFrom::Start(reader.long().unwrap())).unwrap();
                let mut bytes = Vec::new();
                file.take(reader.number().unwrap().into()).read_to_end(&mut bytes).unwrap();
                if bytes.is_empty() { told(status::EOF) } else { Request::new(kind::DATA, id).text(&bytes) }
            }
            kind::WRITE => {
                let file = self.open.get_mut(reader.text().unwrap()).unwrap();
                file.seek(SeekFrom::Start(reader.long().unwrap())).unwrap();
                let bytes = reader.text().unwrap();
                state.largest_write = state.largest_write.max(bytes.len());
                if let Some(status) = state.status_of_write {
                    told(status)
                } else if let Some(most) = state.cut_after.filter(|most| self.written + bytes.len() > *most) {
                    state.cut_after = None;
                    file.write_all(&bytes[..most - self.written]).unwrap();
                    return Err(Lost);
                } else {
                    self.written += bytes.len();
                    of(file.write_all(bytes))
                }
            }
            kind::REMOVE => of(fs::remove_file(self.path(reader))),
            kind::MKDIR => of(fs::create_dir(self.path(reader))),
            kind::RENAME => {
                let (from, to) = (self.path(reader), self.path(reader));
                if let Some((path, how)) = state.late.take() {
                    let _ = open(&path, how);
                }
                if state.refused_renames > 0 {
                    state.refused_renames -= 1;
                    told(status::PERMISSION_DENIED)
                } else if to.exists() && !state.overwrites {
                    told(state.status_of_taken.unwrap_or(4))
                } else {
                    let done = fs::rename(from, to);
                    if state.lose_rename {
                        state.lose_rename = false;
                        return Err(Lost);
                    }
                    of(done)
                }
            }
            kind::EXTENDED => match reader.text().unwrap() {
                b"fsync@openssh.com" => {
                    state.fsyncs += 1;
                    told(status::OK)
                }
                b"statvfs@openssh.com" => [1, 1, 9, 9, state.free, 9, 9, 9, 0, 0, 255]
                    .into_iter()
                    .fold(Request::new(kind::EXTENDED_REPLY, id), Request::long),
                other => panic!("{other:?}"),
            },
            other => panic!("{other}"),
        };
        Ok(answer.finish())
    }
}

pub(super) fn ecdsa() -> PrivateKey {
    let secret = "-----BEGIN OPENSSH PRIVATE KEY-----\n\
         b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAaAAAABNlY2RzYS\n\
         1zaGEyLW5pc3RwMjU2AAAACG5pc3RwMjU2AAAAQQS9DSmPFzPscDMPLo20eaI87MAvC0Bi\n\
         SG6rlOf9k5jjtUKA4v8gHzXj8QNDeCUwpIe7h/r3z+oRLfhRNPzZJo6OAAAAoOfmhw/n5o\n\
         cPAAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBL0NKY8XM+xwMw8u\n\
         jbR5ojzswC8LQGJIbquU5/2TmOO1QoDi/yAfNePxA0N4JTCkh7uH+vfP6hEt+FE0/Nkmjo\n\
         4AAAAhAK26vGVPZ8d9R8riBcCKHGsPOdNwVNx4xOARssI6DZhJAAAAAAECAwQFBgc=\n\
         -----END OPENSSH PRIVATE KEY-----\n";
    PrivateKey::from_openssh(secret).unwrap()
}
