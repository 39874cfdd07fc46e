//! The process group of a child, and on Linux the processes that have left it: signalled as a
//! whole, and killed when the last handle is dropped.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::process::{Child, Command};

#[cfg(unix)]
use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};

#[cfg(target_os = "linux")]
use super::descendants::{Descendants, Mark, adopts_orphans};

/// Makes a command lead its own process group. On Linux the system also kills it when our
/// process ends, and may give it the processes below it whose parents end. If `free` is true,
/// processes that leave the group may stay.
#[cfg_attr(target_os = "linux", expect(unsafe_code, reason = "see the comment below"))]
pub(super) fn start_in_own_group(command: &mut Command, free: bool) -> GroupMark {
    #[cfg(unix)]
    command.process_group(0);
    // Only the child can ask for this, between fork and exec. Only async-signal-safe calls are
    // allowed there; these system calls are.
    #[cfg(target_os = "linux")]
    {
        let parent = rustix::process::getpid();
        let keeps_orphans = adopts_orphans() && !free;
        unsafe {
            command.pre_exec(move || {
                if keeps_orphans {
                    rustix::process::set_child_subreaper(Some(parent))?;
                }
                die_with_parent(parent)
            });
        }
        let mark = Mark::new(free);
        mark.add_to(command);
        GroupMark(mark)
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = free;
        GroupMark()
    }
}

/// The mark of a command by which its processes are found.
#[derive(Debug)]
pub(super) struct GroupMark(#[cfg(target_os = "linux")] Mark);

/// Asks the system to kill this process when its parent ends. Fails if the parent has changed:
/// it ended before the request, so the child must not start.
#[cfg(target_os = "linux")]
fn die_with_parent(parent: Pid) -> io::Result<()> {
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
    match rustix::process::getppid() {
        Some(now) if now == parent => Ok(()),
        _ => Err(rustix::io::Errno::SRCH.into()),
    }
}

/// A child's process group. Dropping it kills the processes that are left.
#[derive(Debug)]
pub(super) struct ProcessGroup {
    #[cfg(unix)]
    leader: Pid,
    #[cfg(target_os = "linux")]
    descendants: Descendants,
    /// Set when the group was found empty: its id may be reused from then on.
    gone: AtomicBool,
}

impl ProcessGroup {
    pub(super) fn from_child(child: &Child, mark: GroupMark) -> io::Result<ProcessGroup> {
        let gone = AtomicBool::new(false);
        #[cfg(unix)]
        {
            let id = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
            let leader = id.ok_or_else(|| io::Error::other("the process has already exited"))?;
            #[cfg(target_os = "linux")]
            let descendants = Descendants::new(leader, mark.0);
            #[cfg(not(target_os = "linux"))]
            let _ = mark;
            Ok(ProcessGroup {
                leader,
                #[cfg(target_os = "linux")]
                descendants,
                gone,
            })
        }
        #[cfg(not(unix))]
        {
            let _ = (child, mark);
            Ok(ProcessGroup { gone })
        }
    }

    /// Sends SIGTERM to the group and the processes that have left it.
    pub(super) fn terminate(&self) {
        #[cfg(unix)]
        {
            self.signal(Signal::TERM);
            // A stopped process cannot handle SIGTERM.
            self.signal(Signal::CONT);
        }
    }

    /// Sends SIGKILL to the group and the processes that have left it.
    pub(super) fn kill(&self) {
        #[cfg(unix)]
        self.signal(Signal::KILL);
    }

    #[cfg(unix)]
    fn signal(&self, signal: Signal) {
        // Found before the leader ends, since it is the parent of those whose parents ended.
        #[cfg(target_os = "linux")]
        self.descendants.signal(signal);
        if !self.gone.load(Ordering::Relaxed) {
            let _ = kill_process_group(self.leader, signal);
        }
    }

    /// Returns true if no process of the group runs any more, nor one that has left it.
    pub(super) fn is_empty(&self) -> bool {
        let is_empty = self.is_group_empty();
        #[cfg(target_os = "linux")]
        let is_empty = self.descendants.is_empty(is_empty) && is_empty;
        is_empty
    }

    /// Names the processes that still run, if the system shows them.
    pub(super) fn describe_left(&self) -> Option<String> {
        #[cfg(target_os = "linux")]
        return self.descendants.describe();
        #[cfg(not(target_os = "linux"))]
        return None;
    }

    fn is_group_empty(&self) -> bool {
        #[cfg(unix)]
        {
            if self.gone.load(Ordering::Relaxed) {
                return true;
            }
            if test_kill_process_group(self.leader).is_err() {
                self.gone.store(true, Ordering::Relaxed);
                return true;
            }
            has_only_zombies(self.leader)
        }
        #[cfg(not(unix))]
        return true;
    }
}

/// Returns true if all remaining processes of the group have ended and only wait to be reaped
/// by their parent, which may take long.
#[cfg(target_os = "linux")]
fn has_only_zombies(leader: Pid) -> bool {
    let Ok(processes) = std::fs::read_dir("/proc") else { return false };
    let runs = processes.flatten().any(|process| {
        let Ok(stat) = std::fs::read_to_string(process.path().join("stat")) else { return false };
        // The process name may contain anything, including brackets and spaces.
        let mut fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
        let (state, group) = (fields.next(), fields.nth(1));
        let in_group = group.and_then(|group| group.parse::<i32>().ok())
            == Some(leader.as_raw_nonzero().get());
        in_group && !matches!(state, Some("Z" | "X"))
    });
    !runs
}

#[cfg(all(unix, not(target_os = "linux")))]
fn has_only_zombies(_: Pid) -> bool {
    false
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        self.kill();
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_child_without_its_parent_does_not_start() {
        // A separate thread, because the request applies to the calling thread.
        let asked = std::thread::spawn(|| {
            let ours = rustix::process::getppid().unwrap();
            let other = rustix::process::getpid();
            let asked = (die_with_parent(ours).is_ok(), die_with_parent(other).is_err());
            rustix::process::set_parent_process_death_signal(None).unwrap();
            asked
        });
        assert_eq!(asked.join().unwrap(), (true, true));
    }

    #[tokio::test]
    async fn a_group_of_unreaped_zombies_is_empty() {
        let mut command = Command::new("sleep");
        command.arg("300");
        let mark = start_in_own_group(&mut command, false);
        let mut child = command.spawn().unwrap();
        let group = ProcessGroup::from_child(&child, mark).unwrap();
        assert!(!group.is_empty());
        group.kill();
        let ended = async {
            while !group.is_empty() {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(std::time::Duration::from_secs(10), ended).await.unwrap();
        assert!(test_kill_process_group(group.leader).is_ok(), "it has not been reaped yet");
        child.wait().await.unwrap();
        assert!(group.is_empty() && test_kill_process_group(group.leader).is_err());
    }
}
