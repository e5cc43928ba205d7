//! What a page shows, read from the ledger at one moment.

use std::ops::RangeInclusive;
use std::path::PathBuf;

use jiff::civil::Date;
use jiff::{ToSpan as _, Zoned};
use rusqlite::Connection;

use super::decisions::{self, Decisions};
use crate::config::{Auth, Config, PracticeConfig, StatusPageConfig};
use crate::domain::document::DocumentUuid;
use crate::domain::failure::Scope;
use crate::domain::health::{self, Disks, Facts, Health, Rules};
use crate::domain::state::State;
use crate::formats::language::Language;
use crate::ledger::pauses::Pause;
use crate::ledger::{Millis, QueryResult, away, deliveries};
use crate::views::facts::{Present, facts};
use crate::views::letters::{self, Day, Letters, Waiting};
use crate::views::{self, DocumentView, Order, PauseView, measures, search};

/// The most letters of today that are shown.
const MOST_TODAY: usize = 100;
/// The most waiting letters, and the most failed ones, that are shown.
const MOST_OPEN: usize = 50;
/// The most letters that a search shows.
const MOST_FOUND: usize = 50;
/// The number of days in the chart, with today.
const DAYS: i32 = 30;

/// The part of the configuration that the page needs.
#[derive(Debug, Clone)]
pub struct Setup {
    /// `[status_page]`
    pub page: StatusPageConfig,
    /// The accounts: NAME, and whether it signs in rather than having a key.
    pub accounts: Vec<(String, bool)>,
    /// The destinations, each with its folder, server or program.
    pub destinations: Vec<(String, Option<String>)>,
    /// The practice's name and contact.
    pub practice: PracticeConfig,
    /// Whether names are kept for the search.
    pub keeps_names: bool,
    /// How long something has to last until a person is needed.
    pub rules: Rules,
    /// Where disks can become full.
    pub disks: Disks,
    /// The language for browsers that ask for none of ours.
    pub language: Language,
    /// The configuration file.
    pub config: PathBuf,
}

impl Setup {
    /// From this configuration; `None` if it has no page.
    pub fn of(config: &Config) -> Option<Self> {
        let accounts = config.accounts.values();
        Some(Self {
            page: config.status_page.clone()?,
            accounts: accounts.map(|account| (account.name.clone(), matches!(account.auth, Auth::OAuth(_)))).collect(),
            destinations: config.destinations.iter().map(|(name, to)| (name.clone(), to.place())).collect(),
            practice: config.practice.clone(),
            keeps_names: !config.state.keep_names.is_zero(),
            rules: config.alerts.rules.clone(),
            disks: config.disks(),
            language: config.language.unwrap_or_default(),
            config: config.file.clone(),
        })
    }
}

/// An account or a destination.
#[derive(Debug, Clone)]
pub(super) struct NamedPlace {
    pub(super) name: String,
    /// Its folder, server or program.
    pub(super) at: Option<String>,
    /// When an account's list was last read, or a destination last worked.
    pub(super) polled_at: Option<Millis>,
    pub(super) pause: Option<PauseView>,
}

/// What everybody may see.
#[derive(Debug, Clone)]
pub(super) struct Overview {
    pub(super) now: Zoned,
    pub(super) health: Health,
    pub(super) disks: Disks,
    pub(super) practice: PracticeConfig,
    pub(super) today: u64,
    /// Without letters that are filed and not yet taken.
    pub(super) waiting: u64,
    pub(super) not_taken: u64,
    pub(super) failed: u64,
    pub(super) days: Vec<(Date, Day)>,
    pub(super) accounts: Vec<NamedPlace>,
    pub(super) destinations: Vec<NamedPlace>,
}

/// What only the key shows.
#[derive(Clone, Default)]
pub(super) struct Details {
    pub(super) today: Letters,
    pub(super) waiting: Waiting,
    pub(super) failed: Letters,
    /// The letters that were filed beside an old version, with the patient's name.
    pub(super) beside: Vec<(String, Option<String>)>,
    pub(super) decisions: Decisions,
}

/// A search.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Search {
    /// The text as it was typed.
    pub(super) text: String,
    /// A document's type, or empty.
    pub(super) kind: String,
    /// The day, or empty.
    pub(super) day: String,
}

/// The states of a letter that waits. One that fails is shown among the failed.
const WAITING: [State; 3] = [State::Discovered, State::Fetched, State::Delivered];
const FAILED: [State; 3] = [State::Failing, State::Failed, State::Unreported];

/// When each day of the chart begins, and when today ends.
fn midnights(now: &Zoned) -> Vec<(Date, Millis)> {
    let first = now.date().saturating_sub((DAYS - 1).days());
    let days = (0..=DAYS).map(|number| first.saturating_add(number.days()));
    days.filter_map(|day| Some((day, day.to_zoned(now.time_zone().clone()).ok()?.timestamp().as_millisecond())))
        .collect()
}

/// Reads what everybody may see.
///
/// # Errors
/// Any SQLite error.
pub(super) fn overview(db: &Connection, setup: &Setup, ledger_fails_since: Option<Millis>) -> QueryResult<Overview> {
    let now = Zoned::now();
    // The daemon serves this page, so it runs.
    let present = Present::new(true, setup.accounts.iter().cloned());
    let facts = Facts { ledger_fails_since, ..facts(db, &present)? };
    let measures = measures::read(db)?;
    let sum = |states: &[State]| {
        measures
            .counts
            .iter()
            .filter(|(_, state, _)| states.contains(state))
            .map(|(.., documents)| documents)
            .sum::<u64>()
    };
    let not_taken = measures.accounts.iter().map(|account| account.to_confirm).sum();
    let midnights = midnights(&now);
    let moments: Vec<Millis> = midnights.iter().map(|(_, at)| *at).collect();
    let counted = letters::days(db, &moments)?;
    let paused = |scopes: &[Scope]| {
        let is_of = |pause: &&Pause| scopes.iter().any(|scope| scope.to_string() == pause.scope);
        measures.pauses.iter().find(is_of).map(PauseView::from)
    };
    let account = |(name, _): &(String, bool)| NamedPlace {
        name: name.clone(),
        at: None,
        polled_at: measures.accounts.iter().find(|known| known.account == *name).and_then(|known| known.polled_at),
        pause: paused(&[Scope::Account(name.clone()), Scope::Fetch(name.clone()), Scope::Report(name.clone())]),
    };
    let worked = away::last_worked(db)?;
    let destination = |(name, at): &(String, Option<String>)| NamedPlace {
        name: name.clone(),
        at: at.clone(),
        polled_at: worked.get(name).copied(),
        pause: paused(&[Scope::Destination(name.clone())]),
    };
    Ok(Overview {
        health: health::assess(&facts, &setup.rules),
        disks: setup.disks.clone(),
        practice: setup.practice.clone(),
        today: counted.last().map_or(0, |day| day.filed),
        waiting: sum(&WAITING).saturating_sub(not_taken),
        not_taken,
        failed: sum(&FAILED),
        days: midnights.iter().map(|(day, _)| *day).zip(counted).collect(),
        accounts: setup.accounts.iter().map(account).collect(),
        destinations: setup.destinations.iter().map(destination).collect(),
        now,
    })
}

/// Reads what only the key shows.
///
/// # Errors
/// Any SQLite error.
pub(super) fn details(db: &Connection, now: &Zoned) -> QueryResult<Details> {
    let midnight = now.start_of_day().map_or(0, |start| start.timestamp().as_millisecond());
    Ok(Details {
        today: letters::list(db, &[State::Reported], midnight, Order::Newest, MOST_TODAY)?,
        waiting: letters::waiting(db, &WAITING, MOST_OPEN)?,
        beside: beside(db)?,
        decisions: decisions::read(db, now)?,
        failed: letters::list(db, &FAILED, Millis::MIN, Order::Newest, MOST_OPEN)?,
    })
}

fn beside(db: &Connection) -> QueryResult<Vec<(String, Option<String>)>> {
    let named = |uuid: String| {
        let known = DocumentUuid::parse(&uuid).map(|uuid| views::letter::of(db, &uuid, views::one));
        let known = known.transpose()?;
        Ok((uuid, known.flatten().and_then(|document| document.name)))
    };
    deliveries::beside(db, MOST_OPEN)?.into_iter().map(named).collect()
}

impl Search {
    /// The words and the time to search for; `None` if there is nothing to search for.
    pub(super) fn meant(&self, now: &Zoned) -> Option<(Vec<String>, RangeInclusive<Millis>)> {
        // The type is one of the words that are kept for each document.
        let kind = self.kind.replace('_', " ");
        let words = crate::domain::search::words(&[self.text.clone(), kind]);
        let day = |day: Date| {
            let begins = |day: Date| Some(day.to_zoned(now.time_zone().clone()).ok()?.timestamp().as_millisecond());
            Some(begins(day)?..=begins(day.saturating_add(1.day()))?.saturating_sub(1))
        };
        match self.day.parse::<Date>() {
            Ok(typed) => Some((words, day(typed)?)),
            // Must not look as if an invalid day had been searched.
            Err(_) => (!words.is_empty() && self.day.is_empty()).then_some((words, 0..=Millis::MAX)),
        }
    }
}

/// The letters that a search shows.
pub(super) struct Hits {
    pub(super) letters: Vec<DocumentView>,
    pub(super) more: bool,
    /// Whether there may be older ones.
    pub(super) newest_only: bool,
}

/// The newest letters that match.
///
/// # Errors
/// Any SQLite error.
pub(super) fn find(db: &Connection, words: &[String], seen: RangeInclusive<Millis>) -> QueryResult<Hits> {
    let search::Found { mut letters, newest_only } = search::find(db, words, seen, MOST_FOUND + 1)?;
    let more = letters.len() > MOST_FOUND;
    letters.truncate(MOST_FOUND);
    Ok(Hits { letters, more, newest_only })
}
