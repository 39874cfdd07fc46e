//! Finds the processes that a child started, also those that have left its process group, as
//! daemons do. Linux shows them below `/proc`.
//!
//! Three signs show such a process: the child or a process of the child is its parent, its
//! environment has the child's mark, or the system gave it to us when its parent ended.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use rustix::process::{
    Pid, PidfdFlags, Signal, WaitOptions, pidfd_open, pidfd_send_signal, set_child_subreaper,
    waitpid,
};
use tokio::process::Command;

/// The environment variable with the marks of a process: one for each of our processes above it.
const MARKS_VARIABLE: &str = "SPARRING_CHILD";

/// The mark of children whose processes may stay.
const FREE_MARK: &str = "free";

/// The number of processes that a message names.
const MAX_NAMED: usize = 5;

/// True if the system gives us processes whose parents have ended.
static ADOPTS_ORPHANS: AtomicBool = AtomicBool::new(false);

/// The ids of our own children.
static OWN_CHILDREN: LazyLock<Mutex<Vec<i32>>> = LazyLock::new(Mutex::default);

/// Asks the system to give the processes whose parents have ended to our child above them, or
/// else to us. All of them are then ended with our children, even if their environment was
/// cleared. Programs that run long should not ask for it: a child need not reap processes that
/// it did not start.
pub fn adopt_orphans() {
    let adopts = set_child_subreaper(Some(rustix::process::getpid())).is_ok();
    ADOPTS_ORPHANS.store(adopts, Ordering::Relaxed);
}

/// Returns true if the system gives us processes whose parents have ended.
pub(super) fn adopts_orphans() -> bool {
    ADOPTS_ORPHANS.load(Ordering::Relaxed)
}

/// The mark of a new child.
#[derive(Debug)]
pub(super) struct Mark(String);

impl Mark {
    /// Chooses a mark. If `free` is true, processes that leave the child's group may stay.
    pub(super) fn new(free: bool) -> Mark {
        if free {
            return Mark(FREE_MARK.to_owned());
        }
        let mut bytes = [0_u8; 8];
        getrandom::fill(&mut bytes).expect("every system has random numbers");
        Mark(format!("{:x}", u64::from_ne_bytes(bytes)))
    }

    fn is_free(&self) -> bool {
        self.0 == FREE_MARK
    }

    /// Adds the mark to a command, after our own marks.
    pub(super) fn add_to(&self, command: &mut Command) {
        let marks = match std::env::var(MARKS_VARIABLE) {
            Ok(ours) if !ours.is_empty() => format!("{ours},{}", self.0),
            _ => self.0.clone(),
        };
        command.env(MARKS_VARIABLE, marks);
    }
}

/// The processes that a child started and that have left its group.
#[derive(Debug)]
pub(super) struct Descendants {
    leader: Pid,
    /// The start time of the leader: its id may be reused when it is gone.
    started: Option<u64>,
    mark: Mark,
    /// The start times of the processes that were found, by their ids.
    found: Mutex<HashMap<i32, u64>>,
    /// Set when the leader is gone and none of the processes runs.
    ended: AtomicBool,
}

impl Descendants {
    pub(super) fn new(leader: Pid, mark: Mark) -> Descendants {
        let pid = leader.as_raw_nonzero().get();
        own_children().push(pid);
        let started = Process::read(pid).map(|process| process.started);
        Descendants {
            leader,
            started,
            mark,
            found: Mutex::default(),
            ended: AtomicBool::new(false),
        }
    }

    /// Sends a signal to all processes.
    pub(super) fn signal(&self, signal: Signal) {
        for process in self.running() {
            let Some(pid) = Pid::from_raw(process.pid) else { continue };
            let Ok(descriptor) = pidfd_open(pid, PidfdFlags::empty()) else { continue };
            // The id may have been reused before the process was opened.
            if Process::read(process.pid).is_some_and(|now| now.started == process.started) {
                let _ = pidfd_send_signal(&descriptor, signal);
            }
        }
    }

    /// Returns true if no process runs. `leader_ended` is true if the child itself is gone.
    pub(super) fn is_empty(&self, leader_ended: bool) -> bool {
        let is_empty = self.running().is_empty();
        if is_empty && leader_ended {
            self.ended.store(true, Ordering::Relaxed);
        }
        is_empty
    }

    /// Names the processes: `12 (node), 14 (sh)`.
    pub(super) fn describe(&self) -> Option<String> {
        let running = self.running();
        let named = running.iter().take(MAX_NAMED);
        let names: Vec<String> = named.map(|it| format!("{} ({})", it.pid, it.name)).collect();
        let more = running.len() - names.len();
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        (!names.is_empty()).then(|| names.join(", ") + &more)
    }

    /// Finds the processes that run and have left the child's group.
    fn running(&self) -> Vec<Process> {
        if self.mark.is_free() || self.ended.load(Ordering::Relaxed) {
            return Vec::new();
        }
        let table = ProcessTable::read();
        let leader = self.leader.as_raw_nonzero().get();
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        let mut all: BTreeMap<i32, &Process> = BTreeMap::new();
        let known = found.iter().filter_map(|(pid, started)| {
            table.0.get(pid).filter(|process| process.started == *started)
        });
        let mut open: Vec<&Process> = known.collect();
        if table.0.get(&leader).map(|process| process.started) == self.started {
            open.extend(table.children_of(leader));
        }
        open.extend(table.0.values().filter(|process| process.has_mark(&self.mark)));
        if adopts_orphans() {
            open.extend(table.orphans());
        }
        while let Some(process) = open.pop() {
            if process.pid != leader && all.insert(process.pid, process).is_none() {
                open.extend(table.children_of(process.pid));
            }
        }
        // Signals to the group reach its processes.
        let left = all.into_values().filter(|it| !it.is_zombie() && it.group != leader);
        let running: Vec<Process> = left.cloned().collect();
        *found = running.iter().map(|process| (process.pid, process.started)).collect();
        running
    }
}

impl Drop for Descendants {
    fn drop(&mut self) {
        let leader = self.leader.as_raw_nonzero().get();
        let mut own = own_children();
        if let Some(at) = own.iter().position(|pid| *pid == leader) {
            own.swap_remove(at);
        }
    }
}

fn own_children() -> MutexGuard<'static, Vec<i32>> {
    OWN_CHILDREN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The processes that run, by their ids.
struct ProcessTable(BTreeMap<i32, Process>);

#[derive(Debug, Clone)]
struct Process {
    pid: i32,
    name: String,
    state: u8,
    parent: i32,
    group: i32,
    /// The time of its start, in clock ticks since the start of the system.
    started: u64,
}

impl ProcessTable {
    fn read() -> ProcessTable {
        let Ok(entries) = fs::read_dir("/proc") else { return ProcessTable(BTreeMap::new()) };
        let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
        let pids = names.filter_map(|name| name.parse().ok());
        let processes = pids.filter_map(Process::read);
        ProcessTable(processes.map(|process| (process.pid, process)).collect())
    }

    fn children_of(&self, parent: i32) -> impl Iterator<Item = &Process> {
        self.0.values().filter(move |process| process.parent == parent)
    }

    /// Returns the processes without any mark that the system gave us. A child of ours keeps the
    /// processes whose parents have ended, so these left a child that is gone. Reaps those that
    /// have ended.
    fn orphans(&self) -> Vec<&Process> {
        let own = own_children();
        let ours = self.children_of(rustix::process::getpid().as_raw_nonzero().get());
        let adopted: Vec<&Process> = ours.filter(|process| !own.contains(&process.pid)).collect();
        let (ended, running): (Vec<&Process>, Vec<&Process>) =
            adopted.into_iter().partition(|process| process.is_zombie());
        for process in ended {
            let _ = waitpid(Pid::from_raw(process.pid), WaitOptions::NOHANG);
        }
        running.into_iter().filter(|process| process.marks().is_none()).collect()
    }
}

impl Process {
    fn read(pid: i32) -> Option<Process> {
        let stat = fs::read(format!("/proc/{pid}/stat")).ok()?;
        // The name may contain anything, including brackets and spaces.
        let stat = String::from_utf8_lossy(&stat);
        let (start, rest) = stat.rsplit_once(") ")?;
        let name = start.split_once('(')?.1.to_owned();
        let mut fields = rest.split_whitespace();
        let state = fields.next()?.bytes().next()?;
        let parent = fields.next()?.parse().ok()?;
        let group = fields.next()?.parse().ok()?;
        // The 22nd field of the line.
        let started = fields.nth(16)?.parse().ok()?;
        Some(Process { pid, name, state, parent, group, started })
    }

    /// Returns true if it has ended and waits to be reaped.
    fn is_zombie(&self) -> bool {
        matches!(self.state, b'Z' | b'X')
    }

    fn has_mark(&self, mark: &Mark) -> bool {
        self.marks().is_some_and(|marks| marks.split(',').any(|it| it == mark.0))
    }

    /// Returns its marks, if its environment has any.
    fn marks(&self) -> Option<String> {
        let environment = fs::read(format!("/proc/{}/environ", self.pid)).ok()?;
        let mut entries = environment.split(|byte| *byte == 0);
        let value = |entry: &[u8]| {
            let marks = entry.strip_prefix(MARKS_VARIABLE.as_bytes())?.strip_prefix(b"=")?;
            Some(String::from_utf8_lossy(marks).into_owned())
        };
        entries.find_map(value)
    }
}
