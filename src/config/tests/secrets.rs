//! Secrets never leak: not into errors, not into `Debug`, not into shown values.

use super::*;

const CANARY: &str = "Kq7canary9z";

fn key() -> (&'static str, &'static str) {
    ("DOCSYNCD__ACCOUNTS__MAIN__API_KEY", CANARY)
}

#[test]
fn a_key_in_the_file_is_refused_with_the_way_out() {
    let text = error(&LEAST.replace("api_key_file = \"api-key\"", &format!("api_key = \"{CANARY}\"")), &[]);
    insta::assert_snapshot!(text, @r#"
    FOLDER/docsyncd.toml, line 5: `accounts.main.api_key` must not stand in the configuration file
      Write the key into a file that only docsyncd may read and name it: api_key_file = "..."
      (or give it in the environment as DOCSYNCD__ACCOUNTS__MAIN__API_KEY). Issue a new key if others have read this file.
    "#);
}

#[test]
fn a_variable_overrides_the_other_way_in_the_file_and_not_one_beside_it() {
    use secrecy::ExposeSecret as _;
    let both = [key(), ("DOCSYNCD__ACCOUNTS__MAIN__API_KEY_FILE", "other")];
    let text = error(LEAST, &both);
    assert!(text.contains("`accounts.main.api_key` and `api_key_file` are both given"), "{text}");
    assert!(!text.contains(CANARY));
    let loaded = write(LEAST).load(&[key()]).unwrap();
    let Auth::ApiKey(Secret::Given(kept)) = &loaded.config.accounts["main"].auth else { panic!() };
    assert_eq!(kept.expose_secret(), CANARY);
    let [warning] = loaded.warnings.as_slice() else { panic!("{:?}", loaded.warnings) };
    assert!(
        warning.contains("`accounts.main.api_key_file` has no effect beside DOCSYNCD__ACCOUNTS__MAIN__API_KEY"),
        "{warning}"
    );
    let variables = [key(), ("DOCSYNCD__ACCOUNTS__MAIN__API_KEY_FILE", "")];
    assert_eq!(write(LEAST).load(&variables).unwrap().warnings, Vec::<String>::new());
}

#[test]
fn nothing_prints_a_key_or_a_password() {
    use secrecy::ExposeSecret as _;
    let text =
        with("api", &format!("proxy = \"http://user:{CANARY}@proxy:1\"")).replace("api_key_file = \"api-key\"", "");
    let loaded = loaded(&text, &[key()]);
    let Auth::ApiKey(Secret::Given(kept)) = &loaded.config.accounts["main"].auth else { panic!() };
    assert_eq!(kept.expose_secret(), CANARY);
    assert!(loaded.config.api.proxy.as_ref().unwrap().as_str().contains(CANARY));
    let everything = format!("{loaded:?} {loaded:#?} {:?}", loaded.effective);
    assert!(!everything.contains(CANARY), "{everything}");
    assert_eq!(effective(&loaded, "accounts.main.api_key").value, "\"***\"");
    assert_eq!(effective(&loaded, "api.proxy").value, "\"http://user:***@proxy:1/\"");
}

#[test]
fn no_error_quotes_what_could_be_a_secret() {
    for line in [
        "api_key_file = CANARY",
        "api_key = \"CANARY",
        "api_key = CANARY",
        "api_key = [\"CANARY\"]",
        "api_key = { value = \"CANARY\" }",
        "api_key_file = \"CANARY\\n\"",
        "api_key_file = [\"CANARY\"]",
        "client_secret = \"CANARY\"",
        "client_secret_file = \"\"\"\nCANARY",
        "token = \"CANARY\"\ntoken = \"CANARY\"",
        "auth = \"CANARY\"",
        "CANARY",
        "auth = \"api_key\" api_key = \"CANARY\"",
        "client_id = CANARY",
    ] {
        let text = error(&with("accounts.main", &line.replace("CANARY", CANARY)), &[]);
        assert!(!text.contains(CANARY), "{text}");
    }
    for value in [format!("{CANARY}\n{CANARY}"), format!("\"{CANARY} \"x"), format!("{CANARY}\u{e9}")] {
        let text = error(&LEAST.replace("api_key_file = \"api-key\"", ""), &[(key().0, &value)]);
        assert!(text.contains("has characters that cannot stand in a key") && !text.contains(CANARY), "{text}");
    }
    for address in
        [format!("https://u:{CANARY}@h"), format!("ftp://u:{CANARY}@h"), format!("http://u:{CANARY}@h"), CANARY.into()]
    {
        for key in ["app_url", "proxy"] {
            if let Err(error) = write(with("api", &format!("{key} = \"{address}\""))).load(&[]) {
                assert!(!error.to_string().contains(CANARY) && !format!("{error:?}").contains(CANARY), "{error}");
            }
        }
    }
}
