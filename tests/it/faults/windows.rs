//! What only Windows does to files: one that another program has open can be neither read nor replaced, and a read-only
//! attribute keeps even its owner from writing. The rows of the table are in `tests/README.md`, below that of the disk.

use std::fs::{self, OpenOptions};
use std::os::windows::fs::OpenOptionsExt as _;
use std::path::Path;

use docsyncd_sandbox::NewDocument;

use crate::dictated::*;
use crate::harness::Practice;

/// One letter for each of these types, which is its sub-folder; all would be called letter.pdf.
async fn letters(practice: &Practice, types: &[&str]) -> Vec<String> {
    practice.configure("file_name = \"{{ document.type }}/letter.pdf\"");
    for of in types {
        fs::create_dir(practice.inbox().join(of)).unwrap();
    }
    let with =
        |number: usize, document| NewDocument { document_type: Some(Some(types[number].to_owned())), ..document };
    add_small(practice, types.len(), with).await
}

fn set_read_only(path: &Path, read_only: bool) {
    let mut permissions = fs::metadata(path).unwrap().permissions();
    permissions.set_readonly(read_only);
    fs::set_permissions(path, permissions).unwrap();
}

#[tokio::test]
async fn a_name_that_another_program_has_open_is_waited_for_and_left_alone() {
    let mut practice = Practice::with_documents(0).await;
    let uuids = letters(&practice, &["lab_slip", "prescription"]).await;
    let taken = practice.inbox().join("lab_slip").join("letter.pdf");
    // Of the same length, so that it has to be read: one of another length is known to be another letter.
    let mut another = practice.sandbox.pdf_bytes(&uuids[0]).await.unwrap();
    *another.last_mut().unwrap() ^= 1;
    fs::write(&taken, &another).unwrap();
    // As a virus scanner does, or an importer: nobody else may open it.
    let open = OpenOptions::new().read(true).share_mode(0).open(&taken).unwrap();
    practice.without_patience();
    let synced = practice.sync().await;
    assert_eq!((synced.code, practice.state(&uuids[0]).await.as_str()), (3, "fetched"), "{synced:?}");
    let shown = practice.show(&uuids[0]).await.to_string();
    assert!(shown.contains("another program has the file open"), "{shown}");
    assert_eq!(practice.state(&uuids[1]).await, "reported", "the other one is filed");
    assert_eq!(practice.sandbox.status_posts().len(), 1, "nothing is said of the one that waits");

    drop(open);
    assert_eq!(practice.docsyncd(&["retry", "--yes", &uuids[0]]).await.code, 0);
    let synced = practice.sync().await;
    assert_eq!(synced.code, 0, "{synced:?}");
    assert_each_reported_once(&practice, &uuids);
    assert_eq!(fs::read(&taken).unwrap(), another);
    assert!(taken.with_file_name(format!("letter_{}.pdf", short(&uuids[0]))).exists(), "{:?}", practice.filed());
}

#[tokio::test]
async fn a_read_only_file_is_left_alone_and_counts_as_filed_when_it_is_the_same() {
    let practice = Practice::with_documents(0).await;
    let uuids = letters(&practice, &["lab_slip", "prescription"]).await;
    let (other, same) =
        (practice.inbox().join("lab_slip/letter.pdf"), practice.inbox().join("prescription/letter.pdf"));
    fs::write(&other, "another letter").unwrap();
    fs::write(&same, practice.sandbox.pdf_bytes(&uuids[1]).await.unwrap()).unwrap();
    for file in [&other, &same] {
        set_read_only(file, true);
    }
    let synced = practice.sync().await;
    assert_eq!(synced.code, 0, "{synced:?}");
    assert_each_reported_once(&practice, &uuids);
    let own = format!("lab_slip/letter_{}.pdf", short(&uuids[0]));
    let filed: Vec<String> = practice.filed().into_keys().collect();
    assert_eq!(filed, ["lab_slip/letter.pdf", &own, "prescription/letter.pdf"]);
    assert_eq!(fs::read_to_string(&other).unwrap(), "another letter");
    for file in [&other, &same] {
        assert!(fs::metadata(file).unwrap().permissions().readonly(), "{file:?}");
        set_read_only(file, false);
    }
}
