//! `docsyncd preview`: what waits at the API, with the name and place that each document would get. Reads lists and
//! details, and looks into the destinations and the list of patients. Downloads no PDF, files and reports nothing, and
//! does not change the ledger.

mod examples;
mod text;

use std::collections::HashSet;

use futures_util::StreamExt as _;
use futures_util::stream;
use serde::Serialize;

use super::output::{complain, docsyncd, folded, ledger_to_read, print_json, show_table, terminal_width};
use super::{Exit, Outcome, interruptible, ready_clients, runtime, told};
use crate::api::{Api as _, ApiError, Client, ListQuery, Listed, Order, PAGE_SIZE};
use crate::config::{Config, Loaded};
use crate::destinations::{self, Planned};
use crate::domain::document::{DocumentUuid, Metadata};
use crate::domain::reservation::Known as Names;
use crate::formats::language::Language;
use crate::ledger::reservations::{self, Owner};
use crate::ledger::{Ledger, LedgerError, patients as kept};
use crate::patients::{Earlier, List, ListProblem, Person, Unmatched, load_once, whom, whose};
use crate::pipeline::{fetch, patients};
use crate::views;

pub(super) use examples::{Example, ExamplesOf, examples, invented_name, matches};
use text::{in_all, text};

/// Documents that are read side by side.
const AT_ONCE: usize = 8;
/// How many pages beyond the limit are read only to count what waits.
const COUNTED_PAGES: u32 = 5;

/// One document that waits. Holds patient data.
#[derive(Default, Serialize)]
struct Pending {
    uuid: String,
    account: String,
    #[serde(rename = "type")]
    kind: Option<String>,
    created_at: String,
    /// The document's state; `None` if docsyncd has not seen it yet.
    state: Option<String>,
    /// The same as people are told it.
    #[serde(skip)]
    stands: Option<&'static str>,
    /// The route that takes it; `None` also without configured routes.
    route: Option<String>,
    /// Why it would not be filed.
    problem: Option<String>,
    /// The patient's number in the practice's list, if a destination needs it.
    number: Option<String>,
    /// Why a person has to assign the patient, as a word.
    needs_person: Option<&'static str>,
    #[serde(skip)]
    unmatched: Option<Unmatched>,
    destinations: Vec<Goal>,
}

/// What one destination would get.
#[derive(Default, Serialize)]
struct Goal {
    destination: String,
    place: Option<String>,
    /// Whether the name is taken: by a file, or by an earlier document of this preview.
    taken: bool,
    /// The name that it then gets, unless it is itself what is there.
    otherwise: Option<String>,
    /// Whether this version is there already.
    delivered: bool,
    problem: Option<String>,
}

/// The findings and the errors.
#[derive(Default)]
struct Preview {
    waiting: Vec<Pending>,
    /// Every document that an account listed. A later account that lists it, too, adds nothing.
    listed: HashSet<DocumentUuid>,
    /// How many documents beyond the limit were counted.
    more: usize,
    /// Whether there are even more.
    uncounted: bool,
    /// Accounts that could not be read, with the reasons.
    wrong: Vec<(String, String)>,
}

/// What is needed to look at documents.
#[derive(Clone, Copy)]
struct With<'a> {
    config: &'a Config,
    ledger: Option<&'a Ledger>,
    /// The practice's list of patients, if it is needed and can be read.
    list: Option<&'a List>,
}

/// The list, if a destination needs it.
fn list(config: &Config, known: &Earlier) -> Result<Option<List>, ListProblem> {
    let is_needed = config.destinations.values().any(|destination| destination.needs_number);
    config.patients.as_ref().filter(|_| is_needed).map(|config| load_once(config, known)).transpose()
}

pub(super) fn preview(loaded: &Loaded, limit: usize, json: bool, language: Language) -> Outcome {
    let ledger = ledger_to_read(loaded)?;
    let clients = ready_clients(&loaded.config)?;
    let known = runtime()?.block_on(patients::known(ledger.as_ref()));
    let (list, unread) = match list(&loaded.config, &known) {
        Ok(list) => (list, None),
        Err(problem) => (None, Some(problem)),
    };
    let with = With { config: &loaded.config, ledger: ledger.as_ref(), list: list.as_ref() };
    let calls = find(with, &clients, limit);
    let found = runtime()?.block_on(interruptible(clients.iter().map(|(_, client)| client), calls))?;
    if json {
        print_json(&found.waiting)?
    } else {
        let accounts = clients.iter().map(|(account, _)| *account).collect::<Vec<_>>();
        let width = terminal_width();
        show_table(&(text(&found, language, width) + &folded(&in_all(&found, language, &accounts), width)))?
    };
    if found.more > 0 || found.uncounted {
        let command = docsyncd(&format!("preview --limit {}", limit.saturating_mul(10)));
        complain(&format!("docsyncd: {}", language.fill("preview-more", &[("command", (&command).into())])));
    }
    for (account, reason) in &found.wrong {
        let exact = format!("account {account}: {reason}");
        let values = [("account", account.into())];
        complain(&format!("docsyncd: {}", told::because(language, "preview-not-read", &values, &exact)));
    }
    if let Some(problem) = &unread {
        complain(&format!("docsyncd: {}", told::of_list(language, problem)));
    }
    Ok(if found.wrong.is_empty() && unread.is_none() { Exit::Done } else { Exit::Failed })
}

async fn find(with: With<'_>, clients: &[(&str, Client)], limit: usize) -> Result<Preview, LedgerError> {
    let mut found = Preview::default();
    for (account, client) in clients {
        if let Err(error) = of_account(with, account, client, limit, &mut found).await? {
            found.wrong.push(((*account).to_owned(), error.to_string()));
        }
    }
    // If several documents want the same name, the first gets it.
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
    with: With<'_>,
    account: &str,
    client: &Client,
    limit: usize,
    found: &mut Preview,
) -> Result<Result<(), ApiError>, LedgerError> {
    let mut seen = HashSet::new();
    let mut query = ListQuery { page: 1, ..ListQuery::default() };
    let mut counted_pages = 0;
    loop {
        let page = match client.list(&query).await {
            Ok(page) => page,
            Err(ApiError::Status { status: 400 | 422, .. }) if query.order != Order::Unordered => {
                query.order = Order::Unordered;
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
            let known = known(with.ledger, &item).await?;
            if known.as_ref().is_some_and(|known| known.is_done) {
                continue;
            }
            if found.waiting.len() + waiting.len() < limit {
                waiting.push((item, known));
            } else {
                found.more += 1;
            }
        }
        let details = stream::iter(waiting).map(|(item, known)| look(with, account, client, item, known));
        found.waiting.extend(details.buffered(AT_ONCE).collect::<Vec<_>>().await);
        // A server that ignores page numbers repeats the same page for ever.
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

async fn known(ledger: Option<&Ledger>, item: &Listed) -> Result<Option<views::KnownDocument>, LedgerError> {
    let Some(ledger) = ledger else { return Ok(None) };
    let (uuid, pdf) = (item.uuid.clone(), item.pdf.clone());
    ledger.read(move |db| views::known(db, &uuid, pdf.as_deref())).await
}

/// A document's PDF and metadata; an `Err` is why it would not be filed.
async fn read(client: &Client, account: &str, uuid: &DocumentUuid) -> Result<(String, Metadata), String> {
    let detail = client.document(uuid).await.map_err(|error| error.to_string())?;
    if !detail.is_of(uuid) {
        return Err(ApiError::Another.to_string());
    }
    let pdf = detail.pdf.as_ref().map(|pdf| pdf.uuid.clone()).ok_or("the PDF is not rendered yet")?;
    let metadata = fetch::metadata(client, account, detail).await;
    Ok((pdf, metadata.map_err(|(doing, error)| format!("{doing}: {error}"))?))
}

/// Finds out what would happen to one document.
async fn look(
    with: With<'_>,
    account: &str,
    client: &Client,
    item: Listed,
    known: Option<views::KnownDocument>,
) -> Pending {
    let With { config, ledger, .. } = with;
    let mut waiting = Pending {
        uuid: item.uuid.to_string(),
        account: account.to_owned(),
        kind: item.kind.clone(),
        created_at: item.created_at.clone(),
        state: known.as_ref().map(|known| known.document.state.to_string()),
        stands: known.as_ref().map(|known| known.stands),
        ..Pending::default()
    };
    let (pdf, mut metadata) = match read(client, account, &item.uuid).await {
        Ok(read) => read,
        Err(problem) => {
            waiting.problem = Some(problem);
            return waiting;
        }
    };
    let version = known.as_ref().map(|known| known.document.version_for(&pdf, &whom(&metadata, &item.uuid), None));
    let version = version.unwrap_or(pdf);
    waiting.kind = metadata.document_type().map(str::to_owned);
    let route = config.routes.iter().enumerate().find(|(_, route)| route.matches(account, &metadata));
    let Some((index, route)) = route else {
        waiting.problem = Some("no route takes it".to_owned());
        return waiting;
    };
    waiting.route = (!route.is_implicit).then(|| format!("routes[{index}]"));
    let needs_number = |name: &String| config.destinations.get(name).is_some_and(|to| to.needs_number);
    if route.to.iter().any(needs_number) {
        match number(with, known.as_ref(), &item.uuid, &version, &metadata).await {
            Ok(number) => {
                waiting.number = Some(number.clone());
                metadata.number = Some(number);
            }
            Err(why) => {
                waiting.needs_person = Some(why.as_str()).filter(|_| why != Unmatched::NoList);
                waiting.unmatched = Some(why);
            }
        }
    }
    for name in &route.to {
        let delivered = known.as_ref().and_then(|known| {
            known.delivered.iter().find(|delivery| delivery.destination == *name && delivery.version == version)
        });
        let mut goal = match (delivered, waiting.unmatched) {
            (Some(delivery), _) => Goal { place: delivery.place.clone(), delivered: true, ..Goal::default() },
            (None, Some(why)) if needs_number(name) => Goal { problem: Some(why.to_string()), ..Goal::default() },
            (None, _) => {
                let names = match &known {
                    Some(known) => names(ledger, known.document.id, &item.uuid, &version, name).await,
                    None => Names::default(),
                };
                goal(config, name, &item, &metadata, &names).await
            }
        };
        goal.destination.clone_from(name);
        waiting.destinations.push(goal);
    }
    waiting
}

/// The patient's number: the one that the version was filed with elsewhere, or the one that a delivery would find.
async fn number(
    with: With<'_>,
    known: Option<&views::KnownDocument>,
    uuid: &DocumentUuid,
    version: &str,
    metadata: &Metadata,
) -> Result<String, Unmatched> {
    let mut of_version = known.iter().flat_map(|known| &known.delivered).filter(|delivery| delivery.version == version);
    if let Some(number) = of_version.find_map(|delivery| delivery.number.clone()) {
        return Ok(number);
    }
    let patient = metadata.patient_key(uuid);
    let asked = patient.clone();
    let assigned = match with.ledger {
        // Empty if the ledger does not answer.
        Some(ledger) => ledger.read(move |db| kept::assigned(db, &asked)).await.unwrap_or_default(),
        None => None,
    };
    let assigned = assigned.as_ref().map(|assigned| (assigned.number.as_str(), assigned.fingerprint.as_str()));
    whose(with.list, &patient, &Person::of(metadata), assigned)
}

/// What the ledger knows of the document's names in the destination; nothing if it does not answer.
async fn names(ledger: Option<&Ledger>, document: i64, uuid: &DocumentUuid, pdf: &str, destination: &str) -> Names {
    let Some(ledger) = ledger else { return Names::default() };
    let owner = Owner { document, uuid: uuid.clone(), pdf: pdf.to_owned(), destination: destination.to_owned() };
    ledger.read(move |db| reservations::known(db, &owner)).await.unwrap_or_default()
}

async fn goal(config: &Config, name: &str, item: &Listed, metadata: &Metadata, names: &Names) -> Goal {
    let planned = match config.destinations.get(name) {
        Some(destination) => destinations::plan(destination, &item.uuid, metadata, names).await,
        None => Err("there is no such destination".to_owned()),
    };
    match planned {
        Ok(Planned { problem, place, otherwise, taken }) => {
            Goal { place: Some(place), taken, otherwise, problem, ..Goal::default() }
        }
        Err(problem) => Goal { problem: Some(problem), ..Goal::default() },
    }
}
