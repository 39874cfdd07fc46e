//! The process group of a child: signalled as a whole, and killed at the latest
//! when nobody holds it any more.

use std::io;

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
    // one system call is.
    #[cfg(target_os = "linux")]
    unsafe {
        command.pre_exec(|| {
            let kill = rustix::process::Signal::KILL;
            rustix::process::set_parent_process_death_signal(Some(kill))?;
            Ok(())
        });
    }
}

/// A child's process group. Dropped, all that is left of it is killed.
#[derive(Debug)]
pub(super) struct Group {
    #[cfg(unix)]
    leader: Pid,
}

impl Group {
    pub(super) fn of(child: &Child) -> io::Result<Group> {
        #[cfg(unix)]
        {
            let id = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
            let leader = id.ok_or_else(|| io::Error::other("it is gone already"))?;
            Ok(Group { leader })
        }
        #[cfg(not(unix))]
        {
            let _ = child;
            Ok(Group {})
        }
    }

    /// Asks all of it to end.
    pub(super) fn terminate(&self) {
        #[cfg(unix)]
        let _ = kill_process_group(self.leader, Signal::TERM);
    }

    /// Ends all of it.
    pub(super) fn kill(&self) {
        #[cfg(unix)]
        let _ = kill_process_group(self.leader, Signal::KILL);
    }

    /// Whether nothing of it is left.
    pub(super) fn is_empty(&self) -> bool {
        #[cfg(unix)]
        return test_kill_process_group(self.leader).is_err();
        #[cfg(not(unix))]
        return true;
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
    }
}
