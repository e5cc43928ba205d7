//! An SFTP session over a byte stream: requests, pipelined for file content, and their answers. One delivery uses it at
//! a time; after a [`Fault::Lost`] it is discarded.

use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::time::timeout;

use super::super::Outcome;
use super::super::files::{Digest, Hashing};
use super::super::remote::Source;
use super::packet::{
    Attributes, MAX_PACKET, PacketReader, READ, Request, VERSION, WRITE_ANEW, WRITE_NEW, kind, status,
};

/// Bytes of a file in one request: what every server takes.
const PIECE: u32 = 32 * 1024;
/// Requests under way at a time.
const WINDOW: usize = 16;
/// The most names of a folder that are read, to bound memory.
const MAX_NAMES: usize = 200_000;
/// The longest list of extensions.
const MAX_EXTENSIONS: usize = 64;

/// What went wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Fault {
    /// The connection broke, or the answer did not come in time or is invalid. Whether the request was carried out is
    /// unknown.
    Lost(&'static str),
    /// The server refused, with this status.
    Status(u32),
    /// The content to send cannot be read.
    Source(Outcome),
}

/// The server's extensions of version 3.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Extensions {
    /// `fsync@openssh.com`
    pub(super) fsync: bool,
    /// `statvfs@openssh.com`
    pub(super) statvfs: bool,
}

/// The attributes of a path, `None` if there is nothing.
pub(super) type Stated = Result<Option<Attributes>, Fault>;

/// A session.
pub(super) struct Session<S> {
    stream: S,
    limit: Duration,
    next_id: u32,
    /// Answers that nobody waits for: they come before all others.
    unanswered: usize,
    pub(super) extensions: Extensions,
}

/// An answer: its kind, its id, and the rest.
struct Reply {
    kind: u8,
    id: u32,
    body: Vec<u8>,
}

const CUT: Fault = Fault::Lost("cut");
const NO_ANSWER: Fault = Fault::Lost("no_answer");
const NOT_UNDERSTOOD: Fault = Fault::Lost("not_understood");

impl<S: AsyncRead + AsyncWrite + Unpin + Send> Session<S> {
    /// Greets the server. Each answer may take up to `limit`.
    pub(super) async fn begin(stream: S, limit: Duration) -> Result<Self, Fault> {
        let mut session = Self { stream, limit, next_id: 0, unanswered: 0, extensions: Extensions::default() };
        // The greeting has the version in the place of the id.
        session.send(Request::new(kind::INIT, VERSION).finish()).await?;
        let Reply { kind: kind::VERSION, id: VERSION.., body } = session.receive().await? else {
            return Err(NOT_UNDERSTOOD);
        };
        let mut reader = PacketReader(&body);
        for _ in 0..MAX_EXTENSIONS {
            let (Some(name), Some(_)) = (reader.text(), reader.text()) else { break };
            match name {
                b"fsync@openssh.com" => session.extensions.fsync = true,
                b"statvfs@openssh.com" => session.extensions.statvfs = true,
                _ => {}
            }
        }
        Ok(session)
    }

    async fn send(&mut self, packet: Vec<u8>) -> Result<(), Fault> {
        let send = async {
            self.stream.write_all(&packet).await?;
            self.stream.flush().await
        };
        timeout(self.limit, send).await.map_err(|_| NO_ANSWER)?.map_err(|_| CUT)
    }

    async fn receive(&mut self) -> Result<Reply, Fault> {
        while self.unanswered > 0 {
            self.receive_one().await?;
            self.unanswered -= 1;
        }
        self.receive_one().await
    }

    async fn receive_one(&mut self) -> Result<Reply, Fault> {
        let read = async {
            let mut length = [0; 4];
            self.stream.read_exact(&mut length).await.map_err(|_| CUT)?;
            let length = usize::try_from(u32::from_be_bytes(length)).unwrap_or(usize::MAX);
            if !(5..=MAX_PACKET).contains(&length) {
                return Err(NOT_UNDERSTOOD);
            }
            let mut body = vec![0; length];
            self.stream.read_exact(&mut body).await.map_err(|_| CUT)?;
            let mut reader = PacketReader(&body);
            match (reader.byte(), reader.number()) {
                (Some(kind), Some(id)) => Ok(Reply { kind, id, body: body.split_off(5) }),
                _ => Err(NOT_UNDERSTOOD),
            }
        };
        timeout(self.limit, read).await.map_err(|_| NO_ANSWER)?
    }

    fn number(&mut self) -> u32 {
        self.next_id = self.next_id.wrapping_add(1);
        self.next_id
    }

    /// Sends one request and waits for its answer.
    async fn ask(&mut self, request: impl FnOnce(u32) -> Request) -> Result<Reply, Fault> {
        let id = self.number();
        let [answer] = self.exchange([id], request(id).finish()).await?;
        Ok(answer)
    }

    /// Sends requests together and waits for their answers, which come in the same order.
    async fn exchange<const N: usize>(&mut self, ids: [u32; N], packets: Vec<u8>) -> Result<[Reply; N], Fault> {
        fault_point!("sftp.ask.before");
        self.send(packets).await?;
        let mut answers = Vec::with_capacity(N);
        for id in ids {
            answers.push(self.answer(id).await?);
        }
        fault_point!("sftp.ask.after");
        answers.try_into().map_err(|_| NOT_UNDERSTOOD)
    }

    /// Receives the answer to this request, which is the next one.
    async fn answer(&mut self, id: u32) -> Result<Reply, Fault> {
        let answer = self.receive().await?;
        if answer.id == id { Ok(answer) } else { Err(NOT_UNDERSTOOD) }
    }

    async fn ask_for_status(&mut self, request: impl FnOnce(u32) -> Request) -> Result<(), Fault> {
        is_done(&self.ask(request).await?)
    }

    /// The attributes of a path, with links followed or not; `None` if there is nothing.
    pub(super) async fn stat(&mut self, path: &str, follow: bool) -> Result<Option<Attributes>, Fault> {
        let which = if follow { kind::STAT } else { kind::LSTAT };
        attributes(&self.ask(|id| Request::new(which, id).text(path.as_bytes())).await?)
    }

    async fn open(&mut self, path: &str, how: u32) -> Result<Vec<u8>, Fault> {
        // No attributes: the server's own permissions apply.
        let answer = self.ask(|id| Request::new(kind::OPEN, id).text(path.as_bytes()).number(how).number(0)).await?;
        match answer.kind {
            kind::HANDLE => PacketReader(&answer.body).text().map(<[u8]>::to_vec).ok_or(NOT_UNDERSTOOD),
            _ => Err(is_done(&answer).err().unwrap_or(NOT_UNDERSTOOD)),
        }
    }

    /// Opens a new file without emptying or removing one: a server that hung may carry out an old request only now,
    /// after another attempt has sent and checked its file. `None`: something has the name. The second way is for a
    /// server that does not support exclusive creation.
    async fn open_new(&mut self, path: &str) -> Result<Option<Vec<u8>>, Fault> {
        match self.open(path, WRITE_NEW).await {
            Err(Fault::Status(_)) => match self.stat(path, false).await? {
                Some(_) => Ok(None),
                None => self.open(path, WRITE_ANEW).await.map(Some),
            },
            opened => opened.map(Some),
        }
    }

    /// Closes a file that was only read; the result does not matter.
    async fn close(&mut self, handle: &[u8]) -> Result<(), Fault> {
        let id = self.number();
        self.send(Request::new(kind::CLOSE, id).text(handle).finish()).await?;
        self.unanswered += 1;
        Ok(())
    }

    /// Writes a new file, syncs it to the server's disk if the server can, and closes it. It does not wait in between:
    /// a server handles the requests about one file in their order (draft-ietf-secsh-filexfer-02, 6.1). The file is not
    /// opened for reading before it is closed, or else what a program there puts in its place would not be read. False
    /// if something has the name: nothing is written then.
    pub(super) async fn write(&mut self, path: &str, source: &mut Source) -> Result<bool, Fault> {
        let Some(handle) = self.open_new(path).await? else { return Ok(false) };
        let (mut offset, mut under_way, mut refused, mut packets) = (0, 0, None, Vec::new());
        while refused.is_none() {
            match source.next(PIECE as usize).await {
                Ok(Some(piece)) => {
                    // The last piece is sent with what follows it: each write wakes both sides.
                    self.send(packets).await?;
                    let id = self.number();
                    packets = Request::new(kind::WRITE, id).text(&handle).long(offset).text(&piece).finish();
                    offset += piece.len() as u64;
                    under_way += 1;
                }
                Ok(None) => break,
                Err(outcome) => refused = Some(Fault::Source(outcome)),
            }
            if under_way == WINDOW {
                under_way -= 1;
                self.receive_done(&mut refused).await?;
            }
        }
        if refused.is_none() && self.extensions.fsync {
            let id = self.number();
            packets.extend(Request::new(kind::EXTENDED, id).text(b"fsync@openssh.com").text(&handle).finish());
            under_way += 1;
        }
        let id = self.number();
        packets.extend(Request::new(kind::CLOSE, id).text(&handle).finish());
        self.send(packets).await?;
        // All answers under way are received in any case, because the session goes on.
        for _ in 0..=under_way {
            self.receive_done(&mut refused).await?;
        }
        refused.map_or(Ok(true), Err)
    }

    /// Receives a status, and keeps the first refusal.
    async fn receive_done(&mut self, refused: &mut Option<Fault>) -> Result<(), Fault> {
        match is_done(&self.receive().await?) {
            Err(lost @ Fault::Lost(_)) => return Err(lost),
            Err(fault) => *refused = refused.take().or(Some(fault)),
            Ok(()) => {}
        }
        Ok(())
    }

    /// The digest of a file, up to a byte more than `limit`; `None` if there is no file.
    pub(super) async fn read(&mut self, path: &str, limit: u64) -> Result<Option<Digest>, Fault> {
        self.read_each(path, limit, |_| {}).await
    }

    /// The content, within the same bounds.
    pub(super) async fn content(&mut self, path: &str, limit: u64) -> Result<Option<Vec<u8>>, Fault> {
        let mut content = Vec::new();
        let read = self.read_each(path, limit, |piece| content.extend_from_slice(piece)).await?;
        Ok(read.map(|_| content))
    }

    async fn read_each(
        &mut self,
        path: &str,
        limit: u64,
        take: impl FnMut(&[u8]) + Send,
    ) -> Result<Option<Digest>, Fault> {
        let handle = match self.open(path, READ).await {
            Err(Fault::Status(status::NO_SUCH_FILE)) => return Ok(None),
            other => other?,
        };
        let read = self.read_pieces(&handle, limit, take).await;
        if matches!(read, Err(Fault::Lost(_))) {
            return read.map(Some);
        }
        self.close(&handle).await?;
        read.map(Some)
    }

    /// Requests several pieces at a time, which come in order; a piece that is too short before the end is completed
    /// separately.
    async fn read_pieces(
        &mut self,
        handle: &[u8],
        limit: u64,
        mut take: impl FnMut(&[u8]) + Send,
    ) -> Result<Digest, Fault> {
        let mut hashing = Hashing::default();
        loop {
            let begin = hashing.size();
            if begin > limit {
                return Ok(hashing.finish());
            }
            // The last request is for the byte beyond the limit: usually its answer is that the file ends there.
            let pieces = (begin..limit).step_by(PIECE as usize).map(|offset| (offset, limit - offset));
            let wanted = pieces.chain([(limit, 1)]).take(WINDOW);
            let (mut ids, mut packets) = (Vec::with_capacity(WINDOW), Vec::new());
            for (offset, left) in wanted {
                let id = self.number();
                let length = u32::try_from(left).unwrap_or(PIECE).min(PIECE);
                packets.extend(Request::new(kind::READ, id).text(handle).long(offset).number(length).finish());
                ids.push((id, offset));
            }
            self.send(packets).await?;
            let (mut pieces, mut fault, mut end) = (std::collections::BTreeMap::new(), None, None);
            for _ in &ids {
                let answer = self.receive().await?;
                let Some((_, offset)) = ids.iter().find(|(id, _)| *id == answer.id) else { return Err(NOT_UNDERSTOOD) };
                match answer.kind {
                    kind::DATA => {
                        let data = PacketReader(&answer.body).text().ok_or(NOT_UNDERSTOOD)?;
                        pieces.insert(*offset, data.to_vec());
                    }
                    _ => match is_done(&answer) {
                        Err(Fault::Status(status::EOF)) => end = end.into_iter().chain([*offset]).min(),
                        Err(lost @ Fault::Lost(_)) => return Err(lost),
                        Err(other) => fault = Some(other),
                        Ok(()) => return Err(NOT_UNDERSTOOD),
                    },
                }
            }
            if let Some(fault) = fault {
                return Err(fault);
            }
            // The pieces as far as they join; the rest is requested again.
            for (offset, piece) in pieces {
                if offset == hashing.size() {
                    hashing.update(&piece);
                    take(&piece);
                }
            }
            match end {
                Some(end) if hashing.size() >= end => return Ok(hashing.finish()),
                _ if hashing.size() == begin => return Err(NOT_UNDERSTOOD),
                _ => {}
            }
        }
    }

    /// Renames a file. Servers of version 3 should refuse a taken name; not all do. Returns also what looks at both
    /// names show, which were sent with the rename.
    pub(super) async fn rename(&mut self, from: &str, to: &str) -> Result<(Result<(), Fault>, [Stated; 2]), Fault> {
        let look = |id, path: &str| Request::new(kind::LSTAT, id).text(path.as_bytes()).finish();
        let ids = [self.number(), self.number(), self.number()];
        let renaming = Request::new(kind::RENAME, ids[0]).text(from.as_bytes()).text(to.as_bytes()).finish();
        let packets = [renaming, look(ids[1], from), look(ids[2], to)].concat();
        let [renamed, old, new] = self.exchange(ids, packets).await?;
        match is_done(&renamed) {
            Err(lost @ Fault::Lost(_)) => Err(lost),
            renamed => Ok((renamed, [attributes(&old), attributes(&new)])),
        }
    }

    /// Removes a file; a missing file is no error.
    pub(super) async fn remove(&mut self, path: &str) -> Result<(), Fault> {
        match self.ask_for_status(|id| Request::new(kind::REMOVE, id).text(path.as_bytes())).await {
            Err(Fault::Status(status::NO_SUCH_FILE)) => Ok(()),
            other => other,
        }
    }

    pub(super) async fn mkdir(&mut self, path: &str) -> Result<(), Fault> {
        self.ask_for_status(|id| Request::new(kind::MKDIR, id).text(path.as_bytes()).number(0)).await
    }

    /// Names in a folder, with their attributes, up to about [`MAX_NAMES`]; `None` if there is no folder.
    pub(super) async fn names(&mut self, folder: &str) -> Result<Option<Vec<(String, Attributes)>>, Fault> {
        let answer = self.ask(|id| Request::new(kind::OPENDIR, id).text(folder.as_bytes())).await?;
        if answer.kind != kind::HANDLE {
            return match is_done(&answer).err().unwrap_or(NOT_UNDERSTOOD) {
                Fault::Status(status::NO_SUCH_FILE) => Ok(None),
                fault => Err(fault),
            };
        }
        let handle = PacketReader(&answer.body).text().map(<[u8]>::to_vec).ok_or(NOT_UNDERSTOOD)?;
        let (mut found, mut read) = (Vec::new(), 0);
        while read < MAX_NAMES {
            let answer = self.ask(|id| Request::new(kind::READDIR, id).text(&handle)).await?;
            if answer.kind != kind::NAME {
                break;
            }
            let mut reader = PacketReader(&answer.body);
            let count = reader.number().filter(|count| *count > 0).ok_or(NOT_UNDERSTOOD)?;
            for _ in 0..count {
                let (name, _) = (reader.text().ok_or(NOT_UNDERSTOOD)?, reader.text().ok_or(NOT_UNDERSTOOD)?);
                let attributes = Attributes::read(&mut reader).ok_or(NOT_UNDERSTOOD)?;
                read += 1;
                if let Ok(name) = std::str::from_utf8(name) {
                    found.push((name.to_owned(), attributes));
                }
            }
        }
        self.close(&handle).await?;
        Ok(Some(found))
    }

    /// The bytes that this user may still write there; `None` if the server does not say.
    pub(super) async fn free_bytes(&mut self, path: &str) -> Result<Option<u64>, Fault> {
        if !self.extensions.statvfs {
            return Ok(None);
        }
        let ask = |id| Request::new(kind::EXTENDED, id).text(b"statvfs@openssh.com").text(path.as_bytes());
        let answer = self.ask(ask).await?;
        if answer.kind != kind::EXTENDED_REPLY {
            return Ok(None);
        }
        // f_bsize, f_frsize, f_blocks, f_bfree, f_bavail (OpenSSH, PROTOCOL, 4.4)
        let mut reader = PacketReader(&answer.body);
        let numbers = [(); 5].map(|()| reader.long());
        let [_, Some(fragment), _, _, Some(available)] = numbers else { return Ok(None) };
        Ok(Some(fragment.saturating_mul(available)))
    }
}

fn attributes(answer: &Reply) -> Stated {
    match answer.kind {
        kind::ATTRS => Attributes::read(&mut PacketReader(&answer.body)).map(Some).ok_or(NOT_UNDERSTOOD),
        _ => match is_done(answer) {
            Err(Fault::Status(status::NO_SUCH_FILE)) => Ok(None),
            Err(fault) => Err(fault),
            Ok(()) => Err(NOT_UNDERSTOOD),
        },
    }
}

/// Whether a status reports success.
fn is_done(answer: &Reply) -> Result<(), Fault> {
    if answer.kind != kind::STATUS {
        return Err(NOT_UNDERSTOOD);
    }
    match PacketReader(&answer.body).number() {
        Some(status::OK) => Ok(()),
        Some(other) => Err(Fault::Status(other)),
        None => Err(NOT_UNDERSTOOD),
    }
}
