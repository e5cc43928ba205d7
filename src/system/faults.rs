//! Points at which tests break what docsyncd does: the process dies there, or the system answers with an error. With
//! `--features failpoints` the environment's `FAILPOINTS` says where; without, all of it is compiled to nothing.
//!
//! A point is named `area.thing`; where the process can die, `area.thing.before` and `area.thing.after`. Every name
//! stands once in the sources, and the crash test holds the list of them.

/// A place at which the process can be made to die as from a power cut: no destructor runs, nothing is flushed.
/// `FAILPOINTS="folder.rename.after=2*off->return"` lets it live twice, and not the third time.
macro_rules! fault_point {
    ($name:literal) => {
        #[cfg(feature = "failpoints")]
        crate::system::faults::perhaps_die($name);
    };
}

/// An `io::Result<()>`: an error where a test asks for one, by its number in the system.
/// `FAILPOINTS="durable.sync_file= 1*return(5)"` is EIO, once.
macro_rules! io_fault {
    ($name:literal) => {{
        #[cfg(feature = "failpoints")]
        let answer = crate::system::faults::perhaps_fail($name);
        #[cfg(not(feature = "failpoints"))]
        let answer = ::std::io::Result::Ok(());
        answer
    }};
}

/// What [`fault_point!`] does.
#[cfg(feature = "failpoints")]
pub fn perhaps_die(point: &str) {
    fail::fail_point!(point, |_| die());
}

/// What [`io_fault!`] does.
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
    // Windows has no signals; this runs no destructor either.
    std::process::abort()
}
