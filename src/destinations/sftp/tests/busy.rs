//! A server that takes no more clients at the moment.

use super::*;

#[tokio::test]
async fn a_server_at_its_limit_is_told_as_busy_and_another_service_as_the_wrong_port() {
    let (lab, spool) = (Lab::named(LETTER), Spool::new());
    let item = spool.item(1, b"%PDF one");
    for words in ["", "Exceeded MaxStartups\r\n", "Not allowed at this time\r\n", "SSH-2.0-OpenSSH_9.2\r\n"] {
        lab.peer.with(|state| state.hangs_up_with = Some(words.as_bytes()));
        let outcome = lab.sftp().deliver(&item).await;
        let told = assert_unavailable(&outcome, "busy");
        assert!(told.contains("MaxStartups") && !told.contains("`port`"), "{words}: {told}");
    }
    for words in ["HTTP/1.1 400 Bad Request\r\n\r\n", "220 mail.test ESMTP\r\n", "\x15\x03\x01\0\x02\x02\x16"] {
        lab.peer.with(|state| state.hangs_up_with = Some(words.as_bytes()));
        let outcome = lab.sftp().deliver(&item).await;
        let told = assert_unavailable(&outcome, "no_greeting");
        assert!(told.contains("is `port` right"), "{words}: {told}");
    }
    lab.peer.with(|state| state.hangs_up_with = None);
    assert_delivered(&lab.sftp().deliver(&item).await);
}
