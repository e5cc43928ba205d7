//! Unknown keys, and keys in the wrong place.

use super::*;

#[test]
fn an_unknown_key_names_file_line_key_and_the_nearest() {
    insta::assert_snapshot!(error(&with("sync", "poll_intervall = \"60s\""), &[]), @r#"
    FOLDER/docsyncd.toml, line 10: unknown key `sync.poll_intervall`
      The nearest known key is `sync.poll_interval`.
    "#);
}

#[test]
fn everything_that_is_wrong_is_said_at_once_in_the_order_of_the_file() {
    let text = r#"
snyc_interval = "1m"
[api]
timeout = 30
base_url = "http://api.example.test/?a=b"
tls = { verify = false }
[account.main]
api_key_file = "x"
[accounts.main]
client_id = "1"
[destinations.pms]
type = "folder"
program = "x"
file_name = "{{ patient.lastName }"
[destinations."a b"]
type = "folder"
[[routes]]
to = ["pmz"]
type = ["lab_slip"]
[sync]
max_concurrency = 0
poll_interval = "0s"
"#;
    insta::assert_snapshot!(error(text, &[("DOCSYNCD__SYNC__MAX_PDF_BYTE", "1")]), @r#"
    the configuration has 16 errors:
    FOLDER/docsyncd.toml, line 2: unknown key `snyc_interval`
      The nearest known key is `sync.poll_interval`: write it below [sync].
    FOLDER/docsyncd.toml, line 4: `api.timeout` is a number without a unit
      If these are seconds, write timeout = "30s".
    FOLDER/docsyncd.toml, line 5: `api.base_url` would send secrets and patient data over the network unencrypted
      Write https://; http:// is for localhost, 127.0.0.1 and [::1] only.
    FOLDER/docsyncd.toml, line 6: unknown key `api.tls`
      The nearest known key is `destinations.NAME.tls`.
    FOLDER/docsyncd.toml, line 7: unknown section `account`
      The nearest known one is `accounts`: write [accounts.NAME].
    FOLDER/docsyncd.toml, line 9: `accounts.main.api_key_file` is missing
      Add api_key_file = "..." with the file that holds the key, or set DOCSYNCD__ACCOUNTS__MAIN__API_KEY.
    FOLDER/docsyncd.toml, line 10: `accounts.main.client_id` belongs to auth = "oauth", and here auth is "api_key"
      Remove `client_id`, or write auth = "oauth".
    FOLDER/docsyncd.toml, line 11: `destinations.pms.path` is missing
      Add path = "/folder/name" (the folder; it must exist).
    FOLDER/docsyncd.toml, line 13: `destinations.pms.program` belongs to type = "command" or "vdds", and here type is "folder"
      Remove `program`, or write type = "command" or "vdds".
    FOLDER/docsyncd.toml, line 14: `destinations.pms.file_name` is not a template that works: line 1: unexpected `}`, expected end of variable block
      Variables stand in double braces, as in {{ patient.lastName }} or {{ document.createdAt | date }}.
    FOLDER/docsyncd.toml, line 15: `destinations."a b"` is not a name that can be used
      Use 1 to 64 letters A to Z, digits, - and _, as in [destinations.main].
    FOLDER/docsyncd.toml, line 18: `routes[0].to` names "pmz", which is no destination
      The nearest destination is "pms".
    FOLDER/docsyncd.toml, line 19: unknown key `routes[0].type`
      The nearest known key is `routes[0].types`.
    FOLDER/docsyncd.toml, line 21: `sync.max_concurrency` is out of range
      Write a number from 1 to 256.
    FOLDER/docsyncd.toml, line 22: `sync.poll_interval` is too small
      Write at least "10ms".
    environment variable DOCSYNCD__SYNC__MAX_PDF_BYTE: unknown key `sync.max_pdf_byte`
      The nearest known key is `sync.max_pdf_bytes`: DOCSYNCD__SYNC__MAX_PDF_BYTES.
    "#);
}

#[test]
fn the_nearest_key_is_named_for_every_kind_of_place() {
    for (section, line, nearest) in [
        ("api", "baseurl = 1", "`api.base_url`"),
        ("accounts.main", "clientsecretfile = \"x\"", "`accounts.main.client_secret_file`"),
        ("accounts.main", "key_file = \"x\"", "`accounts.main.api_key_file`"),
        ("destinations.pms", "filename = \"x\"", "`destinations.pms.file_name`"),
        ("retry", "maximum = \"x\"", "`retry.max`"),
        ("state", "ledger_path = \"x\"", "`state.path`"),
        ("log", "colour = \"x\"", "`log."),
        ("sync", "timeout = \"3s\"", "`api.timeout`"),
        ("logs", "level = \"info\"", "`log`: write [log]"),
        ("destination.pms", "type = \"folder\"", "`destinations`: write [destinations.NAME]"),
        ("alerts.mial", "host = \"x\"", "`alerts.mail`: write [alerts.mail]"),
        ("alerts.email", "host = \"x\"", "`alerts.mail`: write [alerts.mail]"),
        ("alerts.Mail", "host = \"x\"", "`alerts.mail`: write [alerts.mail]"),
        ("alerts.mail", "password = \"x\"", "`alerts.mail.password_file`"),
        ("alerts", "to = [\"a@b.test\"]", "`alerts.mail.to`"),
        ("status_page", "port = 8977", "`status_page.listen`"),
        ("[route]", "to = [\"pms\"]", "`routes`: write [[routes]]"),
    ] {
        let text = error(&with(section, line), &[]);
        assert!(text.contains("unknown") && text.contains(nearest) && text.contains("nearest"), "{text}");
    }
    for (variable, nearest) in [
        ("DOCSYNCD__ALERTS__MIAL__HOST", "`alerts.mail.host`: DOCSYNCD__ALERTS__MAIL__HOST"),
        ("DOCSYNCD__ALERTS__NORTH__ACOUNTS", "`alerts."),
        ("DOCSYNCD__ALERTS__MAIL__HOTS", "`alerts.mail.host`: DOCSYNCD__ALERTS__MAIL__HOST"),
        ("DOCSYNCD__ALERTS__MAIL__PASSWORD", "`alerts.mail.password_file`: DOCSYNCD__ALERTS__MAIL__PASSWORD_FILE"),
        ("DOCSYNCD__ALERTS__WEBHOOK__URL_FILE", "`alerts.webhook_url_file`: DOCSYNCD__ALERTS__WEBHOOK_URL_FILE"),
    ] {
        let text = error(LEAST, &[(variable, "x")]);
        assert!(text.contains("unknown key") && text.contains(nearest), "{text}");
    }
    let top = error(&format!("poll_interval = \"1m\"\n{LEAST}"), &[]);
    assert!(top.contains("line 1: unknown key `poll_interval`") && top.contains("write it below [sync]"), "{top}");
}

#[test]
fn keys_of_another_type_or_sign_in_say_where_they_belong() {
    for (section, line, says) in [
        (
            "destinations.pms",
            "program = \"x\"",
            "`destinations.pms.program` belongs to type = \"command\" or \"vdds\", and here type is \"folder\"",
        ),
        ("destinations.pms", "timeout = \"3s\"", "belongs to type = \"command\""),
        ("accounts.main", "client_id = \"x\"", "`accounts.main.client_id` belongs to auth = \"oauth\""),
        ("accounts.main", "auth = \"oauth\"", "`accounts.main.api_key_file` belongs to auth = \"api_key\""),
    ] {
        let text = error(&with(section, line), &[]);
        assert!(text.contains(says), "{text}");
    }
}

#[test]
fn tables_of_the_wrong_shape_are_shown_the_right_one() {
    for (text, says) in [
        (format!("{LEAST}[routes]\nto = [\"pms\"]\n"), "`routes` must be [[routes]]"),
        (format!("routes = [\"pms\"]\n{LEAST}"), "`routes[0]` must be a table"),
        (LEAST.replace("[accounts.main]", "[accounts]"), "write [accounts.main] above this line"),
        (format!("sync = \"60s\"\n{LEAST}"), "`sync` must be [sync]"),
        (format!("accounts = 1\n{}", LEAST.replace("[accounts.main]", "[log]")), "`accounts` must be [accounts.NAME]"),
        (LEAST.replace("[destinations.pms]", "[destinations.\"\"]"), "has an empty name"),
        (
            LEAST.replace("[destinations.pms]", "[destinations.\"a/b\"]"),
            "`destinations.\"a/b\"` is not a name that can be used",
        ),
        (LEAST.replace("[destinations.pms]", "[destinations.\"p\u{e4}ms\"]"), "letters A to Z, digits, - and _"),
    ] {
        let text = error(&text, &[]);
        assert!(text.contains(says), "{text}");
    }
}
