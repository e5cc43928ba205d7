//! What every adapter for another machine must also keep: lost replies, cut transfers, taken names, refused
//! credentials.

use super::{Place, SECRET, Spool, assert_delivered, reason};
use crate::destinations::{Item, Outcome};

/// A destination on another machine under test.
pub(in crate::destinations) trait RemotePlace: Place {
    /// The next irreversible step succeeds, but its answer and the connection are lost, once.
    fn lose_next_reply(&self);
    /// The transfer of the next content breaks off after this many bytes, once.
    fn cut_after(&self, bytes: usize);
    /// Somebody else's object takes the name.
    fn occupy(&self, name: &str, content: &[u8]);
    /// The credentials are refused from now on.
    fn revoke_credentials(&self);
}

/// Delivers until it succeeds, like the stage: a standing intent makes the next attempt uncertain. Returns the
/// failures.
async fn until_delivered(place: &impl Place, item: &Item) -> Vec<Outcome> {
    let adapter = place.adapter();
    let (mut item, mut failures) = (item.clone(), Vec::new());
    while failures.len() < 5 {
        match adapter.deliver(&item).await {
            Outcome::Delivered { .. } => return failures,
            outcome => {
                reason(&outcome);
                item.uncertain = item.names.known().await.unwrap().intent.is_some();
                failures.push(outcome);
            }
        }
    }
    panic!("{failures:?}")
}

pub(in crate::destinations) async fn a_lost_reply_is_one_object(place: impl RemotePlace) {
    let spool = Spool::new();
    place.lose_next_reply();
    until_delivered(&place, &spool.item(1, b"%PDF-1.7 letter")).await;
    assert_eq!(place.objects().into_values().collect::<Vec<_>>(), [b"%PDF-1.7 letter"]);
    // A new process finds the same object.
    let adapter = place.adapter();
    assert_delivered(&adapter.deliver(&spool.item(1, b"%PDF-1.7 letter")).await);
    assert_eq!(place.objects().len(), 1);
}

pub(in crate::destinations) async fn a_cut_transfer_shows_nothing(place: impl RemotePlace) {
    let spool = Spool::new();
    let content = b"%PDF-1.7 ".repeat(20_000);
    for (number, bytes) in [0, 1, content.len() / 2, content.len() - 1].into_iter().enumerate() {
        let item = spool.item(u32::try_from(number).unwrap(), &content);
        let before = place.objects();
        place.cut_after(bytes);
        let outcome = place.adapter().deliver(&item).await;
        // If all of it was sent, nobody knows how much arrived.
        let is_open =
            matches!(outcome, Outcome::Transient { .. } | Outcome::Unavailable { .. } | Outcome::Unconfirmed { .. });
        assert!(is_open, "{outcome:?}");
        reason(&outcome);
        assert!(place.objects() == before, "after {bytes} bytes: {:?}", place.objects().keys());
        until_delivered(&place, &item).await;
        assert_eq!(place.objects().len(), before.len() + 1);
    }
    assert!(place.objects().values().all(|object| *object == content));
}

/// `name` is the place's name for document number 1.
pub(in crate::destinations) async fn a_taken_name_is_not_overwritten(place: impl RemotePlace, name: &str) {
    let spool = Spool::new();
    place.occupy(name, b"somebody's");
    until_delivered(&place, &spool.item(1, b"%PDF-1.7 letter")).await;
    let objects = place.objects();
    assert_eq!(objects.get(name).map(Vec::as_slice), Some(&b"somebody's"[..]), "{:?}", objects.keys());
    assert_eq!(objects.values().filter(|object| *object == b"%PDF-1.7 letter").count(), 1);
}

pub(in crate::destinations) async fn refused_credentials_are_the_destinations(place: impl RemotePlace) {
    let spool = Spool::new();
    place.revoke_credentials();
    let outcome = place.adapter().deliver(&spool.item(1, b"%PDF-1.7 letter")).await;
    assert!(matches!(outcome, Outcome::Unavailable { .. }), "{outcome:?}");
    assert!(reason(&outcome).contains("`pms`"));
    assert!(place.objects().is_empty());
    let complaint = place.adapter().check().await.unwrap_err();
    assert!(complaint.contains("`pms`") && !complaint.contains(SECRET), "{complaint}");
}

/// The suite for destinations on another machine; `$name` is the place's name for document number 1.
macro_rules! keeps_the_remote_contract {
    ($place:expr, $name:expr) => {
        mod remote_contract {
            use super::*;

            #[tokio::test]
            async fn a_lost_reply_is_one_object() {
                $crate::destinations::contract::remote::a_lost_reply_is_one_object($place).await;
            }
            #[tokio::test]
            async fn a_cut_transfer_shows_nothing() {
                $crate::destinations::contract::remote::a_cut_transfer_shows_nothing($place).await;
            }
            #[tokio::test]
            async fn a_taken_name_is_not_overwritten() {
                $crate::destinations::contract::remote::a_taken_name_is_not_overwritten($place, $name).await;
            }
            #[tokio::test]
            async fn refused_credentials_are_the_destinations() {
                $crate::destinations::contract::remote::refused_credentials_are_the_destinations($place).await;
            }
        }
    };
}
pub(in crate::destinations) use keeps_the_remote_contract;
