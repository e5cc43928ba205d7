//! The fault matrix: what each fault gives. `tests/README.md` has the table; each of its rows is a test, by name.

mod api;
// Unix only: mounts, permissions, strace. What Windows does to files is in `windows`.
#[cfg(unix)]
pub mod disk;
#[cfg(unix)]
mod fsync;
// Unix only: signals, a library that moves the clock, and a ledger that can be removed while it is open.
#[cfg(unix)]
pub mod process;
// Unix only, as rows of the table are.
#[cfg(unix)]
mod table;
pub mod tools;
#[cfg(windows)]
mod windows;
