//! A kind of destination is registered once. A toy shows it, and that every registered one is whole.

use std::collections::BTreeSet;

use super::contract::Spool;
use super::settings::*;
use super::*;
use crate::config::schema::Key;
use crate::config::{ConfigError, Loaded};

settings! {
    /// The values of the toy's own key.
    "destinations.*." ToyKeys {
        shelf: Option<String>, Kind::Text, "where its letters stand", required();
    }
}

static TOY: DestinationKind = DestinationKind {
    word: "toy",
    keys: &[ToyKeys::KEYS, &[SharedKeys::timeout, CommonKeys::expect_taken]],
    check: |at| {
        let (own, raw): (ToyKeys, SharedKeys) = (at.read()?, at.read()?);
        let shelf = own.shelf?;
        if shelf.contains('/') {
            return at.refuse("shelf", "is no word", "Write one word.");
        }
        Some(Arc::new(Toy { shelf, timeout: raw.timeout? }))
    },
    presets: &[],
};

#[derive(Debug, Clone)]
struct Toy {
    shelf: String,
    timeout: Duration,
}

impl Settings for Toy {
    fn place(&self) -> Option<String> {
        Some(self.shelf.clone())
    }
}

#[async_trait]
impl Adapter for Toy {
    async fn deliver(&self, _: &Item) -> Outcome {
        Outcome::delivered(self.shelf.as_str())
    }

    async fn check(&self) -> Result<Checked, String> {
        Ok(Checked { notes: vec![self.shelf.clone()], ..Checked::default() })
    }
}

/// All there are, and the toy.
static WITH_TOY: LazyLock<Schema> = LazyLock::new(|| Schema::of(kinds().chain([&TOY]).collect()));

fn load(schema: &'static Schema, destination: &str, variables: &[(&str, &str)]) -> Result<Loaded, ConfigError> {
    let text = format!(
        "[api]\nbase_url = 'https://api.example.test'\n[accounts.main]\napi_key_file = 'key'\n[destinations.box]\n{destination}"
    );
    schema.load_text(Path::new("docsyncd.toml"), &text, variables.iter().copied(), &[])
}

#[test]
fn the_configuration_knows_a_new_kind_by_its_registration_alone() {
    let loaded = load(&WITH_TOY, "type = 'Toy'\nshelf = 'left'\n", &[]).unwrap();
    let toy = &loaded.config.destinations["box"];
    assert_eq!((toy.kind, toy.place().as_deref(), toy.confirm(), toy.server()), ("toy", Some("left"), None, None));
    assert_eq!(toy.of::<Toy>().unwrap().timeout, Duration::from_secs(60), "the default of a key that others share");
    assert!(toy.of::<FolderConfig>().is_none() && !toy.is_folder() && toy.shows_letters());
    let shown: Vec<_> = loaded.effective.iter().filter(|setting| setting.key.starts_with("destinations.box")).collect();
    let shown: Vec<String> =
        shown.iter().map(|setting| format!("{} = {}", setting.declared.name(), setting.value)).collect();
    assert_eq!(shown, ["type = \"toy\"", "shelf = \"left\"", "timeout = \"60s\"", "expect_taken = false"]);
    let variables =
        [("DOCSYNCD__DESTINATIONS__BOX__SHELF", "right"), ("DOCSYNCD__DESTINATIONS__BOX__EXPECT_TAKEN", "yes")];
    let loaded = load(&WITH_TOY, "type = \"toy\"\n", &variables).unwrap();
    let toy = &loaded.config.destinations["box"];
    assert_eq!((toy.place().as_deref(), toy.shows_letters()), (Some("right"), false));
}

#[test]
fn what_is_wrong_with_a_new_kind_is_said_as_of_any_other() {
    for (schema, destination, said) in [
        (
            &WITH_TOY,
            "type = 'toy'\n",
            "`destinations.box.shelf` is missing\n  Add shelf = \"...\" (where its letters stand).",
        ),
        (&WITH_TOY, "type = 'toy'\nshelve = 'left'\n", "The nearest known key is `destinations.box.shelf`."),
        (&WITH_TOY, "type = 'toy'\nshelf = 'a/b'\n", "`destinations.box.shelf` is no word\n  Write one word."),
        (
            &WITH_TOY,
            "type = 'toy'\nshelf = 'a'\nreader = 'b'\n",
            "belongs to type = \"folder\", and here type is \"toy\"",
        ),
        (
            &WITH_TOY,
            "type = 'folder'\npath = 'a'\nshelf = 'b'\n",
            "belongs to type = \"toy\", and here type is \"folder\"",
        ),
        (&WITH_TOY, "type = 'toi'\n", ", \"toy\"\n"),
        (&SCHEMA, "type = 'toy'\nshelf = 'left'\n", "`destinations.box.type` is none of \"folder\""),
    ] {
        let error = load(schema, destination, &[]).unwrap_err().to_string();
        assert!(error.contains(said), "{destination}: {error}");
    }
}

#[tokio::test]
async fn a_kind_is_built_or_says_that_it_was_left_out() {
    let loaded = load(&WITH_TOY, "type = 'toy'\nshelf = 'left'\n", &[]).unwrap();
    let toy = &loaded.config.destinations["box"];
    let build: Build = |destination, _| Some(Box::new(destination.of::<Toy>()?.clone()));
    let registered = |build| [Registered { kind: &TOY, feature: Some("toys"), build }];
    let adapter = built(&registered(Some(build)), toy, Path::new(""));
    assert_eq!((adapter.unusable(), adapter.check().await.unwrap().notes), (None, vec!["left".to_owned()]));
    let outcome = adapter.deliver(&Spool::new().item(1, b"%PDF-1.7")).await;
    assert!(matches!(outcome, Outcome::Delivered { .. }), "{outcome:?}");
    let left_out = built(&registered(None), toy, Path::new(""));
    assert!(left_out.unusable().unwrap().contains("built without"));
}

/// One key has one meaning, whichever kind has it.
#[test]
fn keys_of_one_name_are_alike() {
    let all: Vec<&Key> = kinds().flat_map(|kind| kind.keys.iter().copied().flatten()).collect();
    for key in &all {
        for other in all.iter().filter(|other| other.path == key.path) {
            assert_eq!((other.kind, other.default, other.doc), (key.kind, key.default, key.doc), "{}", key.path);
        }
    }
}

/// What is shown of a destination stands in the order that its kind gives it.
#[test]
fn the_keys_of_each_kind_keep_their_order() {
    let all: Vec<&str> = SCHEMA.keys_of("destinations").map(|key| key.path).collect();
    for kind in kinds() {
        let own: Vec<&str> = kind.keys.iter().copied().flatten().map(|key| key.path).collect();
        let kept: Vec<&str> = all.iter().copied().filter(|path| own.contains(path)).collect();
        assert_eq!(kept, own, "{}", kind.word);
    }
}

#[test]
fn every_kind_has_what_people_look_for() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |path: &str| std::fs::read_to_string(root.join(path)).unwrap();
    let mut in_examples = BTreeSet::new();
    for file in std::fs::read_dir(root.join("config/examples")).unwrap() {
        let loaded = SCHEMA.load(&file.unwrap().path(), Vec::<(String, String)>::new()).unwrap();
        for destination in loaded.config.destinations.values() {
            in_examples.insert(destination.kind);
            assert_eq!(
                build(destination, Path::new("ledger")).unusable().filter(|why| why.contains("built without")),
                None
            );
        }
    }
    let (readme, page) = (read("README.md"), read("docs/destinations.md"));
    let template = crate::config::template();
    let has_row =
        |page: &str, word: &str| page.lines().any(|row| row.starts_with("| `") && row.contains(&format!("`{word}`")));
    let mut missing = Vec::new();
    for DestinationKind { word, presets, .. } in kinds() {
        for (is_there, where_to) in [
            (in_examples.contains(word), "config/examples: a file with this `type`"),
            (!presets.is_empty(), "config/presets: a file that leads to it, and its name in `presets` of the KIND"),
            (has_row(&readme, word), "README.md: a row in the table of types"),
            (has_row(&page, word), "docs/destinations.md: a row in the first table"),
            (template.contains(&format!("type = \"{word}\"")), "config/docsyncd.toml: its keys, below a name"),
        ] {
            if !is_there {
                missing.push(format!("{word}: {where_to}"));
            }
        }
    }
    assert!(missing.is_empty(), "what people look for and do not find: {missing:#?}");
    let words: Vec<String> = kinds().map(|kind| format!("{:?}", kind.word)).collect();
    let (last, others) = words.split_last().unwrap();
    let listed = format!("Its type: {} or {last}. Required.", others.join(", "));
    assert!(template.replace("\n# ", " ").contains(&listed), "config/docsyncd.toml has to say: {listed}");
}
