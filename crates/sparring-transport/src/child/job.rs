//! Runs a program to its end: writes its whole input, keeps a limited part of its output, and
//! leaves no process behind.
//!
//! The caller judges the result.

use std::io;
use std::process::ExitStatus;
use std::time::Duration;

use sparring_peer::task;
use tokio::io::AsyncWriteExt as _;
use tokio::process::{Child, ChildStdin};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::exit::{describe_exit_status, signal_name};
use super::output::Output;
use super::process_group::ProcessGroup;
use super::spawn::{ChildError, SpawnedChild};
use super::supervisor::{describe_left, end_remaining};
use crate::target::ChildTarget;

/// The maximum wait for the end of a program after SIGTERM.
const TERMINATE_TIMEOUT: Duration = Duration::from_secs(1);

/// The maximum wait for the rest of the output after the exit.
const OUTPUT_TIMEOUT: Duration = Duration::from_secs(1);

/// A running program. Dropping it kills the program and its process group at once.
#[derive(Debug)]
pub struct Job {
    // The first field, so that it drops first: while the leader is not reaped, its id is not
    // reused.
    group: ProcessGroup,
    child: Child,
    stdout: Output,
    stderr: Output,
    drain_tasks: [JoinHandle<()>; 2],
    input: JoinHandle<()>,
}

/// The end of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobEnd {
    /// The exit status, if the program exited without a signal.
    pub status: Option<i32>,
    /// The name of the signal that ended the program, if one did.
    pub signal: Option<String>,
    /// The same, described in words.
    pub description: String,
    /// The processes that the program left and that could not be ended, described in words.
    pub left: Option<String>,
}

impl Job {
    /// Starts a program, writes `input` to its stdin and closes it. Keeps up to `max_output`
    /// bytes of its stdout and as many of its stderr. The note on threads of
    /// [`ChildLink::spawn`](super::ChildLink::spawn) applies here too.
    ///
    /// # Errors
    /// When the program cannot be started, for example outside of a tokio runtime; the error
    /// gives the reason.
    pub fn start(
        target: &ChildTarget,
        input: Vec<u8>,
        max_output: usize,
    ) -> Result<Job, ChildError> {
        let SpawnedChild { child, group, stdin, stdout: out, stderr: errors } =
            SpawnedChild::start(target)?;
        let (stdout, stderr) = (Output::with_limit(max_output), Output::with_limit(max_output));
        let drain_tasks = [stdout.drain(out), stderr.drain(errors)];
        let input = task::spawn(write_input(stdin, input));
        Ok(Job { child, group, stdout, stderr, drain_tasks, input })
    }

    /// Waits for the exit, then ends the processes that the program left behind. The future may
    /// be dropped and created again.
    pub async fn wait(&mut self) -> JobEnd {
        let status = self.child.wait().await;
        // Checked at once, while the group's id cannot be reused.
        let _ = self.group.is_empty();
        end_remaining(&self.group).await;
        self.end(status).await
    }

    /// Ends the program and its process group: SIGTERM first, SIGKILL after a short time.
    pub async fn stop(&mut self) -> JobEnd {
        self.group.terminate();
        let status = match timeout(TERMINATE_TIMEOUT, self.child.wait()).await {
            Ok(status) => status,
            Err(_) => {
                self.group.kill();
                let _ = self.child.start_kill();
                self.child.wait().await
            }
        };
        // Kills the processes that ignored SIGTERM.
        self.group.kill();
        end_remaining(&self.group).await;
        self.end(status).await
    }

    /// Returns the program's stdout so far.
    pub fn stdout(&self) -> &Output {
        &self.stdout
    }

    /// Returns the program's stderr so far.
    pub fn stderr(&self) -> &Output {
        &self.stderr
    }

    /// Describes the end, after the rest of the output.
    async fn end(&mut self, status: io::Result<ExitStatus>) -> JobEnd {
        let drained = self.wait_for_output().await;
        JobEnd { left: describe_left(&self.group, drained), ..job_end(status) }
    }

    /// Waits for the rest of the output, for a limited time: a process that left the group may
    /// hold the pipes open. Returns true if the output is complete.
    async fn wait_for_output(&mut self) -> bool {
        let drain_tasks = &mut self.drain_tasks;
        let both = async {
            // An earlier wait may have been dropped.
            for task in drain_tasks.iter_mut().filter(|task| !task.is_finished()) {
                let _ = task.await;
            }
        };
        timeout(OUTPUT_TIMEOUT, both).await.is_ok()
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        // The drop of `ProcessGroup` kills the group, tokio kills the child.
        self.input.abort();
        self.drain_tasks.iter().for_each(JoinHandle::abort);
    }
}

/// Writes the input. Errors are ignored: a program need not read all of its input.
async fn write_input(mut stdin: ChildStdin, input: Vec<u8>) {
    let _ = stdin.write_all(&input).await;
    let _ = stdin.shutdown().await;
}

fn job_end(status: io::Result<ExitStatus>) -> JobEnd {
    match status {
        Ok(status) => JobEnd {
            status: status.code(),
            signal: signal_name(status),
            description: describe_exit_status(status),
            left: None,
        },
        Err(error) => {
            let description = format!("ended with an unknown status: {error}");
            JobEnd { status: None, signal: None, description, left: None }
        }
    }
}
