//! The disk of the ledger is full: nothing can be written down, and all the same nobody reads that all is well.

use tokio::io::AsyncWriteExt as _;

use crate::dictated::{add_small, small};
use crate::faults::disk::{in_namespace, quick, within, within_command};
use crate::faults::tools::namespaces;
use crate::harness::{PATIENCE, Practice, Running};

/// A ledger that cannot be written cannot say so: the sentence, the page and an alarm do all the same.
#[tokio::test]
async fn a_full_disk_below_the_ledger_is_no_more_told_as_well() {
    if !namespaces() {
        return;
    }
    let web = crate::alerts::receivers::WebServer::start().await;
    let mut practice = Practice::with_documents(0).await;
    quick(&mut practice);
    practice.write_secret("webhook", &web.url("/hook"));
    practice.configure(&format!("[alerts]\nafter = \"200ms\"\nwebhook_url_file = 'webhook'\n{}", super::PAGE));
    let state = practice.path("state");
    std::fs::create_dir(&state).unwrap();
    let path = state.display().to_string();
    let mut running: Running = in_namespace(&practice, &format!("mount -t tmpfs -o size=6m,mode=700 none '{path}'"));
    running.wait_for_log("the status page is at http://").await;
    let address = super::address_in(&running.log());
    let page = async || {
        let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
        stream.write_all(format!("GET / HTTP/1.1\r\nHost: {address}\r\n\r\n").as_bytes()).await.unwrap();
        super::read(stream).await.body
    };
    let status = |running: &Running, says: &str| {
        let program = env!("CARGO_BIN_EXE_docsyncd");
        let script = format!("\"{program}\" --config '{}' status --lang en", practice.config_path().display());
        let mut command = within_command(running, &script);
        let ended = command.output().unwrap();
        let said = String::from_utf8_lossy(&ended.stdout).into_owned();
        ended.status.success() && said.lines().next().is_some_and(|first| first.contains(says))
    };
    assert!(status(&running, "All is well") && page().await.contains("status well"));

    within(&running, &format!("cat /dev/zero > '{path}/filler' 2> /dev/null || true"));
    add_small(&practice, 3, |number, _| small(&format!("{number}"))).await;
    assert!(status(&running, "cannot keep downloaded letters") || status(&running, "cannot write its ledger"));
    running.wait_for_log("event=\"ledger_failed\"").await;
    web.wait_for(1).await;
    // What everybody may see is at most a second old.
    tokio::time::sleep(std::time::Duration::from_millis(1100)).await;
    let shown = page().await;
    assert!(shown.contains("status needs_person"), "{shown}");
    assert_eq!(practice.sandbox.status_posts(), []);

    within(&running, &format!("rm '{path}/filler'"));
    practice.wait_for_posts(3).await;
    while !web.messages().iter().any(|message| message["kind"] == "over") {
        web.wait_for(web.requests().len() + 1).await;
    }
    let deadline = std::time::Instant::now() + PATIENCE;
    while !(status(&running, "All is well") && page().await.contains("status well")) {
        assert!(std::time::Instant::now() < deadline);
    }
    let kinds: Vec<_> = web.messages().iter().map(|message| message["kind"].clone()).collect();
    assert_eq!(kinds, ["problem", "over"], "{:#?}", web.messages());
    assert_eq!(running.stop().await, 0);
}
