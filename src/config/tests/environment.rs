//! Environment variables over the file.

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

#[test]
fn every_key_has_its_variable() {
    let folder = "type = \"folder\"\npath = \"import\"";
    let commands = LEAST.replace(folder, "type = \"command\"\nprogram = \"x\"");
    let sftp = "type = \"sftp\"\npath = \"/inbox\"\nhost = \"h.test\"\nuser = \"u\"\nkey_file = \"k\"";
    let servers = LEAST.replace(folder, sftp);
    let certificate = "client_cert_file = \"c\"\nclient_key_file = \"c\"";
    let lookup = "lookup_field = \"f\"\nlookup_match = { f = \"{{ patient.dateOfBirth }}\" }";
    let http = LEAST.replace(folder, &format!("type = \"http\"\nurl = \"https://h.test/in\"\n{certificate}\n{lookup}"));
    let looking = http.replace("h.test/in", "h.test/{{ lookup }}");
    let password = "user = \"u\"\npassword_file = \"p\"";
    let webdav = format!("type = \"webdav\"\nurl = \"https://h.test/u\"\npath = \"/in\"\n{password}");
    let webdav = LEAST.replace(folder, &webdav);
    let bucket = "endpoint = \"https://h.test\"\nbucket = \"b\"";
    let secret = "access_key_id = \"AK\"\nsecret_access_key_file = \"s\"";
    let s3 = LEAST.replace(folder, &format!("type = \"s3\"\n{bucket}\n{secret}"));
    let fhir = LEAST.replace(folder, "type = \"fhir\"\nbase_url = \"https://h.test/fhir\"");
    let hl7 = LEAST.replace(folder, "type = \"hl7v2\"\nhost = \"engine.test\"");
    let dicom = LEAST.replace(folder, "type = \"dicom\"\nhost = \"pacs.test\"");
    let confirmed = with("destinations.pms", "confirm = \"taken\"");
    let webhook = format!("{LEAST}[webhook]\npublic_url = \"https://h.test/\"\nlisten = \"127.0.0.1:1\"\n");
    let page = "[status_page]\nlisten = \"127.0.0.1:1\"\ncertificate_file = \"c\"\ncertificate_key_file = \"k\"\n";
    let page = format!("{LEAST}{page}");
    let patients = format!("{LEAST}{}", super::patients::LIST);
    let smtp = "type = \"smtp\"\nhost = \"smtp.h.test\"\nfrom = \"a@b.test\"\nto = \"a@b.test\"";
    let smtp = LEAST.replace(folder, smtp);
    let vdds = LEAST.replace(folder, "type = \"vdds\"\narchive = \"PVS_ARCHIV\"");
    let told = "[alerts.mail]\nhost = \"smtp.h.test\"\nfrom = \"a@b.test\"\nto = [\"a@b.test\"]\n[alerts.pms]\n";
    let told = format!("{LEAST}{told}accounts = [\"main\"]\nto = [\"a@b.test\"]\nwebhook_url_file = \"w\"\n");
    for key in SCHEMA.keys().iter().filter(|key| key.only.is_none_or(|(_, values)| *values != ["oauth"])) {
        let instance = match key.shape() {
            schema::Shape::Plain => None,
            schema::Shape::Named => Some(if key.section() == "accounts" { "main" } else { "pms" }),
            schema::Shape::Listed => Some("0"),
        };
        let example =
            value::example(key).split_once(" = ").unwrap().1.trim_matches(['"', '\'']).replace("\"...\"", "\"pms\"");
        let example = if key.name() == "host_key" { format!("SHA256:{}", "A".repeat(43)) } else { example };
        let example = if key.name() == "host" { "sftp.lab.test".to_owned() } else { example };
        let example = match key.name() {
            "url" => "https://h.test/in".to_owned(),
            "confirm" => "taken".to_owned(),
            "confirm_failed" => "moved:refused".to_owned(),
            "check_url" => "https://h.test/status".to_owned(),
            "lookup_url" => "https://h.test/patients".to_owned(),
            "probe_contains" => "{ f = \"{{ key }}\" }".to_owned(),
            "probe_url" => "https://h.test/known/{{ key }}".to_owned(),
            "body" => "raw".to_owned(),
            "from" | "to" if key.section() == "destinations" => "a@b.test".to_owned(),
            "to" if key.section() == "alerts.*" => "[\"a@b.test\"]".to_owned(),
            "accounts" => "[\"main\", \"main\"]".to_owned(),
            "allowed_domains" => "[\"b.test\"]".to_owned(),
            _ => example,
        };
        let file = match key.only {
            Some(("type", values)) => match () {
                () if key.name().starts_with("confirm_") => &confirmed,
                () if values.contains(&"folder") => LEAST,
                () if values.contains(&"command") => &commands,
                () if values.contains(&"sftp") => &servers,
                () if key.name() == "password" => &webdav,
                () if key.name() == "lookup_url" => &looking,
                () if values.contains(&"http") => &http,
                () if values.contains(&"hl7v2") => &hl7,
                () if *values == ["dicom"] => &dicom,
                () if values.contains(&"fhir") && !values.contains(&"s3") => &fhir,
                () if values.contains(&"smtp") => &smtp,
                () if values.contains(&"vdds") => &vdds,
                () => &s3,
            },
            _ if key.section() == "status_page" => &page,
            _ if key.section() == "webhook" => &webhook,
            _ if key.section() == "alerts.*" => &told,
            _ if key.section() == "patients" => &patients,
            _ => LEAST,
        };
        let file = file.replace(if key.name() == "password_file" { "key_file = \"k\"" } else { "\0" }, "");
        let file = file
            .replace("api_key_file = \"api-key\"", if key.name() == "api_key" { "" } else { "api_key_file = \"k\"" });
        let mut variables = vec![(key.variable(instance), example), ("DOCSYNCD__ROUTES__0__TO".into(), "pms".into())];
        if key.path == "alerts.mail.host" {
            variables.extend(["FROM", "TO"].map(|name| (format!("DOCSYNCD__ALERTS__MAIL__{name}"), "a@b.test".into())));
        }
        let loaded =
            SCHEMA.load(&write(&file).path, variables.clone()).unwrap_or_else(|error| panic!("{variables:?}: {error}"));
        let origin = &effective(&loaded, &key.at(instance)).place;
        assert_eq!(origin, &format!("environment variable {}", variables[0].0));
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
