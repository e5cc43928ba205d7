//! How a sidecar gets its name: the only one that its template gives, or the first free one of those that it counts.
//!
//! A killed attempt may have put the sidecar there: then a file with its content is the sidecar. With `sidecar_after`
//! the intent stays until the sidecar has its name, so that the next attempt returns to it.

use std::collections::HashSet;
use std::ops::RangeInclusive;
use std::sync::PoisonError;

use super::super::files::{Digest, Existing};
use super::super::{Outcome, wording};
use super::{Filing, Options, Put, Storage, split};
use crate::config::{Confirm, Evidence};
use crate::destinations::SidecarConfig;

/// The range of `number3`.
const NUMBERS: RangeInclusive<u16> = 1..=999;

/// A sidecar that has its name.
pub(super) struct Sidecar<T> {
    pub(super) name: String,
    /// Whether this attempt put it there.
    pub(super) is_new: bool,
    /// Held until the PDF has its name, so that no other document relies on a sidecar that is removed again: all
    /// letters may share one sidecar name.
    _turn: T,
}

impl<S: Storage> Filing<'_, S> {
    /// Puts the sidecar of the PDF with this path under its name, durably. Returns `None` if other content has that
    /// name. `next` is the name that the PDF would get then; `is_resumed`: an earlier attempt may have put the sidecar
    /// there.
    pub(super) async fn place_sidecar(
        &self,
        folder: &S::Folder,
        config: &SidecarConfig,
        path: &str,
        next: &str,
        is_resumed: bool,
    ) -> Result<Option<Sidecar<S::Turn>>, Outcome> {
        let destination = self.storage.options().destination;
        let content = self.sidecar_content(config, path)?;
        if config.is_counted() {
            return self.place_counted(folder, config, path, content, is_resumed).await.map(Some);
        }
        let wanted = wording::sidecar_name(destination, config, self.item, split(path).1, 1)?;
        let name = self.fit(folder, wanted.clone()).await?;
        if !self.may_have(folder, &name).await? {
            return wording::sidecar_is_taken(destination, config, self.item, &wanted, next).map(|()| None);
        }
        match self.put(folder, name, &content).await? {
            // The name was free before the PDF got its name, and no other letter uses it: the importer has written its
            // answer into the sidecar.
            (Put::Taken, placed) if is_resumed && config.name.is_unique() && self.is_answered_in_sidecars() => {
                Ok(Some(placed))
            }
            (Put::Taken, _) => wording::sidecar_is_taken(destination, config, self.item, &wanted, next).map(|()| None),
            (_, placed) => Ok(Some(placed)),
        }
    }

    /// The content, in which no value may say what the software is to write there.
    fn sidecar_content(&self, config: &SidecarConfig, path: &str) -> Result<Vec<u8>, Outcome> {
        let Options { destination, confirm, .. } = self.storage.options();
        let content = wording::sidecar_content(destination, config, self.item, path)?;
        let says_it = |confirm: &Confirm| {
            let text = confirm.charset.decode(&content);
            let lines = [Some(&confirm.success), confirm.failed.as_ref()].into_iter().flatten();
            lines.into_iter().any(|of| matches!(of, Evidence::Sidecar(line) if line.holds_in(&text)))
        };
        if confirm.is_some_and(says_it) { Err(wording::says_what_is_waited_for(destination)) } else { Ok(content) }
    }

    /// The same under the first free name, or the name that the sidecar already has.
    async fn place_counted(
        &self,
        folder: &S::Folder,
        config: &SidecarConfig,
        path: &str,
        content: Vec<u8>,
        is_resumed: bool,
    ) -> Result<Sidecar<S::Turn>, Outcome> {
        let listed = self.storage.names(folder).await?;
        if (is_resumed || self.item.tried || self.item.uncertain)
            && let Some(name) = self.find_counted(folder, config, path, &content, &listed).await?
            && self.may_have(folder, &name).await?
            && let (Put::New | Put::Same, placed) = self.put(folder, name, &content).await?
        {
            return Ok(placed);
        }
        for number in NUMBERS {
            let name = self.counted(folder, config, path, number).await?;
            // A file with the same content belongs to another document.
            if !listed.contains(&name)
                && self.may_have(folder, &name).await?
                && let (Put::New, placed) = self.put(folder, name, &content).await?
            {
                return Ok(placed);
            }
        }
        Err(wording::sidecar_in_the_way(self.storage.options().destination))
    }

    /// Whether `confirm` reads what an importer writes into a sidecar.
    pub(super) fn is_answered_in_sidecars(&self) -> bool {
        self.storage.options().confirm.is_some_and(|confirm| {
            [Some(&confirm.success), confirm.failed.as_ref()]
                .iter()
                .flatten()
                .any(|of| matches!(of, Evidence::Sidecar(_)))
        })
    }

    /// Whether the sidecar may have this name: what an importer writes there must be about this letter alone. The name
    /// of one that was taken away stays its letter's until that is proved.
    async fn may_have(&self, folder: &S::Folder, name: &str) -> Result<bool, Outcome> {
        let is_free = !self.is_answered_in_sidecars()
            || self.item.names.reserve_sidecar(&self.storage.place(folder, name)).await?;
        Ok(is_free)
    }

    async fn counted(
        &self,
        folder: &S::Folder,
        config: &SidecarConfig,
        path: &str,
        number: u16,
    ) -> Result<String, Outcome> {
        let destination = self.storage.options().destination;
        let wanted = wording::sidecar_name(destination, config, self.item, split(path).1, number)?;
        self.fit(folder, wanted).await
    }

    /// The counted name of an existing sidecar with this content.
    async fn find_counted(
        &self,
        folder: &S::Folder,
        config: &SidecarConfig,
        path: &str,
        content: &[u8],
        listed: &HashSet<String>,
    ) -> Result<Option<String>, Outcome> {
        let digest = Digest::of(content);
        for number in NUMBERS {
            let name = self.counted(folder, config, path, number).await?;
            if listed.contains(&name) && self.storage.existing(folder, &name, &digest).await? == Existing::Same {
                return Ok(Some(name));
            }
        }
        Ok(None)
    }

    async fn put(&self, folder: &S::Folder, name: String, content: &[u8]) -> Result<(Put, Sidecar<S::Turn>), Outcome> {
        let turn = self.storage.turn(folder, &name).await;
        let put = self.storage.put_sidecar(folder, self.item, &name, content.to_vec()).await?;
        if put != Put::Taken {
            *self.placed.lock().unwrap_or_else(PoisonError::into_inner) = Some(name.clone());
        }
        Ok((put, Sidecar { name, is_new: put == Put::New, _turn: turn }))
    }

    /// Whether a PDF can get this path: its sidecar can be written, and no other file has the sidecar's name.
    pub(super) async fn sidecar_can_follow(
        &self,
        folder: &S::Folder,
        config: &SidecarConfig,
        path: &str,
        next: &str,
    ) -> Result<bool, Outcome> {
        let destination = self.storage.options().destination;
        let content = self.sidecar_content(config, path)?;
        let wanted = wording::sidecar_name(destination, config, self.item, split(path).1, 1)?;
        if config.is_counted() {
            let listed = self.storage.names(folder).await?;
            for number in NUMBERS {
                let name = self.counted(folder, config, path, number).await?;
                if !listed.contains(&name) && self.may_have(folder, &name).await? {
                    return Ok(true);
                }
            }
            return Err(wording::sidecar_in_the_way(destination));
        }
        let name = self.fit(folder, wanted.clone()).await?;
        if !self.may_have(folder, &name).await?
            || self.storage.existing(folder, &name, &Digest::of(&content)).await? == Existing::Different
        {
            return wording::sidecar_is_taken(destination, config, self.item, &wanted, next).map(|()| false);
        }
        Ok(true)
    }

    /// With `sidecar_after`, puts the sidecar of the PDF that has this path now. If its name is taken meanwhile, the
    /// delivery waits until it is free.
    pub(super) async fn put_sidecar_last(&self, path: &str, is_resumed: bool) -> Result<(), Outcome> {
        let options = self.storage.options();
        let Some(config) = options.sidecar.filter(|config| config.is_last) else { return Ok(()) };
        let (within, name) = split(path);
        let folder = self.storage.find(within).await?;
        fault_point!("filing.sidecar_last.before");
        let placed = self.place_sidecar(&folder, config, path, name, is_resumed).await?;
        fault_point!("filing.sidecar_last.after");
        placed.map(drop).ok_or_else(|| wording::sidecar_in_the_way(options.destination))
    }

    /// The name of the sidecar of a PDF with this path; `None` if there is none.
    pub(super) async fn sidecar_of(&self, path: &str) -> Result<Option<String>, Outcome> {
        let placed = self.placed.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let options = self.storage.options();
        let (None, Some(config)) = (&placed, options.sidecar) else { return Ok(placed) };
        let (within, name) = split(path);
        let folder = self.storage.find(within).await?;
        if !config.is_counted() {
            // A sidecar whose template fails was never put there.
            let Ok(wanted) = wording::sidecar_name(options.destination, config, self.item, name, 1) else {
                return Ok(None);
            };
            return self.fit(&folder, wanted).await.map(Some);
        }
        let Ok(content) = self.sidecar_content(config, path) else { return Ok(None) };
        let listed = self.storage.names(&folder).await?;
        self.find_counted(&folder, config, path, &content, &listed).await
    }
}
