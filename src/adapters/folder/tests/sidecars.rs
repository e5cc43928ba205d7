//! The sidecar beside the PDF.

use super::*;

/// Several rounds, as the order in which the threads come differs.
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
    // While the first name is being given, another program takes it and the next one.
    let adapter = inbox.adapter_with(move |pdf| {
        log.lock().unwrap().push(pdf.file_name().unwrap().to_string_lossy().into_owned());
        fs::write(&second, "another's")?;
        if pdf.ends_with("2026-11-21_lab_slip.pdf") { fs::write(pdf, "another's") } else { Ok(()) }
    });
    assert_delivered(&adapter.deliver(&spool.item(1, PDF)).await);
    // For the second name not even the sidecar was written.
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
