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
    assert!(shown.contains("pms") && shown.contains("badge wait") && !shown.contains("status well"), "{shown}");
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
    practice.wait_for_posts(3).await;
    while practice.state(&refused).await != "failed" {}
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

/// What Grafana's import looks at, and each expression as Prometheus reads it, with the dashboard's variables filled
/// in.
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

/// KiB that a daemon has at rest, with everything that it has read of its program; with a page after some scrapes and
/// looks.
#[cfg(target_os = "linux")]
async fn at_rest(more: &str) -> u64 {
    let (practice, _) = practice_with_small(3).await;
    practice.configure(more);
    let mut running = practice.run().await;
    running.wait_for_logs("event=\"reported\"", 3).await;
    let id = running.id();
    let ended = if more.is_empty() {
        running
    } else {
        running.wait_for_log("the status page is at http://").await;
        let page = Page { address: super::address_in(&running.log()), running };
        for path in ["/metrics", "/?lang=en", "/metrics", "/?lang=fr", "/style.css", "/metrics"] {
            assert_eq!(page.get(path).await.status, 200);
        }
        page.running
    };
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    let kib = line.trim().strip_suffix(" kB").unwrap().parse().unwrap();
    let mut running = ended;
    running.kill().await;
    kib
}

/// Of the program as it is installed; one without optimisation is three times as large.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn the_page_and_the_metrics_take_two_megabytes_at_most() {
    let (mut without, mut with) = (Vec::new(), Vec::new());
    for _ in 0..5 {
        without.push(at_rest("").await);
        with.push(at_rest(PAGE).await);
    }
    without.sort_unstable();
    with.sort_unstable();
    println!("at rest {} KiB, with the page and metrics {} KiB (medians of 5)", without[2], with[2]);
    assert!(!is_as_installed() || with[2] < without[2] + 2 * 1024, "{without:?} {with:?}");
}

/// Each of these takes less than so many milliseconds in the middle, of eleven times; prints the row of
/// tests/README.md.
async fn assert_takes<F: AsyncFnMut()>(what: &str, most: u64, mut once: F) {
    let mut took = Vec::new();
    for _ in 0..11 {
        let began = std::time::Instant::now();
        once().await;
        took.push(began.elapsed());
    }
    took.sort();
    println!("| {what} | {:.1} ms | {:.1} ms |", 1e3 * took[5].as_secs_f64(), 1e3 * took[10].as_secs_f64());
    assert!(!is_as_installed() || took[5] < Duration::from_millis(most), "{what}: {took:?}");
}

/// With a million letters and their names: a scrape takes under 5 ms; `find` under 100 ms, whether it finds one,
/// thousands or none, in whatever time, and so does the search of the page; nobody who looks waits for a second.
#[tokio::test]
#[ignore = "takes minutes: .ci/long runs it"]
async fn whoever_asks_is_answered_at_once_whatever_the_ledger_holds() {
    let (practice, _) = practice_with_small(1).await;
    practice.configure(PAGE);
    assert_eq!(practice.sync().await.code, 0);
    fill(&practice, 1_000_000, now() - DAY);
    fill_names(&practice);
    let mut page = Page::of(&practice).await;
    let key = page.key(&practice).await;
    assert_takes("`/metrics`", 5, async || assert_eq!(page.get("/metrics").await.status, 200)).await;
    assert_takes("the status page", 1000, async || assert_eq!(page.with_key(&key).await.status, 200)).await;
    let day = (jiff::Zoned::now().date() - jiff::ToSpan::days(300)).to_string();
    for (words, some) in [
        ("surname123", true),
        ("surname123 first26", true),
        ("first26", true),
        ("referral", true),
        ("s", true),
        ("surn", true),
        ("surname122 referral letter", true),
        ("first26 surname12 surname9", false),
        ("urname123", true),
        ("nobody", false),
        ("19800314", false),
        ("referral --since 2d", true),
        ("referral --since 1h", false),
        // Common words, never together, or not in this order.
        ("referral slip", false),
        ("slip referral letter", false),
        ("22-2026", false),
        ("surname1 pdf-letter", false),
        ("referral letter pdf", true),
        ("lab slip --since 400d", true),
        ("first26 --since 400d", true),
        ("nobody --since 400d", false),
    ] {
        let arguments: Vec<&str> = std::iter::once("find").chain(words.split(' ')).collect();
        assert_takes(&format!("`find {words}`"), 100, async || {
            let ended = practice.docsyncd(&arguments).await;
            assert_eq!(ended.stdout.contains("Surname"), some, "{words}: {ended:?}");
        })
        .await;
    }
    let token = page.with_key(&key).await.token();
    let origin = format!("http://{}", page.address);
    for (fields, some) in [
        ("words=referral".to_owned(), true),
        (format!("words=referral&day={day}"), true),
        ("words=urname123".to_owned(), true),
        ("words=referral+slip".to_owned(), false),
    ] {
        let body = format!("token={token}&{fields}");
        assert_takes(&format!("the page with a search, `{fields}`").replace(&day, "DAY"), 1000, async || {
            let found = page.ask("POST", "/find", &[("Cookie", &key), ("Origin", &origin)], &body).await;
            // Names stand in what failed, too.
            let search = found.body.split_once("class=\"search\"").and_then(|(_, rest)| rest.split_once("</section>"));
            let hits = search.map_or("", |(hits, _)| hits);
            assert_eq!((found.status, hits.contains("Surname")), (200, some), "{fields}: {hits}");
        })
        .await;
    }
    for arguments in [&["status"][..], &["list", "--limit", "20"], &["list", "--state", "failed"]] {
        assert_takes(&format!("`{}`", arguments.join(" ")), 1000, async || {
            assert_eq!(practice.docsyncd(arguments).await.code, 0);
        })
        .await;
    }
    page.running.end().await;
}
