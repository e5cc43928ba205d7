//! The sidecar beside the PDF.

use super::*;
use crate::destinations::Item;
use crate::domain::document::Metadata;
use crate::formats::sidecar::{Charset, Form};

/// Several rounds, as the order of the threads varies.
#[tokio::test]
async fn documents_that_want_one_name_at_once_each_get_a_file_and_its_sidecar() {
    for _round in 0..20 {
        let (inbox, spool) = (Inbox::with_sidecar(), Spool::new());
        let adapter = inbox.adapter();
        let items = [1, 2, 3, 4].map(|number| spool.item(number, format!("content {number}").as_bytes()));
        let [one, two, three, four] = &items;
        let (one, two, three, four) =
            tokio::join!(adapter.deliver(one), adapter.deliver(two), adapter.deliver(three), adapter.deliver(four));
        for (outcome, number) in [one, two, three, four].iter().zip(1..) {
            let place = PathBuf::from(assert_delivered(outcome));
            assert_eq!(fs::read_to_string(&place).unwrap(), format!("content {number}"));
            let sidecar = fs::read_to_string(place.with_extension("xml")).unwrap();
            assert!(sidecar.contains(place.file_name().unwrap().to_str().unwrap()), "{sidecar}");
        }
        assert_eq!(inbox.names().len(), 8);
    }
}

#[tokio::test]
async fn a_sidecar_never_stands_beside_another_documents_pdf() {
    let (inbox, spool) = (Inbox::with_sidecar(), Spool::new());
    let tried = Arc::new(std::sync::Mutex::new(Vec::new()));
    let (log, second) = (Arc::clone(&tried), inbox.path.join(SUFFIXED));
    // While the PDF gets the first name, another program takes that name and the next one.
    let adapter = inbox.adapter_with(move |pdf| {
        log.lock().unwrap().push(pdf.file_name().unwrap().to_string_lossy().into_owned());
        fs::write(&second, "another's")?;
        if pdf.ends_with("2026-11-21_lab_slip.pdf") { fs::write(pdf, "another's") } else { Ok(()) }
    });
    assert_delivered(&adapter.deliver(&spool.item(1, PDF)).await);
    // For the second name, not even the sidecar was written.
    assert_eq!(*tried.lock().unwrap(), ["2026-11-21_lab_slip.pdf", "2026-11-21_lab_slip_00000001_2.pdf"]);
    assert_eq!(inbox.names().iter().filter(|name| name.ends_with("xml")).count(), 1);
}

#[tokio::test]
async fn the_sidecar_is_complete_before_the_pdf_appears() {
    let (inbox, spool) = (Inbox::with_sidecar(), Spool::new());
    let seen = Arc::new(std::sync::Mutex::new(Vec::new()));
    let log = Arc::clone(&seen);
    let adapter = inbox.adapter_with(move |pdf| {
        log.lock().unwrap().push((pdf.exists(), fs::read_to_string(pdf.with_extension("xml")).unwrap()));
        Ok(())
    });
    assert_delivered(&adapter.deliver(&spool.item(1, PDF)).await);
    let sidecar = "<n>Canaryworth</n><f>2026-11-21_lab_slip.pdf</f>\n".to_owned();
    assert_eq!(*seen.lock().unwrap(), [(false, sidecar)]);
    assert_eq!(inbox.names(), [FILED, "Canaryworth_Zoé/2026-11-21_lab_slip.xml"]);
}

#[tokio::test]
async fn a_fault_before_the_pdf_appears_takes_the_sidecar_away_again() {
    let (inbox, spool) = (Inbox::with_sidecar(), Spool::new());
    let adapter = inbox.adapter_with(|_| Err(io::ErrorKind::StorageFull.into()));
    let outcome = adapter.deliver(&spool.item(1, PDF)).await;
    assert!(matches!(outcome, Outcome::NoRoom(_)) && reason(&outcome).contains("free space"), "{outcome:?}");
    assert_eq!(inbox.names(), Vec::<String>::new(), "neither sidecar nor temporary file is left");
}

#[tokio::test]
async fn a_sidecar_that_a_crash_left_is_used_and_one_with_other_content_is_not_touched() {
    let (inbox, spool) = (Inbox::with_sidecar(), Spool::new());
    let sidecar = "Canaryworth_Zoé/2026-11-21_lab_slip.xml";
    inbox.put(sidecar, b"<n>Canaryworth</n><f>2026-11-21_lab_slip.pdf</f>\n");
    assert_delivered(&inbox.adapter().deliver(&spool.item(1, PDF)).await);
    assert_eq!(inbox.names(), [FILED, sidecar]);

    let inbox = Inbox::with_sidecar();
    inbox.put(sidecar, b"another's");
    assert_delivered(&inbox.adapter().deliver(&spool.item(1, PDF)).await);
    assert_eq!(inbox.names(), [sidecar, SUFFIXED, "Canaryworth_Zoé/2026-11-21_lab_slip_00000001.xml"]);
    assert_eq!(inbox.read(sidecar), "another's");
}

#[tokio::test]
async fn a_sidecar_with_one_name_for_all_waits_until_it_was_imported() {
    let (inbox, spool) = (Inbox::new(NAME, Some(("import.ini", "[x]\n"))), Spool::new());
    let sidecar = "Canaryworth_Zoé/import.ini";
    inbox.put(sidecar, b"another's");
    let outcome = inbox.adapter().deliver(&spool.item(1, PDF)).await;
    assert!(matches!(outcome, Outcome::Transient { .. }) && reason(&outcome).contains("file_stem"), "{outcome:?}");
    assert_eq!(inbox.names(), [sidecar]);

    let inbox = Inbox::new(NAME, Some(("{{ file_stem }}.PDF", "x")));
    let outcome = inbox.adapter().deliver(&spool.item(1, PDF)).await;
    assert!(matches!(outcome, Outcome::Permanent { .. }) && reason(&outcome).contains("sidecar_name"), "{outcome:?}");
}

#[tokio::test]
async fn a_sidecar_that_comes_last_has_no_name_before_its_pdf_which_is_there_once() {
    let (mut inbox, spool) = (Inbox::with_sidecar(), Spool::new());
    inbox.config.sidecar.as_mut().unwrap().is_last = true;
    let sidecar = "Canaryworth_Zoé/2026-11-21_lab_slip.xml";
    // While the PDF gets its name, somebody takes the sidecar's name.
    let path = inbox.path.join(sidecar);
    let adapter = inbox.adapter_with(move |_| {
        assert!(!path.exists());
        fs::write(&path, "another's")
    });
    for _again in 0..2 {
        let outcome = adapter.deliver(&spool.item(1, PDF)).await;
        assert!(matches!(outcome, Outcome::Transient { .. }) && reason(&outcome).contains("not been imported yet"));
        assert_eq!(
            (inbox.names(), inbox.read(sidecar)),
            (vec![FILED.to_owned(), sidecar.to_owned()], "another's".into())
        );
    }
    fs::remove_file(inbox.path.join(sidecar)).unwrap();
    for _again in 0..2 {
        assert_delivered(&inbox.adapter().deliver(&spool.item(1, PDF)).await);
        assert_eq!(inbox.names(), [FILED, sidecar]);
        assert_eq!(inbox.read(sidecar), "<n>Canaryworth</n><f>2026-11-21_lab_slip.pdf</f>\n");
    }
}

#[tokio::test]
async fn a_sidecar_that_an_importer_has_answered_in_is_the_letters_own_after_a_crash() {
    let (mut inbox, spool) = (Inbox::with_sidecar(), Spool::new());
    inbox.config.sidecar.as_mut().unwrap().is_last = true;
    let ready = crate::config::SidecarLine::parse("READY=1").unwrap();
    inbox.config.confirm =
        Some(crate::destinations::contract::confirm::confirm(crate::config::Evidence::Sidecar(ready), None));
    let path = inbox.path.join("Canaryworth_Zoé/2026-11-21_lab_slip.xml");
    // The first attempt ends when both files are there, and the importer writes into the sidecar before the next
    // attempt.
    let adapter = inbox.adapter_with(move |_| fs::write(&path, "READY=1"));
    assert!(matches!(adapter.deliver(&spool.item(1, PDF)).await, Outcome::Transient { .. }));
    assert_delivered(&inbox.adapter().deliver(&spool.item(1, PDF)).await);
    assert_eq!(inbox.read("Canaryworth_Zoé/2026-11-21_lab_slip.xml"), "READY=1");
}

#[tokio::test]
async fn when_all_counted_names_are_taken_the_letter_waits() {
    let (inbox, spool) = (Inbox::new("{{ document.audio }}.pdf", Some(("D.{{ number3 }}", "x"))), Spool::new());
    (1..=999).for_each(|number| inbox.put(&format!("D.{number:03}"), b"another's"));
    let outcome = inbox.adapter().deliver(&spool.item(1, PDF)).await;
    assert!(matches!(outcome, Outcome::Transient { .. }) && reason(&outcome).contains("not been imported yet"));
    fs::remove_file(inbox.path.join("D.998")).unwrap();
    assert_delivered(&inbox.adapter().deliver(&spool.item(1, PDF)).await);
    assert_eq!((inbox.read("D.998").as_str(), inbox.names().len()), ("x", 1000));
}

/// Changes the patient's last name.
fn of_patient(item: Item, last_name: &str) -> Item {
    let mut metadata = Metadata::clone(&item.metadata);
    metadata.patient.insert("lastName".to_owned(), last_name.into());
    Item { metadata: Arc::new(metadata), ..item }
}

fn in_windows_1252(inbox: &mut Inbox) -> &mut Form {
    let form = &mut inbox.config.sidecar.as_mut().unwrap().form;
    form.charset = Charset::Windows1252;
    form
}

#[tokio::test]
async fn letters_that_the_encoding_lacks_are_written_as_others_also_in_the_name_that_the_sidecar_tells() {
    let named = "{{ patient.lastName }}.pdf";
    let spool = Spool::new();
    let item = of_patient(spool.item(1, PDF), "Łukasz Jo\u{308}rg");
    let mut inbox = Inbox::new(named, Some(("{{ file_stem }}.xml", "{{ patient.lastName }} {{ file_name }}")));
    in_windows_1252(&mut inbox);
    assert_delivered(&inbox.adapter().deliver(&item).await);
    assert_eq!(inbox.names(), ["Lukasz Jörg.pdf", "Lukasz Jörg.xml"]);
    assert_eq!(fs::read(inbox.path.join("Lukasz Jörg.xml")).unwrap(), b"Lukasz J\xf6rg Lukasz J\xf6rg.pdf");
    // The name is unchanged if the sidecar does not contain it.
    let mut inbox = Inbox::new(named, Some(("import.xml", "{{ patient.lastName }}")));
    in_windows_1252(&mut inbox);
    assert_delivered(&inbox.adapter().deliver(&item).await);
    assert_eq!(inbox.names(), ["import.xml", "Łukasz Jörg.pdf"]);
}

#[tokio::test]
async fn what_cannot_be_written_fails_by_the_field_and_nothing_of_it_is_told() {
    let spool = Spool::new();
    let sidecar = ("{{ file_stem }}.txt", "{{ document.type }}\n{{ patient.lastName }}");
    for (last_name, transliterates) in [("Canaryworth ł", false), ("Canaryworth \u{1f600}", true)] {
        for is_last in [false, true] {
            let mut inbox = Inbox::new("{{ document.audio }}.pdf", Some(sidecar));
            in_windows_1252(&mut inbox).transliterates = transliterates;
            inbox.config.sidecar.as_mut().unwrap().is_last = is_last;
            let outcome = inbox.adapter().deliver(&of_patient(spool.item(1, PDF), last_name)).await;
            let expected = "destination `pms`: `sidecar` cannot be written in windows-1252: line 2 holds a character that the \
                            encoding lacks, in `patient.lastName`: correct it there, or choose another `sidecar_encoding`";
            assert!(matches!(outcome, Outcome::Own { .. }), "{outcome:?}");
            assert_eq!((reason(&outcome), inbox.names()), (expected, Vec::new()));
        }
    }
    // The reason is not its field, but its length.
    let mut inbox = Inbox::new("{{ document.audio }}.pdf", None);
    let compile = |kind, source: &str| Arc::new(Template::compile(kind, source).unwrap());
    let content = compile(TemplateKind::Text(TextFormat::Gdt), "80006310\n6227{{ patient.lastName }}");
    inbox.config.sidecar = Some(SidecarConfig::new(content, compile(TemplateKind::SidecarName, "a.gdt")));
    in_windows_1252(&mut inbox).is_gdt = true;
    let outcome = inbox.adapter().deliver(&of_patient(spool.item(1, PDF), &"Canaryworth".repeat(91))).await;
    assert!(matches!(outcome, Outcome::Own { .. }), "{outcome:?}");
    assert!(reason(&outcome).contains("field 6227 is longer than 990 bytes"), "{outcome:?}");
}
