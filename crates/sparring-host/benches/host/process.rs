//! Resources and CPU times of processes, on Linux.

use std::time::{Duration, Instant};

/// The resources of this process.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ResourceCounts {
    /// Resident memory, in bytes.
    pub(crate) memory: usize,
    /// Open files.
    pub(crate) files: usize,
    /// Children, including ended ones that were not waited for.
    pub(crate) children: usize,
}

impl ResourceCounts {
    pub(crate) fn now() -> ResourceCounts {
        let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
        let memory = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let memory = memory.and_then(|it| it.split_whitespace().next()?.parse::<usize>().ok());
        let files = std::fs::read_dir("/proc/self/fd").expect("Linux").count();
        let tasks = std::fs::read_dir("/proc/self/task").expect("Linux").flatten();
        let children = tasks.map(|task| {
            let children = std::fs::read_to_string(task.path().join("children"));
            children.unwrap_or_default().split_whitespace().count()
        });
        let children = children.sum();
        ResourceCounts { memory: memory.expect("the kernel reports VmRSS") * 1024, files, children }
    }
}

/// The CPU time of this thread, which does all the work of this process.
pub(crate) fn cpu() -> Duration {
    read("/proc/self/schedstat")
}

/// The CPU time of the first thread of another process.
pub(crate) fn cpu_of(pid: u32) -> Duration {
    read(&format!("/proc/{pid}/schedstat"))
}

/// The available share of a CPU. It is less than 1 if other processes are busy; then no
/// time is meaningful.
pub(crate) fn cpu_share() -> f64 {
    let (start, before) = (Instant::now(), cpu());
    while start.elapsed() < Duration::from_millis(300) {
        std::hint::spin_loop();
    }
    (cpu() - before).as_secs_f64() / start.elapsed().as_secs_f64()
}

fn read(path: &str) -> Duration {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let nanoseconds = text.split_whitespace().next().and_then(|first| first.parse().ok());
    Duration::from_nanos(nanoseconds.unwrap_or_default())
}
