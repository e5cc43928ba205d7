//! `docsyncd preview`: what waits at the API, and the name and place that each document would get. Reads lists and details, and
//! looks into the destinations; downloads no PDF, files and reports nothing, and leaves the ledger as it is.

use std::collections::HashSet;
use std::fmt::Write as _;

use anyhow::Context as _;
use futures_util::StreamExt as _;
use futures_util::stream;
use serde::Serialize;

use super::list::short;
use super::output::{
    complain, completed, docsyncd, folded, ledger_to_read, place_lines, print_json, show_table, terminal_width,
};
use super::{Exit, Outcome, UsageError, asked_to_stop, runtime};
use crate::adapters::{self, Planned};
use crate::api::{Api as _, ApiError, Client, ListQuery, Listed, PAGE_SIZE, Transport};
use crate::config::{Config, Loaded};
use crate::daemon::{self, DaemonError};
use crate::document::{DocumentUuid, Metadata};
use crate::ledger::reservations::{self, Owner};
use crate::ledger::{Ledger, LedgerError};
use crate::pipeline::fetch;
use crate::reservation::Known as Names;
use crate::views::{self, Known};

/// Documents that are read side by side.
const AT_ONCE: usize = 8;
/// Pages that are read beyond the limit, only to count what waits.
const COUNTED_PAGES: u32 = 5;
/// Of an ISO 8601 time, up to the minute; characters.
const MINUTE: usize = 16;

/// One document that waits. Holds patient data.
#[derive(Serialize)]
struct Waiting {
    uuid: String,
    account: String,
    #[serde(rename = "type")]
    kind: Option<String>,
    created_at: String,
    /// Where docsyncd stands with it; `None`: it has not seen it yet.
    state: Option<String>,
    /// The route that takes it; `None` also where the configuration has none.
    route: Option<String>,
    /// Why it would not be filed.
    problem: Option<String>,
    destinations: Vec<Goal>,
}

/// What one destination would get.
#[derive(Serialize)]
struct Goal {
    destination: String,
    place: Option<String>,
    /// Whether something has that name already: a file, or a document before this one.
    taken: bool,
    /// The name it gets then, unless what is there is itself.
    otherwise: Option<String>,
    /// Whether this version is there already.
    delivered: bool,
    problem: Option<String>,
}

/// What was found, and what went wrong.
#[derive(Default)]
struct Found {
    waiting: Vec<Waiting>,
    /// Every document that an account listed: a later one that lists it as well adds nothing.
    listed: HashSet<DocumentUuid>,
    /// How many more were counted than were asked for.
    more: usize,
    /// Whether there are more than were counted, too.
    uncounted: bool,
    /// Accounts that could not be read, and why.
    wrong: Vec<(String, String)>,
}

pub(super) fn preview(loaded: &Loaded, limit: usize, json: bool) -> Outcome {
    let ledger = ledger_to_read(loaded)?;
    let transport = Transport::new(&loaded.config.api).map_err(UsageError)?;
    let clients: Vec<Client> =
        loaded.config.accounts.values().map(|account| daemon::client(&transport, &loaded.config, account)).collect();
    for client in &clients {
        client.credentials().configured().map_err(DaemonError::Credential)?;
    }
    let found = runtime()?.block_on(async {
        let mut requests = crate::service::requests().context("cannot listen for signals")?;
        tokio::select! {
            found = find(&loaded.config, &clients, ledger.as_ref(), limit) => Ok(found?),
            () = asked_to_stop(&mut requests) => {
                // A renewal of tokens that is cut off loses them.
                for client in &clients {
                    client.settle().await;
                }
                anyhow::bail!("interrupted")
            }
        }
    })?;
    if json {
        print_json(&found.waiting)?
    } else {
        let accounts = loaded.config.accounts.keys().map(String::as_str).collect::<Vec<_>>();
        let width = terminal_width();
        show_table(&(text(&found, width) + &folded(&in_all(&found, &accounts), width)))?
    };
    if found.more > 0 || found.uncounted {
        complain(&format!(
            "docsyncd: there are more: {}",
            docsyncd(&format!("preview --limit {}", limit.saturating_mul(10)))
        ));
    }
    for (account, reason) in &found.wrong {
        complain(&format!("docsyncd: account {account}: {reason}"));
    }
    Ok(if found.wrong.is_empty() { Exit::Done } else { Exit::Failed })
}

/// Which letters are shown what they would be called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ExamplesOf {
    /// Those that wait.
    Waiting,
    /// Others that the service has: fewer wait than are shown.
    Known,
    /// An invented one: none can be seen.
    Invented,
}

/// What letters would be called.
pub(super) struct Examples {
    /// Whose they are.
    pub(super) of: ExamplesOf,
    /// With the destination's name where there are several.
    pub(super) places: Vec<String>,
}

/// The names of the first that wait, and where these are few of the newest that were synchronized, or those that an invented letter would
/// get. Holds patient data.
pub(super) fn examples(loaded: &Loaded, limit: usize) -> anyhow::Result<Examples> {
    let transport = Transport::new(&loaded.config.api).map_err(UsageError)?;
    let clients: Vec<Client> =
        loaded.config.accounts.values().map(|account| daemon::client(&transport, &loaded.config, account)).collect();
    runtime()?.block_on(async {
        let found = find(&loaded.config, &clients, None, limit).await?;
        let places_of = |letters: Vec<Waiting>| -> Vec<String> {
            letters.into_iter().flat_map(|letter| letter.destinations).filter_map(|goal| goal.place).collect()
        };
        let (mut places, mut of) = (places_of(found.waiting), ExamplesOf::Waiting);
        for (account, client) in loaded.config.accounts.keys().zip(&clients) {
            let lacking = limit.saturating_sub(places.len());
            let query = ListQuery { page: 1, synchronized: true, ..ListQuery::default() };
            if lacking == 0 {
                break;
            }
            // What cannot be read is told by the check that follows.
            let Ok(page) = client.list(&query).await else { continue };
            for item in page.items.into_iter().rev().take(lacking) {
                let more = places_of(vec![look(&loaded.config, account, client, None, item, None).await]);
                if !more.is_empty() {
                    (places, of) = ([places, more].concat(), ExamplesOf::Known);
                }
            }
        }
        if places.is_empty() {
            of = ExamplesOf::Invented;
            let uuid = DocumentUuid::parse("3f0c9f0e-5a43-4c1e-9d53-6f3f2f0f9a11").context("an example is none")?;
            for destination in loaded.config.destinations.values() {
                places.extend(
                    adapters::plan(destination, &uuid, &invented(), &Names::default())
                        .await
                        .ok()
                        .map(|planned| planned.place),
                );
            }
        }
        Ok(Examples { of, places })
    })
}

/// An invented letter of an invented patient.
fn invented() -> Metadata {
    let record = |value: serde_json::Value| value.as_object().cloned().unwrap_or_default();
    Metadata {
        number: None,
        account: "main".to_owned(),
        document: record(serde_json::json!({"uuid": "3f0c9f0e-5a43-4c1e-9d53-6f3f2f0f9a11", "type": "referral_letter",
            "createdAt": "2026-11-21T09:30:00+00:00"})),
        patient: record(serde_json::json!({"uuid": "1c9e4f0a-5a43-4c1e-9d53-6f3f2f0f9a12", "lastName": "Durand",
            "firstName": "Louise", "dateOfBirth": "1951-02-03"})),
        user: record(serde_json::json!({"uuid": "7b1e4f0a-5a43-4c1e-9d53-6f3f2f0f9a13", "lastName": "Martin"})),
    }
}

async fn find(
    config: &Config,
    clients: &[Client],
    ledger: Option<&Ledger>,
    limit: usize,
) -> Result<Found, LedgerError> {
    let mut found = Found::default();
    for (account, client) in config.accounts.keys().zip(clients) {
        if let Err(error) = of_account(config, account, client, ledger, limit, &mut found).await? {
            found.wrong.push((account.clone(), error.to_string()));
        }
    }
    // Of documents that want the same name the first gets it.
    let mut names = HashSet::new();
    for goal in found.waiting.iter_mut().flat_map(|waiting| &mut waiting.destinations) {
        let (Some(place), false) = (&goal.place, goal.delivered) else { continue };
        let first = names.insert((goal.destination.clone(), place.to_lowercase()));
        goal.taken |= !first && goal.otherwise.is_some();
        goal.otherwise = goal.otherwise.take().filter(|_| goal.taken);
    }
    Ok(found)
}

/// The outer error is the ledger's, the inner one the API's.
async fn of_account(
    config: &Config,
    account: &str,
    client: &Client,
    ledger: Option<&Ledger>,
    limit: usize,
    found: &mut Found,
) -> Result<Result<(), ApiError>, LedgerError> {
    let mut seen = HashSet::new();
    let mut query = ListQuery { page: 1, ..ListQuery::default() };
    let mut counted_pages = 0;
    loop {
        let page = match client.list(&query).await {
            Ok(page) => page,
            Err(ApiError::Status { status: 400 | 422, .. }) if !query.unordered => {
                query.unordered = true;
                continue;
            }
            Err(error) => return Ok(Err(error)),
        };
        let (last, before) = (page.len() < PAGE_SIZE, seen.len());
        let mut waiting = Vec::new();
        for item in page.items {
            let (is_new, is_first) = (seen.insert(item.uuid.clone()), found.listed.insert(item.uuid.clone()));
            if !is_new || !is_first {
                continue;
            }
            let known = known(ledger, &item).await?;
            if known.as_ref().is_some_and(|known| known.is_done) {
                continue;
            }
            if found.waiting.len() + waiting.len() < limit {
                waiting.push((item, known));
            } else {
                found.more += 1;
            }
        }
        let details = stream::iter(waiting).map(|(item, known)| look(config, account, client, ledger, item, known));
        found.waiting.extend(details.buffered(AT_ONCE).collect::<Vec<_>>().await);
        // A server that ignores page numbers shows the same one for ever.
        if last || seen.len() == before {
            return Ok(Ok(()));
        }
        counted_pages += u32::from(found.waiting.len() >= limit);
        if counted_pages > COUNTED_PAGES {
            found.uncounted = true;
            return Ok(Ok(()));
        }
        query.page += 1;
    }
}

async fn known(ledger: Option<&Ledger>, item: &Listed) -> Result<Option<Known>, LedgerError> {
    let Some(ledger) = ledger else { return Ok(None) };
    let (uuid, pdf) = (item.uuid.clone(), item.pdf.clone());
    ledger.read(move |db| views::known(db, &uuid, pdf.as_deref())).await
}

/// What would become of one document.
async fn look(
    config: &Config,
    account: &str,
    client: &Client,
    ledger: Option<&Ledger>,
    item: Listed,
    known: Option<Known>,
) -> Waiting {
    let mut waiting = Waiting {
        uuid: item.uuid.to_string(),
        account: account.to_owned(),
        kind: item.kind.clone(),
        created_at: item.created_at.clone(),
        state: known.as_ref().map(|known| known.state.to_string()),
        route: None,
        problem: None,
        destinations: Vec::new(),
    };
    let detail = match client.document(&item.uuid).await {
        Ok(detail) => detail,
        Err(error) => {
            waiting.problem = Some(error.to_string());
            return waiting;
        }
    };
    let Some(pdf) = detail.pdf.as_ref().map(|pdf| pdf.uuid.clone()) else {
        waiting.problem = Some("the PDF is not rendered yet".to_owned());
        return waiting;
    };
    let metadata = match fetch::metadata(client, account, detail).await {
        Ok(metadata) => metadata,
        Err((doing, error)) => {
            waiting.problem = Some(format!("{doing}: {error}"));
            return waiting;
        }
    };
    waiting.kind = metadata.document_type().map(str::to_owned);
    let Some((index, route)) = config.routes.iter().enumerate().find(|(_, route)| route.matches(&metadata)) else {
        waiting.problem = Some("no route takes it".to_owned());
        return waiting;
    };
    waiting.route = (!route.is_implicit).then(|| format!("routes[{index}]"));
    for name in &route.to {
        let delivered = known.as_ref().and_then(|known| {
            known.delivered.iter().find(|(destination, version, _)| destination == name && *version == pdf)
        });
        waiting.destinations.push(match delivered {
            Some((_, _, place)) => Goal {
                destination: name.clone(),
                place: place.clone(),
                taken: false,
                otherwise: None,
                delivered: true,
                problem: None,
            },
            None => {
                let names = match &known {
                    Some(known) => names(ledger, known.id, &item.uuid, &pdf, name).await,
                    None => Names::default(),
                };
                goal(config, name, &item, &metadata, &names).await
            }
        });
    }
    waiting
}

/// What the ledger knows of the document's names in the destination; nothing where it has no answer.
async fn names(ledger: Option<&Ledger>, document: i64, uuid: &DocumentUuid, pdf: &str, destination: &str) -> Names {
    let Some(ledger) = ledger else { return Names::default() };
    let owner = Owner { document, uuid: uuid.clone(), pdf: pdf.to_owned(), destination: destination.to_owned() };
    ledger.read(move |db| reservations::known(db, &owner)).await.unwrap_or_default()
}

async fn goal(config: &Config, name: &str, item: &Listed, metadata: &Metadata, names: &Names) -> Goal {
    let planned = match config.destinations.get(name) {
        Some(destination) => adapters::plan(destination, &item.uuid, metadata, names).await,
        None => Err("there is no such destination".to_owned()),
    };
    let (planned, problem) = match planned {
        Ok(Planned { problem, place, otherwise, taken }) => (Some((place, otherwise, taken)), problem),
        Err(problem) => (None, Some(problem)),
    };
    let (place, otherwise, taken) = planned.map_or((None, None, false), |(p, o, t)| (Some(p), o, t));
    Goal { destination: name.to_owned(), place, taken, otherwise, delivered: false, problem }
}

/// On a terminal a line that would not fit has a time to the minute and a short uuid.
fn text(found: &Found, width: Option<usize>) -> String {
    let mut text = String::new();
    for waiting in &found.waiting {
        let Waiting { uuid, account, kind, created_at, state, route, problem, destinations } = waiting;
        let kind = kind.as_deref().unwrap_or("-");
        let route = route.as_deref().map(|route| format!(", {route}")).unwrap_or_default();
        let state = state.as_deref().map(|state| format!(", {state}")).unwrap_or_default();
        let line = |uuid: &str, created_at: &str| format!("{uuid}  {kind}  {created_at}  ({account}{route}{state})");
        let whole = line(uuid, created_at);
        let minute = created_at.get(..MINUTE).unwrap_or(created_at);
        let fits = width.is_none_or(|width| whole.chars().count() <= width);
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{}", if fits { whole } else { line(short(uuid), minute) });
        if let Some(problem) = problem {
            let _ = writeln!(text, "{}", folded(&format!("    {}", completed(problem)), width));
        }
        for goal in destinations {
            let place = goal.place.as_deref().unwrap_or("-");
            let there = if goal.delivered { "  (there already)" } else { "" };
            text.push_str(&place_lines(&format!("    {}: ", goal.destination), place, there, width));
            if let Some(otherwise) = &goal.otherwise {
                let words = "        that name is taken; unless by this very document: ";
                text.push_str(&place_lines(words, otherwise, "", width));
            }
            if let Some(problem) = &goal.problem {
                let _ = writeln!(text, "{}", folded(&format!("        {problem}"), width));
            }
        }
    }
    text
}

/// The last line: how many wait, as far as that is known; nothing where no list could be read.
fn in_all(found: &Found, accounts: &[&str]) -> String {
    let (shown, unread): (_, Vec<&str>) =
        (found.waiting.len(), found.wrong.iter().map(|(account, _)| account.as_str()).collect());
    let total = shown + found.more;
    let unknown = format!("what waits for {} is not known", of_accounts(&unread));
    if total == 0 {
        let read: Vec<&str> = accounts.iter().copied().filter(|account| !unread.contains(account)).collect();
        return match (read.is_empty(), unread.is_empty()) {
            (_, true) => "nothing waits\n".to_owned(),
            (true, false) => String::new(),
            (false, false) => format!("nothing waits for {}; {unknown}\n", of_accounts(&read)),
        };
    }
    let at_least = if unread.is_empty() { "" } else { "at least " };
    let how_many = match (shown, total) {
        _ if found.uncounted => format!("{shown} of more than {total} documents that wait"),
        (1, 1) => format!("{at_least}1 document waits"),
        _ if shown == total => format!("{at_least}{total} documents wait"),
        _ => format!("{shown} of {at_least}{total} documents that wait"),
    };
    let unknown = if unread.is_empty() { String::new() } else { format!(" ({unknown})") };
    format!("{how_many}{unknown}; nothing was filed or reported\n")
}

fn of_accounts(names: &[&str]) -> String {
    format!("account{} {}", if names.len() == 1 { "" } else { "s" }, names.join(", "))
}
