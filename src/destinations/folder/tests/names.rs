//! Which name a document gets, and that no other document's file is overwritten.

use super::*;

#[tokio::test]
async fn a_name_taken_by_other_content_gets_the_short_uuid_and_then_numbers() {
    let (inbox, spool) = (Inbox::new(NAME, None), Spool::new());
    inbox.put(FILED, b"somebody else's");
    let numbered = "Canaryworth_Zoé/2026-11-21_lab_slip_00000001_2.pdf";
    for name in [SUFFIXED, numbered] {
        for _again in 0..2 {
            let place = assert_delivered(&inbox.adapter().deliver(&spool.item(1, PDF)).await);
            assert_eq!(PathBuf::from(place), inbox.path.join(name));
        }
        inbox.put(name, b"somebody else's, too");
        spool.forget();
    }
    assert_eq!((inbox.names().len(), inbox.read(FILED)), (3, "somebody else's".to_owned()));
}

#[tokio::test]
async fn a_new_version_gets_its_number_beside_the_one_before_it() {
    for (taken, names) in [
        (false, [FILED.to_owned(), FILED.replace(".pdf", "_v2.pdf"), FILED.replace(".pdf", "_v3.pdf")]),
        (true, [SUFFIXED.to_owned(), SUFFIXED.replace(".pdf", "_v2.pdf"), SUFFIXED.replace(".pdf", "_v3.pdf")]),
    ] {
        let (inbox, spool) = (Inbox::new(NAME, None), Spool::new());
        if taken {
            assert_delivered(&inbox.adapter().deliver(&spool.item(2, PDF)).await);
        }
        for (content, name) in ["v1", "v2", "v3"].into_iter().zip(&names) {
            for _again in 0..2 {
                let item = spool.item(1, content.as_bytes());
                let place = assert_delivered(&inbox.adapter().deliver(&item).await);
                assert_eq!(PathBuf::from(place), inbox.path.join(name));
                spool.record(&item);
            }
        }
        assert_eq!(inbox.names().len(), 3 + usize::from(taken));
    }
}

#[tokio::test]
async fn a_version_that_never_got_a_file_does_not_count() {
    let (inbox, spool) = (Inbox::new(NAME, None), Spool::new());
    let adapter = inbox.adapter_with(|_| Err(io::ErrorKind::StorageFull.into()));
    assert!(matches!(adapter.deliver(&spool.item(1, b"v1")).await, Outcome::NoRoom(_)));
    assert_delivered(&inbox.adapter().deliver(&spool.item(1, b"v2")).await);
    assert_eq!(inbox.names(), [FILED]);
}

#[tokio::test]
async fn a_delivery_under_its_second_name_is_found_again_when_the_first_became_free() {
    let (inbox, spool) = (Inbox::new(NAME, None), Spool::new());
    inbox.put(FILED, b"other");
    assert_delivered(&inbox.adapter().deliver(&spool.item(1, PDF)).await);
    fs::remove_file(inbox.path.join(FILED)).unwrap();
    assert_delivered(&inbox.adapter().deliver(&spool.item(1, PDF)).await);
    assert_eq!(inbox.names(), [SUFFIXED]);
}

#[tokio::test]
async fn another_document_with_the_same_content_and_name_gets_a_file_of_its_own() {
    let (inbox, spool) = (Inbox::new(NAME, None), Spool::new());
    let items = [1, 2, 3].map(|number| spool.item(number, PDF));
    let names = [FILED.to_owned(), FILED.replace(".pdf", "_00000002.pdf"), FILED.replace(".pdf", "_00000003.pdf")];
    for round in 0..3 {
        for (item, name) in items.iter().zip(&names) {
            let place = assert_delivered(&inbox.adapter().deliver(item).await);
            assert_eq!(PathBuf::from(place), inbox.path.join(name));
        }
        if round == 0 {
            items.iter().for_each(|item| spool.record(item));
        } else {
            // The order decides which document gets the plain name; two of them are found.
            spool.forget();
        }
    }
    assert_eq!(inbox.names().len(), 3);
}

#[tokio::test]
async fn a_folder_that_has_the_name_counts_as_other_content() {
    let (inbox, spool) = (Inbox::new("{{ document.type }}", None), Spool::new());
    fs::create_dir(inbox.path.join("lab_slip")).unwrap();
    assert_delivered(&inbox.adapter().deliver(&spool.item(1, PDF)).await);
    assert_eq!(inbox.names(), ["lab_slip_00000001"]);
}

#[tokio::test]
async fn a_name_that_is_taken_in_the_last_moment_is_not_overwritten() {
    let (inbox, spool) = (Inbox::with_sidecar(), Spool::new());
    let adapter = inbox.adapter_with(|pdf| match pdf.to_string_lossy().contains("00000001") {
        true => Ok(()),
        false => fs::write(pdf, "the other was quicker"),
    });
    let place = assert_delivered(&adapter.deliver(&spool.item(1, PDF)).await);
    assert_eq!(PathBuf::from(place), inbox.path.join(SUFFIXED));
    assert_eq!(inbox.read(FILED), "the other was quicker");
    let sidecar = "Canaryworth_Zoé/2026-11-21_lab_slip_00000001.xml";
    assert_eq!(inbox.names(), [FILED, SUFFIXED, sidecar], "the sidecar of the lost name is gone");
    assert!(inbox.read(sidecar).contains("<f>2026-11-21_lab_slip_00000001.pdf</f>"));
}

#[tokio::test]
async fn the_same_content_that_appears_in_the_last_moment_is_the_delivery() {
    let (inbox, spool) = (Inbox::with_sidecar(), Spool::new());
    let adapter = inbox.adapter_with(|pdf| fs::write(pdf, PDF));
    assert_delivered(&adapter.deliver(&spool.item(1, PDF)).await);
    assert_eq!(inbox.names(), [FILED, "Canaryworth_Zoé/2026-11-21_lab_slip.xml"]);
}

/// An importer took the first file, a stranger's had its name when a person asked for the letter again, and went away.
#[tokio::test]
async fn a_letter_that_lies_under_the_second_of_its_names_is_not_filed_under_the_first() {
    let (inbox, spool) = (Inbox::new(NAME, None), Spool::new());
    let deliver = async || {
        let place = assert_delivered(&inbox.adapter().deliver(&spool.item(1, PDF)).await);
        spool.record(&spool.item(1, PDF));
        PathBuf::from(place)
    };
    assert_eq!(deliver().await, inbox.path.join(FILED));
    inbox.put(FILED, b"somebody else's");
    assert_eq!(deliver().await, inbox.path.join(SUFFIXED));
    fs::remove_file(inbox.path.join(FILED)).unwrap();
    assert_eq!(deliver().await, inbox.path.join(SUFFIXED));
    assert_eq!(inbox.names(), [SUFFIXED]);
}
