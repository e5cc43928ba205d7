//! What is wrong with the configuration of such a destination is said before anything is sent, each with its fix; exit
//! code 2.

use crate::harness::Practice;

#[tokio::test]
async fn each_fault_of_a_configuration_has_its_own_message() {
    let practice = Practice::with_documents(0).await;
    let http = "type = \"http\"\nurl = \"https://h.test/{{ key }}\"\n";
    let lookup = "lookup_url = \"https://h.test/p?n={{ patient.lastName }}\"\nlookup_field = \"id\"\nlookup_match = { born = \"{{ patient.dateOfBirth }}\" }\n";
    let s3 = "type = \"s3\"\nendpoint = \"https://s3.test\"\nbucket = \"b\"\naccess_key_id = \"AK\"\nsecret_access_key_file = 's'\n";
    let webdav = "type = \"webdav\"\nurl = \"https://dav.test/u\"\npath = \"/in\"\n";
    let cases = [
        ("type = \"http\"\nurl = \"h.test/in\"\n".to_owned(), "does not begin with https://"),
        ("type = \"http\"\nurl = \"ftp://h.test/in\"\n".to_owned(), "no https or http address"),
        (
            "type = \"http\"\nurl = \"https://{{ patient.lastName }}.test/in\"\n".to_owned(),
            "has values in its scheme or host",
        ),
        ("type = \"http\"\nurl = \"https://u:p@h.test/in\"\n".to_owned(), "holds a user name or password"),
        ("type = \"http\"\nurl = \"https://h.test/{{ patient.lastNam\"\n".to_owned(), "is not a template that works"),
        (
            "type = \"http\"\nurl = \"http://h.test/in\"\nbearer_token_file = 't'\n".to_owned(),
            "would send the credentials over the network unencrypted",
        ),
        (
            "type = \"http\"\nurl = \"http://h.test/in\"\nheader_files = { \"X-Key\" = 'k' }\n".to_owned(),
            "would send the credentials over the network unencrypted",
        ),
        (format!("{http}bearer_token_file = 't'\nuser = \"u\"\npassword_file = 'p'\n"), "only one of them"),
        (format!("{http}user = \"u\"\n"), "has no password"),
        (format!("{http}password_file = 'p'\n"), "has no user"),
        (format!("{http}bearer_token = \"secret-1\"\n"), "must not stand in the configuration file"),
        (
            format!("{http}headers = {{ Authorization = \"Bearer secret-1\" }}\n"),
            "must not stand in the configuration file",
        ),
        (format!("{http}headers = {{ \"Content-Length\" = \"1\" }}\n"), "which docsyncd sets itself"),
        (format!("{http}headers = {{ \"a b\" = \"1\" }}\n"), "no name of a header"),
        (format!("{http}headers = {{ a = \"1\", A = \"2\" }}\n"), "holds a name twice"),
        (format!("{http}headers = \"a\"\n"), "must be a table of texts"),
        (format!("{http}success = [200, 404]\n"), "is not a list of statuses"),
        (format!("{http}success = []\n"), "is not a list of statuses"),
        (format!("{http}body = \"json\"\n"), "`json` is missing"),
        (format!("{http}body = \"json\"\njson = '{{}}'\n"), "does not hold the PDF"),
        (
            format!("{http}body = \"json\"\njson = '{{\"a\": \"{{{{ file_base64 | upper }}}}\"}}'\n"),
            "does not hold the PDF",
        ),
        (format!("{http}probe_url = \"https://other.test/{{{{ key }}}}\"\n"), "is at another host"),
        (format!("{http}probe_url = \"https://h.test/known\"\n"), "is the same for every document"),
        (
            format!("{http}probe_url = \"https://h.test/known\"\nprobe_contains = {{ a = \"b\" }}\n"),
            "same for several documents",
        ),
        (
            format!(
                "{http}probe_url = \"https://h.test/known\"\nprobe_contains = {{ a = \"marked {{{{ key }}}}\" }}\n"
            ),
            "is nothing that a document is sent with",
        ),
        (format!("{http}probe_url = \"https://h.test/{{{{ key }}}}/{{{{ lookup }}}}\"\n"), "there is no `lookup_url`"),
        (format!("{http}{lookup}").replace("//h.test/{{ key }}", "//h.test/{{ offset }}"), "which is for lists"),
        (format!("{http}{lookup}").replace("lookup_field = \"id\"\n", ""), "`lookup_field` is missing"),
        (format!("{http}lookup_url = \"https://h.test/p\"\nlookup_field = \"id\"\n"), "`lookup_match` is missing"),
        (format!("{http}{lookup}").replace("//h.test/p?", "//other.test/p?"), "is at another host"),
        (format!("{http}{lookup}").replace("{{ patient.lastName }}", "{{ lookup }}"), "not known yet"),
        ("type = \"folder\"\npath = 'x'\nsidecar = \"{{ lookup }}\"\n".to_owned(), "there is no variable `lookup`"),
        (format!("{http}check_url = \"https://h.test/{{{{ key }}}}\"\n"), "`destinations.pms.check_url`"),
        (format!("{http}client_cert_file = 'c'\n"), "has no key"),
        (format!("{http}client_key_file = 'c'\n"), "has no certificate"),
        (format!("{http}metod = \"PUT\"\n"), "The nearest known key is `destinations.pms.method`"),
        (format!("{http}bucket = \"b\"\n"), "belongs to type = \"s3\""),
        ("type = \"http\"\n".to_owned(), "`destinations.pms.url` is missing"),
        (s3.replace("https://", "http://"), "unencrypted"),
        (s3.replace("\"b\"", "\"s3.test/b\""), "is not the name of a bucket"),
        (s3.replace("secret_access_key_file = 's'\n", ""), "`destinations.pms.secret_access_key_file` is missing"),
        (format!("{s3}prefix = \"/in\"\n"), "cannot begin keys"),
        (format!("{s3}prefix = \"a/../b\"\n"), "cannot begin keys"),
        (webdav.replace("\"/in\"", "\"in\""), "does not begin with a slash"),
        (webdav.replace("/u\"", "/{{ key }}\""), "holds values, a query or a fragment"),
        (
            format!("{}user = \"u\"\npassword_file = 'p'\n", webdav.replace("https://", "http://")),
            "would send the credentials over the network unencrypted",
        ),
    ];
    for (toml, sign) in cases {
        practice.configure_wholly(&format!("{}[destinations.pms]\n{toml}", practice.base_config()));
        let shown = practice.docsyncd(&["config", "show"]).await;
        assert!(shown.code == 2 && shown.stderr.contains(sign), "{toml}: {sign}: {shown:?}");
        assert!(shown.stderr.contains("line ") && !shown.stderr.contains("secret-1"), "{toml}: {shown:?}");
        assert!(shown.stderr.lines().count() >= 2, "{toml}: no fix: {shown:?}");
    }
}

#[tokio::test]
async fn the_environment_gives_secrets_and_tables() {
    let mut practice = Practice::with_documents(0).await;
    practice.configure_wholly(&format!(
        "{}[destinations.engine]\ntype = \"http\"\nurl = \"https://h.test/in\"\nheaders = {{ a = \"1\" }}\n",
        practice.base_config()
    ));
    let set = |practice: &mut Practice, key: &str, value: &str| {
        practice.env.insert(format!("DOCSYNCD__DESTINATIONS__ENGINE__{key}"), value.to_owned());
    };
    set(&mut practice, "BEARER_TOKEN", "secret-1");
    set(&mut practice, "HEADERS", r#"{ "X-B" = "{{ key }}" }"#);
    set(&mut practice, "SUCCESS", "200, 202");
    let shown = practice.docsyncd(&["config", "show"]).await;
    assert_eq!(shown.code, 0, "{shown:?}");
    assert!(shown.stdout.contains("X-B") && shown.stdout.contains("[200, 202]") && !shown.stdout.contains("secret-1"));
}
