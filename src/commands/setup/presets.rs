//! The choices of where letters go, and of who is told: `config/presets/*.toml`, one for each kind of receiver.
//!
//! A preset has the questions of a table (`[destinations.NAME]`, `[alerts]`) and what is set without asking. Kinds and
//! validation of the keys come from the configuration's own table, and the answers are tried by the destination's own
//! check. Those of destinations are registered with their kinds.

use toml::Table;

use crate::config::schema;
use crate::destinations::kinds;
use crate::formats::language::Language;

/// The names and files of the choices that lead to no destination.
const OTHER_FILES: &[(&str, &str)] = crate::destinations::presets!("mail", "webhook", "heartbeat", "practice");

/// The table of how people are told begins with this.
const ALARMS: &str = "alerts";

/// The name of the choice that changes only what is asked for.
pub(super) const AS_IT_IS: &str = "as-it-is";

/// A text in every language.
#[derive(Debug, Clone, Default, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Words {
    en: String,
    fr: String,
    de: String,
}

impl Words {
    /// One that is the same in every language.
    pub(super) fn of(text: &str) -> Self {
        let text = || text.to_owned();
        Self { en: text(), fr: text(), de: text() }
    }

    pub(super) fn in_language(&self, language: Language) -> &str {
        match language {
            Language::English => &self.en,
            Language::French => &self.fr,
            Language::German => &self.de,
        }
    }
}

/// One choice.
#[derive(Debug, Clone, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Preset {
    /// As it is called in a file of answers.
    #[serde(skip)]
    pub(super) name: String,
    /// Where it stands among the choices.
    rank: u32,
    pub(super) title: Words,
    pub(super) about: Words,
    /// The languages of the practices whose own software this is.
    #[serde(default)]
    pub(super) languages: Vec<String>,
    /// Whether the practice's list of patients is needed.
    #[serde(default)]
    pub(super) needs_list: bool,
    /// Where what is said of the receiver can be read.
    pub(super) source: String,
    /// Whether what the receiver finds in sub-folders is read.
    #[serde(default = "yes")]
    pub(super) reads_sub_folders: bool,
    /// The table that is set up.
    #[serde(default = "destinations")]
    pub(super) section: String,
    /// What is asked for, in this order. The first is what the thing is known by.
    pub(super) asks: Vec<ToAsk>,
    /// Keys that are set.
    #[serde(default)]
    pub(super) settings: Table,
}

fn yes() -> bool {
    true
}

fn destinations() -> String {
    "destinations".to_owned()
}

/// One question: an answer goes into the key of the table, a secret into a file that the key names.
#[derive(Debug, Clone, Default, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ToAsk {
    pub(super) key: String,
    /// For a person.
    pub(super) words: Words,
    /// A line below it.
    #[serde(default)]
    pub(super) help: Words,
    /// What is offered where nothing is set, and the setting has no default of its own.
    #[serde(default)]
    pub(super) default: Option<String>,
    /// Whether nothing is an answer.
    #[serde(default)]
    pub(super) optional: bool,
    /// Not asked for where this key is set.
    #[serde(default)]
    pub(super) unless: Option<String>,
    /// Asked for only where this key is set, and has no meaning without it.
    #[serde(default)]
    pub(super) with: Option<String>,
}

impl ToAsk {
    /// A setting that no preset asks for, in the words of the table of settings.
    pub(super) fn of(key: &schema::Key) -> Self {
        Self { key: key.name().to_owned(), words: Words::of(key.doc), ..Self::default() }
    }
}

/// Where letters can go.
pub(super) fn all() -> Vec<Preset> {
    read().filter(|preset| preset.section == destinations()).collect()
}

/// What the practice is called, and who is called.
pub(super) fn practice() -> Option<Preset> {
    read().find(|preset| preset.section == "practice")
}

/// The same as it is offered: what practices of the language work with, which is the general way where nothing is known
/// of theirs; and the others.
pub(super) fn offered(language: Language) -> (Vec<Preset>, Vec<Preset>) {
    let (mut own, mut others): (Vec<Preset>, Vec<Preset>) =
        all().into_iter().partition(|preset| preset.languages.iter().any(|known| known == language.as_str()));
    if own.is_empty() && !others.is_empty() {
        own.push(others.remove(0));
    }
    (own, others)
}

/// How people can be told.
pub(super) fn alarms() -> Vec<Preset> {
    read().filter(|preset| preset.section.starts_with(ALARMS)).collect()
}

/// What a destination of this type is asked for.
pub(super) fn asks_of(kind: &str) -> Vec<ToAsk> {
    let is_of_kind = |preset: &Preset| preset.settings.get("type").and_then(toml::Value::as_str) == Some(kind);
    all().into_iter().find(is_of_kind).map(|preset| preset.asks).unwrap_or_default()
}

/// What is built in, in the order in which it is offered.
fn read() -> impl Iterator<Item = Preset> {
    let read = |(name, text): &(&str, &str)| {
        let preset: Preset = toml::from_str(text).ok()?;
        Some(Preset { name: (*name).to_owned(), ..preset })
    };
    let mut presets: Vec<Preset> = files().filter_map(read).collect();
    presets.sort_by_key(|preset| preset.rank);
    presets.into_iter()
}

fn files() -> impl Iterator<Item = &'static (&'static str, &'static str)> {
    kinds().flat_map(|kind| kind.presets).chain(OTHER_FILES)
}

/// A place in words.
pub(super) fn place(kind: &str, at: &str) -> String {
    if kind == "folder" { at.to_owned() } else { format!("{at} ({kind})") }
}

/// The choice to leave a destination as it is but for what is asked for.
pub(super) fn as_it_is(title: &str, about: &str, asks: Vec<ToAsk>) -> Preset {
    Preset {
        name: AS_IT_IS.to_owned(),
        rank: 0,
        title: Words::of(title),
        about: Words::of(about),
        languages: Vec::new(),
        needs_list: false,
        source: String::new(),
        reads_sub_folders: true,
        section: destinations(),
        asks,
        settings: Table::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::questions::choice_text;
    use super::*;
    use crate::config::schema::Kind;
    use crate::destinations::SCHEMA;
    use crate::formats::language::LANGUAGES;

    #[test]
    fn every_preset_can_be_read_says_where_it_is_from_and_names_keys_that_exist() {
        let all: Vec<Preset> = read().collect();
        assert_eq!(all.len(), files().count(), "one cannot be read");
        for preset in &all {
            let name = &preset.name;
            assert!(!preset.source.is_empty() && !preset.asks.is_empty(), "{name}");
            // That a text is there in every language its type says.
            let words = preset.asks.iter().map(|asked| &asked.words).chain([&preset.title, &preset.about]);
            for (text, language) in
                words.flat_map(|words| LANGUAGES.map(|language| (words.in_language(language), language)))
            {
                assert!(!text.is_empty(), "{name}: {language:?}");
            }
            let known = ["https://", "docs/", "config/", "nothing is said of a product"];
            assert!(known.iter().any(|begin| preset.source.starts_with(begin)), "{name}: {}", preset.source);
            for asked in &preset.asks {
                let Kind::Enum(values) = SCHEMA.find(&preset.section, &asked.key).unwrap().kind else {
                    continue;
                };
                for text in values.iter().map(|value| choice_text(&asked.key, value)) {
                    assert!(Language::English.has(&text), "{name}: {text}");
                }
            }
            let kind = preset.settings.get("type").and_then(toml::Value::as_str);
            assert_eq!(kind.is_some(), preset.section == "destinations", "{name}");
            let asked = preset
                .asks
                .iter()
                .flat_map(|asked| [Some(&asked.key), asked.unless.as_ref(), asked.with.as_ref()])
                .flatten();
            for key in asked.chain(preset.settings.keys()) {
                let key = SCHEMA.find(&preset.section, key).unwrap_or_else(|| panic!("{name}: no key {key}"));
                assert!(
                    key.only.is_none_or(|(_, of)| kind.is_some_and(|kind| of.contains(&kind))),
                    "{name}: {}",
                    key.path
                );
            }
            // Nothing that has to be there is left out.
            for key in SCHEMA.keys_of(&preset.section).filter(|key| key.required) {
                let is_optional = kind.is_some_and(|kind| key.optional_with.contains(&kind));
                let is_of_kind =
                    !is_optional && key.only.is_none_or(|(_, of)| kind.is_some_and(|kind| of.contains(&kind)));
                let is_asked = preset.asks.iter().any(|asked| asked.key == key.name() && !asked.optional);
                assert!(!is_of_kind || is_asked || preset.settings.contains_key(key.name()), "{name}: {}", key.path);
            }
        }
        let there = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/config/presets")).unwrap();
        assert_eq!(there.count(), files().count(), "a file is not built in");
        let Kind::Enum(kinds) = SCHEMA.find("destinations", "type").unwrap().kind else { panic!() };
        assert!(kinds.iter().all(|kind| !asks_of(kind).is_empty()), "a type of destination that nobody can choose");
    }

    #[test]
    fn the_software_of_the_language_comes_first() {
        let own = |language| {
            let (own, others) = offered(language);
            assert_eq!(own.len() + others.len(), all().len());
            own.into_iter().map(|preset| preset.name).collect::<Vec<_>>().join(" ")
        };
        let all = LANGUAGES.map(own);
        assert_eq!(all, ["opendental", "watched-folder", "tomedo z1"]);
    }

    #[test]
    fn the_presets_and_the_examples_say_the_same_of_gdt() {
        let example = include_str!("../../../config/examples/gdt.toml").parse::<Table>().unwrap();
        let mut example = example["destinations"]["gdt"].as_table().unwrap().clone();
        for asked in ["path", "visible_path"] {
            example.remove(asked).unwrap();
        }
        let preset = all().into_iter().find(|preset| preset.name == "gdt").unwrap();
        assert_eq!(preset.settings, example);
        assert!(example["sidecar"].as_str().unwrap().contains("6304{{ document.type | label(\"de\") }}"));
    }

    #[test]
    fn the_preset_and_the_example_of_open_dental_say_the_same() {
        let example = include_str!("../../../config/examples/opendental.toml").parse::<Table>().unwrap();
        let mut example = example["destinations"]["opendental"].as_table().unwrap().clone();
        let mut preset = all().into_iter().find(|preset| preset.name == "opendental").unwrap().settings;
        let json = |table: &mut Table| table.remove("json").unwrap().as_str().unwrap().replace(['\n', ' '], "");
        assert_eq!(json(&mut preset), json(&mut example));
        assert_eq!(preset, example);
    }

    #[test]
    fn no_preset_gives_two_patients_or_two_letters_one_name() {
        for preset in all() {
            let Some(name) = preset.settings.get("file_name").and_then(toml::Value::as_str) else { continue };
            let template =
                crate::formats::template::Template::compile(crate::formats::template::TemplateKind::FileName, name)
                    .unwrap();
            assert!(template.doubts().is_empty(), "{}: {:?}", preset.name, template.doubts());
        }
    }
}
