//! Invalid values, each with the fix that a person reads.

use super::*;

#[test]
fn a_value_that_is_refused_is_one_error_and_not_missing_as_well() {
    let mail = "host = \"smtp.test\"\nfrom = \"a@b.test\"\nto = \"x\"";
    let text = error(&with("alerts.mail", mail), &[]);
    assert!(text.contains("`alerts.mail.to`") && !text.contains("errors"), "{text}");
}

#[test]
fn what_tells_letters_and_patients_apart_must_do_so() {
    let least = "type = \"http\"\nurl = \"https://h.test/{{ lookup }}/{{ key }}/{{ document.pdf.uuid }}\"\n\
                 lookup_url = \"https://h.test/p\"\nlookup_field = \"id\"\n\
                 lookup_match = { born = \"{{ patient.dateOfBirth }}\" }\n\
                 probe_url = \"https://h.test/known\"\nprobe_contains = { a = \"{{ key | truncate(20) }}\" }\n";
    let (folder, url) = ("type = \"folder\"\npath = \"import\"", "{{ key | truncate(20) }}\" }");
    let with_http = |from: &str, to: &str| {
        let http = least.replace(from, to);
        assert!(http != least || from == to, "{from}");
        LEAST.replace(folder, &http)
    };
    for mark in ["{{ key | truncate(16) }}", "mark {{ key }}", "{{ uuid }}"] {
        let toml =
            with_http(url, &format!("{mark}\" }}")).replace("/{{ key }}/", &format!("/mark {{{{ key }}}}/{mark}/"));
        loaded(&toml, &[]);
    }
    for mark in [
        "{{ key | truncate(15) }}",
        "{{ key | truncate(0) }}",
        "{{ key | upper | truncate(2) }}",
        "{% if false %}{{ key }}{% endif %}x",
        "{{ uuid | truncate(2) }}",
    ] {
        let text = error(&with_http(url, &format!("{mark}\" }}")), &[]);
        assert!(text.contains("probe_contains`") && text.contains("hardly tells documents apart"), "{mark}: {text}");
    }
    // A copy for another patient has the same PDF.
    let text = error(&with_http(url, "{{ document.pdf.uuid }}\" }"), &[]);
    assert!(text.contains("probe_contains`") && text.contains("the same for several documents"), "{text}");
    let by_key = "probe_url = \"https://h.test/{{ key | truncate(3) }}\"\n";
    let text = error(
        &with_http(
            "probe_url = \"https://h.test/known\"\nprobe_contains = { a = \"{{ key | truncate(20) }}\" }\n",
            by_key,
        ),
        &[],
    );
    assert!(text.contains("probe_url`") && text.contains("hardly tells documents apart"), "{text}");
    let text = error(&with_http("{{ patient.dateOfBirth }}", "active"), &[]);
    assert!(text.contains("compares nothing of the patient"), "{text}");
    let text = error(&with_http("/{{ lookup }}", ""), &[]);
    assert!(text.contains("{{ lookup }} is used nowhere"), "{text}");
}

#[test]
fn a_value_of_the_wrong_kind_says_what_is_expected() {
    for (section, line, says) in [
        (
            "sync",
            "poll_interval = 60",
            "`sync.poll_interval` is a number without a unit\n  If these are seconds, write poll_interval = \"60s\".",
        ),
        ("sync", "poll_interval = \"60\"", "write poll_interval = \"60s\""),
        ("sync", "poll_interval = \"soon\"", "is not a duration"),
        ("sync", "poll_interval = \"0s\"", "is too small\n  Write at least \"10ms\""),
        ("sync", "poll_interval = \"100years\"", "is too large\n  Write at most \"7days\""),
        ("sync", "poll_interval = true", "must be a duration in quotes, not true or false"),
        ("sync", "max_pdf_bytes = \"100 apples\"", "is not a size"),
        ("sync", "max_pdf_bytes = 0", "is too small\n  Write at least \"1B\""),
        ("sync", "max_pdf_bytes = -1", "is not a size"),
        ("sync", "max_pdf_bytes = 1.5", "not a fraction"),
        ("sync", "max_concurrency = 257", "is out of range\n  Write a number from 1 to 256."),
        ("sync", "max_concurrency = 0", "is out of range"),
        (
            "sync",
            "max_concurrency = \"16\"",
            "must be a whole number without quotes, not text\n  Write max_concurrency = 16.",
        ),
        ("practice", "closed = \"2026-12-24\"", "must be a list of texts in brackets, not text"),
        ("practice", "closed = [\"24.12.2026\"]", "holds something that is not a day"),
        ("practice", "closed = [\"2027-01-02..2026-12-24\"]", "holds something that is not a day, or a range"),
        ("practice", "contact = \"a\\nb\"", "`practice.contact` is more than one line"),
        ("practice", "name = \" \"", "`practice.name` is empty"),
        ("alerts", "quiet_after = \"never\"", "`alerts.quiet_after` is neither \"auto\" nor \"off\""),
        ("alerts", "quiet_after = \"3h\"", "Write \"auto\", \"off\", or a time from \"1d\""),
        ("status_page", "listen = \"8977\"", "`status_page.listen` is not an address of this computer with a port"),
        (
            "status_page",
            "listen = \"127.0.0.1:0\"\ncertificate_file = 'a'",
            "stands without `status_page.certificate_key_file`",
        ),
        (
            "status_page",
            "listen = \"127.0.0.1:0\"\ncertificate_key_file = 'a'",
            "stands without `status_page.certificate_file`",
        ),
        (
            "status_page",
            "public_url = \"https://h.test\"",
            "`status_page.public_url` stands without `status_page.listen`",
        ),
        (
            "status_page",
            "listen = \"127.0.0.1:0\"\npublic_url = \"https://h.test/a\"",
            "`status_page.public_url` holds a path",
        ),
        ("status_page", "listen = \"127.0.0.1:0\"\npublic_url = \"http://h.test/\"", "over the network unencrypted"),
        ("webhook", "listen = \"192.0.2.7:8978\"", "`webhook.listen` is an address that other computers can reach"),
        ("sync", "max_concurrency = 99999999999999999999", "not a number that large"),
        ("retry", "initial = \"20m\"", "longer than the longest (15m)"),
        ("retry", "max = \"500ms\"", "`retry.max` makes the first delay (1s) longer"),
        ("log", "level = \"debgu\"", "\"trace\"\n  The nearest known value is \"debug\"."),
        ("log", "format = [\"text\"]", "must be a word in quotes, not a list"),
        ("log", "max_files = 0", "is out of range"),
        ("log", "file = 'docsyncd.toml'", "is the configuration file itself"),
        ("log", "file = 'api-key'", "is the file of `accounts.main.api_key_file`"),
        ("state", "path = 'api-key'", "`state.path` is the file of `accounts.main.api_key_file`"),
        ("state", "path = ''", "is empty"),
        ("state", "path = '~/ledger'", "Write the whole path."),
        ("state", "path = \"C:\\new\"", "holds a control character"),
        ("api", "app_url = \"http://app.example.test\"", "`api.app_url` would send secrets"),
        ("api", "proxy = \"proxy:3128\"", "is not an http or https address"),
        ("api", "proxy = \"socks5://proxy:3128\"", "is not an http or https address"),
        (
            "api",
            "pdf_hosts = [\"https://files.practice.test\"]",
            "is not the name of a host\n  Write names or addresses",
        ),
        ("api", "pdf_hosts = [\"files.practice.test:8443\"]", "is not the name of a host"),
        ("api", "pdf_hosts = [\"files.practice.test/a\"]", "is not the name of a host"),
        ("api", "pdf_hosts = \"files.practice.test\"", "must be a list"),
        ("api", "ca_file = [\"a\"]", "must be text in quotes, not a list"),
        (
            "destinations.pms",
            "file_mode = 600",
            "must be octal digits in quotes, not a number\n  Write file_mode = \"0600\".",
        ),
        (
            "destinations.pms",
            "sidecar = \"x\"\nsidecar_name = \"{{ file_stem }}.PDF\"",
            "gives the PDF's own name\n  Give it another",
        ),
        ("destinations.pms", "marker = \"../.docsyncd\"", "is not a file below the destination's `path`"),
        ("destinations.pms", "marker = \"/srv/.docsyncd\"", "Write the name of a file on the share"),
        ("destinations.pms", "file_mode = \"rw\"", "is not a file mode"),
        ("destinations.pms", "file_mode = \"0044\"", "Write a mode that contains 0400"),
        ("destinations.pms", "file_mode = \"4700\"", "nothing outside 0777"),
        ("destinations.pms", "dir_mode = \"0600\"", "Write a mode that contains 0700"),
        (
            "destinations.pms",
            "file_name = \"{{ patient.lastName\"",
            "`destinations.pms.file_name` is not a template that works",
        ),
        (
            "destinations.pms",
            "file_name = \"{{ patietn.lastName }}\"",
            "`destinations.pms.file_name` is not a template that works",
        ),
        ("destinations.pms", "sidecar = \"{% if %}\"", "`destinations.pms.sidecar` is not a template that works"),
        (
            "destinations.pms",
            "sidecar = \"x\"\nsidecar_name = \"{{ x \"",
            "`destinations.pms.sidecar_name` is not a template",
        ),
        ("accounts.main", "auth = \"password\"", "is none of \"api_key\", \"oauth\""),
    ] {
        let text = error(&with(section, line), &[]);
        assert!(text.contains(says), "{line}: {text}");
        assert!(text.starts_with("FOLDER/docsyncd.toml, line "), "{text}");
        assert!(!text.contains("the configuration has"), "one fault, one message: {text}");
    }
}

/// The server compares the redirect address character for character.
#[test]
fn a_redirect_path_is_one_that_everybody_writes_in_the_same_way() {
    let text = |path: &str| {
        let oauth = "auth = \"oauth\"\nclient_id = \"id\"\nclient_secret_file = \"secret\"\nredirect_path = ";
        LEAST.replace("api_key_file = \"api-key\"", &format!("{oauth}'{path}'"))
    };
    for bad in ["callback", "//callback", "/a b", "/é", "/a?b", "/a#b", "/a/../b", "/./a", "/%61", "http://127.0.0.1/a"]
    {
        let error = write(text(bad)).load(&[]).unwrap_err().to_string();
        assert!(
            error.contains("`accounts.main.redirect_path` is not the path of a redirect address"),
            "{bad}: {error}"
        );
    }
    for good in ["/", "/callback", "/a/b-c_d.e~f/"] {
        assert!(write(text(good)).load(&[]).is_ok(), "{good}");
    }
    let error =
        write(text("/a").replace("redirect_path = '/a'", "").replace("client_id", "redirect_path = 7\nclient_id"))
            .load(&[])
            .unwrap_err()
            .to_string();
    assert!(error.contains("redirect_path"), "{error}");
}

#[test]
fn addresses_that_would_leak_or_mean_nothing_are_refused() {
    for (address, says) in [
        ("http://api.example.test", "Write https://"),
        ("http://localhost.example.test", "Write https://"),
        ("http://192.168.1.10:8080", "Write https://"),
        ("http://128.0.0.1", "Write https://"),
        ("https://user:canary@api.example.test", "holds a user name or password"),
        ("https://canary@api.example.test", "holds a user name or password"),
        ("https://api.example.test/?key=canary", "holds a query or fragment"),
        ("https://api.example.test/#x", "holds a query or fragment"),
        ("api.example.test", "is not a web address"),
        ("localhost:8080", "is not a web address"),
        ("ftp://api.example.test", "is not a web address"),
        ("", "is not a web address"),
    ] {
        let text = error(&LEAST.replace("https://api.example.test", address), &[]);
        assert!(text.contains("line 3: `api.base_url` ") && text.contains(says) && !text.contains("canary"), "{text}");
    }
}

#[test]
fn what_is_missing_is_named_with_a_line_to_write() {
    for (text, says) in [
        (
            LEAST.replace("base_url = \"https://api.example.test\"", ""),
            "`api.base_url` is missing\n  Below [api] write base_url = ",
        ),
        (
            LEAST.replace("api_key_file = \"api-key\"", ""),
            "line 4: `accounts.main.api_key_file` is missing\n  Add api_key_file",
        ),
        (LEAST.replace("path = \"import\"", ""), "line 6: `destinations.pms.path` is missing\n  Add path = "),
        (LEAST.replace("type = \"folder\"", ""), "line 6: `destinations.pms.type` is missing\n  Add type = \"folder\""),
        (
            LEAST.replace("type = \"folder\"\npath = \"import\"", "type = \"command\""),
            "`destinations.pms.program` is missing",
        ),
        (
            LEAST.replace("api_key_file = \"api-key\"", "auth = \"oauth\"\nclient_id = \"x\""),
            "`accounts.main.client_secret_file` is missing",
        ),
        (
            LEAST.replace("[accounts.main]\napi_key_file = \"api-key\"\n", ""),
            "there is no account\n  Add one:\n  [accounts.main]",
        ),
        (LEAST.replace("[destinations.pms]\ntype = \"folder\"\npath = \"import\"\n", ""), "there is no destination"),
        (format!("{LEAST}[[routes]]\ntypes = [\"lab_slip\"]\n"), "line 9: `routes[0].to` is missing"),
        (
            format!("{LEAST}[destinations.lab]\ntype = \"command\"\nprogram = \"x\"\n"),
            "[[routes]]\n  to = [\"lab\", \"pms\"]",
        ),
    ] {
        let text = error(&text, &[]);
        assert!(text.contains(says), "{text}");
        assert!(!text.contains("the configuration has"), "one fault, one message: {text}");
    }
    let nothing = error("", &[]);
    assert!(nothing.contains("`api.base_url` is missing") && !nothing.contains("panic"), "{nothing}");
}

#[test]
fn routes_name_destinations_that_exist_once() {
    for (route, says) in [
        (
            "accounts = [\"man\"]\nto = [\"pms\"]",
            "`routes[0].accounts` names \"man\", which is no account\n  The nearest account is \"main\".",
        ),
        ("to = []", "`routes[0].to` names no destination\n  Write at least one, as in to = [\"pms\"]."),
        (
            "to = [\"pmz\"]",
            "`routes[0].to` names \"pmz\", which is no destination\n  The nearest destination is \"pms\".",
        ),
        ("to = [\"PMS\"]", "The nearest destination is \"pms\"."),
        ("to = [\"pms\", \"pms\"]", "names \"pms\" twice"),
        ("to = \"pms\"", "must be a list of texts in brackets, not text"),
        ("to = [1]", "holds something that is not text"),
        ("to = [\"pms\", \"\"]", "holds an empty text"),
        ("to = [\"pms\"]\nvisibility = \"public\"", "is none of \"shared\", \"private\""),
        (
            "to = [\"pms\"]\nanonymized = \"yes\"",
            "must be true or false without quotes, not text\n  Write anonymized = true.",
        ),
    ] {
        let text = error(&format!("{LEAST}[[routes]]\n{route}\n"), &[]);
        assert!(text.contains(says), "{route}: {text}");
        assert!(!text.contains("the configuration has"), "one fault, one message: {text}");
    }
}

#[test]
fn a_destination_in_the_spool_is_refused_and_one_around_the_ledger_warned_of() {
    let text = format!("{}[state]\npath = \"state/ledger.sqlite3\"\n", LEAST.replace("import", "state/spool/x"));
    assert!(error(&text, &[]).contains("docsyncd's own folder for downloads"));
    let around = format!("{}[state]\npath = \"import/ledger.sqlite3\"\n", LEAST);
    assert!(loaded(&around, &[]).warnings[0].contains("holds the ledger"));
}

#[test]
fn two_destinations_that_give_one_folder_the_same_names_are_warned_of() {
    let warned = |path: &str, file: &str| {
        let pms = LEAST.replace("path = ", "file_name = \"{{ document.uuid }}.pdf\"\npath = ");
        let scan = format!("[destinations.scan]\ntype = \"folder\"\npath = \"{path}\"\nfile_name = \"{file}\"\n");
        loaded(&format!("{pms}{scan}[[routes]]\nto = [\"pms\", \"scan\"]\n"), &[]).warnings
    };
    let twins = warned("import", "{{ document.uuid }}.pdf");
    assert!(
        twins.len() == 1 && twins[0].contains("`destinations.scan.path` is also that of `destinations.pms`"),
        "{twins:?}"
    );
    assert_eq!(warned("import", "scan_{{ document.uuid }}.pdf"), Vec::<String>::new());
    assert_eq!(warned("other", "{{ document.uuid }}.pdf"), Vec::<String>::new());
}

#[test]
fn what_is_no_toml_is_shown_with_line_and_column() {
    for (text, says) in [
        (with("sync", "poll_interval = 60s"), "line 10: this is not valid TOML, column "),
        (with("sync", "poll_interval = \"60s"), "10 | poll_interval = \"60s"),
        (with("api", "timeout = \"3s\"\ntimeout = \"4s\""), "duplicate key"),
        (with("destinations.pms", "path = \"C:\\import\""), "single quotes: 'C:\\import'"),
        (format!("{LEAST}[sync\n"), "9 | [sync"),
    ] {
        let text = error(&text, &[]);
        assert!(text.contains(says), "{text}");
    }
    insta::assert_snapshot!(error(&with("sync", "poll_interval = 60s"), &[]), @r#"
    FOLDER/docsyncd.toml, line 10: this is not valid TOML, column 17: string values must be quoted, expected literal string
         |
      10 | poll_interval = 60s
         |                 ^
      Put text, durations and sizes in quotes, as in poll_interval = "60s".
    "#);
}
