//! A destination whose protocol this program was built without (the features of Cargo.toml).

#![allow(dead_code, reason = "with every language none is left out")]

use async_trait::async_trait;

use super::{Adapter, Checked, Item, Known, Outcome, Planned};
use crate::domain::document::{DocumentUuid, Metadata};

/// Stands for the destination of this name. docsyncd does not start with it: [`Adapter::unusable`] says why.
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

#[cfg(test)]
mod tests {
    use super::super::contract::Spool;
    use super::*;

    #[tokio::test]
    async fn nothing_is_sent_and_it_says_why() {
        let (left_out, item) = (LeftOut("chart".to_owned()), Spool::new().item(1, b"%PDF-1.7 letter"));
        let words = left_out.unusable().unwrap();
        assert!(words.contains("`chart`") && words.contains("built without"), "{words}");
        assert_eq!(left_out.check().await, Err(words.clone()));
        let outcome = left_out.deliver(&item).await;
        assert!(matches!(&outcome, Outcome::Unavailable { reason, .. } if *reason == words), "{outcome:?}");
    }
}
