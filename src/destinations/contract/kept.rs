//! What every adapter that can look at delivered letters must also keep (`docsyncd reconcile`).

use super::{Place, Spool, assert_delivered};
use crate::destinations::{Adapter, Holds, Item, Kept};
use crate::domain::document::Version;

/// A delivered letter, as the ledger has it.
pub(in crate::destinations) async fn kept(adapter: &dyn Adapter, item: &Item) -> Kept {
    let place = assert_delivered(&adapter.deliver(item).await);
    let version = Version { account: "main".into(), uuid: item.uuid.clone(), pdf: item.pdf.sha256.clone() };
    Kept { version, key: item.key.clone(), place, size: item.pdf.size, sha256: item.pdf.sha256.clone() }
}

pub(in crate::destinations) async fn letters_are_seen_where_they_were_put(place: impl Place) {
    let (spool, adapter) = (Spool::new(), place.adapter());
    let item = spool.item(1, b"%PDF-1.7 letter");
    let there = kept(adapter.as_ref(), &item).await;
    let of_content = |content: &[u8]| {
        let digest = crate::destinations::files::Digest::of(content);
        Kept { size: digest.size, sha256: digest.sha256, ..there.clone() }
    };
    let at = |place: String| Kept { place, ..there.clone() };
    let asked = [
        at(format!("{}.gone", there.place)),
        of_content(b"%PDF-1.7 lettex"),
        of_content(b"%PDF-1.7 a longer letter"),
        of_content(b"%PDF"),
        there.clone(),
        at(format!("elsewhere/{}", there.place)),
        at(String::new()),
    ];
    let expected =
        [Holds::Nothing, Holds::Other, Holds::Other, Holds::Other, Holds::Same, Holds::Unknown, Holds::Unknown];
    assert_eq!(adapter.still_holds(&asked).await.unwrap(), expected);
    assert_eq!(place.objects().len(), 1, "a look leaves nothing");
    // If the destination is away, nobody knows whether the letter is there.
    place.break_down();
    let found = adapter.still_holds(&asked[..2]).await;
    assert!(found.as_ref().map_or(true, |found| *found == [Holds::Unread; 2]), "{found:?}");
}
