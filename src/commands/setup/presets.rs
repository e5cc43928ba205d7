//! The choices of where letters go and of who is told: `config/presets/*.toml`, one for each kind of receiver.
//!
//! A preset has the questions for a table (`[destinations.NAME]`, `[alerts]`) and the settings that need no question.
//! The table of settings gives the kinds and the validation of the keys, and the destination's own check tries the
//! answers. The presets of destinations are registered with their kinds.

use toml::Table;

use crate::config::schema;
use crate::destinations::kinds;
use crate::formats::language::Language;

/// The names and files of the choices that lead to no destination.
const OTHER_FILES: &[(&str, &str)] = crate::destinations::presets!("mail", "webhook", "heartbeat", "practice");

/// The prefix of the tables for alarms.
const ALARMS: &str = "alerts";

/// The name of the choice that keeps a destination and asks its questions again.
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
    /// A text that is the same in every language.
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
    /// Its name in a file of answers.
    #[serde(skip)]
    pub(super) name: String,
    /// Where it stands among the choices.
    rank: u32,
    pub(super) title: Words,
    pub(super) about: Words,
    /// The languages of the practices that use this software.
    #[serde(default)]
    pub(super) languages: Vec<String>,
    /// Whether it needs the practice's list of patients.
    #[serde(default)]
    pub(super) needs_list: bool,
    /// The source of what it says about the receiver.
    pub(super) source: String,
    /// Whether the receiver also reads sub-folders.
    #[serde(default = "yes")]
    pub(super) reads_sub_folders: bool,
    /// The table that it sets up.
    #[serde(default = "destinations")]
    pub(super) section: String,
    /// The questions, in order. The first answer identifies the result for people.
    pub(super) asks: Vec<ToAsk>,
    /// Settings without a question.
    #[serde(default)]
    pub(super) settings: Table,
}

fn yes() -> bool {
    true
}

fn destinations() -> String {
    "destinations".to_owned()
}

/// A question. Its answer goes into this key of the table; a secret goes into a file that the key names.
#[derive(Debug, Clone, Default, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ToAsk {
    pub(super) key: String,
    /// The text for a person.
    pub(super) words: Words,
    /// A line below the question.
    #[serde(default)]
    pub(super) help: Words,
    /// The default if the setting has neither a value nor a default.
    #[serde(default)]
    pub(super) default: Option<String>,
    /// Whether an empty answer is allowed.
    #[serde(default)]
    pub(super) optional: bool,
    /// Not asked if this key is set.
    #[serde(default)]
    pub(super) unless: Option<String>,
    /// Asked only if this key is set, without which the setting has no meaning.
    #[serde(default)]
    pub(super) with: Option<String>,
}

impl ToAsk {
    /// The question for a setting that no preset asks for, with the text of the table of settings.
    pub(super) fn of(key: &schema::Key) -> Self {
        Self { key: key.name().to_owned(), words: Words::of(key.doc), ..Self::default() }
    }
}

/// All presets for destinations.
pub(super) fn all() -> Vec<Preset> {
    read().filter(|preset| preset.section == destinations()).collect()
}

/// The preset for the practice's name and contact.
pub(super) fn practice() -> Option<Preset> {
    read().find(|preset| preset.section == "practice")
}

/// The presets for destinations in two groups: those for practices of this language (the general one if there are
/// none), and the others.
pub(super) fn offered(language: Language) -> (Vec<Preset>, Vec<Preset>) {
    let (mut own, mut others): (Vec<Preset>, Vec<Preset>) =
        all().into_iter().partition(|preset| preset.languages.iter().any(|known| known == language.as_str()));
    if own.is_empty() && !others.is_empty() {
        own.push(others.remove(0));
    }
    (own, others)
}

/// The presets for alarms.
pub(super) fn alarms() -> Vec<Preset> {
    read().filter(|preset| preset.section.starts_with(ALARMS)).collect()
}

/// The questions for a destination of this type.
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

/// The choice to keep a destination and ask its questions again.
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
        for (name, text) in files() {
            toml::from_str::<Preset>(text).unwrap_or_else(|error| panic!("config/presets/{name}.toml: {error}"));
        }
        for preset in &read().collect::<Vec<_>>() {
            let name = &preset.name;
            assert!(!preset.source.is_empty() && !preset.asks.is_empty(), "{name}");
            // The type of a text ensures that every language has one.
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
            // No required key is left out.
            for key in SCHEMA.keys_of(&preset.section).filter(|key| key.required) {
                let is_optional = kind.is_some_and(|kind| key.optional_with.contains(&kind));
                let is_of_kind =
                    !is_optional && key.only.is_none_or(|(_, of)| kind.is_some_and(|kind| of.contains(&kind)));
                let is_asked = preset.asks.iter().any(|asked| asked.key == key.name() && !asked.optional);
                assert!(!is_of_kind || is_asked || preset.settings.contains_key(key.name()), "{name}: {}", key.path);
            }
        }
        for there in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/config/presets")).unwrap() {
            let path = there.unwrap().path();
            let is_built_in = files().any(|(name, _)| path.file_stem().is_some_and(|stem| stem == *name));
            assert!(is_built_in, "neither a KIND nor OTHER_FILES names {} in its `presets!`", path.display());
        }
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
