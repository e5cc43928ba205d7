//! `[alerts.NAME]`: receivers of some accounts.

use super::*;

const TWO: &str = r#"
[api]
base_url = "https://api.example.test"
[accounts.north]
api_key_file = "n"
[accounts.south]
api_key_file = "s"
[destinations.north]
type = "folder"
path = "north"
[destinations.south]
type = "folder"
path = "south"
[destinations.lab]
type = "folder"
path = "lab"
[[routes]]
types = ["prescription"]
to = ["lab"]
[[routes]]
accounts = ["north"]
to = ["north"]
[[routes]]
accounts = ["south"]
to = ["south"]
"#;
const MAIL: &str = "[alerts.mail]\nhost = \"smtp.test\"\nfrom = \"a@b.test\"\nto = [\"it@b.test\"]\n";

#[test]
fn receivers_of_some_accounts_have_their_destinations_and_the_mail_server_of_all() {
    let north = "[alerts.north]\naccounts = [\"north\"]\nto = [\"n@b.test\"]\nwebhook_url_file = \"hook\"\n";
    let text = format!("{TWO}{MAIL}{north}");
    let loaded = loaded(&text, &[("DOCSYNCD__ALERTS__NORTH__WEBHOOK_FORMAT", "ntfy")]);
    assert_eq!(loaded.warnings, [""; 0]);
    let alerts = &loaded.config.alerts;
    let [north] = alerts.receivers.as_slice() else { panic!("{alerts:?}") };
    assert_eq!((north.name.as_str(), north.accounts.as_slice()), ("north", &["north".to_owned()][..]));
    assert_eq!(north.destinations, ["lab", "north"]);
    let mail = north.mail.as_ref().unwrap();
    assert_eq!((mail.host.as_str(), mail.to.as_slice()), ("smtp.test", &["n@b.test".to_owned()][..]));
    assert_eq!(north.webhook.as_ref().unwrap().format, WebhookFormat::Ntfy);
    assert_eq!(alerts.mail.as_ref().unwrap().to, ["it@b.test"], "the others are told of everything");
}

#[test]
fn what_is_wrong_with_receivers_is_said() {
    let to = "to = [\"n@b.test\"]\n";
    let hook = "webhook_url_file = \"hook\"\n";
    for (text, says) in [
        (
            format!("{MAIL}[alerts.north]\naccounts = [\"nort\"]\n{to}"),
            "`alerts.north.accounts` names \"nort\", which is no",
        ),
        (format!("{MAIL}[alerts.north]\naccounts = []\n{to}"), "`alerts.north.accounts` names no account"),
        (format!("{MAIL}[alerts.north]\n{to}"), "`alerts.north.accounts` is missing"),
        (format!("{MAIL}[alerts.north]\naccounts = [\"north\"]\n"), "`alerts.north.accounts` stands without receivers"),
        (format!("{MAIL}[alerts.north]\naccounts = [\"north\"]\nto = [\"n\"]\n"), "must be a list of mail addresses"),
        (format!("[alerts.north]\naccounts = [\"north\"]\n{to}"), "`alerts.north.to` needs `alerts.mail.host`"),
        (format!("[alerts.north]\naccounts = [\"north\"]\n{hook}host = \"x\"\n"), "unknown key `alerts.north.host`"),
        (format!("[alerts.\"a/b\"]\naccounts = [\"north\"]\n{hook}"), "is not a name that can be used"),
    ] {
        let text = error(&format!("{TWO}{text}"), &[]);
        assert!(text.contains(says), "{says}: {text}");
    }
    let alone = loaded(&format!("{TWO}[alerts.north]\naccounts = [\"north\"]\n{hook}"), &[]).warnings;
    assert!(
        alone.len() == 1 && alone[0].contains("leaves nobody who is told of what belongs to no account"),
        "{alone:?}"
    );
}
