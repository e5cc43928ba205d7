//! What a bundle may contain: numbers, times, docsyncd's own words, identifiers of documents, and substitutes for
//! names. Each is a type that can hold nothing else, so that no text has to be searched for forbidden content.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use serde::{Serialize, Serializer};

use crate::domain::failure::{Code, Failure, Kind};
use crate::domain::state::STATES;
use crate::formats::language::{self, Language, Reason};

/// The events of the log and the history. A test compares this with the sources.
const EVENTS: &str = "\
    alert alert_doubtful alert_given_up alert_not_sent alert_over alert_sent all_delivered already_delivered \
    arrived assign assigned browser_invited browser_known browser_locked config_warning configuration_changed confirm_failed confirmed corrected delivered delivery_failed \
    destination_away destination_back discovered drain_timeout ended failure_reported fetched file_again filed filed_for_another \
    forget forgotten gone hangs heartbeat_failed held history_removed internal_error items_skipped ledger_busy \
    ledger_failed ledger_trouble ledger_well ledger_works lines_lost login logout look_failed memory_kept \
    needs_person not_compared not_replaced not_shown notify_failed nudged odd_lists outbox_failed overwritten \
    patients_file patients_follower_ended patients_read paused poll_failed poll_request_failed poll_requested \
    polled polls_again polls_not_recorded postponed pruned push_failed recipients_refused reconcile_failed \
    reconciled refresh_again refresh_failed refusal_not_recorded refused relisted reload_refused reloaded \
    report_accepted report_again report_refused reported resumed retracted retry retry_requested revised \
    settled_elsewhere several_there slept spool_cleaned spool_leftover start_over started status_page \
    status_page_certificate status_page_failed status_page_not_told status_page_unavailable still_paused stopped stopping taken_over \
    token_refreshed tried_again unassign unassigned unconfirmed unreadable waiting watch_failed webhook \
    webhook_not_registered webhook_not_told webhook_registered webhook_removed webhook_unavailable withdrawn";
/// Other words of the log, the metrics and the ledger's columns.
const WORDS: &str = "\
    ERROR WARN INFO DEBUG TRACE discover fetch deliver report confirm prune patients ok failed pending filed \
    account destination accepted durable read_back person taken";

/// One of docsyncd's own words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub(super) struct Word(pub(super) &'static str);

impl Word {
    /// The event of this name.
    pub(super) fn event(text: &str) -> Option<Self> {
        EVENTS.split(' ').find(|word| *word == text).map(Self)
    }

    /// Any other word.
    pub(super) fn other(text: &str) -> Option<Self> {
        let states = STATES.iter().map(|state| state.as_str());
        WORDS.split(' ').chain(states).find(|word| *word == text).map(Self)
    }
}

/// A substitute for a name, the same in the whole bundle: `path-1`, `host-2`, `account-1`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Alias {
    kind: &'static str,
    number: usize,
}

impl fmt::Display for Alias {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.kind, self.number)
    }
}

/// A document: its uuid, if it is one and may be shown; otherwise a substitute.
#[derive(Debug, Clone, Copy)]
pub(super) enum Document {
    Uuid(u128),
    Alias(Alias),
}

impl fmt::Display for Document {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Alias(alias) => alias.fmt(f),
            Self::Uuid(bits) => {
                let [a, b, c, d] = [96, 80, 64, 48].map(|shift| bits >> shift);
                let short = |part: u128| part & 0xffff;
                write!(f, "{a:08x}-{:04x}-{:04x}-{:04x}-{:012x}", short(b), short(c), short(d), bits & 0xffff_ffff_ffff)
            }
        }
    }
}

/// The bits of a UUID (RFC 9562, section 4); `None` for any other text.
fn uuid(text: &str) -> Option<u128> {
    let parts: Vec<&str> = text.split('-').collect();
    let is_part = |part: &str, length| part.len() == length && part.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_uuid = parts.len() == 5 && parts.iter().zip([8, 4, 4, 4, 12]).all(|(part, length)| is_part(part, length));
    is_uuid.then(|| u128::from_str_radix(&parts.concat(), 16).ok()).flatten()
}

/// The substitutes of all names.
#[derive(Debug, Default)]
pub(super) struct Names {
    known: BTreeMap<&'static str, BTreeMap<String, usize>>,
    hides_uuids: bool,
}

impl Names {
    pub(super) fn new(hides_uuids: bool) -> Self {
        Self { hides_uuids, ..Self::default() }
    }

    fn alias(&mut self, kind: &'static str, name: &str) -> Alias {
        let known = self.known.entry(kind).or_default();
        let next = known.len() + 1;
        Alias { kind, number: *known.entry(name.to_owned()).or_insert(next) }
    }

    pub(super) fn account(&mut self, name: &str) -> Alias {
        self.alias("account", name)
    }

    pub(super) fn destination(&mut self, name: &str) -> Alias {
        self.alias("destination", name)
    }

    pub(super) fn path(&mut self, path: &str) -> Alias {
        self.alias("path", path)
    }

    /// The substitute for a host, or for the host in an address.
    pub(super) fn host(&mut self, text: &str) -> Alias {
        let host = url::Url::parse(text).ok().and_then(|url| url.host_str().map(str::to_owned));
        self.alias("host", &host.unwrap_or_else(|| text.to_owned()).to_lowercase())
    }

    /// The substitute for the name of another table.
    pub(super) fn other(&mut self, name: &str) -> Alias {
        self.alias("name", name)
    }

    pub(super) fn document(&mut self, text: &str) -> Document {
        match uuid(text).filter(|_| !self.hides_uuids) {
            Some(bits) => Document::Uuid(bits),
            None => Document::Alias(self.alias("document", &text.to_lowercase())),
        }
    }

    /// A scope, as in `destination:pms`.
    pub(super) fn scope(&mut self, text: &str) -> Option<Scope> {
        let (kind, name) = text.split_once(':')?;
        let kind = ["account", "fetch", "report", "destination"].into_iter().find(|known| *known == kind)?;
        let of = if kind == "destination" { self.destination(name) } else { self.account(name) };
        Some(Scope { kind, of })
    }
}

/// A scope, as in `fetch:account-1`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scope {
    kind: &'static str,
    of: Alias,
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.kind, self.of)
    }
}

/// Why something waits or failed: call, kind and code, as in `download doubtful not_a_pdf`, or the word of a wait. An
/// unknown word becomes `other`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Why {
    Failure(Failure),
    Wait(String),
}

impl Why {
    pub(super) fn of(reason: Option<&Reason>) -> Option<Self> {
        Self::parse(reason?.code.as_deref()?)
    }

    fn parse(code: &str) -> Option<Self> {
        match Failure::parse(code) {
            Some(failure) => Some(Self::failure(failure)),
            None => Language::English
                .has(&format!("reason-{}", code.replace('_', "-")))
                .then(|| Self::Wait(code.to_owned())),
        }
    }

    pub(super) fn failure(mut failure: Failure) -> Self {
        if let Kind::Down(code)
        | Kind::Passing(code)
        | Kind::Doubtful(code)
        | Kind::Permanent(code)
        | Kind::Unconfirmed(code)
        | Kind::Own(code) = &mut failure.kind
            && matches!(code, Code::Word(word) if !language::is_word_of_failures(word))
        {
            *code = Code::Word(Cow::Borrowed("other"));
        }
        Self::Failure(failure)
    }
}

impl Serialize for Why {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Failure(failure) => serializer.collect_str(failure),
            Self::Wait(word) => serializer.serialize_str(word),
        }
    }
}

/// A version of docsyncd: three numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Version([u32; 3]);

impl Version {
    pub(super) fn parse(text: &str) -> Option<Self> {
        let numbers: Vec<u32> = text.split('.').map(|part| part.parse().ok()).collect::<Option<_>>()?;
        numbers.try_into().ok().map(Self)
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [major, minor, patch] = self.0;
        write!(f, "{major}.{minor}.{patch}")
    }
}

/// Their JSON is their text.
macro_rules! written {
    ($($Type:ty),*) => {$(
        impl Serialize for $Type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }
    )*};
}
written!(Alias, Document, Scope, Version);

#[cfg(test)]
mod tests;
