//! A program that serves MCP over HTTP: started, awaited until it is ready, and ended with all
//! its processes.
//!
//! Its clients are ordinary HTTP clients.

use std::future::poll_fn;
use std::net::{Ipv4Addr, TcpListener};
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::future::join;
use sparring_peer::task;
use tokio::process::ChildStdin;
use tokio::time::{Instant, sleep};

use super::exit::ExitDescription;
use super::spawn::{ChildError, SpawnedChild};
use super::stderr::Stderr;
use super::supervisor::{ChildExit, SupervisedChild, Supervisor};
use crate::http::client::Readiness;
use crate::http::{HttpError, HttpTarget, Proxies};
use crate::target::ChildTarget;

/// The interval between two checks for readiness.
const CHECK_INTERVAL: Duration = Duration::from_millis(25);

/// The time after which a check without an answer explains more than the answer before it.
const STUCK_TIME: Duration = Duration::from_secs(1);

/// A program that serves MCP over HTTP.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpProcessTarget {
    /// The program.
    pub command: ChildTarget,
    /// The server's URL and its settings.
    pub http: HttpTarget,
    /// The path of the server's health check. The server is ready when a GET of it has a status
    /// from 200 to 299. (Default: the server is ready when it accepts connections.)
    pub ready_path: Option<String>,
    /// The maximum time until the server is ready.
    pub ready_timeout: Duration,
}

/// The reason why a program that serves over HTTP is not ready.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HttpProcessError {
    /// The program could not be started.
    #[error(transparent)]
    Child(#[from] ChildError),
    /// The URL or the path of the health check is invalid.
    #[error(transparent)]
    Http(#[from] HttpError),
    /// Another program uses the address.
    #[error("cannot start {program}: another program already listens on {address}")]
    AddressInUse {
        /// The program.
        program: String,
        /// Host and port, or the path of the socket.
        address: String,
    },
    /// The program exited.
    #[error("{program} {reason} before it was ready{}", render_output(output))]
    Exited {
        /// The program.
        program: String,
        /// Its end as a verb phrase, such as `exited with status 3`.
        reason: String,
        /// The end of its output.
        output: String,
    },
    /// The program was not ready in time, and was ended.
    #[error("{program} was not ready within {timeout:?}: {last}{}", render_output(output))]
    NotReady {
        /// The program.
        program: String,
        /// The maximum time.
        timeout: Duration,
        /// The result of the last check.
        last: String,
        /// The end of its output.
        output: String,
    },
}

/// A running program that serves over HTTP. Dropping it kills the program and its process group
/// at once; [`HttpProcess::stop`] ends it in an orderly way.
pub struct HttpProcess {
    supervisor: Supervisor,
    /// Some servers exit at the end of their input, so it stays open.
    stdin: Option<ChildStdin>,
    output: Stderr,
    http: HttpTarget,
}

/// Returns a TCP port of this machine that is free now. The system gives the same port to
/// another program only after many others.
///
/// # Errors
/// When the system has none.
pub fn free_port() -> std::io::Result<u16> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port())
}

impl HttpProcessTarget {
    /// Creates a target for a program that serves at this URL. It is ready when it accepts
    /// connections, for which it has 30 seconds.
    pub fn new(command: ChildTarget, http: impl Into<HttpTarget>) -> Self {
        HttpProcessTarget {
            command,
            http: http.into(),
            ready_path: None,
            ready_timeout: Duration::from_secs(30),
        }
    }

    /// Sets the path of the server's health check, such as `/health`.
    #[must_use]
    pub fn ready_path(mut self, path: impl Into<String>) -> Self {
        self.ready_path = Some(path.into());
        self
    }

    /// Sets the maximum time until the server is ready.
    #[must_use]
    pub fn ready_within(mut self, timeout: Duration) -> Self {
        self.ready_timeout = timeout;
        self
    }
}

impl HttpProcessError {
    /// Returns the end of the program's output, if it ran.
    pub fn output(&self) -> &str {
        match self {
            HttpProcessError::Exited { output, .. } | HttpProcessError::NotReady { output, .. } => {
                output
            }
            _ => "",
        }
    }

    /// Returns the message without the program's output.
    pub fn reason(&self) -> String {
        let message = self.to_string();
        let output = render_output(self.output());
        message.strip_suffix(&output).map(str::to_owned).unwrap_or(message)
    }
}

impl HttpProcess {
    /// Starts the program, and waits until it is ready. The note on threads of
    /// [`ChildLink::spawn`](super::ChildLink::spawn) applies here too.
    ///
    /// # Errors
    /// When the program cannot be started, exits, or is not ready in time. It is ended then.
    pub async fn start(target: &HttpProcessTarget) -> Result<HttpProcess, HttpProcessError> {
        let readiness = Readiness::new(&target.http, target.ready_path.as_deref())?;
        let program = target.command.program.clone();
        if readiness.is_listening().await {
            return Err(HttpProcessError::AddressInUse { program, address: readiness.address() });
        }
        let http = HttpTarget { proxies: Proxies::default(), ..target.http.clone() };
        let mut process = HttpProcess::spawn(&target.command, http)?;
        let timeout = target.ready_timeout;
        match process.wait_until_ready(&readiness, timeout).await {
            Ok(()) => Ok(process),
            Err(NotReady::Exited(exit)) => {
                let output = process.output.tail();
                Err(HttpProcessError::Exited { program, reason: describe(exit), output })
            }
            Err(NotReady::TimedOut(last)) => {
                let output = process.output.clone();
                process.stop().await;
                let output = output.tail();
                Err(HttpProcessError::NotReady { program, timeout, last, output })
            }
        }
    }

    fn spawn(command: &ChildTarget, http: HttpTarget) -> Result<HttpProcess, ChildError> {
        let SpawnedChild { child, group, stdin, stdout, stderr } = SpawnedChild::start(command)?;
        let output = Stderr::default();
        let drained = join(output.drain(stdout), output.drain(stderr));
        let supervisor = Supervisor::start(SupervisedChild {
            child,
            group,
            stderr: output.clone(),
            draining: task::spawn(async move { drop(drained.await) }),
            remote: None,
            // Servers over HTTP do not read their stdin.
            exit_timeout: Duration::ZERO,
        });
        Ok(HttpProcess { supervisor, stdin: Some(stdin), output, http })
    }

    async fn wait_until_ready(
        &mut self,
        readiness: &Readiness,
        timeout: Duration,
    ) -> Result<(), NotReady> {
        // The last answer, and the start of the check that has none yet.
        let (mut last, mut began) = (readiness.no_answer(), Instant::now());
        let ready = async {
            loop {
                began = Instant::now();
                match readiness.check().await {
                    Ok(()) => return,
                    Err(why) => last = why,
                }
                sleep(CHECK_INTERVAL).await;
            }
        };
        let supervisor = &mut self.supervisor;
        tokio::select! {
            biased;
            exit = poll_fn(|cx| supervisor.poll_exit(cx)) => return Err(NotReady::Exited(exit)),
            () = ready => return Ok(()),
            () = sleep(timeout) => {}
        }
        let is_stuck = began.elapsed() > STUCK_TIME;
        Err(NotReady::TimedOut(if is_stuck { readiness.no_answer() } else { last }))
    }

    /// Returns the target of its clients, without a proxy.
    pub fn target(&self) -> HttpTarget {
        self.http.clone()
    }

    /// Returns its stdout and its stderr, which stay usable after the process is gone.
    pub fn output(&self) -> Stderr {
        self.output.clone()
    }

    /// Returns the process id, while it runs.
    pub fn id(&self) -> u32 {
        self.supervisor.id()
    }

    /// Returns true if the program has exited.
    pub async fn has_exited(&mut self) -> bool {
        poll_fn(|cx| Poll::Ready(self.supervisor.poll_exit(cx).is_ready())).await
    }

    /// Waits until the program has exited.
    pub async fn exited(&mut self) {
        poll_fn(|cx| self.supervisor.poll_exit(cx).map(drop)).await;
    }

    /// Ends the program and its process group: SIGTERM first, SIGKILL after 5 s.
    pub async fn stop(mut self) {
        self.begin_stop();
        poll_fn(|cx| self.poll_stopped(cx)).await;
    }

    /// Begins to end the program.
    pub(super) fn begin_stop(&mut self) {
        self.stdin = None;
        self.supervisor.stop();
    }

    /// Ready when the program and its process group are gone, after `begin_stop`.
    pub(super) fn poll_stopped(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.supervisor.poll_done(cx)
    }

    /// Ready when the program has exited.
    pub(super) fn poll_exit(&mut self, cx: &mut Context<'_>) -> Poll<ChildExit> {
        self.supervisor.poll_exit(cx)
    }

    /// Returns the longest time that the end takes after `begin_stop`.
    pub(super) fn max_close_time(&self) -> Duration {
        self.supervisor.max_close_time()
    }
}

/// The reason why a running program is not ready.
enum NotReady {
    Exited(ChildExit),
    TimedOut(String),
}

/// Describes the exit of a program as a verb phrase.
pub(super) fn describe(exit: ChildExit) -> String {
    match exit.description {
        ExitDescription::Ended(reason) | ExitDescription::NotStarted(reason) => reason,
    }
}

fn render_output(output: &str) -> String {
    match output.trim_end() {
        "" => String::new(),
        lines => format!("; its output ends with:\n{lines}"),
    }
}

impl std::fmt::Debug for HttpProcess {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HttpProcess").field("id", &self.id()).finish_non_exhaustive()
    }
}
