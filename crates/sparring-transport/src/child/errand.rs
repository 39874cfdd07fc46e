//! A program that is sent on an errand: it is given something to read, says
//! something, and ends. Nothing of it outlives the errand.
//!
//! How long it may take is its owner's to say, who drops it then.

use std::io;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, ChildStdin, ChildStdout};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::exit::described;
use super::group::Group;
use super::{ChildError, Stderr, command, not_started};
use crate::target::ChildTarget;

/// How long the ends of its stdout and its stderr may take after its exit. All
/// of its group is gone by then, so only who left the group can hold them.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// A program that runs. Dropped, it and its process group are killed at once.
pub struct Errand {
    // Dropped first: while its leader is not waited for, its number is nobody
    // else's.
    group: Group,
    child: Child,
    stdin: ChildStdin,
    stdout: ChildStdout,
    stderr: Stderr,
    draining: JoinHandle<()>,
}

/// How an errand ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    /// What it wrote to its stdout.
    pub stdout: Vec<u8>,
    /// Why it did not end well: its exit, in words.
    pub failed: Option<String>,
}

/// Why nothing is known of the end of an errand.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ErrandError {
    /// It said more than was wanted.
    #[error("it wrote more than {most} bytes")]
    TooMuch {
        /// The most that was wanted.
        most: usize,
    },
    /// The system did not tell.
    #[error("its output or its end could not be read: {0}")]
    Broken(io::Error),
}

impl Errand {
    /// Starts a program; see [`ChildLink::spawn`](super::ChildLink::spawn) for the
    /// threads from which to do so.
    ///
    /// # Errors
    /// When it cannot be started, as outside of a tokio runtime.
    pub fn start(target: &ChildTarget) -> Result<Errand, ChildError> {
        let refused = |error| ChildError::Refused { program: target.program.clone(), error };
        let runtime = tokio::runtime::Handle::try_current();
        runtime.map_err(|error| refused(io::Error::other(error)))?;
        let mut child = command(target).spawn().map_err(|error| not_started(target, error))?;
        let group = Group::of(&child).map_err(refused)?;
        let gone = || refused(io::Error::other("its pipes are missing"));
        let stdin = child.stdin.take().ok_or_else(gone)?;
        let stdout = child.stdout.take().ok_or_else(gone)?;
        let errors = child.stderr.take().ok_or_else(gone)?;
        let stderr = Stderr::default();
        let draining = stderr.drain(errors);
        Ok(Errand { group, child, stdin, stdout, stderr, draining })
    }

    /// What it has written to its stderr; can be kept beyond the errand.
    pub fn stderr(&self) -> Stderr {
        self.stderr.clone()
    }

    /// Gives it something to read, and waits for its end. What it has started and
    /// left is killed then.
    ///
    /// # Errors
    /// When it says more than `most` bytes, and then it is killed; or when the
    /// system does not tell.
    pub async fn run(self, input: &[u8], most: usize) -> Result<Ended, ErrandError> {
        // The group last, so that it goes before the child also where this is dropped.
        let Errand { mut child, mut stdin, stdout, draining, group, .. } = self;
        let giving = async {
            // Who does not read it does without.
            let _ = stdin.write_all(input).await;
            drop(stdin);
            Ok(())
        };
        let mut said = Vec::new();
        let hearing = async {
            let limit = u64::try_from(most).unwrap_or(u64::MAX).saturating_add(1);
            let length = stdout.take(limit).read_to_end(&mut said).await;
            match length.map_err(ErrandError::Broken)? {
                length if length > most => Err(ErrandError::TooMuch { most }),
                _ => Ok(()),
            }
        };
        let status = {
            let mut talk = std::pin::pin!(async { tokio::try_join!(giving, hearing) });
            tokio::select! {
                biased;
                over = &mut talk => {
                    over?;
                    child.wait().await
                }
                status = child.wait() => {
                    end(&group);
                    if let Ok(over) = timeout(LAST_WORDS, talk).await {
                        over?;
                    }
                    status
                }
            }
        };
        end(&group);
        let _ = timeout(LAST_WORDS, draining).await;
        let status = status.map_err(ErrandError::Broken)?;
        Ok(Ended { stdout: said, failed: (!status.success()).then(|| described(status)) })
    }
}

/// Kills what is left of a group whose leader has just ended: asked at once, while
/// the number cannot be anybody else's.
fn end(group: &Group) {
    if !group.is_empty() {
        group.kill();
    }
}

impl std::fmt::Debug for Errand {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Errand").field("id", &self.child.id()).finish_non_exhaustive()
    }
}
