//! A destination, simulated: it remembers the key of everything it ever took.

use std::time::Duration;

use async_trait::async_trait;
use sha2::{Digest as _, Sha256};

use super::clock;
use super::plan::{Trouble, Wrong};
use super::world::{Shared, World};
use crate::destinations::{Adapter, Checked, Item, Others, Outcome, Unproved};
use crate::domain::document::{Spooled, hex};
use crate::domain::failure::Code;
use crate::domain::proof::{Proof, Seen, Sight};

/// How long an adapter waits for a destination that hangs.
pub(super) const LIMIT: Duration = Duration::from_secs(60);
/// What a delivery takes, roughly; milliseconds.
const LATENCY: u64 = 20;

/// One destination.
pub(super) struct Destination {
    pub(super) world: Shared,
    pub(super) index: usize,
}

/// Under way from its making to its end, unless the daemon died before.
pub(super) struct UnderWay<'a>(&'a Shared, (usize, String));

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.0.lock().unwrap().under_way.remove(&self.1);
    }
}

impl<'a> UnderWay<'a> {
    pub(super) fn begin(shared: &'a Shared, destination: usize, item: &Item) -> Self {
        let delivery = (destination, item.key.clone());
        let mut world = shared.lock().unwrap();
        if !world.under_way.insert(delivery.clone()) {
            world.violate(|| format!("{} is delivered twice at once", item.uuid));
        }
        Self(shared, delivery)
    }
}

/// As the adapters read it, who know the world's spool by what lies in memory only; and whether it is what was fetched.
pub(super) fn from_spool(world: &Shared, item: &Item) -> (Item, bool) {
    let content = world.lock().unwrap().pdf_of(item).unwrap_or_default();
    let is_whole = content.len() as u64 == item.pdf.size && hex(&Sha256::digest(&content)) == item.pdf.sha256;
    (Item { pdf: Spooled { in_memory: Some(content.into()), ..item.pdf.clone() }, ..item.clone() }, is_whole)
}

impl Destination {
    fn take(&self, item: &Item) -> (Outcome, bool) {
        let mut world = self.world.lock().unwrap();
        world.count_call();
        let (outcome, hangs) = self.outcome(&mut world, item);
        let (index, said) = (self.index, format!("{outcome:?}"));
        world.tell(|| format!("destination {index}: {} of {}: {said}", item.uuid, item.metadata.account));
        (outcome, hangs)
    }

    fn outcome(&self, world: &mut World, item: &Item) -> (Outcome, bool) {
        let transient = |why: &str| Outcome::transient(Code::word("later"), why.to_owned());
        if world.is_offline(self.index) {
            return (transient("it is offline"), false);
        }
        let Some(bytes) = world.pdf_of(item) else { return (Outcome::SpoolDamaged, false) };
        if bytes.len() as u64 != item.pdf.size || hex(&Sha256::digest(&bytes)) != item.pdf.sha256 {
            return (Outcome::SpoolDamaged, false);
        }
        let Some(document) = world.whose(self.index, item, &bytes) else { return (transient("nobody's"), false) };
        let last = world.plan.required(document).and_then(<[usize]>::last) == Some(&self.index);
        let fault = match world.plan.documents[document].trouble {
            Trouble::Refused if last => Some(Wrong::Permanent),
            _ => world.delivery_fault(self.index, document),
        };
        let blame = &mut world.truths[document].blame;
        match fault {
            Some(Wrong::Permanent) => {
                blame.refused_by.insert(self.index);
                let (code, reason) = (Code::Exit(1), "it is refused".to_owned());
                return (Outcome::Permanent { code, reason }, false);
            }
            Some(_) => blame.transient.push(clock::passed()),
            None => {}
        }
        if !matches!(fault, Some(Wrong::Transient | Wrong::Hangs { done: false })) {
            world.hold(self.index, document, item);
        }
        match fault {
            None if world.plan.confirms(self.index) => (
                Outcome::Delivered {
                    place: "there".to_owned(),
                    filed: Some(Box::default()),
                    proof: None,
                    beside: false,
                },
                false,
            ),
            None => (Outcome::delivered("there"), false),
            Some(Wrong::Hangs { .. }) => (transient("it hangs"), true),
            Some(_) => (transient("not now"), false),
        }
    }
}

#[async_trait]
impl Adapter for Destination {
    async fn deliver(&self, item: &Item) -> Outcome {
        let under_way = UnderWay::begin(&self.world, self.index, item);
        clock::pass(LATENCY).await;
        let (outcome, hangs) = self.take(item);
        if hangs {
            tokio::time::sleep(LIMIT).await;
        } else {
            clock::pass(LATENCY).await;
        }
        drop(under_way);
        outcome
    }

    async fn look(&self, letters: &[Unproved], _: &dyn Others) -> Result<Vec<Sight>, Outcome> {
        clock::pass(LATENCY).await;
        let mut world = self.world.lock().unwrap();
        world.count_call();
        let (index, now) = (self.index, clock::passed());
        if world.is_offline(index) {
            return Err(Outcome::transient(Code::word("later"), "it is offline"));
        }
        // A listing may lag, or be of a share that has just gone away: now and then, for a moment.
        let lags = clock::percent(10) && world.lagged.get(&index).is_none_or(|at| now - at > 90_000);
        if lags {
            world.lagged.insert(index, now);
        }
        let is_restless = clock::percent(30);
        let sights = letters.iter().map(|letter| {
            let taken = world.taken.get(&(index, letter.key.clone())).copied();
            let place = Some("elsewhere".to_owned());
            match taken {
                Some((at, true)) if at <= now => {
                    let document = world.held[index][&letter.key].0;
                    world.truths[document].blame.refused_by.insert(index);
                    Sight::Refused { reason: "it is refused there".to_owned(), seen: Seen::of("") }
                }
                Some((at, false)) if at <= now && at % 2 == 0 => {
                    Sight::Proved { proof: Proof::Moved, place, seen: Some(Seen::of("")) }
                }
                Some((at, false)) if at <= now => Sight::Gone(Seen::of("")),
                None => {
                    let uuid = letter.uuid.clone();
                    world.violate(|| format!("{uuid} is looked for where it was never put"));
                    Sight::Waits
                }
                _ if lags => Sight::Gone(Seen::of("")),
                // The software writes into the sidecar, or comes and goes beside the letter.
                _ if is_restless && now % 2 == 0 => Sight::Gone(Seen::of(now.to_string())),
                _ if is_restless => {
                    Sight::Proved { proof: Proof::Sidecar, place: None, seen: Some(Seen::of(now.to_string())) }
                }
                _ => Sight::Waits,
            }
        });
        let sights: Vec<Sight> = sights.collect();
        world.tell(|| format!("destination {index}: look: {sights:?}"));
        Ok(sights)
    }

    async fn check(&self) -> Result<Checked, String> {
        clock::pass(LATENCY).await;
        let mut world = self.world.lock().unwrap();
        world.count_call();
        let offline = world.is_offline(self.index);
        let index = self.index;
        world.tell(|| format!("destination {index}: check: {}", if offline { "offline" } else { "ok" }));
        if offline { Err("it is offline".to_owned()) } else { Ok(Checked::default()) }
    }
}
