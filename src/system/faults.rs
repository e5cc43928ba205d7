//! The points at which tests break docsyncd: the process dies there, or the system returns an error. With `--features
//! failpoints`, the variable `FAILPOINTS` selects them; without, they compile to nothing.
//!
//! A point is named `area.thing`. Points where the process can die are named `area.thing.before` and
//! `area.thing.after`. Each name occurs once in the sources, and the crash test has a list of all.

/// A point where the process can die as in a power cut: no destructor runs, and nothing is flushed.
/// `FAILPOINTS="folder.rename.after=2*off->return"` passes it twice and dies the third time.
macro_rules! fault_point {
    ($name:literal) => {
        #[cfg(feature = "failpoints")]
        crate::system::faults::perhaps_die($name);
    };
}

/// A point that returns an `io::Result<()>`, with the system's error of the number that a test wants.
/// `FAILPOINTS="durable.sync_file= 1*return(5)"` returns EIO once.
macro_rules! io_fault {
    ($name:literal) => {{
        #[cfg(feature = "failpoints")]
        let answer = crate::system::faults::perhaps_fail($name);
        #[cfg(not(feature = "failpoints"))]
        let answer = ::std::io::Result::Ok(());
        answer
    }};
}

/// The function of [`fault_point!`].
#[cfg(feature = "failpoints")]
pub fn perhaps_die(point: &str) {
    fail::fail_point!(point, |_| die());
}

/// The function of [`io_fault!`].
#[cfg(feature = "failpoints")]
pub fn perhaps_fail(point: &str) -> std::io::Result<()> {
    fail::fail_point!(point, |number| {
        let number = number.and_then(|number| number.parse().ok());
        Err(number.map_or_else(
            || std::io::Error::other("FAILPOINTS gives this point no error's number"),
            std::io::Error::from_raw_os_error,
        ))
    });
    Ok(())
}

#[cfg(feature = "failpoints")]
fn die() -> ! {
    #[cfg(unix)]
    let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
    // Windows has no signals. `abort` runs no destructor either.
    std::process::abort()
}
