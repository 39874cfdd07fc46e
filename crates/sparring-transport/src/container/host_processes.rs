//! A container's processes as the host shows them: found by an environment variable, and
//! signalled without a program in the container.

use std::fs;
use std::os::fd::OwnedFd;

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

/// The running processes with `entry` in their environment, as far as the host shows them. A
/// zombie has no environment any more.
pub(super) struct HostProcesses(Vec<OwnedFd>);

impl HostProcesses {
    pub(super) fn find_by_entry(entry: &str) -> HostProcesses {
        let Ok(processes) = fs::read_dir("/proc") else { return HostProcesses(Vec::new()) };
        let names =
            processes.flatten().filter_map(|process| process.file_name().into_string().ok());
        let numbers = names.filter_map(|name| name.parse::<i32>().ok());
        HostProcesses(numbers.filter_map(|number| open_if_marked(number, entry)).collect())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Sends a signal to all; returns true if each received it or is gone.
    pub(super) fn signal(&self, signal: Signal) -> bool {
        let sent = self.0.iter().map(|process| pidfd_send_signal(process, signal));
        sent.fold(true, |all, sent| all & matches!(sent, Ok(()) | Err(rustix::io::Errno::SRCH)))
    }
}

/// Opens the process with this id if it has the entry. The id may be reused at any time, so the
/// entry is checked again after the process is opened.
fn open_if_marked(number: i32, entry: &str) -> Option<OwnedFd> {
    if !has_entry(number, entry) {
        return None;
    }
    let process = pidfd_open(Pid::from_raw(number)?, PidfdFlags::empty()).ok()?;
    has_entry(number, entry).then_some(process)
}

fn has_entry(number: i32, entry: &str) -> bool {
    let environment = fs::read(format!("/proc/{number}/environ")).unwrap_or_default();
    environment.split(|byte| *byte == 0).any(|other| other == entry.as_bytes())
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt as _;
    use std::process::Command;

    use super::*;

    #[test]
    fn finds_and_signals_only_processes_with_the_whole_entry() {
        let start = |value: &str| {
            Command::new("sleep").arg("300").env("SPAR_TEST_ENTRY", value).spawn().unwrap()
        };
        let own = format!("{}-host", std::process::id());
        let (mut ours, mut other) = (start(&own), start(&format!("{own}-other")));
        let found = HostProcesses::find_by_entry(&format!("SPAR_TEST_ENTRY={own}"));
        assert_eq!(found.0.len(), 1);
        assert!(found.signal(Signal::TERM));
        assert_eq!(ours.wait().unwrap().signal(), Some(15));
        assert!(other.try_wait().unwrap().is_none());
        assert!(found.signal(Signal::KILL), "who is gone needs no signal");
        assert!(HostProcesses::find_by_entry(&format!("SPAR_TEST_ENTRY={own}")).is_empty());
        other.kill().unwrap();
        other.wait().unwrap();
    }
}
