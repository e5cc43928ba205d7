use serde_json::{Value as Json, json};

use super::*;
use crate::domain::document::{Metadata, Spooled};

pub(crate) mod numbers;

const NAMES: &str =
    "{{ patient.lastName }}_{{ patient.firstName }}/{{ document.createdAt | date }}_{{ document.type }}.pdf";

fn metadata(document: Json, patient: Json) -> Metadata {
    Metadata {
        number: None,
        account: "main".into(),
        document: document.as_object().cloned().unwrap(),
        patient: patient.as_object().cloned().unwrap(),
        user: json!({"email": "a@x.test"}).as_object().cloned().unwrap(),
    }
}

fn letter() -> Metadata {
    metadata(
        json!({"uuid": "1A2B3C4D-5e6f", "createdAt": "2026-11-21T23:30:00+00:00", "type": "lab_slip", "isAnonymized": false,
               "pdf": {"size": 61_234, "name": null}}),
        json!({"lastName": "Müller/Dupont", "firstName": "Zoé", "email": "", "visibilityOption": ["BAD"], "anonymousCode": "a\r\nb=<c> & \"d\" \u{202e}\u{1}'"}),
    )
}

fn try_render(kind: TemplateKind, source: &str) -> Result<String, TemplateError> {
    let pdf = Spooled { path: "/spool/x".into(), in_memory: None, size: 7, sha256: "ab".into() };
    let context = Context::new(&letter()).with_file("/spool/a  b.pdf").with_pdf("Letter.final.pdf", &pdf, "k1");
    Template::compile(kind, source)?.render(&context)
}

fn name(source: &str) -> String {
    try_render(TemplateKind::FileName, source).unwrap()
}

fn argument(source: &str) -> String {
    try_render(TemplateKind::Argument, source).unwrap()
}

fn text(format: TextFormat, source: &str) -> String {
    try_render(TemplateKind::Text(format), source).unwrap()
}

fn complaint(kind: TemplateKind, source: &str) -> String {
    Template::compile(kind, source).expect_err(source).to_string()
}

#[test]
fn only_the_slashes_of_the_template_make_folders() {
    assert_eq!(name(NAMES), "Müller_Dupont_Zoé/2026-11-21_lab_slip.pdf");
    for smuggler in [
        "{{ patient.firstName ~ '/' ~ patient.firstName }}",
        "{{ patient.firstName | replace('o', '/') | safe }}",
        "{% set x %}{{ patient.firstName }}/..\\x{% endset %}{{ x }}",
        "{% macro m() %}a/b{% endmacro %}{{ m() }}",
        "{{ ['a/b', 'c'] | join('/') }}",
        "{{ document.createdAt | date('%d/%m/%Y') }}",
        "{% autoescape false %}{{ 'a/b' }}{% endautoescape %}",
    ] {
        let rendered = name(smuggler);
        assert!(!rendered.contains(['/', '\\']) && rendered.contains('_'), "{smuggler}: {rendered}");
    }
    assert_eq!(name("a\\{{ document.type }}"), "a\\lab_slip");
}

#[test]
fn what_is_missing_null_or_empty_is_unknown_in_names_and_arguments_and_nothing_in_texts() {
    for missing in [
        "patient.languageSpoken",
        "patient.user.b.c",
        "patient.email",
        "document.pdf.name",
        "patient.languageSpoken | upper",
        "patient.languageSpoken | date",
        "document.type | date",
        "patient.languageSpoken | short",
        "'..' | trim('.')",
        "patient.languageSpoken | truncate(3)",
        // A list or an object is no text either.
        "patient.visibilityOption",
        "document.pdf",
    ] {
        let source = format!("<{{{{ {missing} }}}}>");
        assert_eq!(name(&source), "<unknown>", "{missing}");
        assert_eq!(argument(&source), "<unknown>", "{missing}");
        assert_eq!(text(TextFormat::Plain, &source), "<>", "{missing}");
        assert_eq!(text(TextFormat::Xml, &source), "<>", "{missing}");
    }
    assert_eq!(name("{{ '..' }}{{ ' .' }}"), "unknownunknown");
    assert_eq!(text(TextFormat::Json, "{{ patient.languageSpoken }}{{ document.pdf.name }}"), "nullnull");
}

#[test]
fn the_filters_a_template_needs_are_there() {
    assert_eq!(
        name("{{ document.uuid | short }}-{{ document.type | upper }}-{{ document.pdf.size }}"),
        "3c4d5e6f-LAB_SLIP-61234"
    );
    assert_eq!(
        name("{{ patient.email | default('none') }}-{{ patient.languageSpoken | default(document.type) }}"),
        "none-lab_slip"
    );
    assert_eq!(name("{{ document.isAnonymized }}-{{ patient.lastName | truncate(3) | lower }}"), "false-mül");
    assert_eq!(name("{{ account }}-{{ account | upper }}-{{ 'y' if account == 'main' else 'n' }}"), "main-MAIN-y");
    assert_eq!(name("{% if patient.languageSpoken %}a{% else %}b{% endif %}"), "b");
}

#[test]
fn dates_are_the_printed_ones() {
    for (printed, expected) in [
        ("2026-11-21", "2026-11-21"),
        ("2026-11-21T23:59:59Z", "2026-11-21"),
        ("2026-11-21T00:10:00.123456+14:00", "2026-11-21"),
        ("2026-11-21T23:10:00-0500", "2026-11-21"),
        ("2026-11-21T10:00:00", "2026-11-21"),
        ("2026-11-21 10:00:00", "2026-11-21"),
        ("2026-02-30", "unknown"),
        ("yesterday", "unknown"),
    ] {
        let template = Template::compile(TemplateKind::FileName, "{{ document.createdAt | date }}").unwrap();
        let rendered = template.render(&Context::new(&metadata(json!({"createdAt": printed}), json!({}))));
        assert_eq!(rendered.unwrap(), expected, "{printed}");
    }
    assert_eq!(argument("{{ document.createdAt | date('%d.%m.%y %H:%M') }}"), "21.11.26 23:30");
}

#[test]
fn an_argument_is_verbatim_but_for_characters_no_argument_should_have() {
    assert_eq!(argument("{{ file }}"), "/spool/a  b.pdf");
    let escaped = argument("{{ patient.anonymousCode | e }}{{ patient.anonymousCode | safe }}{{ file | safe }}");
    assert!(
        !escaped.contains(['\r', '\n', '\u{202e}', '\u{1}']) && escaped.ends_with("/spool/a  b.pdf"),
        "{escaped:?}"
    );
    assert_eq!(argument("--note={{ patient.anonymousCode }}; $(x) *"), "--note=ab=<c> & \"d\" '; $(x) *");
}

#[test]
fn no_value_makes_an_option_of_an_argument() {
    let render = |source: &str, value: &str| {
        let metadata = metadata(json!({}), json!({"lastName": value}));
        Template::compile(TemplateKind::Argument, source).unwrap().render(&Context::new(&metadata))
    };
    for source in [
        "{{ patient.lastName }}",
        "{{ patient.lastName }}.pdf",
        "{{ patient.lastName | safe }}",
        "{% set x %}{{ patient.lastName }}{% endset %}{{ x }}",
        "{{ patient.phone | d('-o') }}",
    ] {
        for value in ["-o/etc/passwd", "\u{1}-o", "--", "\u{fdd0}-o"] {
            let error = render(source, value).unwrap_err().to_string();
            assert!(error.contains("begins with `-`") && !error.contains("etc"), "{error}");
        }
    }
    assert_eq!(render("--name={{ patient.lastName }}", "-o").unwrap(), "--name=-o");
    assert_eq!(render("-{{ patient.lastName }}", "-o").unwrap(), "--o");
    assert_eq!(render("{{ patient.lastName }}", "a-b -c").unwrap(), "a-b -c");
}

#[test]
fn a_value_in_csv_stays_in_its_field_and_is_no_formula() {
    let render = |source: &str, value: &str| {
        let metadata = metadata(json!({}), json!({"lastName": value, "firstName": "Zoé"}));
        let template = Template::compile(TemplateKind::Text(TextFormat::Csv), source).unwrap();
        template.render(&Context::new(&metadata)).unwrap()
    };
    let two = "{{ patient.lastName }};{{ patient.firstName }}\r\n";
    for (source, value, expected) in [
        (two, "Müller", "Müller;Zoé\r\n"),
        (two, "Müller, Anna", "Müller, Anna;Zoé\r\n"),
        (two, "a;b", "\"a;b\";Zoé\r\n"),
        (two, "a\"b", "\"a\"\"b\";Zoé\r\n"),
        (two, "a\r\nb", "a  b;Zoé\r\n"),
        (two, "=1+1", "'=1+1;Zoé\r\n"),
        (two, "+33 1", "'+33 1;Zoé\r\n"),
        (two, "-x;y", "\"'-x;y\";Zoé\r\n"),
        (two, "@x", "'@x;Zoé\r\n"),
        (two, "\t=x", " '=x;Zoé\r\n"),
        (two, "\r=x", " '=x;Zoé\r\n"),
        (two, "\u{fdd1};\u{fdd0}=", "\";=\";Zoé\r\n"),
        ("{{ patient.lastName }},{{ patient.firstName }}", "a,b", "\"a,b\",Zoé"),
        ("a\t{{ patient.lastName }}\tb", "x\ty;z", "a\tx y;z\tb"),
        // In quotation marks of the template, and beside them.
        ("\"{{ patient.lastName }}\";1", "a\";\"=b", "\"a\"\";\"\"=b\";1"),
        ("\"{{ patient.lastName }}\";1", "=a", "\"'=a\";1"),
        ("\"x\"{{ patient.lastName }};1", "a;\"b", "\"x\"a  b;1"),
        // A field of several parts, and one that the template begins.
        ("{{ patient.lastName }} {{ patient.firstName }};1", "a;b", "\"a;b Zoé\";1"),
        ("n={{ patient.lastName }};1", "=a", "n==a;1"),
        ("{% set x %}{{ patient.lastName }}{% endset %}{{ x }};1", "=a;b", "\"'=a;b\";1"),
    ] {
        assert_eq!(render(source, value), expected, "{source}, {value:?}");
    }
}

#[test]
fn a_value_can_neither_add_a_line_nor_markup() {
    assert_eq!(text(TextFormat::Plain, "n={{ patient.anonymousCode }}\r\nx=1\r\n"), "n=a  b=<c> & \"d\"  '\r\nx=1\r\n");
    assert_eq!(
        text(TextFormat::Xml, "<n>{{ patient.anonymousCode }}</n>\n"),
        "<n>a&#13;\nb=&lt;c&gt; &amp; &quot;d&quot; \u{202e}&#39;</n>\n"
    );
    assert_eq!(
        text(TextFormat::Xml, "{{ '<' | e }}{% set x %}<b>{{ '&' }}</b>{% endset %}{{ x }}"),
        "&lt;<b>&amp;</b>"
    );
    let document: Json = serde_json::from_str(&text(
        TextFormat::Json,
        "{\"n\": {{ patient.anonymousCode }}, \"s\": {{ document.pdf.size }}, \"a\": {{ document.isAnonymized }}}\n",
    ))
    .unwrap();
    assert_eq!(document, json!({"n": "a\r\nb=<c> & \"d\" \u{202e}\u{1}'", "s": 61_234, "a": false}));
}

#[test]
fn a_value_within_a_json_string_comes_without_quotes_of_its_own() {
    let written = "{\"a\": \"{{ patient.anonymousCode }}\", \"b\": \"x {{ document.pdf.size }} {{ patient.email }}{{ patient.phone }}\", \
                   \"c\": \"\\\\\", \"d\": \"\\\"{{ patient.lastName }}\\\"\", \"e\": {{ patient.lastName }}, \"f\": {{ patient.phone }}, \
                   \"g\": \"{{ document.pdf }}\", \"h\": {{ document.pdf }}, \"i\": {{ patient.firstName | tojson }}}";
    let document: Json = serde_json::from_str(&text(TextFormat::Json, written)).unwrap();
    let note = "a\r\nb=<c> & \"d\" \u{202e}\u{1}'";
    assert_eq!(document["a"], note);
    assert_eq!(document["b"], "x 61234 ");
    assert_eq!((&document["c"], &document["d"]), (&json!("\\"), &json!("\"Müller/Dupont\"")));
    assert_eq!((&document["e"], &document["f"]), (&json!("Müller/Dupont"), &json!(null)));
    assert_eq!(
        document["g"].as_str().map(|pdf| serde_json::from_str::<Json>(pdf).unwrap()),
        Some(document["h"].clone())
    );
    assert_eq!(document["i"], "Zoé");
    // No value can imitate a mark.
    for value in ["\u{fdd1}\", \"x\": \"", "\u{fdd0}", "\\", "\"", "\\\""] {
        let metadata = metadata(json!({}), json!({"lastName": value}));
        for source in ["{\"n\": {{ patient.lastName }}}", "{\"n\": \"{{ patient.lastName }}\"}"] {
            let template = Template::compile(TemplateKind::Text(TextFormat::Json), source).unwrap();
            let rendered = template.render(&Context::new(&metadata)).unwrap();
            let parsed: Json = serde_json::from_str(&rendered).unwrap_or_else(|error| panic!("{rendered}: {error}"));
            assert_eq!(parsed, json!({"n": value}));
        }
    }
}

#[test]
fn what_the_api_does_not_describe_and_json_that_is_none_are_doubted() {
    let doubts =
        |format, source: &str| Template::compile(TemplateKind::Text(format), source).unwrap().doubts().join("; ");
    for (source, expected) in [
        (NAMES, ""),
        ("{{ patient.externalId }}", "uses `patient.externalId`, which the API takes and never gives back"),
        ("{{ user.insurance | upper | default('') }}{% for patient in [1] %}{{ patient.x }}{% endfor %}", ""),
        ("{{ account }}{{ file_name }}{{ size }}", ""),
    ] {
        assert_eq!(doubts(TextFormat::Plain, source), expected, "{source}");
    }
    assert_eq!(doubts(TextFormat::Json, "{\"a\": \"{{ patient.lastName }}\", \"b\": {{ size }}}\n"), "");
    let doubt = doubts(TextFormat::Json, "{\"a\": {{ patient.lastName }},}");
    assert!(doubt.starts_with("gives no JSON (key must be a string at line 1"), "{doubt}");
}

#[test]
fn a_mistake_is_answered_with_what_was_meant() {
    let unknown_filter = format!("line 1: filter uper is unknown; there are {}", environment::FILTERS.join(", "));
    for (source, expected) in [
        ("{{ patient.lastNam }}", "line 1: there is no field `patient.lastNam`: did you mean `patient.lastName`?"),
        ("a\n{{ patient.lastname }}", "line 2: there is no field `patient.lastname`: did you mean `patient.lastName`?"),
        // A word of another language is not taken for one that looks like it.
        (
            "{{ patient.nom }}",
            "line 1: there is no field `patient.nom`: `patient` has uuid, firstName, lastName, languageSpoken, createdAt, \
             updatedAt, synchronizedAt, dateOfBirth, gender, user, visibilityOption, email, phone, anonymousCode, number; one \
             that your service has beyond these needs `| default(\"\")`",
        ),
        (
            "{{ document.pdf.lang | default('') }}{{ document.pdf.lang }}",
            "line 1: there is no field `document.pdf.lang`: `document.pdf` has uuid, name, size, createdAt, updatedAt, url, \
             fileName; one that your service has beyond these needs `| default(\"\")`",
        ),
        (
            "{{ document.created_at | date }}",
            "line 1: there is no field `document.created_at`: did you mean `document.createdAt`?",
        ),
        (
            "{{ document.pdf.filename }}",
            "line 1: there is no field `document.pdf.filename`: did you mean `document.pdf.fileName`?",
        ),
        (
            "\n{patient.lastName}",
            "line 2: `{patient.lastName}` is filled in between double braces only: write {{ patient.lastName }}",
        ),
        (
            "{ document.createdAt | date }",
            "line 1: `{document.createdAt | date}` is filled in between double braces only: write {{ document.createdAt | date }}",
        ),
        (
            "{{ document.createdAt | date(\"DD.MM.YYYY\") }}",
            "line 1: `DD.MM.YYYY` is not a date format: write for example %d.%m.%Y",
        ),
        (
            "{{ document.createdAt | date(\"YYYY-MM-DD\") }}",
            "line 1: `YYYY-MM-DD` is not a date format: write for example %Y-%m-%d",
        ),
        (
            "{{ document.createdAt | date(\"nonsense\") }}",
            "line 1: `nonsense` is not a date format: write for example %d.%m.%Y",
        ),
        ("{{ patient.lastName | uper }}", unknown_filter.as_str()),
    ] {
        let error = Template::compile(TemplateKind::Text(TextFormat::Plain), source).unwrap_err();
        assert_eq!(error.to_string(), expected, "{source}");
    }
    for source in
        ["{a} {}", "{\"size\": {{ size }}}", "{% for size in [1] %}{size: {{ size }}}{% endfor %}", "{{ '{' }}size}"]
    {
        Template::compile(TemplateKind::Text(TextFormat::Plain), source).unwrap();
    }
}

/// Each row of examples is what the page says, and the page names every field and the filters.
#[test]
fn the_page_about_templates_is_true() {
    let page = include_str!("../../../../docs/templates.md");
    let metadata = Metadata {
        account: "main".to_owned(),
        number: Some("4711".to_owned()),
        user: json!({"lastName": "Delaunay", "firstName": "Claire"}).as_object().cloned().unwrap(),
        ..metadata(
            json!({
                "uuid": "0195f2a1-7c3e-7d4a-9b1f-3f2a1c0d9e8b",
                "type": "referral_letter",
                "createdAt": "2026-11-21T10:00:00+00:00",
                "pdf": {"uuid": "0195f2a1-7c3e-7d4a-9b1f-000000000001", "fileName": "letter.pdf"},
            }),
            json!({"lastName": "Lefèvre", "firstName": "Zoé", "dateOfBirth": "1980-03-12"}),
        )
    };
    let mut examples = 0;
    for line in page.lines() {
        let mut cells = line.split("` | `");
        let (Some(source), Some(result), None) = (cells.next(), cells.next(), cells.next()) else { continue };
        if !source.contains("{{") {
            continue;
        }
        let (source, result) = (source.trim_start_matches("| `").replace("\\|", "|"), result.trim_end_matches("` |"));
        let template =
            Template::compile(TemplateKind::FileName, &source).unwrap_or_else(|error| panic!("{source}: {error}"));
        let name = template.render(&Context::new(&metadata)).unwrap();
        assert_eq!(crate::domain::name::relative_path(&name).join("/"), result, "{source}");
        examples += 1;
    }
    assert!(examples >= 10, "{examples}");
    for word in fields::all() {
        assert!(page.contains(&format!("`{word}`")), "docs/templates.md does not name the field `{word}`");
    }
    let rows = page.lines().skip_while(|line| !line.starts_with("| Filter |")).skip(2);
    let cells = rows.map_while(|row| row.strip_prefix("| ")?.split(" | ").next());
    let mut named: Vec<&str> = cells.flat_map(|cell| cell.split(", ").map(|word| word.trim_matches('`'))).collect();
    named.sort_unstable();
    assert_eq!(named, environment::FILTERS, "the table of filters in docs/templates.md, and FILTERS in environment.rs");
}

#[test]
fn a_type_has_a_label_in_the_language_that_is_given() {
    let name = |source: &str, word: &str| {
        let metadata = metadata(json!({"type": word}), json!({}));
        Template::compile(TemplateKind::FileName, source).and_then(|template| template.render(&Context::new(&metadata)))
    };
    assert_eq!(name("{{ document.type | label('fr') }}", "prescription").unwrap(), "Ordonnance");
    assert_eq!(name("{{ document.type | label('de-CH') }}", "prescription").unwrap(), "Rezept");
    assert_eq!(name("{{ document.type | label('en') }}", "a_new_type").unwrap(), "a_new_type");
    // Without one it is that of the configuration.
    assert_eq!(name("{{ document.type | label }}", "prescription").unwrap(), "Prescription");
    let of_config = |language| {
        let template = Template::compile_in(language, TemplateKind::FileName, "{{ document.type | label }}").unwrap();
        template.render(&Context::new(&metadata(json!({"type": "prescription"}), json!({})))).unwrap()
    };
    assert_eq!([Language::French, Language::German].map(of_config), ["Ordonnance", "Rezept"]);
    let wrong = format!("{:?}", name("{{ document.type | label('es') }}", "prescription").map_err(|e| e.to_string()));
    assert!(wrong.contains("label knows the languages"), "{wrong}");
}

#[test]
fn markup_whose_values_are_not_escaped_is_doubted() {
    let doubts =
        |format, source: &str| Template::compile(TemplateKind::Text(format), source).unwrap().doubts().join("; ");
    let looks = |what: &str, breaks: &str, format: &str| {
        format!(
            "looks like {what} and is filled in as plain text, so that a name with {breaks} breaks it: write sidecar_format = \"{format}\""
        )
    };
    for xml in [
        "<doc>{{ patient.lastName }}</doc>",
        "\n  <?xml version=\"1.0\"?>\n<doc><a>{{ size }}</a></doc>",
        "{# ours #}{% if size %}<!-- a --><doc name=\"{{ patient.lastName }}\"/>{% endif %}",
    ] {
        assert_eq!(doubts(TextFormat::Plain, xml), looks("XML", "& or <", "xml"), "{xml}");
        assert_eq!(doubts(TextFormat::Xml, xml), "");
    }
    for json in ["{\"a\": \"{{ patient.lastName }}\"}", " {\n \"a\": {{ size }} }", "[ {\"a\": 1} ]", "[\"{{ key }}\"]"]
    {
        assert_eq!(doubts(TextFormat::Plain, json), looks("JSON", "a quotation mark", "json"), "{json}");
    }
    for plain in [
        "[Document]\nname={{ patient.lastName }}\n",
        "{{ patient.lastName }}",
        "{\\rtf1 {{ patient.lastName }}}",
        "<name>={{ patient.lastName }}\n",
        "01380006301\r\n",
        "patient <{{ patient.email }}>",
        "",
    ] {
        assert_eq!(doubts(TextFormat::Plain, plain), "", "{plain}");
    }
}

#[test]
fn a_sidecar_knows_the_final_name() {
    assert_eq!(
        text(TextFormat::Plain, "{{ file_name }} {{ file_stem }} {{ size }} {{ sha256 }} {{ key }}"),
        "Letter.final.pdf Letter.final 7 ab k1"
    );
    assert_eq!(try_render(TemplateKind::SidecarName, "{{ file_stem }}.xml").unwrap(), "Letter.final.xml");
}

#[test]
fn the_field_of_a_line_of_gdt_is_the_templates_own() {
    assert_eq!(text(TextFormat::Gdt, "80006310\n3101{{ patient.lastName }}\n"), "80006310\n3101Müller/Dupont\n");
    assert_eq!(
        text(TextFormat::Gdt, "6227{{ patient.anonymousCode }}\n\n  \n6228x\n"),
        "6227a  b=<c> & \"d\"  '\n\n  \n6228x\n"
    );
    let kind = TemplateKind::Text(TextFormat::Gdt);
    for source in ["80006310\n{{ patient.lastName }}", "80006310\n31{{ size }}01x", "80006310\n 3101x", "80006310\n310"]
    {
        let complaint = complaint(kind, source);
        assert!(complaint.contains("line 2 of what it gives does not begin with the four digits"), "{complaint}");
    }
    // If only a letter's values show the fault.
    let shows_late = "{% if patient.lastName == 'Müller/Dupont' %}{{ size }}{% endif %}";
    assert!(try_render(kind, shows_late).is_err());
}

#[test]
fn what_a_template_uses_can_be_asked_for_by_its_value() {
    let letter = letter();
    let context = Context::new(&letter);
    let source = "{{ patient.anonymousCode }}{{ patient.visibilityOption }}{{ patient.firstName }}{% for f in document %}{{ f }}{% endfor %}";
    let template = Template::compile(TemplateKind::Text(TextFormat::Plain), source).unwrap();
    let with = |sign: char| template.variables_with(&context, |text| text.contains(sign));
    assert_eq!(with('&'), ["patient.anonymousCode"]);
    assert_eq!(with('B'), ["document.uuid", "patient.visibilityOption"]);
    assert_eq!(with('é'), ["patient.firstName"]);
}

#[test]
fn the_format_follows_the_extension() {
    let formats = ["a.XML", "a.htm", "a.json", "a.ini", "xml", "{{ file_stem }}.xml ", ".csv"].map(TextFormat::of_name);
    use TextFormat::*;
    assert_eq!(formats, [Xml, Xml, Json, Plain, Plain, Xml, Csv]);
}

#[test]
fn errors_name_the_line_the_word_and_the_nearest_known_one() {
    let kind = TemplateKind::FileName;
    assert_eq!(
        complaint(kind, "a\n{{ patiens.x }}"),
        "line 2: there is no variable `patiens`: did you mean `patient`?"
    );
    assert_eq!(
        complaint(kind, "{{ file }}"),
        "line 1: there is no variable `file`: known are document, patient, user, account"
    );
    assert_eq!(
        complaint(kind, "{{ account.name }}"),
        "line 1: `account` is the account's name and has no fields: write {{ account }}"
    );
    for (source, words) in [
        ("{{ document.type", "line 1: "),
        ("a\n{{ document.type | uper }}", "line 2: "),
        ("{{ document.type | uper }}", "uper"),
        ("{% include 'x' %}", "cannot be included"),
        ("{{ document.createdAt | date('%Q!') }}", "`%Q!` is not a date format"),
        ("{{ document.createdAt | date('%H %z') }}", "not a date format"),
    ] {
        let complaint = complaint(kind, source);
        assert!(complaint.contains(words), "{source}: {complaint}");
    }
    assert!(Template::compile(TemplateKind::Argument, "{{ file }}").is_ok());
}

#[test]
fn a_rendering_is_bounded_and_its_error_tells_no_value() {
    let endless = "{% for i in range(1000) %}{% for j in range(1000) %}{% for k in range(1000) %}x{% endfor %}{% endfor %}{% endfor %}";
    let kind = TemplateKind::Text(TextFormat::Plain);
    assert!(try_render(kind, endless).unwrap_err().to_string().contains("line 1"));
    let long = metadata(json!({"type": "x".repeat(40_000)}), json!({"lastName": "Canary"}));
    let render = |kind, source| Template::compile(kind, source).unwrap().render(&Context::new(&long));
    let error = render(TemplateKind::Argument, "{{ document.type }}").unwrap_err();
    assert!(error.to_string().contains("too long"), "{error}");
    assert_eq!(render(TemplateKind::FileName, "{{ document.type }}").unwrap().len(), 200);
    let error = render(kind, "\n{{ patient.lastName / 2 }}").unwrap_err();
    assert!(error.to_string().contains("line 2") && !error.to_string().contains("Canary"), "{error}");
}

#[test]
fn what_is_shown_of_a_template_is_its_source() {
    let template = Template::compile(TemplateKind::Argument, "--dob={{ patient.dateOfBirth }}").unwrap();
    assert_eq!(template.clone().source(), "--dob={{ patient.dateOfBirth }}");
    assert!(template.mentions_patient() && format!("{template:?}").contains("--dob"));
    assert!(!Template::compile(TemplateKind::Argument, "patient {{ file }}").unwrap().mentions_patient());
}

mod properties {
    use proptest::prelude::*;

    use super::*;
    use crate::domain::name::{MAX_PART_BYTES, relative_path};

    proptest! {
        #[test]
        fn no_value_changes_how_deep_a_file_lies_or_breaks_its_name(last in "(\\PC|[./\\\\ \u{0}-\u{1f}]|\u{202e}|con){0,60}",
                                                                  first in any::<String>(), created in any::<String>(),
                                                                  kind in "(con|\\PC){0,3}") {
            let metadata = metadata(json!({"createdAt": created, "type": kind}), json!({"lastName": last, "firstName": first}));
            let template = Template::compile(TemplateKind::FileName, NAMES).unwrap();
            let parts = relative_path(&template.render(&Context::new(&metadata)).unwrap());
            prop_assert_eq!(parts.len(), 2);
            prop_assert!(parts[1].ends_with(".pdf"), "{:?}", parts);
            for part in &parts {
                prop_assert!(part.len() <= MAX_PART_BYTES && !part.ends_with(['.', ' ']) && !part.starts_with(['.', ' ']));
                prop_assert!(!part.chars().any(|c| c.is_control() || "/\\:*?\"<>|\u{202e}\u{200b}".contains(c)), "{:?}", part);
            }
        }

        #[test]
        fn no_value_adds_a_line_to_a_plain_sidecar(value in any::<String>()) {
            let metadata = metadata(json!({}), json!({"lastName": value}));
            let template = Template::compile(TemplateKind::Text(TextFormat::Plain), "[p]\nname={{ patient.lastName }}\n").unwrap();
            prop_assert_eq!(template.render(&Context::new(&metadata)).unwrap().lines().count(), 2);
        }
    }
}

fn body(source: &str, patient: serde_json::Value) -> Vec<String> {
    let metadata = Metadata { patient: patient.as_object().cloned().unwrap(), ..Metadata::default() };
    let pdf = Spooled { path: "".into(), in_memory: None, size: 3, sha256: "5".to_owned() };
    let context = Context::new(&metadata).with_pdf("a.pdf", &pdf, "k").with_pdf_in_base64();
    Template::compile(TemplateKind::JsonBody, source).unwrap().render_around_pdf(&context).unwrap()
}

#[test]
fn the_pdf_stands_in_json_where_the_template_says_so_and_nowhere_else() {
    for source in
        [r#"{"a":"{{ patient.phone }}","b":"{{ file_base64 }}"}"#, r#"{"a":{{ patient.phone }},"b":{{ file_base64 }}}"#]
    {
        let parts = body(source, json!({"phone": "x\u{fdd2}\"y"}));
        let [before, after] = parts.as_slice() else { panic!("{parts:?}") };
        let whole: serde_json::Value = serde_json::from_str(&format!("{before}JVBE{after}")).unwrap();
        assert_eq!(whole, json!({"a": "x\u{fdd2}\"y", "b": "JVBE"}), "{source}");
    }
    assert_eq!(
        body(r#"{"b":"{{ file_base64 | upper }}"}"#, json!({})).len(),
        1,
        "what a filter makes of it is not the PDF"
    );
    assert!(Template::compile(TemplateKind::Text(TextFormat::Json), "{{ file_base64 }}").is_err());
}

#[test]
fn a_value_in_an_address_separates_nothing_and_leads_nowhere() {
    let source = "https://h.test/a/{{ patient.phone }}?b={{ patient.phone }}";
    for (value, encoded) in [
        (json!("x/y?z=1&c#d"), "x%2Fy%3Fz%3D1%26c%23d"),
        (json!("x/../y"), "x_.._y"),
        (json!("..\\y./z"), ".._y._z"),
        (json!("Müller Zoé"), "M%C3%BCller%20Zo%C3%A9"),
        (json!("a%2fb\\c@d:e"), "a%252fb%5Cc%40d%3Ae"),
        (json!("a\r\nb\u{202e}"), "ab"),
        (json!(".."), "unknown"),
        (json!(null), "unknown"),
        (json!(7), "7"),
    ] {
        let metadata =
            Metadata { patient: json!({"phone": value}).as_object().cloned().unwrap(), ..Metadata::default() };
        let template = Template::compile(TemplateKind::Url, source).unwrap();
        let rendered = template.render(&Context::new(&metadata)).unwrap();
        assert_eq!(rendered, format!("https://h.test/a/{encoded}?b={encoded}"));
    }
}

#[test]
fn a_number_that_only_a_part_of_is_used_is_needed_all_the_same() {
    let compile = |source: &str| Template::compile(TemplateKind::FileName, source);
    for source in ["{{ patient.number[:3] }}.pdf", "{{ (patient.number)[-2:] }}.pdf", "{{ patient['number'][:3] }}.pdf"]
    {
        assert!(compile(source).unwrap().needs_number(), "{source}");
    }
    assert!(!compile("number {{ patient.lastName }}.pdf").unwrap().needs_number());
    // A misspelt field is found in a slice as it is elsewhere, and a known one is none.
    for slice in ["[:3]", "[1:]", "[:]", "[::2]", "[1:3:2]", "[:3] | upper", "[: user.phone | length ]", "[:3][:2]"] {
        for (field, is_known) in [("lastName", true), ("nom", false)] {
            let source = format!("{{% if true %}}{{{{ 'it\\'s [a:b' ~ patient.{field}{slice} }}}}{{% endif %}}.pdf");
            assert_eq!(compile(&source).is_ok(), is_known, "{source}: {:?}", compile(&source).err());
            let source = format!("{{{{ {{'a': [patient.{field}{slice}]}}.a }}}}.pdf");
            assert_eq!(compile(&source).is_ok(), is_known, "{source}: {:?}", compile(&source).err());
        }
    }
    assert!(compile("{{ patient.nom[:3] | default('') }}.pdf").is_ok(), "a field that only this service has");
    assert!(compile("{{ patient.lastName[: user.nom] }}.pdf").is_err());
    let error = compile("{{ document.patient.number }}.pdf").unwrap_err().to_string();
    assert!(error.ends_with("did you mean `patient.number`?"), "{error}");
}
