//! The connection of one verb to one target: opens it, reports the outcome of the
//! verb, and closes it so that nothing is left running.
//!
//! It knows nothing about the verbs.

use std::convert::Infallible;
use std::time::Duration;

use sparring_peer::client::{LogMessage, RequestBuilder};
use sparring_peer::{Client, ClientBuilder, Protocol, Response};
use sparring_transport::{Container, OpenedTarget, Stderr, Target};
use sparring_wire::types::LogLevel;
use tokio::time::timeout;

use crate::args::TargetFlags;
use crate::command_error::CommandError;
use crate::exit::{Exit, Signal};
use crate::frame_queue::FrameQueue;
use crate::output::{Printer, line};
use crate::runtime::FAILURE_OUTPUT_TIMEOUT;
use crate::server_questions::render_progress;
use crate::stderr_relay::StderrRelay;
use crate::traffic_observer::TrafficObserver;

/// An open connection to a target.
pub(crate) struct Connection<'a> {
    pub(crate) client: Client,
    pub(crate) printer: &'a Printer,
    pub(crate) target: Target,
    observer: TrafficObserver,
    /// The stderr of a child process.
    stderr: Option<Stderr>,
    /// Copies that stderr to ours (`--show-stderr`).
    relay: Option<StderrRelay>,
    container: Option<Container>,
}

impl<'a> Connection<'a> {
    /// Creates the trace file and starts the target. Without `handshake` the client
    /// sends nothing by itself. `configure` adds the verb's own settings to the client.
    ///
    /// # Errors
    /// When the trace file cannot be created or the target cannot be started or
    /// reached.
    pub(crate) async fn open(
        target: Target,
        flags: &TargetFlags,
        handshake: bool,
        configure: impl FnOnce(ClientBuilder) -> ClientBuilder,
        printer: &'a Printer,
    ) -> Result<Connection<'a>, CommandError> {
        let (observer, transcript) =
            TrafficObserver::start(flags.connection.trace.clone(), printer.secrets()).await?;
        let OpenedTarget { link, stderr, container } =
            open(&target, flags.connection.timeout()).await?;
        let relayed = stderr.as_ref().filter(|_| flags.show_stderr());
        let relay =
            relayed.map(|stderr| StderrRelay::start(stderr, printer.stderr(), printer.is_raw()));
        let mut options = flags.client_options();
        if !handshake {
            options.protocol = Protocol::Raw;
        }
        let builder = ClientBuilder::with_options(options).transcript(transcript);
        let client = configure(builder).start(observer.wrap_link(link));
        Ok(Connection { client, printer, target, observer, stderr, relay, container })
    }

    /// The queue of the frames that the target sends.
    pub(crate) fn frames(&self) -> &FrameQueue {
        self.observer.frames()
    }

    /// Waits until the handshake of the protocol is complete.
    ///
    /// # Errors
    /// When the handshake fails.
    pub(crate) async fn ready(&self) -> Result<(), CommandError> {
        self.client.ready().await.map_err(CommandError::Connect)
    }

    /// Sends the request of a verb. On a terminal, shows its progress and the log messages of
    /// the server meanwhile.
    ///
    /// # Errors
    /// When the request has no response.
    pub(crate) async fn send(&self, request: RequestBuilder) -> Result<Response, CommandError> {
        if !self.printer.shows_activity() {
            return request.await.map_err(CommandError::Request);
        }
        // The request does not wait for the answer to the level, which a server may refuse.
        let logging = async {
            if self.client.capabilities().has("logging") {
                let printer = self.printer.clone();
                self.client
                    .on_log(move |message| printer.queue_line(&render_log(&message, &printer)));
                let _ = self.client.set_log_level(LogLevel::Info).await;
            }
            std::future::pending::<Infallible>().await
        };
        let printer = self.printer.clone();
        let request = request.on_progress(move |progress| {
            printer.show_status(&format!("progress {}", render_progress(&progress)));
        });
        let response = tokio::select! {
            biased;
            // Before the request, so that its log messages have the level.
            never = logging => match never {},
            response = async { request.await } => response,
        };
        self.printer.erase_status();
        response.map_err(CommandError::Request)
    }

    /// Prints a failure, and the notes about the traffic. Returns the exit code.
    pub(crate) async fn report(&self, outcome: &Result<Exit, CommandError>) -> Exit {
        // Relayed output is not printed a second time.
        let stderr = self.stderr.as_ref().filter(|_| self.relay.is_none()).map(Stderr::tail);
        let (exit, shown) = match outcome {
            Ok(exit) => (*exit, None),
            Err(failure) => {
                (self.printer.report_error(failure, stderr.as_deref()).await, failure.frame())
            }
        };
        let background_errors = self.client.background_errors();
        for note in self.observer.notes(shown, &background_errors) {
            self.printer.note(&note).await;
        }
        if let (Err(failure), Some(container)) = (outcome, &self.container)
            && failure.is_timeout()
            && let Some(trouble) = container.problem().await
        {
            self.printer.note(&trouble).await;
        }
        exit
    }

    /// Closes the client, which ends the target. If a signal arrived instead of an exit
    /// code, reports the signal meanwhile.
    pub(crate) async fn close(&mut self, outcome: Result<Exit, Signal>) -> Exit {
        match outcome {
            Ok(exit) => {
                self.client.close().await;
                self.finish(exit).await
            }
            Err(signal) => {
                self.printer.abandon_question();
                let stopped = Err(CommandError::Stopped(signal));
                let reporting = timeout(FAILURE_OUTPUT_TIMEOUT, self.report(&stopped));
                let _ = tokio::join!(reporting, self.client.close());
                let exit = Exit::Stopped(signal);
                timeout(FAILURE_OUTPUT_TIMEOUT, self.finish(exit)).await.unwrap_or(exit)
            }
        }
    }

    /// Waits until the rest of the target's stderr and the trace are written.
    async fn finish(&mut self, exit: Exit) -> Exit {
        if let Some(relay) = &mut self.relay {
            relay.finish().await;
        }
        if let Some(left) = self.container.as_ref().and_then(Container::leftover) {
            self.printer.note(&left).await;
        }
        match self.observer.finish().await {
            Ok(()) => exit,
            Err(failure) => {
                self.printer.error(&failure.to_string()).await;
                if exit == Exit::Success { failure.exit() } else { exit }
            }
        }
    }
}

/// Renders a log message in one line.
fn render_log(message: &LogMessage, printer: &Printer) -> String {
    let data = message.data.view();
    let text = data.as_str().map_or_else(|| data.text().into_owned(), Into::into);
    let logger = message.logger.as_ref().map(|name| format!(" {name}:")).unwrap_or_default();
    let level = format!("log {}:", message.level.name());
    let level = match message.level >= LogLevel::Error {
        true => printer.stderr_paint().error(&level),
        false => printer.stderr_paint().dim(&level),
    };
    format!("{level}{} {}", line::clean(&logger), line::clean(&text))
}

/// Starts the target or connects to it.
///
/// # Errors
/// When the target cannot be started or reached in time.
pub(crate) async fn open(target: &Target, within: Duration) -> Result<OpenedTarget, CommandError> {
    // A container has the same deadline, and its own error names what was not ready.
    if let Target::Container(_) = target {
        return Ok(target.open().await?);
    }
    let opened = timeout(within, target.open()).await;
    Ok(opened.map_err(|_| CommandError::ConnectTimeout(within))??)
}
