//! A destination that files by names on another machine, simulated: a server in memory behind the real way of filing
//! (src/destinations/remote/mod.rs) with the real reservations in the ledger.

use std::sync::Arc;

use async_trait::async_trait;

use super::calls::{Calls, Came, File, Line, is_temporary};
use super::clock;
use super::destination::{UnderWay, from_spool};
use super::plan::Named as How;
use super::world::{Shared, World};
use crate::destinations::simulated::{AtPath, Desk, Digest, Entry, Remote, Renamed, Source, abandon, deliver};
use crate::destinations::{Adapter, Checked, Item, Outcome, RemoteFolder, SidecarConfig};
use crate::domain::failure::Code;
use crate::formats::template::{Template, TemplateKind, TextFormat};

/// The folder there.
const ROOT: &str = "/inbox";
/// About as many calls as a delivery makes.
const CALLS: u64 = 20;

fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

fn lost() -> Outcome {
    Outcome::transient(Code::word("broken_off"), "the connection broke")
}

/// The destination, as a daemon uses it.
pub(super) struct Named {
    line: Line,
    how: How,
    config: RemoteFolder,
    desk: Desk,
}

impl Named {
    pub(super) fn new(world: Shared, index: usize, how: How) -> Self {
        let folder = if how.in_folders { "{{ patient.lastName }}/" } else { "" };
        let file = if how.overwrites { "{{ document.uuid }}.pdf" } else { "{{ document.type }}.pdf" };
        let compile = |kind, source: &str| Arc::new(Template::compile(kind, source).unwrap());
        let sidecar = how.sidecar.then(|| {
            SidecarConfig::new(
                compile(TemplateKind::Text(TextFormat::Plain), "document={{ document.uuid }};"),
                compile(TemplateKind::SidecarName, "{{ file_stem }}.txt"),
            )
        });
        let config = RemoteFolder {
            marker: None,
            on_lost_reply: None,
            confirm: None,
            name: format!("destination{index}"),
            path: ROOT.to_owned(),
            file_name: compile(TemplateKind::RemoteName, &format!("{folder}{file}")),
            sidecar,
            verify_content: true,
            max_connections: 4,
        };
        world.lock().unwrap().servers[index].folders.insert(ROOT.to_owned());
        let line = Line { world, index, imports: how.imports, calls: CALLS };
        Self { line, how, config, desk: Desk::default() }
    }

    fn calls(&self, calls: Calls) -> Peer<'_> {
        Peer { to: self, calls }
    }
}

#[async_trait]
impl Adapter for Named {
    async fn deliver(&self, item: &Item) -> Outcome {
        let under_way = UnderWay::begin(&self.line.world, self.line.index, item);
        let calls = self.calls(self.line.of(item));
        let outcome = deliver(&calls, &self.config, &from_spool(&self.line.world, item).0, &self.desk).await;
        self.line.ended(item, &outcome);
        drop(under_way);
        outcome
    }

    async fn abandon(&self, item: &Item) {
        let is_replaced = self.line.clears(&item.key);
        abandon(&self.calls(self.line.of(item)), &self.config, item).await;
        if is_replaced {
            self.line.cleared(&item.key);
        }
    }

    async fn check(&self) -> Result<Checked, String> {
        let found = self.calls(self.line.of_nobody()).stat(ROOT).await;
        self.line.tell(|| format!("check: {found:?}"));
        found.map(|_| Checked::default()).map_err(|outcome| outcome.reason().to_owned())
    }
}

/// The server, as one delivery sees it.
struct Peer<'a> {
    to: &'a Named,
    calls: Calls,
}

impl Peer<'_> {
    async fn call<T>(
        &self,
        what: &str,
        path: &str,
        effect: impl FnOnce(&mut World) -> Result<T, Outcome>,
    ) -> Result<T, Outcome> {
        match self.calls.call(what, path, effect).await {
            Came::Answered(answer) => answer,
            Came::Offline => Err(Outcome::unavailable("offline", "it is offline")),
            Came::Broken | Came::Lost => Err(lost()),
        }
    }
}

#[async_trait]
impl Remote for Peer<'_> {
    fn address(&self) -> String {
        format!("memory://{}", self.to.line.index)
    }

    async fn stat(&self, path: &str) -> Result<AtPath, Outcome> {
        self.call("stat", path, |world| {
            self.calls.stranger_comes(world, path, 20);
            let server = self.calls.server(world);
            let found = match server.files.get(path) {
                Some(file) => AtPath::File(file.content.len() as u64),
                None if server.folders.contains(path) => AtPath::Folder,
                None => AtPath::Nothing,
            };
            // No name is everybody's where a rename replaces.
            if !self.to.how.overwrites {
                self.calls.stranger_comes(world, path, 30);
            }
            Ok(found)
        })
        .await
    }

    async fn read(&self, path: &str, limit: u64) -> Result<Option<Digest>, Outcome> {
        self.call("read", path, |world| {
            let most = usize::try_from(limit).unwrap() + 1;
            let file = self.calls.server(world).files.get(path);
            Ok(file.map(|file| Digest::of(&file.content[..file.content.len().min(most)])))
        })
        .await
    }

    async fn content(&self, path: &str, _: u64) -> Result<Option<Vec<u8>>, Outcome> {
        self.call("read", path, |world| Ok(self.calls.server(world).files.get(path).map(|file| file.content.clone())))
            .await
    }

    async fn list(&self, path: &str) -> Result<Option<Vec<Entry>>, Outcome> {
        self.call("list", path, |world| {
            let server = self.calls.server(world);
            let files = server.files.iter().filter(|(file, _)| folder_of(file) == path).map(|(file, of)| Entry {
                name: file.rsplit('/').next().unwrap_or_default().to_owned(),
                size: Some(of.content.len() as u64),
                modified: None,
            });
            let files: Vec<Entry> = files.collect();
            Ok(server.folders.contains(path).then_some(files))
        })
        .await
    }

    async fn put(&self, path: &str, source: &mut Source) -> Result<bool, Outcome> {
        let is_new = self.call("put", path, |world| {
            if !is_temporary(path) {
                world.violate(|| format!("{path} is written under its final name"));
            }
            if self.calls.refuses(world) {
                return Err(Outcome::Permanent { code: Code::Status(422), reason: "it is refused".to_owned() });
            }
            let server = self.calls.server(world);
            if !server.folders.contains(folder_of(path)) {
                return Err(lost());
            }
            // Some servers can tell that something has the name, others write over it.
            if server.files.contains_key(path) && clock::percent(50) {
                return Ok(false);
            }
            server.files.insert(path.to_owned(), File::default());
            Ok(true)
        });
        if !is_new.await? {
            return Ok(false);
        }
        let piece = usize::try_from(source.digest().size).unwrap() / 3 + 1;
        while let Some(piece) = source.next(piece).await? {
            self.call("write", path, |world| {
                let file = self.calls.server(world).files.get_mut(path).ok_or_else(lost)?;
                file.content.extend_from_slice(&piece);
                Ok(())
            })
            .await?;
        }
        self.call("close", path, |world| {
            self.calls.server(world).files.get_mut(path).ok_or_else(lost)?.is_whole = true;
            Ok(true)
        })
        .await
    }

    async fn rename_new(&self, from: &str, to: &str) -> Result<Renamed, Outcome> {
        self.call("rename", to, |world| {
            let overwrites = self.to.how.overwrites;
            let server = self.calls.server(world);
            let is_taken = server.files.contains_key(to) && !overwrites;
            if is_taken || !server.folders.contains(folder_of(to)) {
                return Ok(Renamed::Refused(Outcome::transient(Code::word("refused"), "it refuses to rename")));
            }
            let Some(file) = server.files.remove(from) else {
                return Ok(Renamed::Missing(Outcome::transient(Code::word("nothing"), "nothing is there to rename")));
            };
            let sidecar = to.strip_suffix(".pdf").filter(|_| self.to.how.sidecar).map(|stem| format!("{stem}.txt"));
            if sidecar.is_some_and(|sidecar| !self.calls.was_given(world, &sidecar)) {
                world.violate(|| format!("{to} came before its sidecar"));
            }
            self.calls.give(world, to, file);
            Ok(Renamed::Done)
        })
        .await
    }

    async fn remove(&self, path: &str) -> Result<(), Outcome> {
        self.call("remove", path, |world| {
            let removed = self.calls.server(world).files.remove(path);
            let was_kept = removed.is_some_and(|file| file.is_strangers || path.ends_with(".pdf"));
            if was_kept {
                world.violate(|| format!("{path} was removed"));
            }
            Ok(())
        })
        .await
        .inspect_err(|_| self.calls.not_removed(path))
    }

    async fn mkdir(&self, path: &str) -> Result<(), Outcome> {
        self.call("mkdir", path, |world| {
            let server = self.calls.server(world);
            if !server.folders.contains(folder_of(path)) {
                return Err(lost());
            }
            server.folders.insert(path.to_owned());
            Ok(())
        })
        .await
    }
}
