//! The process group of a child: signalled as a whole, and killed at the latest
//! when nobody holds it any more.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::process::{Child, Command};

#[cfg(unix)]
use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};

/// Makes a command lead a process group of its own; on Linux it also dies with
/// us, however we die.
#[cfg_attr(target_os = "linux", expect(unsafe_code, reason = "see the comment below"))]
pub(super) fn lead(command: &mut Command) {
    #[cfg(unix)]
    command.process_group(0);
    // Only the child itself can ask to be killed with its parent, between fork
    // and exec; there only what is safe in a signal handler may be done, which
    // two system calls are.
    #[cfg(target_os = "linux")]
    {
        let parent = rustix::process::getpid();
        unsafe {
            command.pre_exec(move || die_with(parent));
        }
    }
}

/// Asks to be killed when our parent ends. One that has ended before was not
/// seen by that; whoever has another parent by now does not start at all.
#[cfg(target_os = "linux")]
fn die_with(parent: Pid) -> io::Result<()> {
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
    match rustix::process::getppid() {
        Some(now) if now == parent => Ok(()),
        _ => Err(rustix::io::Errno::SRCH.into()),
    }
}

/// A child's process group. Dropped, all that is left of it is killed.
#[derive(Debug)]
pub(super) struct Group {
    #[cfg(unix)]
    leader: Pid,
    /// Set once nothing was left of it: from then on its number may be
    /// anybody's.
    gone: AtomicBool,
}

impl Group {
    pub(super) fn of(child: &Child) -> io::Result<Group> {
        let gone = AtomicBool::new(false);
        #[cfg(unix)]
        {
            let id = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
            let leader = id.ok_or_else(|| io::Error::other("it is gone already"))?;
            Ok(Group { leader, gone })
        }
        #[cfg(not(unix))]
        {
            let _ = child;
            Ok(Group { gone })
        }
    }

    /// Asks all of it to end.
    pub(super) fn terminate(&self) {
        #[cfg(unix)]
        {
            self.signal(Signal::TERM);
            // One that was stopped could not heed it.
            self.signal(Signal::CONT);
        }
    }

    /// Ends all of it.
    pub(super) fn kill(&self) {
        #[cfg(unix)]
        self.signal(Signal::KILL);
    }

    #[cfg(unix)]
    fn signal(&self, signal: Signal) {
        if !self.gone.load(Ordering::Relaxed) {
            let _ = kill_process_group(self.leader, signal);
        }
    }

    /// Whether nothing of it is left that runs.
    pub(super) fn is_empty(&self) -> bool {
        #[cfg(unix)]
        {
            if self.gone.load(Ordering::Relaxed) {
                return true;
            }
            if test_kill_process_group(self.leader).is_err() {
                self.gone.store(true, Ordering::Relaxed);
                return true;
            }
            only_zombies(self.leader)
        }
        #[cfg(not(unix))]
        return true;
    }
}

/// Whether all that is left of a group has ended and only waits to be reaped by
/// whoever is its parent now, which may take long.
#[cfg(target_os = "linux")]
fn only_zombies(leader: Pid) -> bool {
    let Ok(processes) = std::fs::read_dir("/proc") else { return false };
    let runs = processes.flatten().any(|process| {
        let Ok(stat) = std::fs::read_to_string(process.path().join("stat")) else { return false };
        // The name before may hold anything, brackets and spaces included.
        let mut fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
        let (state, group) = (fields.next(), fields.nth(1));
        let in_group = group.and_then(|group| group.parse::<i32>().ok())
            == Some(leader.as_raw_nonzero().get());
        in_group && !matches!(state, Some("Z" | "X"))
    });
    !runs
}

#[cfg(all(unix, not(target_os = "linux")))]
fn only_zombies(_: Pid) -> bool {
    false
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn whoever_has_lost_its_parent_does_not_start() {
        // In a thread of its own, which is all that asks to be killed with us.
        let asked = std::thread::spawn(|| {
            let ours = rustix::process::getppid().unwrap();
            let other = rustix::process::getpid();
            let asked = (die_with(ours).is_ok(), die_with(other).is_err());
            rustix::process::set_parent_process_death_signal(None).unwrap();
            asked
        });
        assert_eq!(asked.join().unwrap(), (true, true));
    }

    #[tokio::test]
    async fn a_group_of_zombies_is_empty_although_nobody_has_reaped_them() {
        let mut command = Command::new("sleep");
        command.arg("300");
        lead(&mut command);
        let mut child = command.spawn().unwrap();
        let group = Group::of(&child).unwrap();
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
