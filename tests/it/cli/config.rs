//! `docsyncd config`, and what wrong configurations say.

use std::path::Path;

use serde_json::Value;

use crate::harness::Practice;

async fn shown(practice: &Practice) -> Vec<Value> {
    let ended = practice.docsyncd(&["config", "show", "--json"]).await;
    assert_eq!(ended.code, 0, "{ended:?}");
    serde_json::from_str(&ended.stdout).unwrap()
}

fn setting<'a>(settings: &'a [Value], key: &str) -> &'a Value {
    settings.iter().find(|setting| setting["key"] == key).unwrap_or_else(|| panic!("no {key}: {settings:?}"))
}

fn files_in(folder: &Path) -> usize {
    std::fs::read_dir(folder).unwrap().count()
}

#[tokio::test]
async fn init_prints_a_commented_file_that_loads() {
    let practice = Practice::with_documents(0).await;
    let printed = practice.docsyncd_without_config(&["config", "init"]).await;
    assert_eq!((printed.code, printed.stderr.as_str()), (0, ""));
    let text = printed.stdout;
    assert!(text.starts_with('#') && text.contains("[accounts.main]"), "{text}");
    practice.configure_wholly(&text);
    let settings = shown(&practice).await;
    assert_eq!(setting(&settings, "sync.poll_interval")["is_default"], true);
}

#[tokio::test]
async fn init_writes_the_file_and_its_folder_and_never_overwrites() {
    let practice = Practice::with_documents(0).await;
    let before = std::fs::read(practice.config_path()).unwrap();
    let refused = practice.docsyncd(&["config", "init"]).await;
    assert_eq!(refused.code, 1, "{refused:?}");
    assert!(refused.stderr.contains("exists already") && refused.stderr.contains("docsyncd.toml"), "{refused:?}");
    assert_eq!(std::fs::read(practice.config_path()).unwrap(), before);

    let new = practice.path("etc/docsyncd/new.toml");
    let written = practice.docsyncd_without_config(&["config", "init", "--config", &new.display().to_string()]).await;
    assert_eq!(written.code, 0, "{written:?}");
    let next = format!("docsyncd --config {} check", new.display());
    assert!(written.stdout.contains("new.toml written") && written.stdout.contains(&next), "{written:?}");
    #[cfg(unix)]
    for folder in ["etc", "etc/docsyncd"] {
        let folder = practice.path(folder).display().to_string();
        let line = written.stdout.lines().find(|line| line.starts_with(&format!("{folder} created")));
        let me = docsyncd::system::readers::current_user().unwrap();
        assert!(line.is_some_and(|line| line.contains(&format!("belongs to {me}"))), "{folder}: {written:?}");
    }
    assert_eq!(std::fs::read_to_string(&new).unwrap(), docsyncd::config::template());
    assert_eq!(files_in(new.parent().unwrap()), 1);
}

#[tokio::test]
async fn show_says_what_holds_and_where_it_came_from() {
    let mut practice = Practice::with_documents(0).await;
    practice.env.insert("DOCSYNCD__SYNC__MAX_CONCURRENCY".into(), "3".into());
    practice.env.insert("DOCSYNCD__DESTINATIONS__PMS__FILE_MODE".into(), "0640".into());
    let settings = shown(&practice).await;
    let file = practice.config_path().display().to_string();

    let url = setting(&settings, "api.base_url");
    assert_eq!(url["value"], format!("\"{}\"", practice.sandbox.url()));
    assert_eq!(url["origin"], format!("{file}, line 2"));
    assert_eq!(url["is_default"], false);

    let concurrency = setting(&settings, "sync.max_concurrency");
    assert_eq!(concurrency["value"], "3");
    assert_eq!(concurrency["origin"], "environment variable DOCSYNCD__SYNC__MAX_CONCURRENCY");
    assert_eq!(setting(&settings, "destinations.pms.file_mode")["value"], "\"0640\"");

    let limit = setting(&settings, "sync.max_pdf_bytes");
    assert_eq!(
        (&limit["value"], &limit["origin"], &limit["is_default"]),
        (&"\"100MiB\"".into(), &"default".into(), &true.into())
    );
    // Relative paths are shown as they are used.
    let folder = setting(&settings, "destinations.pms.path")["value"].as_str().unwrap();
    assert!(
        folder.contains(&practice.inbox().display().to_string().replace('\\', "\\\\"))
            || folder.contains(&practice.inbox().display().to_string()),
        "{folder}"
    );

    let table = practice.docsyncd(&["config", "show"]).await;
    assert_eq!((table.code, table.stderr.as_str()), (0, ""));
    for words in ["sync.max_concurrency", "DOCSYNCD__SYNC__MAX_CONCURRENCY", &format!("{file}, line 2"), "default"] {
        assert!(table.stdout.contains(words), "{words}: {}", table.stdout);
    }
}

#[tokio::test]
async fn secrets_are_masked_wherever_the_configuration_is_shown() {
    let mut practice = Practice::with_documents(0).await;
    let key = practice.sandbox.api_key().to_owned();
    practice.env.insert("DOCSYNCD__ACCOUNTS__MAIN__API_KEY_FILE".into(), String::new());
    practice.env.insert("DOCSYNCD__ACCOUNTS__MAIN__API_KEY".into(), format!("{key}-from-the-environment"));
    practice.env.insert("DOCSYNCD__API__PROXY".into(), "http://clerk:proxy-password@127.0.0.1:9/".into());
    for args in [&["config", "show"][..], &["config", "show", "--json"]] {
        let ended = practice.docsyncd(args).await;
        assert_eq!(ended.code, 0, "{ended:?}");
        let all = format!("{}{}", ended.stdout, ended.stderr);
        assert!(!all.contains("from-the-environment") && !all.contains("proxy-password"), "{all}");
        assert!(all.contains("***"), "{all}");
    }
}

#[tokio::test]
async fn an_unknown_key_is_named_with_its_file_its_line_and_the_nearest_known_one() {
    let practice = Practice::with_documents(0).await;
    let base = practice.base_config().replace("poll_interval", "pol_interval");
    practice.configure_wholly(&format!("{base}\n[destinations.pms]\ntype = \"folder\"\npath = 'inbox'\n"));
    for command in ["run", "sync", "status", "list"] {
        let ended = practice.docsyncd(&[command]).await;
        assert_eq!(ended.code, 2, "{ended:?}");
        let place = format!("{}, line 7", practice.config_path().display());
        for sign in [place.as_str(), "sync.pol_interval", "poll_interval"] {
            assert!(ended.stderr.contains(sign), "{sign}: {ended:?}");
        }
    }
    assert!(!practice.ledger().exists());
}

#[tokio::test]
async fn an_unknown_variable_is_named_with_the_nearest_known_one() {
    let mut practice = Practice::with_documents(0).await;
    practice.env.insert("DOCSYNCD__SYNC__POLL_INTERVALL".into(), "1s".into());
    let ended = practice.sync().await;
    assert_eq!(ended.code, 2, "{ended:?}");
    for sign in ["DOCSYNCD__SYNC__POLL_INTERVALL", "DOCSYNCD__SYNC__POLL_INTERVAL"] {
        assert!(ended.stderr.contains(sign), "{sign}: {ended:?}");
    }
}

#[tokio::test]
async fn a_variable_takes_effect() {
    let mut practice = Practice::with_documents(2).await;
    std::fs::create_dir(practice.path("elsewhere")).unwrap();
    practice.env.insert("DOCSYNCD__DESTINATIONS__PMS__PATH".into(), practice.path("elsewhere").display().to_string());
    practice.env.insert("DOCSYNCD__DESTINATIONS__PMS__FILE_NAME".into(), "{{ document.uuid }}.pdf".into());
    let ended = practice.sync().await;
    assert_eq!(ended.code, 0, "{ended:?}");
    assert_eq!((files_in(&practice.inbox()), files_in(&practice.path("elsewhere"))), (0, 2));
}
