//! The tables of `tests/README.md` are true: every test that they name is there, every test of the matrix has its row,
//! and the rows of the cells are what the cells say. `DOCSYNCD_TEST_WRITE=1` writes those rows anew.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

/// The tests of this binary.
fn tests_here() -> BTreeSet<String> {
    let listed = Command::new(std::env::current_exe().unwrap()).args(["--list", "--format", "terse"]).output().unwrap();
    let text = String::from_utf8(listed.stdout).unwrap();
    text.lines().filter_map(|line| line.strip_suffix(": test")).map(str::to_owned).collect()
}

/// The tests of `tests/disk_faults.rs`, another binary: those that stand there, and the names that its macro `cells!`
/// is given.
fn tests_of_disk_faults() -> BTreeSet<String> {
    let source = std::fs::read_to_string(root().join("tests/disk_faults.rs")).unwrap();
    let cells = source.split_once("\ncells! {").unwrap().1;
    let given = cells.lines().filter_map(|line| line.strip_prefix("    ")?.split_once(':')).map(|(name, _)| name);
    let plain = source.split("#[tokio::test]\nasync fn ").skip(1).filter_map(|rest| rest.split_once('('));
    given
        .chain(plain.map(|(name, _)| name))
        .filter(|name| is_name(name))
        .map(|name| format!("disk_faults::{name}"))
        .collect()
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The names of tests that stand in the last cell of a row.
fn rows(readme: &str) -> Vec<String> {
    let cells = readme.lines().filter(|line| line.starts_with('|')).filter_map(|line| line.split('|').rev().nth(1));
    let names = cells.flat_map(|cell| cell.split('`').skip(1).step_by(2));
    names.filter(|name| name.split("::").count() > 1 && name.split("::").all(is_name)).map(str::to_owned).collect()
}

#[test]
fn every_row_of_the_table_is_a_test_and_every_test_of_the_matrix_is_a_row() {
    let readme = std::fs::read_to_string(root().join("tests/README.md")).unwrap();
    let (rows, mut tests) = (rows(&readme), tests_here());
    tests.extend(tests_of_disk_faults());
    let matrix: BTreeSet<&String> = tests
        .iter()
        .filter(|name| {
            ["faults::api::", "faults::disk::", "faults::fsync::", "faults::process::", "disk_faults::"]
                .iter()
                .any(|of| name.starts_with(of))
        })
        .collect();
    assert!(matrix.len() > 90, "the tests were found: {}", matrix.len());
    let missing: Vec<_> = rows.iter().filter(|name| !tests.contains(*name)).collect();
    assert!(missing.is_empty(), "rows without a test: {missing:#?}");
    let named: BTreeSet<&String> = rows.iter().collect();
    let without: Vec<_> = matrix.into_iter().filter(|name| !named.contains(name)).collect();
    assert!(without.is_empty(), "tests without a row: {without:#?}");
}

#[test]
fn the_rows_of_the_cells_are_what_the_cells_say() {
    let path = root().join("tests/README.md");
    let readme = std::fs::read_to_string(&path).unwrap();
    let cells: BTreeMap<String, String> = super::api::rows().collect();
    let of_cell = |line: &str| cells.get(line.rsplit('`').nth(1).unwrap_or_default()).cloned();
    let written: Vec<String> = readme.lines().map(|line| of_cell(line).unwrap_or_else(|| line.to_owned())).collect();
    let written = written.join("\n") + "\n";
    if std::env::var_os("DOCSYNCD_TEST_WRITE").is_some() {
        std::fs::write(path, written).unwrap();
        return;
    }
    for (now, then) in readme.lines().zip(written.lines()) {
        assert_eq!(now, then, "`DOCSYNCD_TEST_WRITE=1` before the command of this test writes the row anew");
    }
}
