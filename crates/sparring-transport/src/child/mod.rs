//! A child process as a link: lines over its stdin and stdout, its stderr kept
//! apart, and nothing of it left behind.
//!
//! What the child does is told; why a request has no answer is the peer's to
//! say.

mod behind;
mod environment;
mod exit;
mod group;
mod job;
mod keeper;
mod output;
mod stderr;

use std::collections::VecDeque;
use std::future::Future;
use std::io;
use std::path::PathBuf;
use std::pin::Pin;
use std::process::Stdio;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use sparring_peer::link::{LinesOptions, Recorder};
use sparring_peer::{Cause, Incoming, Lines, Link, LinkKind, Outgoing};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::time::{Instant, Sleep, sleep_until};

use crate::target::ChildTarget;
use group::Group;
use keeper::{Keeper, Kept};

pub(crate) use behind::{Behind, Told};
#[cfg(feature = "containers")]
pub(crate) use exit::described;
pub use job::{Job, JobEnd};
pub use output::Output;
pub use stderr::Stderr;

/// How long the exit and the end of stdout may lie apart.
const APART: Duration = Duration::from_millis(60);

/// The same where the child only stands for something elsewhere. Its stdout
/// ends only with it, and what is to be said of its exit has to be asked.
const APART_BEHIND: Duration = Duration::from_secs(3);

/// How long others may go on writing to the stdout of a child that is gone.
const OTHERS: Duration = Duration::from_secs(1);

/// After how many frames in a row it is looked whether the child is gone.
const IN_A_ROW: u32 = 1024;

/// Why a child could not be started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ChildError {
    /// There is no such program.
    #[error("command not found: {program}")]
    NotFound {
        /// The program.
        program: String,
    },
    /// The program is there, and cannot be run.
    #[error("not executable: {program}")]
    NotExecutable {
        /// The program.
        program: String,
    },
    /// The directory to start it in is not there.
    #[error("no such directory to start {program} in: {}", cwd.display())]
    NoDirectory {
        /// The program.
        program: String,
        /// The directory.
        cwd: PathBuf,
    },
    /// The system refused for another reason.
    #[error("{program} cannot be started: {error}")]
    Refused {
        /// The program.
        program: String,
        /// What the system said.
        error: io::Error,
    },
}

/// A running child. Dropped, it and its process group are killed at once; to
/// end it in good order, close the link.
pub struct ChildLink {
    lines: Lines<ChildStdout, ChildStdin>,
    keeper: Keeper,
    stderr: Stderr,
    closing: bool,
    /// Set while one of exit and end of stdout has come, and the other may.
    waiting: Option<Pin<Box<Sleep>>>,
    /// Requests that could not be written, not told yet.
    unsent: VecDeque<Incoming>,
    /// How many frames have come without a pause.
    in_a_row: u32,
    ended: Option<Cause>,
}

impl ChildLink {
    /// Starts a child.
    ///
    /// On Linux the system kills the child when the thread that starts it ends,
    /// not only when our process does. So start children from a thread that
    /// lives as long as they may: the main one, or a worker of the runtime,
    /// as every task runs on; not from `spawn_blocking` or a thread of its own
    /// that ends earlier.
    ///
    /// # Errors
    /// When it cannot be started, as outside of a tokio runtime; the error says
    /// why.
    pub fn spawn(target: &ChildTarget) -> Result<ChildLink, ChildError> {
        ChildLink::spawn_for(target, None)
    }

    /// Starts a child that may only stand for something elsewhere.
    pub(crate) fn spawn_for(
        target: &ChildTarget,
        behind: Option<Arc<dyn Behind>>,
    ) -> Result<ChildLink, ChildError> {
        let Started { child, group, stdin, stdout, stderr: errors } = Started::of(target)?;
        let stderr = Stderr::default();
        let draining = stderr.drain(errors);
        let options = LinesOptions { max_line: target.max_line };
        Ok(ChildLink {
            lines: Lines::new(stdout, stdin, options),
            keeper: Keeper::start(Kept { child, group, stderr: stderr.clone(), draining, behind }),
            stderr,
            closing: false,
            waiting: None,
            unsent: VecDeque::new(),
            in_a_row: 0,
            ended: None,
        })
    }

    /// What the child has written to its stderr; can be kept beyond the link.
    pub fn stderr(&self) -> Stderr {
        self.stderr.clone()
    }

    /// The child's process id, while it runs.
    pub fn id(&self) -> u32 {
        self.keeper.id()
    }

    fn end(&mut self, cause: Cause) -> Poll<Incoming> {
        self.ended = Some(cause.clone());
        Poll::Ready(Incoming::Closed(cause))
    }

    fn gone(&self, told: Told) -> Cause {
        match told {
            Told::Ended(how) => Cause::Gone { how, stderr: self.stderr.tail() },
            Told::NotStarted(why) => Cause::Unreachable(why),
        }
    }

    /// Whether so much time has passed since the first of exit and end of
    /// stdout.
    fn poll_apart(&mut self, since: Instant, cx: &mut Context<'_>) -> Poll<()> {
        let apart = if self.keeper.is_stand_in() { APART_BEHIND } else { APART };
        self.waiting.get_or_insert_with(|| Box::pin(sleep_until(since + apart))).as_mut().poll(cx)
    }
}

impl Link for ChildLink {
    fn kind(&self) -> LinkKind {
        LinkKind::Shared
    }

    fn transport(&self) -> &'static str {
        "stdio"
    }

    fn record_to(&mut self, recorder: Recorder) {
        self.lines.record_to(recorder);
    }

    fn send(&mut self, outgoing: Outgoing) {
        if outgoing == Outgoing::Close {
            self.closing = true;
            self.keeper.stop();
        }
        self.lines.send(outgoing);
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.lines.poll_flush(cx)
    }

    fn backlog(&self) -> usize {
        self.lines.backlog()
    }

    fn closing_time(&self) -> Duration {
        self.keeper.longest()
    }

    fn poll_receive(&mut self, cx: &mut Context<'_>) -> Poll<Incoming> {
        if let Some(cause) = &self.ended {
            return Poll::Ready(Incoming::Closed(cause.clone()));
        }
        if self.closing {
            ready!(self.keeper.poll_done(cx));
            return self.end(Cause::ByUs);
        }
        match self.lines.poll_receive(cx) {
            Poll::Ready(Incoming::Closed(cause)) => self.poll_stdout_ended(&cause, cx),
            // What could not be written may be the first sign of an exit, and
            // that says more.
            Poll::Ready(unsent @ Incoming::StreamEnded { .. }) => {
                self.unsent.push_back(unsent);
                self.poll_without_frame(cx)
            }
            Poll::Ready(incoming) => {
                self.in_a_row += 1;
                if self.in_a_row.is_multiple_of(IN_A_ROW) {
                    self.outlived(cx);
                }
                Poll::Ready(incoming)
            }
            Poll::Pending => {
                self.in_a_row = 0;
                self.poll_without_frame(cx)
            }
        }
    }
}

impl ChildLink {
    fn poll_stdout_ended(&mut self, cause: &Cause, cx: &mut Context<'_>) -> Poll<Incoming> {
        if let Poll::Ready(exit) = self.keeper.poll_exit(cx) {
            let gone = self.gone(exit.told);
            return self.end(gone);
        }
        ready!(self.poll_apart(Instant::now(), cx));
        let how = match cause {
            Cause::EndOfInput => "it closed its stdout, and still runs".to_owned(),
            other => format!("its stdout broke: {other}"),
        };
        let gone = self.gone(Told::Ended(how));
        self.end(gone)
    }

    /// A child that is gone may leave its stdout to others; one that does not
    /// read any more may be about to go.
    fn poll_without_frame(&mut self, cx: &mut Context<'_>) -> Poll<Incoming> {
        if let Poll::Ready(exit) = self.keeper.poll_exit(cx) {
            if self.unsent.is_empty() {
                ready!(self.poll_apart(exit.at, cx));
                // What it left without an end of line is its last word.
                self.lines.end_input();
                if let Poll::Ready(last @ (Incoming::Frame { .. } | Incoming::Noise { .. })) =
                    self.lines.poll_receive(cx)
                {
                    return Poll::Ready(last);
                }
            }
            let gone = self.gone(exit.told);
            return self.end(gone);
        }
        if self.unsent.is_empty() {
            return Poll::Pending;
        }
        ready!(self.poll_apart(Instant::now(), cx));
        let unsent = self.unsent.pop_front();
        if self.unsent.is_empty() {
            // It was none; one that comes later is waited for anew.
            self.waiting = None;
        }
        unsent.map_or(Poll::Pending, Poll::Ready)
    }

    /// Others who write without a pause to the stdout of a child that is gone
    /// are not listened to for ever.
    fn outlived(&mut self, cx: &mut Context<'_>) {
        if let Poll::Ready(exit) = self.keeper.poll_exit(cx)
            && exit.at.elapsed() > OTHERS
        {
            self.lines.end_input();
        }
    }
}

impl std::fmt::Debug for ChildLink {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ChildLink").field("id", &self.id()).finish_non_exhaustive()
    }
}

fn command(target: &ChildTarget) -> Command {
    let mut command = Command::new(&target.program);
    if let Some(names) = &target.inherit {
        command.env_clear().envs(environment::named(names, std::env::vars_os()));
    }
    command
        .args(&target.args)
        .envs(&target.env)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    if let Some(cwd) = &target.cwd {
        command.current_dir(cwd);
    }
    group::lead(&mut command);
    command
}

/// A child that was just started, and its pipes.
struct Started {
    // Dropped first: while its leader is not waited for, its number is nobody
    // else's.
    group: Group,
    child: Child,
    stdin: ChildStdin,
    stdout: ChildStdout,
    stderr: ChildStderr,
}

impl Started {
    fn of(target: &ChildTarget) -> Result<Started, ChildError> {
        let refused = |error| ChildError::Refused { program: target.program.clone(), error };
        // Asked before there is a child that nobody could keep.
        let runtime = tokio::runtime::Handle::try_current();
        runtime.map_err(|error| refused(io::Error::other(error)))?;
        let mut child = command(target).spawn().map_err(|error| not_started(target, error))?;
        let group = Group::of(&child).map_err(refused)?;
        let gone = || refused(io::Error::other("its pipes are missing"));
        let stdin = child.stdin.take().ok_or_else(gone)?;
        let stdout = child.stdout.take().ok_or_else(gone)?;
        let stderr = child.stderr.take().ok_or_else(gone)?;
        Ok(Started { group, child, stdin, stdout, stderr })
    }
}

/// Finds out what the system means: a missing directory and a missing program
/// are one error to it.
fn not_started(target: &ChildTarget, error: io::Error) -> ChildError {
    let program = target.program.clone();
    match (error.kind(), &target.cwd) {
        (io::ErrorKind::NotFound | io::ErrorKind::NotADirectory, Some(cwd)) if !cwd.is_dir() => {
            ChildError::NoDirectory { program, cwd: cwd.clone() }
        }
        (io::ErrorKind::NotFound, _) => ChildError::NotFound { program },
        (io::ErrorKind::PermissionDenied, _) => ChildError::NotExecutable { program },
        _ => ChildError::Refused { program, error },
    }
}
