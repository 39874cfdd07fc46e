//! The processes of a container as the host sees them: found by a variable of
//! their environment, and signalled without anything in the container.

use std::fs;
use std::os::fd::OwnedFd;

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

/// The processes that have `entry` in their environment, such as can be seen
/// from here and still run: one that only waits to be reaped has no environment
/// any more.
pub(super) struct Found(Vec<OwnedFd>);

impl Found {
    pub(super) fn by(entry: &str) -> Found {
        let Ok(processes) = fs::read_dir("/proc") else { return Found(Vec::new()) };
        let names =
            processes.flatten().filter_map(|process| process.file_name().into_string().ok());
        let numbers = names.filter_map(|name| name.parse::<i32>().ok());
        Found(numbers.filter_map(|number| holder(number, entry)).collect())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether all of them could be sent the signal, or are gone.
    pub(super) fn signal(&self, signal: Signal) -> bool {
        let sent = self.0.iter().map(|process| pidfd_send_signal(process, signal));
        sent.fold(true, |all, sent| all & matches!(sent, Ok(()) | Err(rustix::io::Errno::SRCH)))
    }
}

/// The process of that number if it has the entry. Its number may become
/// another's at any time, so it is held first and looked at again.
fn holder(number: i32, entry: &str) -> Option<OwnedFd> {
    if !has(number, entry) {
        return None;
    }
    let process = pidfd_open(Pid::from_raw(number)?, PidfdFlags::empty()).ok()?;
    has(number, entry).then_some(process)
}

fn has(number: i32, entry: &str) -> bool {
    let environment = fs::read(format!("/proc/{number}/environ")).unwrap_or_default();
    environment.split(|byte| *byte == 0).any(|other| other == entry.as_bytes())
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt as _;
    use std::process::Command;

    use super::*;

    #[test]
    fn only_who_has_the_whole_entry_is_found_and_signalled() {
        let start = |value: &str| {
            Command::new("sleep").arg("300").env("SPAR_TEST_ENTRY", value).spawn().unwrap()
        };
        let own = format!("{}-host", std::process::id());
        let (mut ours, mut other) = (start(&own), start(&format!("{own}-other")));
        let found = Found::by(&format!("SPAR_TEST_ENTRY={own}"));
        assert_eq!(found.0.len(), 1);
        assert!(found.signal(Signal::TERM));
        assert_eq!(ours.wait().unwrap().signal(), Some(15));
        assert!(other.try_wait().unwrap().is_none());
        assert!(found.signal(Signal::KILL), "who is gone needs no signal");
        assert!(Found::by(&format!("SPAR_TEST_ENTRY={own}")).is_empty());
        other.kill().unwrap();
        other.wait().unwrap();
    }
}
