//! What docsyncd says to the people of a practice, in English, French and German: alarms, `docsyncd setup` and
//! `status`, the status page.
//!
//! All strings stand in `en.ftl`, `fr.ftl` and `de.ftl` (Project Fluent), but for the choices of `setup`, which have
//! theirs in `config/presets`; log lines and messages for whoever installs docsyncd are English and stand where they
//! arise. This module knows no clock and no terminal: the time and the time zone come with each question. Names of
//! accounts and destinations are the only foreign text in a sentence.

mod reasons;
mod sentences;

use std::sync::OnceLock;

use fluent_bundle::concurrent::FluentBundle;
use fluent_bundle::{FluentArgs, FluentResource, FluentValue};
use jiff::Zoned;
use jiff::civil::Date;
use unic_langid::LanguageIdentifier;

use crate::domain::document::DOCUMENT_TYPES;

pub use reasons::{ON_DISK, Reason, is_word_of_failures};
pub use sentences::{Group, capital, groups, zoned};

/// A language that docsyncd speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Language {
    /// English.
    #[default]
    English,
    /// French.
    French,
    /// German.
    German,
}

/// Every language.
pub const LANGUAGES: [Language; 3] = [Language::English, Language::French, Language::German];

/// A value that stands in a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Value<'a> {
    /// A text.
    Text(&'a str),
    /// A number, which decides between singular and plural.
    Count(u64),
}

impl<'a> From<&'a str> for Value<'a> {
    fn from(text: &'a str) -> Self {
        Value::Text(text)
    }
}

impl<'a> From<&'a String> for Value<'a> {
    fn from(text: &'a String) -> Self {
        Value::Text(text)
    }
}

impl From<u64> for Value<'_> {
    fn from(count: u64) -> Self {
        Value::Count(count)
    }
}

type Bundle = FluentBundle<FluentResource>;

impl Language {
    /// `en`, `fr` or `de`, as in the configuration and in HTML.
    pub fn as_str(self) -> &'static str {
        match self {
            Language::English => "en",
            Language::French => "fr",
            Language::German => "de",
        }
    }

    /// The language of a tag such as `fr`, `fr-CA` or `fr_FR.UTF-8`.
    pub fn parse(tag: &str) -> Option<Self> {
        let primary = tag.split(['-', '_', '.']).next().unwrap_or_default();
        LANGUAGES.into_iter().find(|language| language.as_str().eq_ignore_ascii_case(primary.trim()))
    }

    /// The one that an Accept-Language header wants most (RFC 9110, section 12.5.4).
    pub fn accepted(header: &str) -> Option<Self> {
        let wanted = header.split(',').take(MOST_TAGS).filter_map(|item| {
            let (tag, parameter) = item.split_once(';').unwrap_or((item, ""));
            let weight: f32 = match parameter.trim() {
                "" => 1.0,
                weight => weight.strip_prefix(['q', 'Q'])?.trim().strip_prefix('=')?.trim().parse().ok()?,
            };
            (weight > 0.0).then_some((Self::parse(tag.trim())?, weight))
        });
        // Of equal ones the first.
        wanted
            .fold(None, |best: Option<(Self, f32)>, item| best.filter(|best| best.1 >= item.1).or(Some(item)))
            .map(|(language, _)| language)
    }

    fn source(self) -> &'static str {
        match self {
            Language::English => include_str!("en.ftl"),
            Language::French => include_str!("fr.ftl"),
            Language::German => include_str!("de.ftl"),
        }
    }

    fn bundle(self) -> &'static Bundle {
        static ENGLISH: OnceLock<Bundle> = OnceLock::new();
        static FRENCH: OnceLock<Bundle> = OnceLock::new();
        static GERMAN: OnceLock<Bundle> = OnceLock::new();
        let bundle = match self {
            Language::English => &ENGLISH,
            Language::French => &FRENCH,
            Language::German => &GERMAN,
        };
        bundle.get_or_init(|| {
            let tag: LanguageIdentifier = self.as_str().parse().unwrap_or_default();
            let mut bundle = Bundle::new_concurrent(vec![tag]);
            // Isolation marks are invisible characters in mails and terminals; all languages are written left to right.
            bundle.set_use_isolating(false);
            // What is wrong with a file is found by a test; what is right of it is used.
            let resource = FluentResource::try_new(self.source().to_owned()).unwrap_or_else(|(resource, _)| resource);
            bundle.add_resource_overriding(resource);
            bundle
        })
    }

    /// Whether there is a text of that key.
    pub fn has(self, key: &str) -> bool {
        self.bundle().has_message(key)
    }

    /// The text of that key, with nothing to fill in.
    pub fn text(self, key: &str) -> String {
        self.fill(key, &[])
    }

    /// The text of that key with these values. A key that is missing, which a test excludes, is shown itself.
    pub fn fill(self, key: &str, values: &[(&str, Value<'_>)]) -> String {
        let bundle = self.bundle();
        let Some(pattern) = bundle.get_message(key).and_then(|message| message.value()) else { return key.to_owned() };
        let mut args = FluentArgs::new();
        for (name, value) in values {
            args.set(
                (*name).to_owned(),
                match value {
                    Value::Text(text) => FluentValue::from((*text).to_owned()),
                    Value::Count(count) => FluentValue::from(*count),
                },
            );
        }
        bundle.format_pattern(pattern, Some(&args), &mut Vec::new()).into_owned()
    }

    /// A document's type; `None`: one that is new.
    pub fn document_type(self, word: &str) -> Option<String> {
        let is_known = DOCUMENT_TYPES.contains(&word);
        is_known.then(|| self.text(&format!("type-{}", word.replace('_', "-"))))
    }

    /// "at 14:05", or with the day when it is not `now`'s.
    pub fn at(self, at: &Zoned, now: &Zoned) -> String {
        self.moment("at", at, now)
    }

    /// "since 14:05", or with the day when it is not `now`'s.
    pub fn since(self, at: &Zoned, now: &Zoned) -> String {
        self.moment("since", at, now)
    }

    /// "21 November 2026".
    pub fn date(self, at: &Zoned) -> String {
        let (day, year) = (at.day().to_string(), at.year().to_string());
        self.fill("date", &[("day", (&day).into()), ("month", (&self.month(at)).into()), ("year", (&year).into())])
    }

    /// Who decided something, as the ledger keeps it: a user of this computer, or a browser that shows the page.
    pub fn who(self, who: &str) -> String {
        match who.strip_prefix("status page, browser ") {
            Some(browser) => self.fill("who-page", &[("browser", browser.into())]),
            None => who.to_owned(),
        }
    }

    /// "9 Apr 1991", "09/04/1991", "09.04.1991".
    pub fn short_day(self, date: Date) -> String {
        let format = match self {
            Language::English => "%-d %b %Y",
            Language::French => "%d/%m/%Y",
            Language::German => "%d.%m.%Y",
        };
        date.strftime(format).to_string()
    }

    fn month(self, at: &Zoned) -> String {
        self.fill("month", &[("month", Value::Count(u64::from(at.month().unsigned_abs())))])
    }

    fn moment(self, word: &str, at: &Zoned, now: &Zoned) -> String {
        let time = format!("{:02}:{:02}", at.hour(), at.minute());
        let (day, year) = (at.day().to_string(), at.year().to_string());
        let form = match () {
            () if at.date() == now.date() => "today",
            () if at.year() == now.year() => "day",
            () => "year",
        };
        let month = self.month(at);
        let values =
            [("time", (&time).into()), ("day", (&day).into()), ("month", (&month).into()), ("year", (&year).into())];
        self.fill(&format!("{word}-{form}"), &values)
    }
}

/// Languages of a header that are looked at: a browser names a few.
const MOST_TAGS: usize = 16;

#[cfg(test)]
mod tests;
