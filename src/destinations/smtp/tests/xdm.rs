//! Tests of the archive; tests/peer/xdm.py reads it with software of others.

use ring::digest;

use super::*;
use crate::destinations::XdmConfig;
use crate::domain::document::{LOINC, TypeMap, hex};

fn xdm() -> Post {
    let mut post = post();
    let type_map = TypeMap::new(LOINC).unwrap();
    post.config.attach =
        Attach::Xdm(Box::new(XdmConfig { type_map, author: Some("Cabinet <Dent & Fils>".to_owned()) }));
    post.config.subject = compile(TEXT, "XDM/1.0/DDM+{{ key }}");
    post
}

/// The files of an uncompressed archive, by the header before each (APPNOTE.TXT 4.3.7).
fn files(archive: &[u8]) -> Vec<(String, Vec<u8>)> {
    let (mut files, mut rest) = (Vec::new(), archive);
    while rest.starts_with(b"PK\x03\x04") {
        let number = |at: usize| u32::from_le_bytes(rest[at..at + 4].try_into().unwrap()) as usize;
        let (length, name) = (number(22), usize::from(u16::from_le_bytes([rest[26], rest[27]])));
        let content = 30 + name;
        files.push((String::from_utf8(rest[30..content].to_vec()).unwrap(), rest[content..content + length].to_vec()));
        rest = &rest[content + length..];
    }
    assert!(rest.starts_with(b"PK\x01\x02"));
    files
}

#[tokio::test]
async fn a_number_is_read_in_the_metadata_as_it_is_or_the_letter_needs_a_person() {
    use proptest::prelude::*;
    let (post, spool) = (xdm(), Spool::new());
    let item = spool.item(1, b"%PDF-1.7 letter");
    let Attach::Xdm(codes) = &post.config.attach else { panic!() };
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig::with_cases(1000));
    let result = runner.run(&crate::formats::template::tests::numbers::odd_numbers(), |number| {
        let mut item = item.clone();
        std::sync::Arc::make_mut(&mut item.metadata).number = Some(number.clone());
        let Ok(metadata) = crate::destinations::smtp::xdm::metadata_of(&post.config, codes, &item, "hash") else {
            return Ok(());
        };
        let named = metadata.find("XDSDocumentEntry.patientId").unwrap();
        let value = metadata[..named].rsplit_once("value=\"").unwrap().0.rsplit_once("value=\"").unwrap().1;
        let read = value.split('^').next().unwrap();
        let escapes = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&amp;", "&")];
        let read = escapes.iter().fold(read.to_owned(), |text, (escape, c)| text.replace(escape, c));
        prop_assert_eq!(read, number);
        Ok(())
    });
    result.unwrap();
    let mut refused = item.clone();
    Arc::make_mut(&mut refused.metadata).number = Some("1^2".to_owned());
    let outcome = post.smtp().deliver(&refused).await;
    assert_eq!(outcome, Outcome::NeedsPerson(crate::patients::Unmatched::NotHeld));
}

#[tokio::test]
async fn an_archive_has_the_letter_and_says_what_it_is() {
    let post = xdm();
    let content = b"%PDF-1.7 letter ".repeat(20_000);
    let mut item = Spool::new().item(1, b"");
    let spool = Spool::new();
    item.clone_from(&spool.item(1, &content));
    item.replaces = Some("0123456789abcdef0123456789abcdef".to_owned());
    assert_delivered(&post.smtp().deliver(&item).await);
    let mail = post.peer.state().mails.first().unwrap().clone();
    assert_eq!(mail.header("Subject").unwrap(), format!("XDM/1.0/DDM+{}", item.key));
    let (head, archive) = mail.part(2);
    assert!(head.contains("application/zip") && head.contains("filename=\"IHE_XDM.zip\""), "{head}");
    let files = files(&archive);
    let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["INDEX.HTM", "README.TXT", "IHE_XDM/SUBSET01/METADATA.XML", "IHE_XDM/SUBSET01/DOC0001.PDF"]);
    assert!(files[3].1 == content);
    let metadata = String::from_utf8(files[2].1.clone()).unwrap();
    let sha1 = hex(digest::digest(&digest::SHA1_FOR_LEGACY_USE_ONLY, &content).as_ref());
    for expected in [
        sha1.as_str(),
        &format!("<rim:Value>{}</rim:Value>", content.len()),
        "<rim:Value>DOC0001.PDF</rim:Value>",
        "nodeRepresentation=\"57828-6\"",
        "Cabinet &lt;Dent   Fils&gt;",
        "PID-5|Canaryworth^Zoé^^^^^D",
        "PID-7|19800312",
        "<rim:Value>20261121100000</rim:Value>",
        "urn:ihe:iti:2007:AssociationType:RPLC",
    ] {
        assert!(metadata.contains(expected), "{expected}: {metadata}");
    }
    // The same in every attempt.
    assert_delivered(&post.smtp().deliver(&item).await);
    assert!(post.peer.state().mails[1].attached() == archive);
}

#[tokio::test]
async fn a_name_adds_nothing_to_the_metadata() {
    let post = xdm();
    let spool = Spool::new();
    let mut item = spool.item(1, b"%PDF-1.7 letter");
    let mut metadata = (*item.metadata).clone();
    metadata.patient.insert("lastName".to_owned(), "A\"/><x>&amp;|B^C\u{0}\u{fffe}\r\n".into());
    metadata.number = Some("7\"<".to_owned());
    item.metadata = Arc::new(metadata);
    assert_delivered(&post.smtp().deliver(&item).await);
    let archive = post.peer.state().mails.first().unwrap().attached();
    let metadata = String::from_utf8(files(&archive)[2].1.clone()).unwrap();
    assert!(metadata.contains("PID-5|A&quot;/&gt;&lt;x&gt; amp; B C"), "{metadata}");
    assert!(metadata.contains("value=\"7&quot;&lt;^^^&amp;2.25."), "{metadata}");
    assert!(!metadata.contains("<x>") && !metadata.contains(['\u{0}', '\u{fffe}', '\r']));
}
