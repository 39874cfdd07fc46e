//! The process in a container that an engine's `exec` runs. Finds it and ends it.
//!
//! No engine reports its process id, so a unique environment variable marks the process. Its
//! descendants inherit the variable.

use std::process::ExitStatus;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use futures_util::future::BoxFuture;
use tokio::time::{Instant, sleep, timeout};

use super::engine::ContainerEngine;
use super::error::ContainerError;
use super::exec_failure::ExecRequest;
use super::shell_signal;
use super::state::ContainerState;
use crate::child::{ExitDescription, RemoteProcess, Stderr, describe_exit_status};
use crate::target::ContainerTarget;

/// The environment variable that marks a process.
const MARKER_VARIABLE: &str = "SPAR_EXEC";

/// The timeout of one command of the engine.
const ENGINE_TIMEOUT: Duration = Duration::from_secs(2);

/// The maximum wait for the end of the processes after SIGTERM.
const TERMINATE_TIMEOUT: Duration = Duration::from_secs(5);

/// The maximum wait for the end of the processes after SIGKILL.
const KILL_TIMEOUT: Duration = Duration::from_secs(1);

/// The interval between checks for the end of the container.
const STATE_RETRY_INTERVAL: Duration = Duration::from_millis(50);

/// The interval between checks for the end of the processes.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

const UNREACHABLE: &str =
    "the host does not show the process, and no shell in the container can end it";

/// The marked process in a container.
pub(super) struct ExecProcess {
    engine: ContainerEngine,
    target: ContainerTarget,
    /// `SPAR_EXEC=…`, as it appears in the environment.
    entry: String,
    /// Set when the process was seen on the host: a process that the host does not show is gone
    /// from then on.
    #[cfg(target_os = "linux")]
    seen_on_host: AtomicBool,
    /// Set when the engine reported that the process never started.
    never_started: AtomicBool,
    /// Set when the process was killed, so SIGTERM is not needed any more.
    killed: AtomicBool,
    leftover: Mutex<Option<String>>,
}

#[derive(Clone, Copy)]
enum Action {
    Probe,
    Terminate,
    Kill,
}

impl ExecProcess {
    pub(super) fn new(engine: ContainerEngine, target: &ContainerTarget) -> ExecProcess {
        let mut bytes = [0_u8; 16];
        getrandom::fill(&mut bytes).expect("every system has random numbers");
        let value: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        ExecProcess {
            engine,
            target: target.clone(),
            entry: format!("{MARKER_VARIABLE}={value}"),
            #[cfg(target_os = "linux")]
            seen_on_host: AtomicBool::new(false),
            never_started: AtomicBool::new(false),
            killed: AtomicBool::new(false),
            leftover: Mutex::new(None),
        }
    }

    /// Returns the command line that runs the command in the container.
    pub(super) fn exec_command(&self) -> Vec<String> {
        let command = &self.target.command;
        let mut words = vec!["exec".to_owned(), "-i".to_owned(), format!("--env={}", self.entry)];
        words.extend(command.env.iter().map(|(name, value)| format!("--env={name}={value}")));
        words.extend(command.cwd.iter().map(|cwd| format!("--workdir={}", cwd.display())));
        words.extend(self.target.flags.iter().cloned());
        words.extend([self.target.name.clone(), command.program.clone()]);
        words.extend(command.args.iter().cloned());
        self.engine.command_with(words)
    }

    pub(super) fn leftover(&self) -> Option<String> {
        self.leftover.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the reason why the container cannot run anything, or `None` if it can or the
    /// engine does not answer.
    pub(super) async fn problem(&self) -> Option<String> {
        match timeout(ENGINE_TIMEOUT, self.engine.container_state(&self.target.name)).await {
            Ok(Ok(ContainerState::Unusable(error))) => Some(error.to_string()),
            Ok(Err(error @ ContainerError::NoContainer { .. })) => Some(error.to_string()),
            _ => None,
        }
    }

    /// Applies an action to all marked processes. Returns true if there were any, or `None` if
    /// that is unknown.
    async fn send(&self, action: Action) -> Option<bool> {
        if self.never_started.load(Ordering::Relaxed) {
            return Some(false);
        }
        match self.send_on_host(action) {
            Some(found) => Some(found),
            None => self.send_by_shell(action).await,
        }
    }

    /// Does the same from the host, if it shows the processes and allows signals.
    #[cfg(target_os = "linux")]
    fn send_on_host(&self, action: Action) -> Option<bool> {
        use rustix::process::Signal;
        let found = super::host_processes::HostProcesses::find_by_entry(&self.entry);
        if found.is_empty() {
            return self.seen_on_host.load(Ordering::Relaxed).then_some(false);
        }
        let reached = match action {
            Action::Probe => true,
            // A stopped process cannot handle SIGTERM.
            Action::Terminate => found.signal(Signal::TERM) & found.signal(Signal::CONT),
            Action::Kill => found.signal(Signal::KILL),
        };
        self.seen_on_host.store(reached, Ordering::Relaxed);
        reached.then_some(true)
    }

    #[cfg(not(target_os = "linux"))]
    fn send_on_host(&self, _: Action) -> Option<bool> {
        None
    }

    /// Does the same from a shell in the container. A container that is not running has no
    /// processes left.
    async fn send_by_shell(&self, action: Action) -> Option<bool> {
        let signals: &[&str] = match action {
            Action::Probe => &[],
            Action::Terminate => &["TERM", "CONT"],
            Action::Kill => &["KILL"],
        };
        let exec: Vec<String> = std::iter::once("exec".to_owned())
            .chain(self.target.flags.iter().cloned())
            .chain([self.target.name.clone()])
            .collect();
        let asked = shell_signal::send_signals(&self.engine, &exec, &self.entry, signals);
        match timeout(ENGINE_TIMEOUT, asked).await {
            Ok(Ok(Some(found))) => Some(found > 0),
            _ => {
                match timeout(ENGINE_TIMEOUT, self.engine.container_state(&self.target.name)).await
                {
                    Ok(Ok(ContainerState::Unusable(ContainerError::NotRunning { .. }))) => {
                        Some(false)
                    }
                    Ok(Err(ContainerError::NoContainer { .. })) => Some(false),
                    _ => None,
                }
            }
        }
    }

    /// Repeats an action until no process is left; returns true if that happened in time.
    /// Processes that were started meanwhile need the signal too.
    async fn is_gone_within(&self, limit: Duration, action: Action) -> bool {
        let deadline = Instant::now() + limit;
        while self.send(action).await != Some(false) {
            if Instant::now() >= deadline {
                return false;
            }
            sleep(POLL_INTERVAL).await;
        }
        true
    }

    async fn end_leftover(&self, exited_alone: bool) {
        if !self.killed.load(Ordering::Relaxed) {
            match self.send(Action::Terminate).await {
                Some(false) => return,
                // The engine reported the end of the command; nothing more can be known.
                None if exited_alone => return,
                None => return self.note_leftover(UNREACHABLE).await,
                Some(true) => {}
            }
            if self.is_gone_within(TERMINATE_TIMEOUT, Action::Probe).await {
                return;
            }
        }
        match self.send(Action::Kill).await {
            None if exited_alone => {}
            None => self.note_leftover(UNREACHABLE).await,
            Some(_) if self.is_gone_within(KILL_TIMEOUT, Action::Kill).await => {}
            Some(_) => self.note_leftover("the process still runs after SIGKILL").await,
        }
    }

    /// Stores a note that a process may be left, with the reason. A container that cannot run
    /// anything is reported first.
    async fn note_leftover(&self, why: &str) {
        let problem = self.problem().await;
        let why = problem.as_deref().unwrap_or(why);
        let text = format!("the server may still run in container {}: {why}", self.target.name);
        *self.leftover.lock().unwrap_or_else(PoisonError::into_inner) = Some(text);
    }

    async fn describe(&self, status: ExitStatus, stderr: &str) -> ExitDescription {
        let request = ExecRequest {
            engine: self.engine.name(),
            container: &self.target.name,
            program: &self.target.command.program,
            cwd: self.target.command.cwd.as_ref().map(|cwd| cwd.display().to_string()),
        };
        if let Some(failure) = request.explain_failure(status.code(), stderr) {
            self.never_started.store(true, Ordering::Relaxed);
            return ExitDescription::NotStarted(failure);
        }
        let how = describe_exit_status(status);
        // The process may have been killed with its container, which the engine may notice
        // later.
        let times = match status.code() {
            Some(0) => 0,
            Some(137) => 5,
            _ => 1,
        };
        for time in 0..times {
            if time > 0 {
                sleep(STATE_RETRY_INTERVAL).await;
            }
            if let Some(problem) = self.problem().await {
                return ExitDescription::Ended(format!("{how} ({problem})"));
            }
        }
        ExitDescription::Ended(how)
    }
}

impl RemoteProcess for ExecProcess {
    fn probe(&self) {
        self.send_on_host(Action::Probe);
    }

    fn terminate(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {
            let _ = self.send(Action::Terminate).await;
        })
    }

    fn kill(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {
            let _ = self.send(Action::Kill).await;
            self.killed.store(true, Ordering::Relaxed);
        })
    }

    fn kill_without_waiting(&self) {
        self.send_on_host(Action::Kill);
    }

    fn end_remaining(&self, exited_alone: bool) -> BoxFuture<'_, ()> {
        Box::pin(self.end_leftover(exited_alone))
    }

    fn describe_exit<'a>(
        &'a self,
        status: ExitStatus,
        stderr: &'a Stderr,
    ) -> BoxFuture<'a, ExitDescription> {
        Box::pin(async move {
            let words = timeout(ENGINE_TIMEOUT, self.describe(status, &stderr.tail())).await;
            words.unwrap_or_else(|_| ExitDescription::Ended(describe_exit_status(status)))
        })
    }
}
