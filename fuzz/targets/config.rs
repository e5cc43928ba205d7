#![no_main]

use std::sync::OnceLock;

use tempfile::TempDir;

/// One folder for the whole run.
static FOLDER: OnceLock<TempDir> = OnceLock::new();

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    let folder = FOLDER.get_or_init(|| tempfile::tempdir().unwrap());
    oracles::config::check(folder.path(), input);
});
