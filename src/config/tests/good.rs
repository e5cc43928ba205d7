//! The values of valid configurations.

use super::*;
use std::time::Duration;

use crate::formats::language::Language;

#[test]
fn the_least_configuration_has_every_default() {
    let file = write(LEAST);
    let Loaded { config, warnings, .. } = file.load(&[]).unwrap();
    assert_eq!(warnings, Vec::<String>::new());
    assert_eq!(config.api.base_url.as_str(), "https://api.example.test/");
    assert_eq!(config.api.timeout, Duration::from_secs(30));
    assert_eq!(config.sync.poll_interval, Duration::from_secs(60));
    assert_eq!(config.sync.reconcile_interval, Duration::from_secs(6 * 3600));
    assert_eq!(config.sync.max_concurrency, 16);
    assert_eq!(config.sync.max_pdf_bytes, 100 * 1024 * 1024);
    assert_eq!(config.sync.give_up_after, Duration::from_secs(7 * 24 * 3600));
    assert_eq!((config.retry.initial, config.retry.max), (Duration::from_secs(1), Duration::from_secs(900)));
    assert_eq!(config.log.level, tracing::level_filters::LevelFilter::INFO);
    assert_eq!((config.log.format, config.log.max_size, config.log.max_files), (LogFormat::Text, 10 << 20, 5));
    assert!(
        matches!(&config.accounts["main"].auth, Auth::ApiKey(Secret::File(path)) if file.relative(path) == Path::new("api-key"))
    );
    let folder = folder(&config);
    assert_eq!((folder.file_mode, folder.dir_mode), (0o600, 0o700));
    assert_eq!(file.relative(&folder.path), Path::new("import"));
    assert!(
        folder.file_name.source().starts_with("{{ patient.lastName }}_{{ patient.firstName }}_{{ patient.dateOfBirth")
    );
    assert!(folder.marker.is_none());
    assert!(folder.sidecar.is_none());
    if cfg!(unix) {
        assert_eq!(config.state.path, Path::new("/var/lib/docsyncd/ledger.sqlite3"));
    }
}

#[test]
fn a_whole_configuration_of_two_destinations_loads_without_a_warning() {
    let share = if cfg!(windows) { r"\\server\pms\import" } else { "/mnt/import" };
    let text = format!(
        r#"
[api]
base_url = "https://api.example.test"
app_url = "https://app.example.test"
timeout = "30s"
[accounts.main]
auth = "api_key"
api_key_file = 'keys/api-key'
[sync]
poll_interval = "60s"
reconcile_interval = "6h"
max_concurrency = 16
max_pdf_bytes = "100MiB"
give_up_after = "7d"
[retry]
initial = "1s"
max = "15m"
[destinations.pms]
type = "folder"
path = '{share}'
file_name = "{{{{ patient.lastName }}}}_{{{{ patient.firstName }}}}_{{{{ patient.dateOfBirth | date }}}}/{{{{ document.createdAt | date }}}}_{{{{ document.type }}}}.pdf"
sidecar = "<d>{{{{ document.uuid }}}}</d>"
sidecar_name = "{{{{ file_stem }}}}.xml"
[destinations.scan]
type = "command"
program = "import-letter"
args = ["{{{{ file }}}}"]
[[routes]]
types = ["lab_slip"]
to = ["pms", "scan"]
[state]
path = 'state/ledger.sqlite3'
[log]
level = "info"
format = "json"
"#
    );
    let Loaded { config, warnings, .. } = loaded(&text, &[]);
    assert_eq!(warnings, Vec::<String>::new());
    assert_eq!(folder(&config).path, Path::new(share));
    let sidecar = folder(&config).sidecar.as_ref().unwrap();
    assert_eq!(
        (sidecar.name.source(), sidecar.content.source()),
        ("{{ file_stem }}.xml", "<d>{{ document.uuid }}</d>")
    );
    assert_eq!(config.log.format, LogFormat::Json);
    assert_eq!(config.routes[0].to, ["pms", "scan"]);
}

#[test]
fn without_routes_everything_goes_to_the_only_destination() {
    let config = loaded(LEAST, &[]).config;
    assert_eq!(
        config.routes,
        [crate::domain::route::Route { to: vec!["pms".into()], is_implicit: true, ..Default::default() }]
    );
}

#[test]
fn tests_may_wait_for_milliseconds_only() {
    let text = format!(
        "{LEAST}[sync]\npoll_interval = \"100ms\"\nreconcile_interval = \"100ms\"\ngive_up_after = \"10ms\"\n\
                        [retry]\ninitial = \"1ms\"\nmax = \"10ms\"\n"
    );
    let config = loaded(&text, &[]).config;
    assert_eq!(config.sync.poll_interval, Duration::from_millis(100));
    assert_eq!(config.retry.initial, Duration::from_millis(1));
}

#[test]
fn sizes_are_binary_decimal_or_plain_bytes() {
    for (written, bytes) in [
        ("\"100MiB\"", 104_857_600),
        ("\"10MB\"", 10_000_000),
        ("\"500KiB\"", 512_000),
        ("\"1.5 GiB\"", 1_610_612_736),
        ("\"2048\"", 2048),
        ("1_000", 1000),
        ("0x10", 16),
    ] {
        let config = loaded(&with("sync", &format!("max_pdf_bytes = {written}")), &[]).config;
        assert_eq!(config.sync.max_pdf_bytes, bytes, "{written}");
    }
}

#[test]
fn addresses_end_with_a_slash_and_may_be_http_on_loopback() {
    for (written, kept) in [
        ("https://api.example.test/v1", "https://api.example.test/v1/"),
        ("HTTPS://API.example.test/v1/", "https://api.example.test/v1/"),
        ("http://localhost:8080", "http://localhost:8080/"),
        ("http://127.0.0.1:1", "http://127.0.0.1:1/"),
        ("http://127.9.9.9", "http://127.9.9.9/"),
        ("http://[::1]:9/x", "http://[::1]:9/x/"),
    ] {
        let text = LEAST.replace("https://api.example.test", written);
        assert_eq!(loaded(&text, &[]).config.api.base_url.as_str(), kept);
    }
}

#[test]
fn an_oauth_account_needs_no_scopes_and_no_port() {
    let text = LEAST
        .replace("api_key_file = \"api-key\"", "auth = \"oauth\"\nclient_id = \"id\"\nclient_secret_file = \"secret\"");
    let file = write(&text);
    let Loaded { config, warnings, .. } = file.load(&[]).unwrap();
    let Auth::OAuth(oauth) = &config.accounts["main"].auth else { panic!() };
    assert_eq!(oauth.scopes, ["profile", "organization", "read:documents", "write:documents", "read:patients"]);
    assert_eq!((oauth.redirect_port, oauth.redirect_path.as_str()), (0, "/callback"));
    let Secret::File(secret) = &oauth.client_secret else { panic!() };
    assert_eq!(file.relative(secret), Path::new("secret"));
    assert!(warnings[0].contains("api.app_url"), "{warnings:?}");
    let with_page = text.replace("[api]\n", "[api]\napp_url = \"https://app.example.test\"\n");
    assert!(loaded(&with_page, &[]).warnings.is_empty());
}

#[test]
fn the_authorization_page_is_below_the_address_of_the_application() {
    for (app, path, page) in [
        ("https://app.example.test", "", "https://app.example.test/authorize"),
        ("https://app.example.test/x/", "", "https://app.example.test/x/authorize"),
        (
            "https://app.example.test/x",
            "authorization_path = \"/oauth/authorize\"",
            "https://app.example.test/x/oauth/authorize",
        ),
    ] {
        let text = LEAST.replace("[api]\n", &format!("[api]\napp_url = \"{app}\"\n{path}\n"));
        let found = loaded(&text, &[]).config.api.authorization_page;
        assert_eq!(found.as_ref().map(url::Url::as_str), Some(page), "{app}");
    }
    assert_eq!(loaded(LEAST, &[]).config.api.authorization_page, None);
}

#[test]
fn a_program_without_a_folder_is_left_to_path_and_one_with_a_folder_is_not() {
    for (written, kept) in
        [("import-letter", None), ("./import-letter", Some("import-letter")), ("bin/import", Some("bin/import"))]
    {
        let text = LEAST
            .replace("type = \"folder\"\npath = \"import\"", &format!("type = \"command\"\nprogram = \"{written}\""));
        let file = write(&text);
        let config = file.load(&[]).unwrap().config;
        let command = config.destinations["pms"].of::<CommandConfig>().unwrap();
        match kept {
            None => assert_eq!(command.program, Path::new(written)),
            Some(kept) => assert_eq!(file.relative(&command.program), Path::new(kept)),
        }
        assert!(command.args.is_empty());
        assert_eq!(command.timeout, Duration::from_secs(60));
    }
}

#[test]
fn what_is_shown_names_where_every_value_came_from() {
    let file = write(with("sync", "poll_interval = '90s'"));
    let shown = file.load(&[("docsyncd__Api__Timeout", "10s")]).unwrap();
    let line = |key| {
        let Setting { value, place, .. } = effective(&shown, key);
        file.neutral(&format!("{value} ({place})"))
    };
    assert_eq!(line("sync.poll_interval"), r#""90s" (FOLDER/docsyncd.toml, line 10)"#);
    assert_eq!(line("api.timeout"), r#""10s" (environment variable docsyncd__Api__Timeout)"#);
    assert_eq!(line("sync.reconcile_interval"), r#""6h" (default)"#);
    assert_eq!(line("sync.max_concurrency"), "16 (default)");
    assert_eq!(line("accounts.main.auth"), r#""api_key" (default)"#);
    let absolute = effective(&shown, "destinations.pms.path").value.clone();
    assert!(absolute.contains(file.folder.path().file_name().unwrap().to_str().unwrap()), "{absolute}");
    assert!(!shown.effective.iter().any(|setting| setting.key == "accounts.main.scopes"));
}

#[test]
fn the_hash_follows_the_file() {
    let (one, two) = (loaded(LEAST, &[]), loaded(&format!("{LEAST}\n"), &[]));
    assert_eq!(one.file_sha256.len(), 64);
    assert_ne!(one.file_sha256, two.file_sha256);
    let overridden = |text: &str| loaded(LEAST, &[("DOCSYNCD__API__TIMEOUT", text)]).sha256();
    assert_eq!(one.sha256(), one.file_sha256);
    assert_ne!(overridden("5s"), one.sha256(), "a variable changes what is in force");
    assert_ne!(overridden("5s"), overridden("6s"));
}

/// A route takes nothing if an earlier one takes everything that it could.
#[test]
fn a_route_behind_one_that_takes_the_same_is_warned_of() {
    let warned = |routes: &[&str]| {
        let tables: String = routes.iter().map(|route| format!("[[routes]]\n{route}\nto = [\"pms\"]\n")).collect();
        loaded(&format!("{LEAST}{tables}"), &[])
            .warnings
            .iter()
            .filter(|warning| warning.contains("never reached"))
            .count()
    };
    let slips = "types = [\"lab_slip\"]";
    for (routes, count) in [
        (&[slips, slips][..], 1),
        (&["types = [\"lab_slip\", \"endo_report\"]", slips, ""], 1),
        (&[slips, "types = [\"lab_slip\", \"endo_report\"]"], 0),
        (&["users = [\"Anna@practice.test\"]", "users = [\"anna@PRACTICE.test\"]\nanonymized = true", slips], 1),
        (&["anonymized = true", "anonymized = false", slips], 0),
        (&["anonymized = true", slips, "types = [\"lab_slip\"]\nanonymized = true", ""], 1),
        (&["visibility = \"private\"", ""], 0),
        (&["", slips, "anonymized = true"], 2),
    ] {
        assert_eq!(warned(routes), count, "{routes:?}");
    }
}

#[test]
fn what_can_be_meant_is_only_warned_of() {
    let text = format!(
        "{LEAST}sidecar_name = \"x.txt\"\n[destinations.lab]\ntype = \"command\"\nprogram = \"lab\"\n\
                        args = [\"{{{{ patient.externalId }}}}\"]\n[[routes]]\ntypes = [\"lab_slips\"]\nto = [\"pms\"]\n[[routes]]\nto = [\"pms\"]\n\
                        [[routes]]\nusers = []\nto = [\"pms\"]\n"
    );
    let file = write(&text);
    let warnings = file.load(&[("DOCSYNCD_API_TIMEOUT", "3s")]).unwrap().warnings;
    insta::assert_snapshot!(file.neutral(&warnings.join("\n")), @r#"
    FOLDER/docsyncd.toml, line 9: `destinations.pms.sidecar_name` has no effect without `sidecar`
    FOLDER/docsyncd.toml, line 11: `destinations.lab.type` is of a destination that no route sends documents to
    FOLDER/docsyncd.toml, line 13: `destinations.lab.args` uses `patient.externalId`, which the API takes and never gives back
    FOLDER/docsyncd.toml, line 15: `routes[0].types` holds "lab_slips", which the API does not document; the nearest that it does is "lab_slip"
    FOLDER/docsyncd.toml, line 20: `routes[2].users` is empty, so the route takes all of them; leave it out to say so
    FOLDER/docsyncd.toml, line 21: `routes[2].to` is never reached, because `routes[1]` before it takes every document
    environment variable DOCSYNCD_API_TIMEOUT: it has no effect; DOCSYNCD__API__TIMEOUT would have one: with two underscores in each place
    "#);
}

#[test]
fn a_condition_at_an_address_that_two_versions_share_is_warned_of() {
    let folder = "type = \"folder\"\npath = \"import\"";
    let warnings = |url: &str, header: &str| {
        let to = format!("type = \"http\"\nurl = \"https://h.test/{url}\"\nheaders = {{ {header} = \"*\" }}");
        loaded(&LEAST.replace(folder, &to), &[]).warnings
    };
    let warned = warnings("{{ document.uuid }}.pdf", "If-None-Match");
    assert!(warned.len() == 1 && warned[0].contains("{{ key }}"), "{warned:?}");
    for (url, header) in [("{{ key }}", "If-None-Match"), ("{{ document.uuid }}", "X-Other")] {
        assert_eq!(warnings(url, header), Vec::<String>::new());
    }
}

#[test]
fn alarms_follow_the_language_of_everything_unless_they_have_their_own() {
    let own = with("alerts", "language = \"en\"");
    for (text, variables, everything, alarms) in [
        (LEAST.to_owned(), &[][..], None, Language::French),
        (format!("language = \"de\"\n{LEAST}"), &[], Some(Language::German), Language::German),
        (format!("language = \"de\"\n{own}"), &[], Some(Language::German), Language::English),
        (LEAST.to_owned(), &[("DOCSYNCD__LANGUAGE", "en")], Some(Language::English), Language::English),
        (format!("language = \"de\"\n{LEAST}"), &[("DOCSYNCD__LANGUAGE", "")], None, Language::French),
    ] {
        let loaded = loaded(&text, variables);
        assert_eq!((loaded.config.language, loaded.config.alerts.language), (everything, alarms), "{text}");
        let shown = effective(&loaded, "alerts.language");
        assert_eq!(shown.value, format!("\"{}\"", alarms.as_str()), "what holds is shown");
    }
    let below = error(&with("log", "language = \"de\""), &[]);
    assert!(below.contains("The nearest known key is `language`: write it at the top of the file"), "{below}");
    let wrong = error(&format!("language = \"es\"\n{LEAST}"), &[]);
    assert!(wrong.contains("line 1: `language` is none of"), "{wrong}");
}

#[test]
fn the_practice_is_named_and_its_days_may_be_dates_of_toml() {
    let text = "name = \" Cabinet Müller \"\ncontact = \"Müller IT, 030 1234\"\n\
                closed = [2026-11-11, \"2026-12-24..2027-01-02\"]";
    let practice = loaded(&with("practice", text), &[]).config.practice;
    assert_eq!(practice.name.as_deref(), Some("Cabinet Müller"));
    assert_eq!(practice.contact.as_deref(), Some("Müller IT, 030 1234"));
    let closed = practice.closed.iter().map(|days| format!("{}..{}", days.start(), days.end())).collect::<Vec<_>>();
    assert_eq!(closed, ["2026-11-11..2026-11-11", "2026-12-24..2027-01-02"]);
    assert_eq!(loaded(LEAST, &[]).config.practice, PracticeConfig::default());
}
