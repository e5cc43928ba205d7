//! `/metrics`

use std::time::Duration;

use super::{PAGE, Page};
use crate::dictated::{add_refused, practice_with_small, small};
use crate::filled::{DAY, fill, fill_names, now};
use crate::harness::{PATIENCE, is_as_installed};

/// The value of the only sample that begins so.
fn value(text: &str, sample: &str) -> f64 {
    let line = text.lines().find(|line| line.split(' ').next() == Some(sample));
    line.unwrap_or_else(|| panic!("no {sample} in\n{text}")).rsplit(' ').next().unwrap().parse().unwrap()
}

#[tokio::test]
async fn the_numbers_are_those_of_the_ledger_and_of_the_work() {
    let (practice, _) = practice_with_small(3).await;
    practice.configure(PAGE);
    let failed = add_refused(&practice).await;
    let mut page = Page::of(&practice).await;
    practice.wait_for_posts(4).await;
    while practice.state(&failed).await != "failed" {}
    let answer = page.get("/metrics").await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("content-type"), "application/openmetrics-text; version=1.0.0; charset=utf-8");
    let text = answer.body;
    assert!(text.ends_with("# EOF\n"), "{text}");
    assert_eq!(value(&text, "docsyncd_documents{account=\"main\",state=\"reported\"}"), 3.0);
    assert_eq!(value(&text, "docsyncd_documents{account=\"main\",state=\"failed\"}"), 1.0);
    assert_eq!(value(&text, "docsyncd_documents{account=\"main\",state=\"discovered\"}"), 0.0);
    assert_eq!(value(&text, "docsyncd_oldest_waiting_seconds{account=\"main\"}"), 0.0);
    assert!(value(&text, "docsyncd_polls_total{account=\"main\",result=\"ok\"}") >= 1.0);
    assert!(value(&text, "docsyncd_last_good_poll_timestamp_seconds{account=\"main\"}") > 1.7e9);
    for stage in ["discover", "fetch", "deliver", "report"] {
        let count = value(&text, &format!("docsyncd_stage_duration_seconds_count{{stage=\"{stage}\"}}"));
        assert!(count >= if stage == "discover" { 1.0 } else { 3.0 }, "{stage}: {count}");
    }
    assert!(value(&text, "docsyncd_downloaded_bytes_total") > 0.0);
    assert!(value(&text, "docsyncd_delivered_bytes_total{destination=\"pms\"}") > 0.0);
    assert!(value(&text, "docsyncd_ledger_size_bytes") >= 4096.0);
    assert_eq!(value(&text, "docsyncd_spool_size_bytes"), 0.0);
    for (scope, name) in [("account", "main"), ("fetch", "main"), ("report", "main"), ("destination", "pms")] {
        assert_eq!(value(&text, &format!("docsyncd_paused{{scope=\"{scope}\",name=\"{name}\"}}")), 0.0);
    }
    assert!(text.contains(&format!("docsyncd_build_info{{version=\"{}\"}} 1", env!("CARGO_PKG_VERSION"))), "{text}");
    assert!(!text.contains(&failed), "no document is named");
    page.running.end().await;
}

#[tokio::test]
async fn what_waits_and_what_is_paused_is_seen() {
    let (mut practice, _) = practice_with_small(2).await;
    practice.without_patience();
    practice.configure(PAGE);
    std::fs::remove_dir(practice.inbox()).unwrap();
    let mut page = Page::of(&practice).await;
    page.running.wait_for_log("event=\"paused\"").await;
    let waits = async {
        loop {
            let text = page.get("/metrics").await.body;
            if value(&text, "docsyncd_paused{scope=\"destination\",name=\"pms\"}") == 1.0
                && value(&text, "docsyncd_oldest_waiting_seconds{account=\"main\"}") > 0.0
                && value(&text, "docsyncd_spool_size_bytes") > 0.0
            {
                return text;
            }
        }
    };
    let text = tokio::time::timeout(PATIENCE, waits).await.expect("it is seen");
    assert!(text.contains("docsyncd_pause_age_seconds{scope=\"destination\",name=\"pms\"}"), "{text}");
    let key = page.key(&practice).await;
    let shown = page.with_key(&key).await.body;
    assert!(shown.contains("pms") && shown.contains("badge bad") && !shown.contains("status well"), "{shown}");
    assert!(!page.get("/").await.body.contains("status well"));
    page.running.kill().await;
}

/// Reasons are kept in English, for the service; a page in French has none of them.
#[tokio::test]
async fn a_reader_of_french_gets_no_reason_in_english() {
    let (mut practice, _) = practice_with_small(2).await;
    practice.without_patience();
    practice.configure(PAGE);
    let refused = add_refused(&practice).await;
    let mut page = Page::of(&practice).await;
    while practice.state(&refused).await != "failed" {}
    practice.wait_for_posts(3).await;
    std::fs::rename(practice.inbox(), practice.path("away")).unwrap();
    practice.sandbox.add(small("late")).await.unwrap();
    practice.docsyncd(&["poll"]).await;
    page.running.wait_for_log("event=\"paused\"").await;
    let key = page.key(&practice).await;
    let shown = |language: &'static str| {
        let (page, key) = (&page, &key);
        async move { page.ask("GET", "/", &[("Cookie", key), ("Accept-Language", language)], "").await.body }
    };
    let english = shown("en").await;
    let reasons = |page: &str| -> Vec<String> {
        page.split("class=\"reason\">").skip(1).map(|rest| rest.split('<').next().unwrap().to_owned()).collect()
    };
    let of_english = reasons(&english);
    assert!(of_english.len() >= 2, "{english}");
    let french = shown("fr").await;
    let of_french = reasons(&french);
    assert_eq!(of_french.len(), of_english.len(), "{french}");
    for reason in &of_english {
        assert!(!french.contains(reason.as_str()), "{reason}");
    }
    assert!(of_french.iter().all(|reason| !reason.contains("anglais")), "{of_french:#?}");
    assert!(
        of_french.iter().any(|reason| reason.starts_with("La destination pms ne fonctionne pas")),
        "{of_french:#?}"
    );
    let status = practice.docsyncd(&["status", "--lang", "fr"]).await.stdout;
    assert!(status.contains("La destination pms ne fonctionne pas") && !status.contains("mounted"), "{status}");
    page.running.kill().await;
}

/// The dashboard and the alert rules name only what there is.
#[tokio::test]
async fn what_the_dashboard_and_the_rules_ask_for_is_there() {
    let (mut practice, _) = practice_with_small(1).await;
    practice.without_patience();
    practice.configure(PAGE);
    std::fs::remove_dir(practice.inbox()).unwrap();
    let mut page = Page::of(&practice).await;
    page.running.wait_for_log("event=\"paused\"").await;
    // The pause is written down a moment after it is said.
    let text = loop {
        let text = page.get("/metrics").await.body;
        if text.contains("docsyncd_pause_age_seconds{") {
            break text;
        }
    };
    let types: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("# TYPE ")).collect();
    let is_exposed = |name: &str| {
        types.iter().filter_map(|line| line.split_once(' ')).any(|(known, kind)| match kind {
            "counter" => name.strip_suffix("_total") == Some(known),
            "info" => name.strip_suffix("_info") == Some(known),
            "histogram" => {
                let end = name.strip_prefix(known);
                matches!(end, Some("_bucket" | "_sum" | "_count"))
            }
            _ => name == known,
        })
    };
    let folder = monitoring();
    let mut asked = 0;
    for file in ["docsyncd.rules.yml", "docsyncd-dashboard.json"] {
        let content = std::fs::read_to_string(folder.join(file)).unwrap();
        for (at, _) in content.match_indices("docsyncd_") {
            let name: String = content[at..].chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
            assert!(is_exposed(&name), "{file} asks for {name}, which there is not:\n{text}");
            asked += 1;
        }
    }
    assert!(asked > 20, "{asked}");
    let dashboard = std::fs::read_to_string(folder.join("docsyncd-dashboard.json")).unwrap();
    let dashboard: serde_json::Value = serde_json::from_str(&dashboard).unwrap();
    assert!(dashboard["panels"].as_array().unwrap().len() >= 6);
    page.running.kill().await;
}

/// The folder of what goes into Prometheus and Grafana.
fn monitoring() -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("packaging/monitoring")
}

/// Runs Prometheus' own tool, where it is installed.
fn promtool(arguments: &[&str]) {
    let run = std::process::Command::new("promtool").args(arguments).current_dir(monitoring()).output();
    match run {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            assert!(std::env::var_os("DOCSYNCD_TEST_TOOLS").is_none(), "promtool is not installed");
            println!("not run: promtool is not installed (Debian: prometheus)");
        }
        other => {
            let output = other.unwrap();
            let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{arguments:?}: {said}");
        }
    }
}

#[test]
fn promtool_accepts_the_rules_and_their_tests_pass() {
    promtool(&["check", "rules", "docsyncd.rules.yml"]);
    promtool(&["test", "rules", "docsyncd.rules.test.yml"]);
}

/// What Grafana's import looks at, and each expression as Prometheus reads it, with the dashboard's variables filled in.
#[test]
fn grafana_can_import_the_dashboard_and_prometheus_reads_its_expressions() {
    let dashboard = std::fs::read_to_string(monitoring().join("docsyncd-dashboard.json")).unwrap();
    let dashboard: serde_json::Value = serde_json::from_str(&dashboard).unwrap();
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_else(|| panic!("no text: {value}")).to_owned();
    for key in ["title", "uid"] {
        assert!(!text(&dashboard[key]).is_empty(), "{key}");
    }
    assert!(
        dashboard["schemaVersion"].as_u64().unwrap() >= 36 && dashboard.get("id").is_none(),
        "an import gives the id"
    );
    let variables: Vec<String> =
        dashboard["templating"]["list"].as_array().unwrap().iter().map(|one| text(&one["name"])).collect();
    let source = serde_json::json!({ "type": "prometheus", "uid": "${source}" });
    let (mut ids, mut taken) = (std::collections::BTreeSet::new(), std::collections::BTreeSet::new());
    let mut rules = String::from("groups:\n- name: dashboard\n  rules:\n");
    for panel in dashboard["panels"].as_array().unwrap() {
        let title = text(&panel["title"]);
        assert!(ids.insert(panel["id"].as_u64().unwrap()), "{title} has another panel's id");
        assert!(["stat", "timeseries", "table"].contains(&text(&panel["type"]).as_str()), "{title}");
        let [x, y, w, h] = ["x", "y", "w", "h"].map(|side| panel["gridPos"][side].as_u64().unwrap());
        assert!(x + w <= 24, "{title} leaves the grid");
        assert!((x..x + w).all(|x| (y..y + h).all(|y| taken.insert((x, y)))), "{title} lies upon another");
        let mut refs = std::collections::BTreeSet::new();
        for target in panel["targets"].as_array().unwrap() {
            assert!(refs.insert(text(&target["refId"])), "{title}");
            assert_eq!((&target["datasource"], &panel["datasource"]), (&source, &source), "{title}");
            let expression = text(&target["expr"]);
            for used in expression.split('$').skip(1) {
                let name: String = used.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
                assert!(variables.contains(&name), "{title}: ${name} is no variable");
            }
            let quoted = serde_json::to_string(&expression.replace("$instance", "a|b")).unwrap();
            rules.push_str(&format!("  - record: panel:n{}\n    expr: {quoted}\n", rules.len()));
        }
        assert!(!refs.is_empty(), "{title} shows nothing");
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("dashboard.yml");
    std::fs::write(&file, rules).unwrap();
    promtool(&["check", "rules", file.to_str().unwrap()]);
}

/// With a million documents, of which some wait: a scrape takes under 5 ms, the page under a second.
#[tokio::test]
#[ignore = "takes minutes: .ci/long runs it"]
async fn a_scrape_costs_the_same_whatever_the_ledger_holds() {
    let (practice, _) = practice_with_small(1).await;
    practice.configure(PAGE);
    assert_eq!(practice.sync().await.code, 0);
    fill(&practice, 1_000_000, now() - DAY);
    let mut page = Page::of(&practice).await;
    let mut took: Vec<Duration> = Vec::new();
    for _ in 0..20 {
        let began = std::time::Instant::now();
        assert_eq!(page.get("/metrics").await.status, 200);
        took.push(began.elapsed());
    }
    took.sort();
    println!("a scrape took {:?} (median of 20)", took[10]);
    assert!(!is_as_installed() || took[10] < Duration::from_millis(5), "{took:?}");
    let began = std::time::Instant::now();
    assert_eq!(page.get("/").await.status, 200);
    println!("the page took {:?}", began.elapsed());
    page.running.end().await;
}

/// With a million letters and their names: `find` answers under 100 ms, whether it finds one, thousands or none, and so does the
/// search of the page; the page with the key takes under a second.
#[tokio::test]
#[ignore = "takes minutes: .ci/long runs it"]
async fn a_letter_is_found_at_once_whatever_the_ledger_holds() {
    let (practice, _) = practice_with_small(1).await;
    practice.configure(PAGE);
    assert_eq!(practice.sync().await.code, 0);
    fill(&practice, LETTERS, now() - DAY);
    fill_names(&practice);
    let mut page = Page::of(&practice).await;
    let key = page.key(&practice).await;
    let limit = |what: &str, took: Duration, most: u64| {
        println!("{what}: {took:?}");
        assert!(!is_as_installed() || took < Duration::from_millis(most), "{what}: {took:?}");
    };
    for (words, some) in [
        ("surname123", true),
        ("surname123 first26", true),
        ("referral", true),
        ("urname123", true),
        ("nobody", false),
        ("su", true),
    ] {
        let words_of = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let arguments: Vec<String> = [vec!["find".to_owned()], words_of(words)].concat();
        let began = std::time::Instant::now();
        let ended = practice.docsyncd(&arguments.iter().map(String::as_str).collect::<Vec<_>>()).await;
        limit(&format!("find {words}"), began.elapsed(), 100);
        assert_eq!(ended.stdout.contains("Surname"), some, "{words}: {ended:?}");
        let token = page.with_key(&key).await.token();
        let origin = format!("http://{}", page.address);
        let fields = format!("token={token}&words={}&day=&kind=", words.replace(' ', "+"));
        let began = std::time::Instant::now();
        let found = page.ask("POST", "/find", &[("Cookie", &key), ("Origin", &origin)], &fields).await;
        limit(&format!("the page with a search for {words}"), began.elapsed(), 1000);
        assert_eq!((found.status, found.body.contains("Surname")), (200, true), "{words}");
    }
    let began = std::time::Instant::now();
    assert_eq!(page.with_key(&key).await.status, 200);
    limit("the page with the key", began.elapsed(), 1000);
    page.running.end().await;
}

const LETTERS: i64 = 1_000_000;
