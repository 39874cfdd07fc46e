//! A server under load: `spar` over HTTP on a free port, with its memory, open files and
//! processes as `/proc` shows them.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};

use super::http_connection::Endpoint;
use crate::command::print_command;

/// The limit of the end after a signal.
const STOP_TIMEOUT: Duration = Duration::from_secs(20);

/// The resources that a server uses.
#[derive(Debug, Clone)]
pub(super) struct Usage {
    pub(super) memory_bytes: u64,
    pub(super) files: usize,
    pub(super) processes: usize,
}

impl Usage {
    /// Raises each number to the other one if that is larger.
    pub(super) fn raise_to(&mut self, other: &Usage) {
        self.memory_bytes = self.memory_bytes.max(other.memory_bytes);
        self.files = self.files.max(other.files);
        self.processes = self.processes.max(other.processes);
    }
}

/// A running server. Dropping it kills it.
pub(super) struct ServerProcess {
    name: &'static str,
    child: Child,
    endpoint: Endpoint,
}

impl ServerProcess {
    /// Starts `spar` with these words and `--http 0`, and waits until it serves.
    pub(super) fn start(
        name: &'static str,
        tool: &str,
        spar: &Path,
        folder: &Path,
        words: &[&str],
    ) -> Result<ServerProcess> {
        let mut command = Command::new(spar);
        command.args(words).args(["--http", "0", "--quiet"]).current_dir(folder);
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        print_command(&command);
        let mut child = command.spawn().context("cannot start spar")?;
        let mut url = String::new();
        if let Some(stdout) = child.stdout.take() {
            BufReader::new(stdout).read_line(&mut url).context("reading the URL")?;
        }
        let rest = url.trim().strip_prefix("http://").context("spar printed no URL")?;
        let (address, path) = rest.split_once('/').context("the URL has no path")?;
        let address = address.parse().with_context(|| format!("the address in {url}"))?;
        let endpoint = Endpoint { address, path: format!("/{path}"), tool: tool.to_owned() };
        Ok(ServerProcess { name, child, endpoint })
    }

    pub(super) fn name(&self) -> &'static str {
        self.name
    }

    pub(super) fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// Returns the resources that the server uses now.
    pub(super) fn usage(&self) -> Result<Usage> {
        let id = self.child.id();
        let read = |file: &str| {
            let path = format!("/proc/{id}/{file}");
            fs::read_to_string(&path).with_context(|| format!("the {} has ended", self.name))
        };
        let status = read("status")?;
        let memory = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let memory = memory.and_then(|it| it.trim().strip_suffix(" kB")?.trim().parse().ok());
        let memory_bytes = memory.map(|kib: u64| kib * 1024).context("no VmRSS")?;
        let files = fs::read_dir(format!("/proc/{id}/fd")).context("no open files")?.count();
        // Any of the threads may have started a process.
        let mut processes = 0;
        for thread in fs::read_dir(format!("/proc/{id}/task")).context("no threads")? {
            let children = fs::read_to_string(thread?.path().join("children"));
            // A thread may have ended meanwhile.
            processes += children.unwrap_or_default().split_whitespace().count();
        }
        Ok(Usage { memory_bytes, files, processes })
    }

    /// Waits until the server has as many open files and processes as before, or the time is
    /// over. Returns what it uses then.
    pub(super) fn settle(
        &self,
        before: &Usage,
        more_files: usize,
        within: Duration,
    ) -> Result<Usage> {
        let until = Instant::now() + within;
        loop {
            let usage = self.usage()?;
            let is_settled =
                usage.files <= before.files + more_files && usage.processes == before.processes;
            if is_settled || Instant::now() > until {
                return Ok(usage);
            }
            thread::sleep(Duration::from_millis(200));
        }
    }

    /// Ends the server with a signal, and checks that it ends soon.
    pub(super) fn stop(mut self) -> Result<()> {
        let id = self.child.id().to_string();
        let killed = Command::new("kill").args(["-TERM", &id]).status().context("kill")?;
        ensure!(killed.success(), "the {} has ended before", self.name);
        let until = Instant::now() + STOP_TIMEOUT;
        while Instant::now() < until {
            if self.child.try_wait().context("waiting")?.is_some() {
                return Ok(());
            }
            thread::sleep(Duration::from_millis(50));
        }
        bail!("the {} did not end within {STOP_TIMEOUT:?}", self.name)
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
