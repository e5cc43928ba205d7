//! A WebDAV collection that takes a sign in a name for the name's end.

use crate::dictated::*;
use crate::harness::Practice;
use crate::peer::{EndsNames, Peer};

/// Two letters of Berta Meier, `sign` between her names, and one of a patient whose name has nothing odd.
async fn practice_of(peer: &Peer, sign: char) -> (Practice, Vec<String>) {
    peer.state().folders = Some(["/letters".to_owned()].into());
    let (practice, uuids) = practice_with_small(3).await;
    practice.write_secret("password", "p");
    let simple = &uuids[2];
    practice.configure_wholly(&format!(
        "{}[destinations.cloud]\ntype = \"webdav\"\nurl = \"{}\"\npath = \"/letters\"\nuser = \"u\"\npassword_file = 'password'\n\
         file_name = \"{{% if document.uuid == '{simple}' %}}Schmidt{{% else %}}Meier{sign} Berta{{% endif %}}.pdf\"\n",
        practice.base_config(),
        peer.url("/"),
    ));
    (practice, uuids)
}

#[tokio::test]
async fn two_letters_whose_name_has_a_semicolon_are_filed_and_none_elsewhere() {
    for (ends_names, kept) in [(EndsNames::AsWritten, "Meier; Berta"), (EndsNames::Decoded, "Meier_ Berta")] {
        let peer = Peer::start().await;
        peer.state().ends_names = Some((';', ends_names));
        let (practice, uuids) = practice_of(&peer, ';').await;
        let synced = practice.sync().await;
        assert_eq!(synced.code, 0, "{synced:?}");
        assert_each_reported_once(&practice, &uuids);
        let names: Vec<String> = peer.objects().into_keys().collect();
        assert_eq!(names.len(), 3, "{names:?}");
        assert!(names.contains(&format!("/letters/{kept}.pdf")), "{names:?}");
        assert!(names.iter().any(|name| name.starts_with(&format!("/letters/{kept}_"))), "{names:?}");
    }
}

#[tokio::test]
async fn a_letter_that_the_server_puts_elsewhere_is_told_as_failed_and_holds_up_no_other() {
    let peer = Peer::start().await;
    peer.state().ends_names = Some((',', EndsNames::Decoded));
    let (mut practice, uuids) = practice_of(&peer, ',').await;
    practice.without_patience();
    let synced = practice.sync().await;
    assert_eq!(synced.code, 3, "{synced:?}");
    assert!(peer.objects().contains_key("/letters/Schmidt.pdf"));
    assert_eq!(posts_of(&practice.sandbox, &uuids[2]), [(Some(true), None)]);
    let posts: Vec<_> = uuids[..2].iter().flat_map(|uuid| posts_of(&practice.sandbox, uuid)).collect();
    assert!(posts.iter().all(|(success, _)| *success == Some(false)), "{posts:?}");
    let told = |(_, error): &(_, Option<String>)| error.as_deref().is_some_and(|error| error.contains("elsewhere"));
    assert!(posts.iter().any(told), "{posts:?}");
}
