//! python-hl7's server, behind which hl7apy compares each message with the tables of its version, strictly.

use std::path::Path;

use super::configure;
use crate::dictated::*;
use crate::web::real::Server;

fn kept(folder: &Path, end: &str) -> Vec<Vec<u8>> {
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut found: Vec<Vec<u8>> = files
        .filter(|path| path.extension().is_some_and(|found| found == end))
        .map(|path| std::fs::read(path).unwrap())
        .collect();
    found.sort();
    found
}

#[tokio::test]
async fn messages_are_in_order_by_the_tables_of_hl7() {
    for more in [
        "assigning_authority = \"CLINIC^1.2.250.1.999^ISO\"\nreceiving_application = \"ENGINE\"",
        "message = \"ORU^R01\"\nassigning_authority = \"CLINIC\"",
        "version = \"2.6\"\nkeep_connection_open = true",
        "message = \"ORU^R01\"\nversion = \"2.4\"",
        "version = \"2.3.1\"",
        "version = \"2.8.2\"",
    ] {
        let (practice, uuids) = practice_with_small(6).await;
        let folder = practice.path("received");
        std::fs::create_dir(&folder).unwrap();
        let Some(server) = Server::start(&["hl7", folder.to_str().unwrap()]).await else { return };
        configure(&practice, server.port, more);
        let checked = practice.docsyncd(&["check"]).await;
        assert_eq!(checked.code, 0, "{checked:?}");
        let synced = practice.sync().await;
        assert_eq!(synced.code, 0, "{more}: {synced:?}");
        assert_each_reported_once(&practice, &uuids);
        assert_eq!(kept(&folder, "pdf"), small_pdfs(6), "{more}");
        practice.sandbox.replace_pdf(&uuids[0], pdf("another version")).await.unwrap();
        practice.sandbox.set_listed(&uuids[0], true).await.unwrap();
        let synced = practice.sync().await;
        assert_eq!(synced.code, 0, "{more}: {synced:?}");
        assert_eq!(kept(&folder, "pdf").len(), 7, "{more}");
        let corrected =
            kept(&folder, "hl7").into_iter().filter(|message| String::from_utf8_lossy(message).contains("|C|"));
        assert_eq!(corrected.count(), 1, "{more}");
    }
}
