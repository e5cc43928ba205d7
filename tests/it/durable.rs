//! In which order the program asks the system to make things durable, as strace sees it: the bytes, the name, the
//! folder, and only then the report. Linux only; where there is no strace, or it may not trace, this says so and proves
//! nothing, and in CI fails.

#[cfg(target_os = "linux")]
use tokio::process::Command;

#[cfg(target_os = "linux")]
use crate::dictated::{pdf, small};
#[cfg(target_os = "linux")]
use crate::faults::tools::there;
#[cfg(target_os = "linux")]
use crate::harness::{Ended, Practice};

/// The number of the first line, from `from` on, that contains all of these, and none of those that begin with `!`.
#[cfg(target_os = "linux")]
fn line(trace: &[&str], from: usize, parts: &[&str]) -> usize {
    let says = |line: &str, part: &str| part.strip_prefix('!').map_or(line.contains(part), |not| !line.contains(not));
    let found = trace.iter().skip(from).position(|line| parts.iter().all(|part| says(line, part)));
    from + found.unwrap_or_else(|| panic!("no {parts:?} from line {from} on:\n{}", trace.join("\n")))
}

/// What `docsyncd sync` asks the system for; `None` where that cannot be seen.
#[cfg(target_os = "linux")]
async fn traced_sync(practice: &Practice) -> Option<String> {
    let output = practice.path("trace");
    let mut strace = Command::new("strace");
    strace.args(["-f", "-y", "-s", "40", "-e", "trace=fsync,fdatasync,renameat2,sendto,write,writev,mkdir"]);
    strace.arg("-o").arg(&output).arg(env!("CARGO_BIN_EXE_docsyncd"));
    strace.arg("--config").arg(practice.config_path()).arg("sync");
    let works = std::process::Command::new("strace").args(["-o", "/dev/null", "true"]).status();
    if !there("strace that may trace", works.is_ok_and(|status| status.success())) {
        return None;
    }
    let ended = Ended::of(strace).await;
    assert_eq!(ended.code, 0, "{ended:?}");
    practice.assert_spool_empty();
    Some(std::fs::read_to_string(&output).unwrap())
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bytes_name_and_folder_are_on_the_disk_before_the_report() {
    let practice = Practice::with_documents(1).await;
    practice.configure("file_name = \"letters/letter.pdf\"\nsidecar = \"x\"\nsidecar_name = \"letter.ini\"");
    let Some(text) = traced_sync(&practice).await else { return };
    let trace: Vec<&str> = text.lines().collect();
    let folder = line(&trace, 0, &["mkdir(", "/letters"]);
    let its_name = line(&trace, folder, &["fsync(", "inbox>"]);
    let bytes = line(&trace, 0, &["fsync(", "inbox/letters/.docsyncd-", ".part>", "!.sidecar.part>"]);
    let sidecar_bytes = line(&trace, 0, &["fsync(", ".sidecar.part>"]);
    let sidecar = line(&trace, sidecar_bytes, &["renameat2(", "letter.ini"]);
    let sidecars_name = line(&trace, sidecar, &["fsync(", "inbox/letters>"]);
    let name = line(&trace, bytes, &["renameat2(", "letter.pdf"]);
    // From the temporary name follows what became of a delivery that was cut off, once the ledger has the intent.
    let temporary_name = line(&trace, bytes, &["fsync(", "inbox/letters>"]);
    let intent = line(&trace, temporary_name, &["sync(", "ledger.sqlite3-wal>"]);
    assert!(intent < name, "{intent} {name}\n{text}");
    let synced = line(&trace, name, &["fsync(", "inbox/letters>"]);
    let report = line(&trace, 0, &["POST /documents/"]);
    let order = [folder, its_name, bytes, name, synced, report];
    assert!(order[2..].is_sorted() && its_name < report, "{order:?}\n{text}");
    assert!(sidecars_name < name, "the sidecar is complete before the PDF appears: {sidecars_name} {name}\n{text}");
    // And what is known of it: the ledger's log is written through before the report is sent.
    let delivered =
        trace[synced..report].iter().any(|line| line.contains("sync(") && line.contains("ledger.sqlite3-wal>"));
    assert!(delivered, "{text}");
}

/// A crash may have come between the rename and the fsyncs: what lies there need not be on the disk.
#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_document_that_is_found_is_on_the_disk_before_the_report() {
    let practice = Practice::with_documents(0).await;
    practice.sandbox.add(small("found")).await.unwrap();
    practice.configure("file_name = \"letter.pdf\"");
    std::fs::write(practice.inbox().join("letter.pdf"), pdf("found")).unwrap();
    let Some(text) = traced_sync(&practice).await else { return };
    assert_eq!(practice.filed().len(), 1, "it is not filed again");

    let trace: Vec<&str> = text.lines().collect();
    let bytes = line(&trace, 0, &["fsync(", "inbox/letter.pdf>"]);
    let name = line(&trace, bytes, &["fsync(", "inbox>"]);
    let report = line(&trace, 0, &["POST /documents/"]);
    assert!(name < report, "{text}");
}
