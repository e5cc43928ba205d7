//! What is shown of a line with a mistake.

use super::*;
use crate::config::excerpt::{line_of, showable};

#[test]
fn only_lines_that_cannot_hold_a_secret_are_shown_whole() {
    for (line, shown) in [
        ("timeout = 30s", Some(("timeout = 30s", true))),
        ("[accounts.main", Some(("[accounts.main", true))),
        ("path = \"C:\\import\"", Some(("path = \"C:\\import\"", true))),
        ("api_key = \"canary", Some(("api_key = (value not shown)", false))),
        ("api_key_file = canary", Some(("api_key_file = (value not shown)", false))),
        ("client_secret = canary", Some(("client_secret = (value not shown)", false))),
        ("client_password = canary", None),
        ("canary==", None),
        ("[\"canary\"]", None),
        ("base_url = \"https://u:canary@x", Some(("base_url = (value not shown)", false))),
        ("args = [\"--password\", \"canary\"", Some(("args = (value not shown)", false))),
        ("timeout = \"30s\" api_key = \"canary\"", Some(("timeout = (value not shown)", false))),
        ("level = \"info\" # token canary", Some(("level = (value not shown)", false))),
        ("level = \"info\" # secret canary", Some(("level = (value not shown)", false))),
        ("accounts = { main = { api_key = \"canary\"", Some(("accounts = (value not shown)", false))),
        ("canary\"\"\"", None),
    ] {
        let expected = shown.map(|(text, whole)| (text.to_owned(), whole));
        assert_eq!(showable(&SCHEMA, line), expected, "{line}");
    }
}

#[test]
fn lines_are_counted_from_one() {
    assert_eq!([0, 1, 2, 3].map(|offset| line_of("a\nb\n", offset)), [1, 1, 2, 2]);
}
