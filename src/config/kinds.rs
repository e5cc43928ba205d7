//! `[destinations.NAME]`, as far as it is the same for all kinds of destination. Each kind is registered by
//! `destinations`, which hands the table of them down: here none is known by its name.

use std::any::Any;
use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use super::build::{At, Builder};
use super::confirm::{Confirm, Evidence};
use super::schema::{Key, Kind};
use super::settings::settings;
use super::validated::Config;

const SECTION: &str = "destinations";

settings! {
    /// What has one meaning for all kinds that have it.
    "destinations.*." CommonKeys {
        expect_taken: Option<bool>, Kind::Bool,
            "whether its software takes letters away, so that `docsyncd reconcile` misses none", default("false");
    }
}

/// A kind of destination, as it is registered.
#[derive(Debug)]
pub struct DestinationKind {
    /// The word of `type`.
    pub word: &'static str,
    /// Its keys in their order.
    pub keys: &'static [&'static [Key]],
    /// Makes types that cannot be wrong of the values of a table. What is wrong is reported; `None`: it cannot be used.
    pub check: fn(&mut At<'_, '_>) -> Option<Arc<dyn Settings>>,
    /// The choices of `setup` that lead to it, each with its name and its file in `config/presets`.
    pub presets: &'static [(&'static str, &'static str)],
}

/// The settings of a destination, valid.
pub trait Settings: Any + fmt::Debug + Send + Sync {
    /// What proves that its software took a letter; `None`: a letter counts as soon as it is there.
    fn confirm(&self) -> Option<&Confirm> {
        None
    }

    /// The folder, if this machine reaches it as one.
    fn folder(&self) -> Option<&Path> {
        None
    }

    /// Host and port that are dialled first: of the server, or of the proxy before it. `None` if it has no server.
    fn server(&self) -> Option<(String, u16)> {
        None
    }

    /// Where it is, for people: a folder, a program, or a server and its port.
    fn place(&self) -> Option<String> {
        self.server().map(|(host, port)| format!("{host}:{port}"))
    }

    /// Whether a look there shows what arrived and was not taken away.
    fn shows_letters(&self) -> bool {
        true
    }

    /// Reports what is wrong with it beside the rest of the configuration.
    fn fits(&self, _: &Config, _: &mut At<'_, '_>) {}
}

/// `[destinations.NAME]`
#[derive(Debug, Clone)]
pub struct Destination {
    /// NAME
    pub name: String,
    /// `type`
    pub kind: &'static str,
    /// The settings of that type.
    pub settings: Arc<dyn Settings>,
    /// Whether a letter is sent there only after its patient's number in the practice's list is known.
    pub needs_number: bool,
    /// `expect_taken`
    pub expect_taken: bool,
}

impl Destination {
    /// Its settings, if it is of the kind that has these.
    pub fn of<T: Settings>(&self) -> Option<&T> {
        let settings: &dyn Any = &*self.settings;
        settings.downcast_ref()
    }

    /// What proves that its software took a letter; `None`: a letter counts as soon as it is there.
    pub fn confirm(&self) -> Option<&Confirm> {
        self.settings.confirm()
    }

    /// Whether it is a folder that this machine reaches as one.
    pub fn is_folder(&self) -> bool {
        self.settings.folder().is_some()
    }

    /// Where it is, for people: a folder, a program, or a server and its port.
    pub fn place(&self) -> Option<String> {
        self.settings.place()
    }

    /// Host and port that are dialled first: of the server, or of the proxy before it. `None` if it has no server.
    pub fn server(&self) -> Option<(String, u16)> {
        self.settings.server()
    }

    /// Whether a look there shows what arrived, also to a ledger that does not know that it was sent.
    pub fn shows_letters(&self) -> bool {
        self.settings.shows_letters() && !self.is_emptied()
    }

    /// Whether its software takes letters away, so that a missing letter is no surprise.
    pub fn is_emptied(&self) -> bool {
        let stays = |confirm: &Confirm| matches!(confirm.success, Evidence::Probe | Evidence::Query);
        self.expect_taken || self.confirm().is_some_and(|confirm| !stays(confirm))
    }
}

/// The destinations without errors.
pub fn build(builder: &mut Builder<'_>) -> BTreeMap<String, Destination> {
    let merged = builder.merged;
    let mut destinations = BTreeMap::new();
    for (name, _) in merged.tables(SECTION) {
        let word = merged.schema.find(SECTION, "type").and_then(|key| merged.text(key, Some(name)));
        let Some(kind) = word.and_then(|word| merged.schema.kind(word)) else { continue };
        let at = &mut builder.table(SECTION, name);
        let Some(settings) = (kind.check)(at) else { continue };
        let expect_taken = at.read::<CommonKeys>().and_then(|common| common.expect_taken).unwrap_or(false);
        let needs_number = builder.need_number.contains(name);
        let (name, kind) = (name.to_owned(), kind.word);
        destinations.insert(name.clone(), Destination { name, kind, settings, needs_number, expect_taken });
    }
    destinations
}

/// Reports what is wrong with destinations beside the rest of the configuration.
pub fn check(config: &Config, builder: &mut Builder<'_>) {
    for (name, destination) in &config.destinations {
        destination.settings.fits(config, &mut builder.table(SECTION, name));
    }
}
