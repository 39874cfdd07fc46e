//! Describes the exit of a process in words.

use std::process::ExitStatus;

/// The description of a child's exit.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(
    not(feature = "containers"),
    expect(dead_code, reason = "only processes in a container use all variants")
)]
pub(crate) enum ExitDescription {
    /// The process ran and has ended; the text describes the end.
    Ended(String),
    /// The process did not start; the text gives the reason.
    NotStarted(String),
}

/// Describes an exit status: the code, or the signal by its name.
pub(crate) fn describe_exit_status(status: ExitStatus) -> String {
    #[cfg(unix)]
    if let Some(signal) = signal_name(status) {
        use std::os::unix::process::ExitStatusExt as _;
        let core = if status.core_dumped() { ", core dumped" } else { "" };
        return format!("was killed by {signal}{core}");
    }
    match status.code() {
        Some(code) => format!("exited with status {code}"),
        None => format!("ended: {status}"),
    }
}

/// Returns the name of the signal that ended the process, if one did.
#[cfg(unix)]
pub(super) fn signal_name(status: ExitStatus) -> Option<String> {
    use std::os::unix::process::ExitStatusExt as _;
    status.signal().map(signal_number_name)
}

#[cfg(not(unix))]
pub(super) fn signal_name(_: ExitStatus) -> Option<String> {
    None
}

#[cfg(unix)]
fn signal_number_name(signal: i32) -> String {
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
