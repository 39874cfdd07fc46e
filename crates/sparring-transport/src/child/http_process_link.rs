//! The link to a server over HTTP whose program was started for it. The program ends with the
//! link, and an exit of the program ends the link.

use std::collections::VecDeque;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use sparring_peer::link::Recorder;
use sparring_peer::{Cause, Incoming, Link, LinkInfo, Outgoing, Stream};
use tokio::time::{Instant, Sleep, sleep_until};

use super::EXIT_GAP_TIMEOUT;
use super::http_process::{HttpProcess, HttpProcessError, HttpProcessTarget, describe};
use super::stderr::Stderr;
use super::supervisor::ChildExit;
use crate::http::HttpLink;

/// A link to a server over HTTP, with the process of the server.
#[derive(Debug)]
pub struct HttpProcessLink {
    http: HttpLink,
    process: HttpProcess,
    closing: Closing,
    /// Lost streams, not reported yet: an exit of the program explains more.
    lost: VecDeque<Incoming>,
    /// Set after the first of the exit and the loss of a stream, while waiting for the other.
    waiting: Option<Pin<Box<Sleep>>>,
    ended: Option<Cause>,
}

/// The progress of closing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Closing {
    Open,
    /// The HTTP link closes first, so that it can end its session.
    Http,
    /// The program is being ended.
    Process,
}

impl HttpProcessLink {
    /// Starts the program, waits until it is ready, and creates a link to it. The link uses no
    /// proxy.
    ///
    /// # Errors
    /// When the program is not ready, or its URL is invalid.
    pub async fn start(target: &HttpProcessTarget) -> Result<HttpProcessLink, HttpProcessError> {
        // Checks the target before the program starts.
        HttpLink::new(&target.http)?;
        let process = HttpProcess::start(target).await?;
        Ok(HttpProcessLink {
            http: HttpLink::new(&process.target())?,
            process,
            closing: Closing::Open,
            lost: VecDeque::new(),
            waiting: None,
            ended: None,
        })
    }

    /// Returns the stdout and the stderr of the program, which stay usable after the link is
    /// gone.
    pub fn output(&self) -> Stderr {
        self.process.output()
    }

    /// Returns the process id of the program, while it runs.
    pub fn id(&self) -> u32 {
        self.process.id()
    }

    fn poll_open(&mut self, cx: &mut Context<'_>) -> Poll<Incoming> {
        // A closed link returns its end again and again.
        while !self.lost.iter().any(|it| matches!(it, Incoming::Closed(_))) {
            match self.http.poll_receive(cx) {
                Poll::Ready(lost) if is_loss(&lost) => self.lost.push_back(lost),
                Poll::Ready(incoming) => return Poll::Ready(incoming),
                Poll::Pending => break,
            }
        }
        if let Poll::Ready(exit) = self.process.poll_exit(cx) {
            if self.lost.is_empty() {
                // The last answers may still arrive.
                ready!(self.poll_exit_gap(exit.at, cx));
            }
            return self.end(self.exit_cause(exit));
        }
        if self.lost.is_empty() {
            return Poll::Pending;
        }
        ready!(self.poll_exit_gap(Instant::now(), cx));
        let Some(lost) = self.lost.pop_front() else { return Poll::Pending };
        if self.lost.is_empty() {
            // The program runs on; a later loss waits again.
            self.waiting = None;
        }
        match lost {
            Incoming::Closed(cause) => self.end(cause),
            lost => Poll::Ready(lost),
        }
    }

    /// Closes the HTTP link, then ends the program. An exit with an error becomes the reason of
    /// the end.
    fn poll_closing(&mut self, cx: &mut Context<'_>) -> Poll<Incoming> {
        if self.closing == Closing::Http {
            let exited = self.process.poll_exit(cx).is_ready();
            match self.http.poll_receive(cx) {
                Poll::Ready(Incoming::Closed(_)) => {}
                Poll::Ready(late) => return Poll::Ready(late),
                // A program that has exited does not answer any more.
                Poll::Pending if exited => {}
                Poll::Pending => return Poll::Pending,
            }
            self.closing = Closing::Process;
            self.process.begin_stop();
        }
        ready!(self.process.poll_stopped(cx));
        let cause = match self.process.poll_exit(cx) {
            Poll::Ready(exit) if exit.failed => self.exit_cause(exit),
            _ => Cause::ClosedLocally,
        };
        self.end(cause)
    }

    fn exit_cause(&self, exit: ChildExit) -> Cause {
        Cause::ProcessEnded { reason: describe(exit), stderr: self.process.output().tail() }
    }

    fn end(&mut self, cause: Cause) -> Poll<Incoming> {
        self.ended = Some(cause.clone());
        Poll::Ready(Incoming::Closed(cause))
    }

    /// Ready when [`EXIT_GAP_TIMEOUT`] has passed since the first of exit and loss.
    fn poll_exit_gap(&mut self, since: Instant, cx: &mut Context<'_>) -> Poll<()> {
        let until = since + EXIT_GAP_TIMEOUT;
        self.waiting.get_or_insert_with(|| Box::pin(sleep_until(until))).as_mut().poll(cx)
    }
}

/// Returns true for an event that an exit of the program may have caused.
fn is_loss(incoming: &Incoming) -> bool {
    match incoming {
        Incoming::Closed(_) => true,
        Incoming::StreamEnded { cause, .. } => {
            matches!(cause, Cause::Broken(_) | Cause::Unreachable(_))
        }
        _ => false,
    }
}

impl Link for HttpProcessLink {
    fn info(&self) -> LinkInfo {
        let info = self.http.info();
        LinkInfo { close_timeout: info.close_timeout + self.process.max_close_time(), ..info }
    }

    fn set_recorder(&mut self, recorder: Recorder) {
        self.http.set_recorder(recorder);
    }

    fn send(&mut self, outgoing: Outgoing) {
        if outgoing == Outgoing::Close && self.closing == Closing::Open {
            self.closing = Closing::Http;
        }
        self.http.send(outgoing);
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.http.poll_flush(cx)
    }

    fn backlog(&self) -> usize {
        self.http.backlog()
    }

    fn poll_receive(&mut self, cx: &mut Context<'_>) -> Poll<Incoming> {
        if let Some(cause) = &self.ended {
            return Poll::Ready(Incoming::Closed(cause.clone()));
        }
        match self.closing {
            Closing::Open => self.poll_open(cx),
            Closing::Http | Closing::Process => self.poll_closing(cx),
        }
    }

    fn describe_progress(&self, stream: &Stream) -> Option<String> {
        self.http.describe_progress(stream)
    }

    fn pauses_timeouts(&self) -> bool {
        self.http.pauses_timeouts()
    }
}
