//! How a process ended, in words.

use std::process::ExitStatus;

/// What a person would say of an exit: the status, or the signal by its name.
pub(crate) fn described(status: ExitStatus) -> String {
    #[cfg(unix)]
    if let Some(signal) = signal(status) {
        use std::os::unix::process::ExitStatusExt as _;
        let core = if status.core_dumped() { ", core dumped" } else { "" };
        return format!("it was killed by {signal}{core}");
    }
    match status.code() {
        Some(code) => format!("it exited with status {code}"),
        None => format!("it ended: {status}"),
    }
}

/// The name of the signal that ended it, where one did.
#[cfg(unix)]
pub(super) fn signal(status: ExitStatus) -> Option<String> {
    use std::os::unix::process::ExitStatusExt as _;
    status.signal().map(name)
}

#[cfg(not(unix))]
pub(super) fn signal(_: ExitStatus) -> Option<String> {
    None
}

#[cfg(unix)]
fn name(signal: i32) -> String {
    let known = [
        (1, "SIGHUP"),
        (2, "SIGINT"),
        (3, "SIGQUIT"),
        (4, "SIGILL"),
        (5, "SIGTRAP"),
        (6, "SIGABRT"),
        (8, "SIGFPE"),
        (9, "SIGKILL"),
        (11, "SIGSEGV"),
        (13, "SIGPIPE"),
        (14, "SIGALRM"),
        (15, "SIGTERM"),
    ];
    let found = known.iter().find(|(number, _)| *number == signal);
    found.map_or_else(|| format!("signal {signal}"), |(_, name)| (*name).to_owned())
}
