//! The crash test: docsyncd is killed at every point of `points`, at random times, and, with `--power-cuts`, together
//! with the power of its disks; then it is started again, and in the end `oracle` holds it to its promises.
//!
//! ```text
//! cargo test --features failpoints --test crash                        # 300 kills
//! cargo test --features failpoints --test crash -- --cycles 5000       # as many as that
//! cargo test --features failpoints --test crash -- --power-cuts 25     # as root, on ext4 images of its own
//! ```
#![cfg_attr(
    unix,
    expect(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::indexing_slicing,
        clippy::print_stderr,
        reason = "in a test a panic is the report"
    )
)]
#![expect(clippy::print_stdout, reason = "the table is printed for whoever looks")]

#[cfg(unix)]
mod arguments;
#[cfg(unix)]
mod cycle;
#[cfg(unix)]
mod elsewhere;
#[cfg(unix)]
mod importer;
#[cfg(unix)]
mod letters;
#[cfg(unix)]
#[path = "../../src/destinations/smtp/tests/peer.rs"]
#[allow(dead_code, reason = "the unit tests' server has faults that are not needed here")]
mod mail;
#[cfg(unix)]
mod oracle;
#[cfg(unix)]
#[path = "../../src/destinations/sftp/packet.rs"]
#[allow(dead_code, unused_imports, reason = "it is of the adapter; the server speaks the same")]
mod packet;
#[cfg(unix)]
mod plan;
#[cfg(unix)]
mod points;
#[cfg(target_os = "linux")]
mod power;
#[cfg(unix)]
#[path = "../it/signed_in.rs"]
#[allow(dead_code, reason = "the other tests' accounts have more than is needed here")]
mod signed_in;
#[cfg(unix)]
#[path = "../../src/destinations/sftp/tests/peer.rs"]
#[allow(dead_code, reason = "the unit tests' server has faults that are not needed here")]
mod ssh;
#[cfg(unix)]
mod table;
#[cfg(unix)]
mod world;

#[cfg(unix)]
use docsyncd_test_support::{dicom, fhir, harness, mllp, peer, vdds};

#[cfg(unix)]
fn main() -> std::process::ExitCode {
    vdds::play();
    if let Some(code) = importer::when_asked() {
        return code;
    }
    let arguments = match arguments::read() {
        Ok(arguments) => arguments,
        Err(code) => return code,
    };
    points::check_against_sources();
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(plan::carry_out(&arguments))
}

/// SIGKILL and SIGTERM are what the test is about; of Windows' own ways to end the tests on that system tell.
#[cfg(not(unix))]
fn main() {
    println!("not run: the crash test needs the signals of Unix");
}
