//! Environment variables over the file.

use super::schema::{Key, Kind};
use super::*;
use std::time::Duration;

#[test]
fn every_kind_of_value_can_be_overridden() {
    let text = format!(
        "{LEAST}[destinations.lab]\ntype = \"command\"\nprogram = \"lab\"\n[[routes]]\nanonymized = true\nto = [\"pms\"]\n"
    );
    let variables = [
        ("DOCSYNCD__API__BASE_URL", "http://127.0.0.1:8080"),
        ("DOCSYNCD__API__TIMEOUT", "5s"),
        ("DOCSYNCD__API__PROXY", "http://proxy:1"),
        ("docsyncd__sync__max_concurrency", " 3 "),
        ("DOCSYNCD__SYNC__MAX_PDF_BYTES", "1MiB"),
        ("DOCSYNCD__DESTINATIONS__PMS__FILE_MODE", "0640"),
        ("DOCSYNCD__DESTINATIONS__PMS__FILE_NAME", "{{ document.uuid }}.pdf"),
        ("DOCSYNCD__DESTINATIONS__LAB__ARGS", r#"["--a,b", "{{ file }}"]"#),
        ("DOCSYNCD__ROUTES__0__TO", "pms, lab"),
        ("DOCSYNCD__ROUTES__0__ANONYMIZED", "no"),
        ("DOCSYNCD__ROUTES__1__TO", "[\"lab\"]"),
        ("DOCSYNCD__LOG__LEVEL", "DEBUG"),
        ("PATH", "/bin"),
    ];
    let config = loaded(&text, &variables).config;
    assert_eq!(config.api.base_url.as_str(), "http://127.0.0.1:8080/");
    assert_eq!(config.api.timeout, Duration::from_secs(5));
    assert_eq!(config.api.proxy.unwrap().as_str(), "http://proxy:1/");
    assert_eq!((config.sync.max_concurrency, config.sync.max_pdf_bytes), (3, 1 << 20));
    assert_eq!(config.log.level, tracing::level_filters::LevelFilter::DEBUG);
    let folder = config.destinations["pms"].of::<FolderConfig>().unwrap();
    assert_eq!((folder.file_mode, folder.file_name.source()), (0o640, "{{ document.uuid }}.pdf"));
    let command = config.destinations["lab"].of::<CommandConfig>().unwrap();
    assert_eq!(command.args.iter().map(|arg| arg.source()).collect::<Vec<_>>(), ["--a,b", "{{ file }}"]);
    assert_eq!(config.routes.len(), 2);
    assert_eq!((config.routes[0].to.join("+"), config.routes[0].anonymized), ("pms+lab".into(), Some(false)));
    assert_eq!(config.routes[1].to, ["lab"]);
}

/// Each value of the file that has every option on comes from a variable instead, and each secret beside them.
#[test]
fn every_key_has_its_variable() {
    let file = write(files::with_options_on(template()));
    let in_file = file.load(&[]).unwrap().effective;
    let is_secret = |key: &Key| key.kind == Kind::Secret;
    let variable = |key: &'static Key| {
        let file_of_secret = format!("{}_file", key.path);
        let wanted = if is_secret(key) { file_of_secret.as_str() } else { key.path };
        let found = in_file.iter().find(|setting| setting.declared.path == wanted && setting.origin != Origin::Default);
        let setting = found.unwrap_or_else(|| panic!("config/docsyncd.toml has no `#{} = …`", key.name()));
        // A text loses its quotation marks.
        let value = format!("value = {}", setting.value).parse::<toml::Table>().unwrap().remove("value").unwrap();
        let text = value.as_str().map_or_else(|| setting.value.clone(), str::to_owned);
        let instance = setting.instance.as_deref();
        (key.at(instance), key.variable(instance), if is_secret(key) { "secret".to_owned() } else { text })
    };
    // Nobody gives a secret and its file both.
    for of_secrets in [false, true] {
        let keys = SCHEMA.keys().iter().filter(|key| is_secret(key) == of_secrets);
        let variables: Vec<_> = keys.map(variable).collect();
        let given = variables.iter().map(|(_, variable, text)| (variable, text));
        let loaded = SCHEMA.load(&file.path, given).unwrap_or_else(|error| panic!("{error}"));
        for (key, variable, _) in &variables {
            assert_eq!(effective(&loaded, key).place, format!("environment variable {variable}"));
        }
    }
}

#[test]
fn text_that_looks_like_a_number_stays_text() {
    let text =
        LEAST.replace("api_key_file = \"api-key\"", "auth = \"oauth\"\nclient_secret_file = \"x\"\nclient_id = \"a\"");
    for written in ["007", "0123", "1e5", "true", "0x10", "12345678901234567890", "1_000"] {
        let config = loaded(&text, &[("DOCSYNCD__ACCOUNTS__MAIN__CLIENT_ID", written)]).config;
        let Auth::OAuth(oauth) = &config.accounts["main"].auth else { panic!() };
        assert_eq!(oauth.client_id, written);
        let config = loaded(LEAST, &[("DOCSYNCD__DESTINATIONS__PMS__PATH", written)]).config;
        let folder = config.destinations["pms"].of::<FolderConfig>().unwrap();
        assert!(folder.path.ends_with(written));
    }
}

#[test]
fn names_are_found_whatever_their_case_and_dashes_or_are_new() {
    let text = LEAST.replace("destinations.pms", "destinations.Main-PMS");
    let config = loaded(&text, &[("DOCSYNCD__DESTINATIONS__MAIN_PMS__PATH", "other")]).config;
    let folder = config.destinations["Main-PMS"].of::<FolderConfig>().unwrap();
    assert!(folder.path.ends_with("other"));
    let config = loaded(LEAST, &[("DOCSYNCD__ACCOUNTS__SECOND__API_KEY_FILE", "second-key")]).config;
    assert_eq!(config.accounts.keys().collect::<Vec<_>>(), ["main", "second"]);
    let two = LEAST.replace("[accounts.main]", "[accounts.Main]\napi_key_file = \"a\"\n[accounts.main]");
    let text = error(&two, &[("DOCSYNCD__ACCOUNTS__MAIN__API_KEY_FILE", "x")]);
    assert!(text.contains("`accounts.Main` as well as `accounts.main`"), "{text}");
    assert!(write(&two).load(&[("DOCSYNCD__ACCOUNTS__main__API_KEY_FILE", "x")]).is_ok());
}

#[test]
fn a_variable_that_changes_the_sign_in_brings_its_defaults() {
    let text = with("accounts.main", "auth = \"api_key\"");
    let variables = [
        ("DOCSYNCD__ACCOUNTS__MAIN__AUTH", "oauth"),
        ("DOCSYNCD__ACCOUNTS__MAIN__API_KEY_FILE", ""),
        ("DOCSYNCD__ACCOUNTS__MAIN__CLIENT_ID", "id"),
        ("DOCSYNCD__ACCOUNTS__MAIN__CLIENT_SECRET_FILE", "secret"),
    ];
    let config = loaded(&text, &variables).config;
    let Auth::OAuth(oauth) = &config.accounts["main"].auth else { panic!() };
    assert_eq!(oauth.scopes.len(), 5);
}

#[test]
fn the_whole_configuration_can_come_from_the_environment() {
    let variables = [
        ("DOCSYNCD__API__BASE_URL", "https://api.example.test"),
        ("DOCSYNCD__ACCOUNTS__MAIN__API_KEY", "canary"),
        ("DOCSYNCD__DESTINATIONS__PMS__TYPE", "Folder"),
        ("DOCSYNCD__DESTINATIONS__PMS__PATH", "import"),
    ];
    let config = loaded("", &variables).config;
    assert!(matches!(&config.accounts["main"].auth, Auth::ApiKey(_)));
    assert_eq!(config.routes.len(), 1);
}

#[test]
fn a_variable_replaces_one_value_as_a_whole_in_any_table() {
    let web =
        "[destinations.Web-1]\ntype = \"http\"\nurl = \"https://h.test/in\"\nheaders = { A = \"a\", B = \"b\" }\n";
    let routes: String = (0..12).map(|n| format!("[[routes]]\ntypes = [\"t{n}\"]\nto = [\"pms\"]\n")).collect();
    let variables =
        [("DOCSYNCD__DESTINATIONS__WEB_1__HEADERS", "{ B = \"c\" }"), ("DOCSYNCD__ROUTES__10__TO", "Web-1")];
    let config = loaded(&format!("{LEAST}{web}{routes}"), &variables).config;
    let http = config.destinations["Web-1"].of::<HttpConfig>().unwrap();
    assert_eq!(http.headers.iter().map(|(name, text)| (&**name, text.source())).collect::<Vec<_>>(), [("B", "c")]);
    for (n, route) in config.routes.iter().enumerate() {
        assert_eq!(route.types, [format!("t{n}")]);
        assert_eq!(route.to, [if n == 10 { "Web-1" } else { "pms" }]);
    }
}

#[test]
fn an_empty_variable_takes_an_optional_value_away_and_nothing_else() {
    let text = with("api", "proxy = \"http://proxy:1\"");
    assert!(loaded(&text, &[("DOCSYNCD__API__PROXY", "")]).config.api.proxy.is_none());
    let text = error(LEAST, &[("DOCSYNCD__API__TIMEOUT", " ")]);
    assert!(text.contains("environment variable DOCSYNCD__API__TIMEOUT: `api.timeout` is empty"), "{text}");
}

#[test]
fn an_unknown_variable_names_the_nearest() {
    insta::assert_snapshot!(error(LEAST, &[
        ("DOCSYNCD__SYNC__POL_INTERVAL", "60s"),
        ("DOCSYNCD__SNYC__POLL_INTERVAL", "60s"),
        ("DOCSYNCD__DESTINATIONS__PMS__PAHT", "x"),
        ("DOCSYNCD__DESTINATIONS__PATH", "x"),
        ("DOCSYNCD__ROUTES__X__TO", "x"),
        ("DOCSYNCD__ROUTES__5__TO", "pms"),
        ("DOCSYNCD__API", "x"),
        ("DOCSYNCD__", "x"),
        ("DOCSYNCD__SYNC__POLL__INTERVAL", "x"),
        ("DOCSYNCD__ACCOUNTS__\u{e4}__AUTH", "api_key"),
    ]), @r#"
    the configuration has 10 errors:
    environment variable DOCSYNCD__: unknown key ``
      The nearest known key is `api.base_url`: DOCSYNCD__API__BASE_URL.
    environment variable DOCSYNCD__ACCOUNTS__ä__AUTH: `accounts.\u{e4}` is not a name that can be used
      Use 1 to 64 letters A to Z, digits, - and _, as in [accounts.main].
    environment variable DOCSYNCD__API: it does not name a key of `api`
      Write it as in DOCSYNCD__API__BASE_URL.
    environment variable DOCSYNCD__DESTINATIONS__PATH: it does not name a key of `destinations`
      Write it as in DOCSYNCD__DESTINATIONS__NAME__TYPE.
    environment variable DOCSYNCD__DESTINATIONS__PMS__PAHT: unknown key `destinations.pms.paht`
      The nearest known key is `destinations.pms.path`: DOCSYNCD__DESTINATIONS__PMS__PATH.
    environment variable DOCSYNCD__ROUTES__5__TO: there is no `routes[5]`, and none before it to follow
      The next one that can be added is DOCSYNCD__ROUTES__0__TO.
    environment variable DOCSYNCD__ROUTES__X__TO: it does not name a key of `routes`
      Write it as in DOCSYNCD__ROUTES__0__ACCOUNTS.
    environment variable DOCSYNCD__SNYC__POLL_INTERVAL: unknown key `snyc.poll_interval`
      The nearest known key is `sync.poll_interval`: DOCSYNCD__SYNC__POLL_INTERVAL.
    environment variable DOCSYNCD__SYNC__POLL__INTERVAL: unknown key `sync.poll.interval`
      The nearest known key is `sync.poll_interval`: DOCSYNCD__SYNC__POLL_INTERVAL.
    environment variable DOCSYNCD__SYNC__POL_INTERVAL: unknown key `sync.pol_interval`
      The nearest known key is `sync.poll_interval`: DOCSYNCD__SYNC__POLL_INTERVAL.
    "#);
}

#[test]
fn a_wrong_value_names_the_variable() {
    for (name, value, says) in [
        (
            "DOCSYNCD__SYNC__POLL_INTERVAL",
            "60",
            "`sync.poll_interval` is a number without a unit\n  If these are seconds, write poll_interval = \"60s\".",
        ),
        ("DOCSYNCD__SYNC__MAX_CONCURRENCY", "many", "`sync.max_concurrency` is not a whole number"),
        ("DOCSYNCD__SYNC__MAX_CONCURRENCY", "1000", "Write a number from 1 to 256."),
        ("DOCSYNCD__ROUTES__0__ANONYMIZED", "maybe", "`routes[0].anonymized` is neither true nor false"),
        ("DOCSYNCD__DESTINATIONS__PMS__PROGRAM", "x", "belongs to type = \"command\""),
        ("DOCSYNCD__API__BASE_URL", "http://api.example.test", "Write https://"),
        ("DOCSYNCD__ROUTES__0__TO", "[\"pms\"", "is not a list"),
        ("DOCSYNCD__ROUTES__0__TO", "pmz", "The nearest destination is \"pms\"."),
    ] {
        let text = error(&format!("{LEAST}[[routes]]\nto = [\"pms\"]\n"), &[(name, value)]);
        assert!(text.starts_with(&format!("environment variable {name}: ")) && text.contains(says), "{text}");
    }
    let twice = error(LEAST, &[("DOCSYNCD__API__TIMEOUT", "1s"), ("docsyncd__api__timeout", "2s")]);
    assert!(twice.contains("as DOCSYNCD__API__TIMEOUT does already"), "{twice}");
}

#[cfg(unix)]
#[test]
fn a_variable_that_is_not_text_is_refused() {
    use std::os::unix::ffi::OsStringExt as _;
    let bad = OsString::from_vec(b"caf\xe9".to_vec());
    let text =
        SCHEMA.load(&write(LEAST).path, [(OsString::from("DOCSYNCD__DESTINATIONS__PMS__PATH"), bad)]).unwrap_err();
    assert!(text.to_string().contains("is not valid text"), "{text}");
}
