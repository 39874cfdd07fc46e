//! A program that is run to its end: it is given its whole input, what it
//! writes is kept within a bound, and nothing of it is left behind.
//!
//! Whether it ended well is not for this file to say.

use std::io;
use std::process::ExitStatus;
use std::time::Duration;

use sparring_peer::task;
use tokio::io::AsyncWriteExt as _;
use tokio::process::{Child, ChildStdin};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::exit::{described, signal};
use super::group::Group;
use super::keeper::end_rest;
use super::output::Output;
use super::{ChildError, Started};
use crate::target::ChildTarget;

/// How long a program may take to end once it was asked to.
const ASKED: Duration = Duration::from_secs(1);

/// How long the end of what it wrote may take after its exit.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// A program that runs. Dropped, it and its process group are killed at once.
#[derive(Debug)]
pub struct Job {
    // Dropped first: while its leader is not waited for, its number is nobody
    // else's.
    group: Group,
    child: Child,
    stdout: Output,
    stderr: Output,
    draining: [JoinHandle<()>; 2],
    input: JoinHandle<()>,
}

/// How a program ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobEnd {
    /// Its status, where it exited by itself.
    pub status: Option<i32>,
    /// The name of the signal that ended it, where one did.
    pub signal: Option<String>,
    /// The same in words.
    pub told: String,
}

impl Job {
    /// Starts a program, and begins to give it `input` and then the end of it.
    /// Of what it writes to its stdout, and to its stderr, `most` bytes are kept.
    /// What [`ChildLink::spawn`](super::ChildLink::spawn) says of threads holds
    /// here too.
    ///
    /// # Errors
    /// When it cannot be started, as outside of a tokio runtime; the error says
    /// why.
    pub fn start(target: &ChildTarget, input: Vec<u8>, most: usize) -> Result<Job, ChildError> {
        let Started { child, group, stdin, stdout: out, stderr: errors } = Started::of(target)?;
        let (stdout, stderr) = (Output::holding(most), Output::holding(most));
        let draining = [stdout.drain(out), stderr.drain(errors)];
        let input = task::spawn(give(stdin, input));
        Ok(Job { child, group, stdout, stderr, draining, input })
    }

    /// Waits for its end, then ends what it left behind. May be given up and
    /// begun anew.
    pub async fn wait(&mut self) -> JobEnd {
        let status = self.child.wait().await;
        // Asked at once, while the number cannot be anybody else's.
        let _ = self.group.is_empty();
        end_rest(&self.group).await;
        self.hear_out().await;
        ended(status)
    }

    /// Ends it and all of its group: asks first, and does not wait for long.
    pub async fn stop(&mut self) -> JobEnd {
        self.group.terminate();
        let status = match timeout(ASKED, self.child.wait()).await {
            Ok(status) => status,
            Err(_) => {
                self.group.kill();
                let _ = self.child.start_kill();
                self.child.wait().await
            }
        };
        // What did not heed it either has had its time.
        self.group.kill();
        let _ = self.group.is_empty();
        self.hear_out().await;
        ended(status)
    }

    /// What it has written to its stdout.
    pub fn stdout(&self) -> &Output {
        &self.stdout
    }

    /// What it has written to its stderr.
    pub fn stderr(&self) -> &Output {
        &self.stderr
    }

    /// Waits for the end of what was written. Somebody who has left the group
    /// may hold the pipes for ever.
    async fn hear_out(&mut self) {
        let draining = &mut self.draining;
        let both = async {
            for task in draining {
                let _ = task.await;
            }
        };
        let _ = timeout(LAST_WORDS, both).await;
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        // The group is killed by its own drop, the child by tokio's.
        self.input.abort();
        self.draining.iter().for_each(JoinHandle::abort);
    }
}

/// Whoever does not want all of its input does not have to take it.
async fn give(mut stdin: ChildStdin, input: Vec<u8>) {
    let _ = stdin.write_all(&input).await;
    let _ = stdin.shutdown().await;
}

fn ended(status: io::Result<ExitStatus>) -> JobEnd {
    match status {
        Ok(status) => {
            JobEnd { status: status.code(), signal: signal(status), told: described(status) }
        }
        Err(error) => {
            let told = format!("its end could not be told: {error}");
            JobEnd { status: None, signal: None, told }
        }
    }
}
