//! aiosmtpd, which `.ci/python-environment tests/peer/requirements.txt` installs; see `web::real`.

use std::path::PathBuf;
use std::process::Command;

use super::*;
use crate::faults::tools::program;
use crate::web::real::Server;

fn python() -> PathBuf {
    PathBuf::from(std::env::var_os("DOCSYNCD_TEST_PEERS").unwrap()).join("bin").join("python")
}

/// What came, by the ending of its name.
fn came(practice: &Practice, ending: &str) -> Vec<PathBuf> {
    let files = std::fs::read_dir(practice.path("data")).unwrap().map(|entry| entry.unwrap().path());
    files.filter(|path| path.extension().is_some_and(|found| found == ending)).collect()
}

#[tokio::test]
async fn letters_come_to_aiosmtpd_over_tls_and_an_archive_is_what_ihe_says() {
    needs!("openssl");
    let (practice, uuids) = practice_with_small(20).await;
    for folder in ["data", "incoming"] {
        std::fs::create_dir(practice.path(folder)).unwrap();
    }
    make_certificate(&practice, &[], "IP:127.0.0.1");
    let (data, tls) = (practice.path("data"), practice.dir.path());
    let args = ["smtp", data.to_str().unwrap(), "0", tls.to_str().unwrap()];
    let Some(server) = Server::start(&args).await else { return };
    practice.write_secret("password", "wrong");
    let signed_in = "ca_file = 'tls.pem'\nuser = \"u\"\npassword_file = 'password'\n";
    configure(&practice, server.port, signed_in);
    let checked = practice.docsyncd(&["check"]).await;
    assert!(checked.code == 1 && checked.stdout.contains("the user or the password (code 535"), "{checked:?}");
    practice.write_secret("password", "p");
    let checked = practice.docsyncd(&["check"]).await;
    assert!(checked.code == 0 && checked.stdout.contains("200 MB"), "{checked:?}");
    assert!(came(&practice, "pdf").is_empty());
    let synced = practice.sync().await;
    assert_eq!(synced.code, 0, "{synced:?}");
    assert_each_reported_once(&practice, &uuids);
    let mut found: Vec<Vec<u8>> = came(&practice, "pdf").iter().map(|file| std::fs::read(file).unwrap()).collect();
    let mut expected: Vec<Vec<u8>> = (0..20).map(|number| pdf(&format!("letter {number}"))).collect();
    found.sort();
    expected.sort();
    assert_eq!(found, expected);

    let (practice, uuids) = practice_with_small(2).await;
    for file in ["tls.pem", "password"] {
        practice.write_secret(file, &std::fs::read_to_string(tls.join(file)).unwrap());
    }
    configure(&practice, server.port, &format!("{signed_in}attach = \"xdm\"\nauthor = \"Cabinet du Parc\"\n"));
    let synced = practice.sync().await;
    assert_eq!(synced.code, 0, "{synced:?}");
    assert_each_reported_once(&practice, &uuids);
    let archives: Vec<PathBuf> = std::fs::read_dir(&data).unwrap().map(|entry| entry.unwrap().path()).collect();
    let archives: Vec<_> =
        archives.iter().filter(|path| path.extension().is_some_and(|found| found == "zip")).collect();
    assert_eq!(archives.len(), 2);
    let reader = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/peer/xdm.py");
    let read = Command::new(python()).args(["-B", reader]).args(&archives).output().unwrap();
    assert!(read.status.success(), "{}", String::from_utf8_lossy(&read.stderr));
    if let Some(xmllint) = program("xmllint") {
        let unpack = "import sys, zipfile; zipfile.ZipFile(sys.argv[1]).extractall(sys.argv[2])";
        let unpacked = Command::new(python()).args(["-c", unpack]).arg(archives[0]).arg(practice.path("xdm")).status();
        assert!(unpacked.unwrap().success());
        let metadata = practice.path("xdm/IHE_XDM/SUBSET01/METADATA.XML");
        let linted = Command::new(xmllint).arg("--noout").arg(metadata).output().unwrap();
        assert!(linted.status.success() && linted.stderr.is_empty(), "{linted:?}");
    }
}
