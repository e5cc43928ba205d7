//! Looks at destinations while no letter goes there, so that a person learns that one is away before the next letter
//! comes. A folder is opened. A server is dialled, without a sign-in.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::config::Destination;
use crate::destinations::{Adapter, Outcome};
use crate::domain::failure::{Call, Code, Failure, Kind};
use crate::ledger::away::{self, Away};
use crate::ledger::{Ledger, LedgerError, Millis, now};
use crate::pipeline::{Context, Edges, Scope, Shared, Signals};

/// The time between two looks at a folder, unless polls come sooner.
const FOLDER_EVERY: Duration = Duration::from_secs(30);
/// How long after its last success a server is dialled.
const SERVER_QUIET: Duration = Duration::from_secs(15 * 60);
/// How long after a call without an answer a server is dialled again.
const SERVER_AGAIN: Duration = Duration::from_secs(60);
/// How many calls in a row a server has to leave unanswered before it counts as away.
const SERVER_TRIES: u32 = 2;
/// The longest look: a share that hangs counts as away.
const LONGEST: Duration = Duration::from_secs(20);
/// While all is well, the ledger is told so at this interval.
const NOTE_EVERY: Millis = 10 * 60 * 1000;

enum Target {
    Folder,
    Server(String, u16),
    /// Nothing can be looked at: only letters show whether it works.
    Program,
}

/// What the looks at one destination found so far.
struct Looks {
    name: String,
    away: Option<Away>,
    /// How many looks in a row failed, and when the first of them began.
    failed: u32,
    failing_since: Millis,
    noted_at: Millis,
}

/// What to tell the ledger after a look.
#[derive(Debug, PartialEq, Eq)]
enum Note {
    Nothing,
    Away(Away),
    Worked,
}

/// Looks at every destination that allows it, until the daemon stops. One that hangs delays no other.
pub(super) async fn run(
    context: Shared,
    adapters: BTreeMap<String, Arc<dyn Adapter>>,
    destinations: BTreeMap<String, Destination>,
) {
    let configured: Vec<String> = destinations.keys().cloned().collect();
    // If the ledger does not answer, the looks find out again.
    let mut known = context.edges.ledger.write(move |db| away::keep(db, &configured)).await.unwrap_or_default();
    let looks = destinations.into_iter().filter_map(|(name, destination)| {
        let target = match destination.server() {
            Some((host, port)) => Target::Server(host, port),
            None if destination.is_folder() => Target::Folder,
            None => Target::Program,
        };
        let looks = Looks { away: known.remove(&name), name, failed: 0, failing_since: 0, noted_at: 0 };
        Some(follow(&context, adapters.get(&looks.name)?, target, looks))
    });
    context.signals.stop.run_until_cancelled(futures_util::future::join_all(looks)).await;
}

async fn follow(
    Context { edges, rules, signals }: &Context,
    adapter: &Arc<dyn Adapter>,
    target: Target,
    mut looks: Looks,
) {
    let scope = Scope::Destination(looks.name.clone());
    let mut asked = signals.nudges.look.subscribe();
    let mut is_asked = false;
    loop {
        let wait = match &target {
            Target::Folder => rules.limits.poll_interval.min(FOLDER_EVERY),
            Target::Server(..) if looks.failed == 0 => SERVER_QUIET,
            Target::Server(..) | Target::Program => SERVER_AGAIN,
        };
        let good_at = edges.pauses.last_good_at(&scope).unwrap_or(0);
        let is_quiet =
            is_asked || now().saturating_sub(good_at) >= Millis::try_from(wait.as_millis()).unwrap_or(Millis::MAX);
        let began = now();
        // A letter that went through is as good as a look.
        let note = match &target {
            Target::Program if is_quiet => Note::Nothing,
            target => {
                let found = match target {
                    // A letter may have been put into an empty mount point: that it worked says nothing.
                    Target::Folder => look(&edges.ledger, adapter, target, &looks.name).await,
                    _ if is_quiet => look(&edges.ledger, adapter, target, &looks.name).await,
                    _ => Ok(()),
                };
                looks.after(found, matches!(target, Target::Folder), began, now())
            }
        };
        if let Err(error) = record(edges, signals, &mut looks, note).await {
            tracing::debug!(event = "look_failed", "{error}");
        }
        // A person who asks does not wait for the interval.
        is_asked = tokio::time::timeout(wait, asked.changed()).await.is_ok();
    }
}

async fn look(ledger: &Ledger, adapter: &Arc<dyn Adapter>, target: &Target, name: &str) -> Result<(), Outcome> {
    let away = |code, reason: String| Err(Outcome::unavailable(code, reason));
    match target {
        Target::Folder => {
            let name = name.to_owned();
            // Without the ledger, which is a problem of its own, the folder itself is looked at.
            let waiting = ledger.read(move |db| away::waiting(db, &name)).await.unwrap_or_default();
            match timeout(LONGEST, adapter.is_there(waiting)).await {
                Ok(found) => found,
                Err(_) => {
                    away("no_answer", "its folder does not answer: is the server of the share reachable?".to_owned())
                }
            }
        }
        Target::Program => Ok(()),
        Target::Server(host, port) => match timeout(LONGEST, TcpStream::connect((host.as_str(), *port))).await {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(_)) | Err(_) => away(
                "no_connection",
                format!("no connection to {host}, port {port}: is it running, and reachable from here?"),
            ),
        },
    }
}

impl Looks {
    /// Decides what a look means, which began at `began`. A folder is away at once; a server is away when it did not
    /// answer several times in a row.
    fn after(&mut self, found: Result<(), Outcome>, is_folder: bool, began: Millis, now: Millis) -> Note {
        let Err(outcome) = found else {
            self.failed = 0;
            let is_news = self.away.is_some() || !(0..NOTE_EVERY).contains(&now.saturating_sub(self.noted_at));
            return if is_news { Note::Worked } else { Note::Nothing };
        };
        if self.failed == 0 {
            self.failing_since = began;
        }
        self.failed = self.failed.saturating_add(1);
        let code = match &outcome {
            Outcome::Transient { code, .. } | Outcome::Unavailable { code, .. } => code.clone(),
            _ => Code::word("check"),
        };
        let failure = Failure { call: Call::Deliver, kind: Kind::Down(code) }.to_string();
        let reason = outcome.into_reason();
        let since = self.away.as_ref().map_or(self.failing_since.min(now), |away| away.since);
        let away = Away { since, failure, reason, looked_at: now };
        let counts = is_folder || self.failed >= SERVER_TRIES;
        // Noted each time, because the end of a pause takes the note away.
        if counts { Note::Away(away) } else { Note::Nothing }
    }
}

async fn record(edges: &Edges, signals: &Signals, looks: &mut Looks, note: Note) -> Result<(), LedgerError> {
    let (name, at) = (looks.name.clone(), now());
    match note {
        Note::Nothing => {}
        Note::Away(away) => {
            let (destination, reason) = (&looks.name, &away.reason);
            if looks.away.is_none() {
                tracing::warn!(event = "destination_away", destination, reason, "{destination} is away: {reason}");
            }
            looks.away = Some(away.clone());
            edges.ledger.write(move |db| away::begin(db, &name, &away)).await?;
        }
        Note::Worked => {
            edges.ledger.write(move |db| away::worked(db, &name, at)).await?;
            looks.noted_at = at;
            if looks.away.take().is_some() {
                let destination = &looks.name;
                // Letters that wait for this destination are tried now.
                edges.pauses.probe_now(&Scope::Destination(destination.clone()));
                signals.nudges.stages();
                tracing::info!(event = "destination_back", destination, "{destination} is back");
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gone() -> Result<(), Outcome> {
        Err(Outcome::transient(Code::word("folder_unusable"), "gone"))
    }

    #[test]
    fn a_folder_is_away_at_the_first_look_a_server_at_the_second_and_each_is_back_at_once() {
        let looks = || Looks { name: "pms".to_owned(), away: None, failed: 0, failing_since: 0, noted_at: 0 };
        for (is_folder, first) in [(true, true), (false, false)] {
            let mut looks = looks();
            assert_eq!(matches!(looks.after(gone(), is_folder, 980, 1000), Note::Away(_)), first);
            let Note::Away(away) = looks.after(gone(), is_folder, 1980, 2000) else { panic!("twice") };
            assert_eq!(
                (away.since, away.failure.as_str()),
                (980, "deliver down folder_unusable"),
                "the first began then"
            );
            looks.away = Some(Away { since: 1000, ..away });
            assert!(matches!(looks.after(gone(), is_folder, 3000, 3000), Note::Away(away) if away.since == 1000));
            assert_eq!(looks.after(Ok(()), is_folder, 0, 4000), Note::Worked);
            (looks.away, looks.noted_at) = (None, 4000);
            assert_eq!(looks.after(Ok(()), is_folder, 0, 5000), Note::Nothing);
            assert_eq!(looks.after(Ok(()), is_folder, 0, 4000 + NOTE_EVERY), Note::Worked);
            assert_eq!(looks.after(Ok(()), is_folder, 0, 3000), Note::Worked, "the clock was set back");
        }
    }
}
