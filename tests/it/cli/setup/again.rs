//! `docsyncd setup --answers` for a deployment tool: run again it changes nothing, and it can only say what it would do.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde_json::{Value, json};

use super::{answers, config};
use crate::harness::{Ended, Practice};

/// Every file and folder with its content and the time of its last change.
fn everything(practice: &Practice) -> BTreeMap<PathBuf, (Vec<u8>, SystemTime)> {
    fn add(path: &Path, all: &mut BTreeMap<PathBuf, (Vec<u8>, SystemTime)>) {
        for entry in std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()) {
            if entry.is_dir() {
                add(&entry, all);
            } else {
                let changed = std::fs::metadata(&entry).unwrap().modified().unwrap();
                all.insert(entry.clone(), (std::fs::read(&entry).unwrap(), changed));
            }
        }
    }
    let mut all = BTreeMap::new();
    add(practice.dir.path(), &mut all);
    all
}

async fn setup(practice: &Practice, more: &[&str]) -> Ended {
    let answers = practice.path("answers.toml").display().to_string();
    let config = config(practice);
    let args = [&["--config", &config, "setup", "--answers", &answers][..], more].concat();
    practice.docsyncd_without_config(&args).await
}

fn printed(ended: &Ended) -> Value {
    serde_json::from_str(&ended.stdout).unwrap_or_else(|error| panic!("{error}: {ended:?}"))
}

#[tokio::test]
async fn in_a_folder_of_answers_paths_begin_there() {
    let practice = Practice::with_documents(1).await;
    let all = practice.path("all");
    std::fs::create_dir_all(all.join("import")).unwrap();
    std::fs::copy(practice.path("api-key"), all.join("api-key")).unwrap();
    let inbox = practice.inbox().display().to_string();
    std::fs::write(all.join("answers.toml"), answers(&practice).replace(&inbox, "import")).unwrap();
    let config = config(&practice);
    let args = ["--config", &config, "setup", "--answers", all.to_str().unwrap()];
    let ended = practice.docsyncd_without_config(&args).await;
    assert_eq!(ended.code, 0, "{ended:?}");
    let import = all.join("import").display().to_string();
    assert!(std::fs::read_to_string(&config).unwrap().contains(&import), "{ended:?}");
}

#[tokio::test]
async fn run_again_it_changes_no_file_and_says_so() {
    let practice = Practice::with_documents(1).await;
    std::fs::write(practice.path("answers.toml"), answers(&practice)).unwrap();
    let before = everything(&practice);
    let changed_inbox = || std::fs::metadata(practice.inbox()).unwrap().modified().unwrap();
    let inbox = changed_inbox();
    let dry = setup(&practice, &["--dry-run", "--json"]).await;
    assert_eq!((dry.code, everything(&practice)), (0, before), "{dry:?}");
    assert!(changed_inbox() == inbox && !practice.path("etc").exists(), "not even a trial file: {dry:?}");
    let said = setup(&practice, &["--dry-run"]).await;
    assert!(said.code == 0 && !said.stdout.contains("tried"), "{said:?}");
    std::fs::rename(practice.inbox(), practice.path("elsewhere")).unwrap();
    let gone = setup(&practice, &["--dry-run"]).await;
    assert!(gone.code == 2 && gone.stderr.contains("does not exist"), "{gone:?}");
    std::fs::rename(practice.path("elsewhere"), practice.inbox()).unwrap();
    let done = setup(&practice, &["--json"]).await;
    let files = [practice.path("etc/api-key").display().to_string(), config(&practice)];
    assert_eq!(printed(&done), json!({"changed": true, "files": files}), "{done:?}");
    assert_eq!((done.code, printed(&dry)), (0, printed(&done)));
    let before = everything(&practice);
    for more in [&["--json"][..], &["--dry-run", "--json"], &[]] {
        let again = setup(&practice, more).await;
        assert_eq!((again.code, everything(&practice)), (0, before.clone()), "{again:?}");
        if !more.is_empty() {
            assert_eq!(printed(&again), json!({"changed": false, "files": []}), "{again:?}");
        }
    }
    std::fs::write(practice.path("answers.toml"), answers(&practice).replace("watched-folder", "nonsense")).unwrap();
    let wrong = setup(&practice, &["--json"]).await;
    assert!(wrong.code == 2 && wrong.stderr.contains("answers.toml: `preset`"), "{wrong:?}");
    let mut after = everything(&practice);
    after.insert(practice.path("answers.toml"), before[&practice.path("answers.toml")].clone());
    assert_eq!(after, before, "nothing was written");
}
