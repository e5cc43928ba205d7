//! The texts for the people of a practice, in English, French and German: alarms, the status page, `docsyncd setup` and
//! `status`.
//!
//! All texts are in `en.ftl`, `fr.ftl` and `de.ftl` (Project Fluent), except the choices of `setup`, which are in
//! `config/presets`. Log lines and messages for the person who installs docsyncd are English, and are in the code. This
//! module uses no clock and no terminal: the caller gives the time and the time zone. The names of accounts and
//! destinations are the only foreign text in a sentence.

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

/// A value for a sentence.
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

    /// The language that an Accept-Language header prefers (RFC 9110, section 12.5.4).
    pub fn accepted(header: &str) -> Option<Self> {
        let wanted = header.split(',').take(MOST_TAGS).filter_map(|item| {
            let (tag, parameter) = item.split_once(';').unwrap_or((item, ""));
            let weight: f32 = match parameter.trim() {
                "" => 1.0,
                weight => weight.strip_prefix(['q', 'Q'])?.trim().strip_prefix('=')?.trim().parse().ok()?,
            };
            (weight > 0.0).then_some((Self::parse(tag.trim())?, weight))
        });
        // The first of several with the same weight.
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
            // Isolation marks are invisible characters in mails and terminals. All three languages are written from
            // left to right.
            bundle.set_use_isolating(false);
            // A test finds errors in a file. The rest of the file is used.
            let resource = FluentResource::try_new(self.source().to_owned()).unwrap_or_else(|(resource, _)| resource);
            bundle.add_resource_overriding(resource);
            bundle
        })
    }

    /// Whether there is a text with this key.
    pub fn has(self, key: &str) -> bool {
        self.bundle().has_message(key)
    }

    /// The text with this key, without values.
    pub fn text(self, key: &str) -> String {
        self.fill(key, &[])
    }

    /// The text with this key and these values. For a missing key, which a test excludes, the key itself.
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

    /// A document's type; `None` for a new type.
    pub fn document_type(self, word: &str) -> Option<String> {
        let is_known = DOCUMENT_TYPES.contains(&word);
        is_known.then(|| self.text(&format!("type-{}", word.replace('_', "-"))))
    }

    /// "at 14:05", with the day if it is not that of `now`.
    pub fn at(self, at: &Zoned, now: &Zoned) -> String {
        self.moment("at", at, now)
    }

    /// "since 14:05", with the day if it is not that of `now`.
    pub fn since(self, at: &Zoned, now: &Zoned) -> String {
        self.moment("since", at, now)
    }

    /// "21 November 2026".
    pub fn date(self, at: &Zoned) -> String {
        let (day, year) = (at.day().to_string(), at.year().to_string());
        self.fill("date", &[("day", (&day).into()), ("month", (&self.month(at)).into()), ("year", (&year).into())])
    }

    /// The person who decided something, as the ledger records it: a user of this computer, or a browser of the page.
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

/// The most languages of a header that are read. A browser names a few.
const MOST_TAGS: usize = 16;

#[cfg(test)]
mod tests;
