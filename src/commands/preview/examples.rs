//! What `docsyncd setup` shows of letters: their names, and their patients in the practice's list.

use std::collections::HashSet;

use anyhow::Context as _;

use super::{With, find, list, look};
use crate::api::{Api as _, ListQuery};
use crate::commands::list::short;
use crate::commands::{clients, runtime};
use crate::config::Loaded;
use crate::destinations;
use crate::domain::document::{DocumentUuid, Metadata};
use crate::domain::reservation::Known as Names;
use crate::formats::language::Language;
use crate::formats::template::{Context, Template, TemplateKind};
use crate::ledger::Ledger;
use crate::patients::{List, Person, Unmatched, whose};
use crate::pipeline::{fetch, patients};

use super::Pending;

/// The most letters that are read to find enough patients.
const LOOKED_AT: usize = 12;

/// Which letters the example names are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::commands) enum ExamplesOf {
    /// The waiting letters.
    Waiting,
    /// Other letters of the service, because fewer wait than are shown.
    Known,
    /// An invented letter, because none can be seen.
    Invented,
}

/// The result for a letter.
#[derive(Clone)]
pub(in crate::commands) enum Example {
    /// Its place, or its name.
    Place(String),
    /// A person has to say who its patient is: the letter, and the reason.
    NeedsPerson(String, Unmatched),
}

/// The results for some letters.
pub(in crate::commands) struct Examples {
    /// Which letters they are.
    pub(in crate::commands) of: ExamplesOf,
    /// One or more results for each.
    pub(in crate::commands) letters: Vec<Example>,
}

/// The names for the first waiting letters; if there are few, for the newest synchronized ones, or for an invented
/// letter. Holds patient data.
pub(in crate::commands) fn examples(loaded: &Loaded, limit: usize) -> anyhow::Result<Examples> {
    let clients = clients(&loaded.config)?;
    // The check that follows reports its errors.
    let ledger = Ledger::open_beside(&loaded.config.state.path).ok();
    let known = runtime()?.block_on(patients::known(ledger.as_ref()));
    let list = list(&loaded.config, &known).unwrap_or_default();
    let with = With { config: &loaded.config, ledger: None, list: list.as_ref() };
    runtime()?.block_on(async {
        let found = find(with, &clients, limit).await?;
        let (mut places, mut of): (Vec<Example>, _) =
            (found.waiting.into_iter().flat_map(of_letter).collect(), ExamplesOf::Waiting);
        for (account, client) in &clients {
            let lacking = limit.saturating_sub(places.len());
            let query = ListQuery { page: 1, synchronized: true, ..ListQuery::default() };
            if lacking == 0 {
                break;
            }
            // The check that follows reports what cannot be read.
            let Ok(page) = client.list(&query).await else { continue };
            for item in page.items.into_iter().rev().take(lacking) {
                let more = of_letter(look(with, account, client, item, None).await);
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
                    destinations::plan(destination, &uuid, &invented(), &Names::default())
                        .await
                        .ok()
                        .map(|planned| Example::Place(planned.place)),
                );
            }
        }
        Ok(Examples { of, letters: places })
    })
}

fn of_letter(letter: Pending) -> Vec<Example> {
    let places = letter.destinations.into_iter().filter_map(|goal| goal.place).map(Example::Place);
    let unmatched = letter.unmatched.map(|why| Example::NeedsPerson(short(&letter.uuid).to_owned(), why));
    places.chain(unmatched).collect()
}

/// The name for an invented letter; the template itself if it names none.
pub(in crate::commands) fn invented_name(language: Language, source: &str) -> String {
    let template = Template::compile_in(language, TemplateKind::FileName, source);
    let name = template.and_then(|template| template.render(&Context::new(&invented())));
    name.unwrap_or_else(|_| source.to_owned())
}

/// An invented letter of an invented patient.
fn invented() -> Metadata {
    let record = |value: serde_json::Value| value.as_object().cloned().unwrap_or_default();
    Metadata {
        number: Some("4711".to_owned()),
        account: "main".to_owned(),
        document: record(serde_json::json!({"uuid": "3f0c9f0e-5a43-4c1e-9d53-6f3f2f0f9a11", "type": "referral_letter",
            "createdAt": "2026-11-21T09:30:00+00:00"})),
        patient: record(serde_json::json!({"uuid": "1c9e4f0a-5a43-4c1e-9d53-6f3f2f0f9a12", "lastName": "Durand",
            "firstName": "Louise", "dateOfBirth": "1951-02-03"})),
        user: record(serde_json::json!({"uuid": "7b1e4f0a-5a43-4c1e-9d53-6f3f2f0f9a13", "lastName": "Martin"})),
    }
}

/// Patients of the first waiting letters, or of the newest others, with their numbers: up to `limit` found patients,
/// and the patients that were not found meanwhile. Holds patient data.
pub(in crate::commands) fn matches(
    loaded: &Loaded,
    list: &List,
    limit: usize,
) -> anyhow::Result<Vec<(String, Result<String, Unmatched>)>> {
    let clients = clients(&loaded.config)?;
    let (mut matches, mut seen, mut looked_at) = (Vec::new(), HashSet::new(), 0);
    runtime()?.block_on(async {
        for (name, client) in &clients {
            for synchronized in [false, true] {
                let query = ListQuery { page: 1, synchronized, ..ListQuery::default() };
                // The check that follows reports what cannot be read.
                let Ok(page) = client.list(&query).await else { continue };
                for item in page.items {
                    let found = matches.iter().filter(|(_, number): &&(_, Result<_, _>)| number.is_ok()).count();
                    if found == limit || looked_at == LOOKED_AT {
                        return;
                    }
                    looked_at += 1;
                    let Ok(detail) = client.document(&item.uuid).await else { continue };
                    let Ok(metadata) = fetch::metadata(client, name, detail).await else { continue };
                    let (patient, person) = (metadata.patient_key(&item.uuid), Person::of(&metadata));
                    if seen.insert(person.canonical()) {
                        let who = format!("{} {}", person.last_name(), person.first_name());
                        matches.push((who, whose(Some(list), &patient, &person, None)));
                    }
                }
            }
        }
    });
    Ok(matches)
}
