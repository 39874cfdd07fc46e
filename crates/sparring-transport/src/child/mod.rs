//! A child process as a link: JSON lines over its stdin and stdout. Its stderr is kept
//! separately, and no process is left behind.
//!
//! This module reports the child's actions. The peer explains why a request has no answer.

#[cfg(target_os = "linux")]
mod descendants;
mod exit;
#[cfg(feature = "http")]
mod http_process;
#[cfg(feature = "http")]
mod http_process_link;
mod job;
mod output;
mod process_group;
mod spawn;
mod stderr;
mod supervisor;

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use sparring_peer::link::{LineLinkOptions, Recorder};
use sparring_peer::{Cause, Incoming, LineLink, Link, LinkInfo, LinkKind, Outgoing};
use tokio::process::{ChildStdin, ChildStdout};
use tokio::time::{Instant, Sleep, sleep_until};

use crate::target::ChildTarget;
#[cfg(not(feature = "containers"))]
use exit::ExitDescription;
use spawn::SpawnedChild;
use supervisor::{EXIT_TIMEOUT, SupervisedChild, Supervisor};

#[cfg(target_os = "linux")]
pub use descendants::adopt_orphans;
#[cfg(feature = "containers")]
pub(crate) use exit::{ExitDescription, describe_exit_status};
#[cfg(feature = "http")]
pub use http_process::{HttpProcess, HttpProcessError, HttpProcessTarget, free_port};
#[cfg(feature = "http")]
pub use http_process_link::HttpProcessLink;
pub use job::{Job, JobEnd};
pub use output::Output;
pub use spawn::ChildError;
pub use stderr::Stderr;
pub(crate) use supervisor::RemoteProcess;

/// The maximum wait between the child's exit and the end of its stdout.
const EXIT_GAP_TIMEOUT: Duration = Duration::from_millis(60);

/// The same for a remote process: its stdout ends only with the child, and describing the exit
/// needs requests to the engine.
const REMOTE_EXIT_GAP_TIMEOUT: Duration = Duration::from_secs(3);

/// The maximum time that other processes may keep writing to the stdout of a child that has
/// exited.
const ORPHAN_OUTPUT_TIMEOUT: Duration = Duration::from_secs(1);

/// The number of consecutive frames between two checks for an exit of the child.
const FRAMES_PER_EXIT_CHECK: u32 = 1024;

/// The number of bytes that are read from a child after the link was closed.
const MAX_LATE_BYTES: usize = 1024 * 1024;

/// A running child. Dropping it kills the child and its process group at once; close the link
/// for an orderly end.
pub struct ChildLink {
    lines: LineLink<ChildStdout, ChildStdin>,
    supervisor: Supervisor,
    stderr: Stderr,
    /// Starts the child, and starts it again for [`Outgoing::Restart`].
    launch: Launch,
    recorder: Option<Recorder>,
    closing: bool,
    /// True while the child ends and a fresh one is to replace it.
    restarting: bool,
    /// Set after the first of the child's exit and the end of its stdout, while waiting for the
    /// other.
    waiting: Option<Pin<Box<Sleep>>>,
    /// Requests that could not be written and are not reported yet.
    unsent: VecDeque<Incoming>,
    /// The number of frames that arrived without a pause.
    frames_in_a_row: u32,
    /// The number of bytes that arrived after the link was closed.
    late_bytes: usize,
    ended: Option<Cause>,
}

/// A child to start, with the remote process that it carries bytes for, if any.
struct Launch {
    target: ChildTarget,
    remote: Option<Arc<dyn RemoteProcess>>,
}

impl Launch {
    /// Starts the child. Its stderr is added to `stderr`.
    fn start(
        &self,
        stderr: &Stderr,
    ) -> Result<(LineLink<ChildStdout, ChildStdin>, Supervisor), ChildError> {
        let SpawnedChild { child, group, stdin, stdout, stderr: errors } =
            SpawnedChild::start(&self.target)?;
        let draining = stderr.drain(errors);
        let options = LineLinkOptions { max_line_bytes: self.target.max_line };
        let supervisor = Supervisor::start(SupervisedChild {
            child,
            group,
            stderr: stderr.clone(),
            draining,
            remote: self.remote.clone(),
            exit_timeout: EXIT_TIMEOUT,
        });
        Ok((LineLink::new(stdout, stdin, options), supervisor))
    }
}

impl ChildLink {
    /// Starts a child.
    ///
    /// On Linux the system kills the child when the thread that started it ends, not only when
    /// our process ends. Start children from a thread that lives as long as they do: the main
    /// thread or a worker of the runtime, which runs every task. Do not start them from
    /// `spawn_blocking` or a short-lived thread.
    ///
    /// # Errors
    /// When the child cannot be started, for example outside of a tokio runtime; the error
    /// gives the reason.
    pub fn spawn(target: &ChildTarget) -> Result<ChildLink, ChildError> {
        ChildLink::spawn_with_remote(target, None)
    }

    /// Starts a child that may only carry bytes for a remote process.
    pub(crate) fn spawn_with_remote(
        target: &ChildTarget,
        remote: Option<Arc<dyn RemoteProcess>>,
    ) -> Result<ChildLink, ChildError> {
        let launch = Launch { target: target.clone(), remote };
        let stderr = Stderr::default();
        let (lines, supervisor) = launch.start(&stderr)?;
        Ok(ChildLink {
            lines,
            supervisor,
            stderr,
            launch,
            recorder: None,
            closing: false,
            restarting: false,
            waiting: None,
            unsent: VecDeque::new(),
            frames_in_a_row: 0,
            late_bytes: 0,
            ended: None,
        })
    }

    /// Returns the child's stderr, which stays usable after the link is gone.
    pub fn stderr(&self) -> Stderr {
        self.stderr.clone()
    }

    /// Returns the child's process id, while it runs.
    pub fn id(&self) -> u32 {
        self.supervisor.id()
    }

    /// Starts a fresh child after the earlier one is gone. Its traffic is a separate
    /// conversation.
    fn start_again(&mut self) -> Poll<Incoming> {
        self.restarting = false;
        let (lines, supervisor) = match self.launch.start(&self.stderr) {
            Ok(started) => started,
            Err(error) => return self.end(Cause::Unreachable(error.to_string())),
        };
        (self.lines, self.supervisor) = (lines, supervisor);
        if let Some(recorder) = self.recorder.as_ref().map(Recorder::for_another_connection) {
            self.set_recorder(recorder);
        }
        self.waiting = None;
        self.unsent.clear();
        self.frames_in_a_row = 0;
        Poll::Ready(Incoming::Restarted)
    }

    fn end(&mut self, cause: Cause) -> Poll<Incoming> {
        self.ended = Some(cause.clone());
        Poll::Ready(Incoming::Closed(cause))
    }

    fn exit_cause(&self, description: ExitDescription) -> Cause {
        match description {
            ExitDescription::Ended(reason) => {
                Cause::ProcessEnded { reason, stderr: self.stderr.tail() }
            }
            ExitDescription::NotStarted(why) => Cause::Unreachable(why),
        }
    }

    /// Ready when [`EXIT_GAP_TIMEOUT`] has passed since the first of exit and end of stdout.
    fn poll_exit_gap(&mut self, since: Instant, cx: &mut Context<'_>) -> Poll<()> {
        let apart =
            if self.supervisor.is_remote() { REMOTE_EXIT_GAP_TIMEOUT } else { EXIT_GAP_TIMEOUT };
        self.waiting.get_or_insert_with(|| Box::pin(sleep_until(since + apart))).as_mut().poll(cx)
    }
}

impl Link for ChildLink {
    fn info(&self) -> LinkInfo {
        let close_timeout = self.supervisor.max_close_time();
        LinkInfo { close_timeout, ..LinkInfo::new(LinkKind::Shared, "stdio") }
    }

    fn set_recorder(&mut self, recorder: Recorder) {
        self.lines.set_recorder(recorder.clone());
        self.recorder = Some(recorder);
    }

    fn send(&mut self, outgoing: Outgoing) {
        match outgoing {
            Outgoing::Close => {
                self.closing = true;
                self.lines.close_output();
            }
            Outgoing::Restart => {
                self.restarting = true;
                self.lines.send(Outgoing::Close);
            }
            outgoing => return self.lines.send(outgoing),
        }
        self.supervisor.stop();
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.lines.poll_flush(cx)
    }

    fn backlog(&self) -> usize {
        self.lines.backlog()
    }

    fn poll_receive(&mut self, cx: &mut Context<'_>) -> Poll<Incoming> {
        if let Some(cause) = &self.ended {
            return Poll::Ready(Incoming::Closed(cause.clone()));
        }
        if self.closing {
            return self.poll_closing(cx);
        }
        if self.restarting {
            ready!(self.supervisor.poll_done(cx));
            return self.start_again();
        }
        match self.lines.poll_receive(cx) {
            Poll::Ready(Incoming::Closed(cause)) => self.poll_stdout_ended(&cause, cx),
            // A failed write may be the first sign of an exit, which explains more.
            Poll::Ready(unsent @ Incoming::StreamEnded { .. }) => {
                self.unsent.push_back(unsent);
                self.poll_exit_or_unsent(cx)
            }
            Poll::Ready(incoming) => {
                self.frames_in_a_row += 1;
                if self.frames_in_a_row.is_multiple_of(FRAMES_PER_EXIT_CHECK) {
                    self.check_orphan_output(cx);
                }
                Poll::Ready(incoming)
            }
            Poll::Pending => {
                self.frames_in_a_row = 0;
                self.poll_exit_or_unsent(cx)
            }
        }
    }
}

impl ChildLink {
    /// Reads the rest of the child's output until the child is gone. An exit with an error
    /// becomes the reason of the end.
    fn poll_closing(&mut self, cx: &mut Context<'_>) -> Poll<Incoming> {
        let mut output_ended = self.late_bytes > MAX_LATE_BYTES;
        while !output_ended {
            match self.lines.poll_receive(cx) {
                Poll::Ready(late @ (Incoming::Frame { .. } | Incoming::Noise { .. })) => {
                    return self.count_late_bytes(late);
                }
                Poll::Ready(Incoming::Closed(_)) => output_ended = true,
                // Messages that could not be written are not needed any more.
                Poll::Ready(_) => {}
                Poll::Pending => break,
            }
        }
        ready!(self.supervisor.poll_done(cx));
        if !output_ended {
            ready!(self.poll_exit_gap(Instant::now(), cx));
            self.lines.end_input();
            if let Poll::Ready(last @ (Incoming::Frame { .. } | Incoming::Noise { .. })) =
                self.lines.poll_receive(cx)
            {
                return self.count_late_bytes(last);
            }
        }
        let exit = self.supervisor.poll_exit(cx);
        let signalled = matches!(&exit, Poll::Ready(exit) if exit.signalled);
        if let Some(recorder) = self.recorder.as_ref().filter(|_| signalled) {
            recorder.record_ignored_end_of_input();
        }
        let cause = match exit {
            Poll::Ready(exit) if exit.failed => self.exit_cause(exit.description),
            _ => Cause::ClosedLocally,
        };
        self.end(cause)
    }

    fn count_late_bytes(&mut self, late: Incoming) -> Poll<Incoming> {
        if let Incoming::Frame { frame, .. } | Incoming::Noise { frame, .. } = &late {
            self.late_bytes += frame.bytes().len();
        }
        Poll::Ready(late)
    }

    fn poll_stdout_ended(&mut self, cause: &Cause, cx: &mut Context<'_>) -> Poll<Incoming> {
        if let Poll::Ready(exit) = self.supervisor.poll_exit(cx) {
            let gone = self.exit_cause(exit.description);
            return self.end(gone);
        }
        ready!(self.poll_exit_gap(Instant::now(), cx));
        let how = match cause {
            Cause::EndOfInput => "closed its stdout without exiting".to_owned(),
            other => format!("stdout failed: {other}"),
        };
        let gone = self.exit_cause(ExitDescription::Ended(how));
        self.end(gone)
    }

    /// Checks for an exit when no frame is available. A child that has exited may leave its
    /// stdout to other processes; one that stopped reading may be about to exit.
    fn poll_exit_or_unsent(&mut self, cx: &mut Context<'_>) -> Poll<Incoming> {
        if let Poll::Ready(exit) = self.supervisor.poll_exit(cx) {
            if self.unsent.is_empty() {
                ready!(self.poll_exit_gap(exit.at, cx));
                // A last line without a line end counts as a frame.
                self.lines.end_input();
                if let Poll::Ready(last @ (Incoming::Frame { .. } | Incoming::Noise { .. })) =
                    self.lines.poll_receive(cx)
                {
                    return Poll::Ready(last);
                }
            }
            let gone = self.exit_cause(exit.description);
            return self.end(gone);
        }
        if self.unsent.is_empty() {
            return Poll::Pending;
        }
        ready!(self.poll_exit_gap(Instant::now(), cx));
        let unsent = self.unsent.pop_front();
        if self.unsent.is_empty() {
            // The child did not exit; a later failed write waits again.
            self.waiting = None;
        }
        unsent.map_or(Poll::Pending, Poll::Ready)
    }

    /// Stops reading when other processes keep writing to the stdout of a child that has
    /// exited.
    fn check_orphan_output(&mut self, cx: &mut Context<'_>) {
        if let Poll::Ready(exit) = self.supervisor.poll_exit(cx)
            && exit.at.elapsed() > ORPHAN_OUTPUT_TIMEOUT
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
