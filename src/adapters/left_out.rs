//! A destination whose language this program was built without (the features of Cargo.toml).

use async_trait::async_trait;

use super::{Adapter, Checked, Item, Known, Outcome, Planned};
use crate::document::{DocumentUuid, Metadata};

/// Stands for the destination of this name. Nothing starts with it: [`Adapter::unusable`] says why.
pub(super) struct LeftOut(pub(super) String);

impl LeftOut {
    fn words(&self) -> String {
        let Self(name) = self;
        format!("destination `{name}`: this program was built without its `type`: install one with every language")
    }
}

#[async_trait]
impl Adapter for LeftOut {
    async fn deliver(&self, _: &Item) -> Outcome {
        Outcome::unavailable("check", self.words())
    }

    fn unusable(&self) -> Option<String> {
        Some(self.words())
    }

    async fn plan(&self, _: &DocumentUuid, _: &Metadata, _: &Known) -> Result<Planned, String> {
        Err(self.words())
    }

    async fn check(&self) -> Result<Checked, String> {
        Err(self.words())
    }
}
