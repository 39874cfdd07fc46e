//! The process in the container that an engine's `exec` stands for, and how it
//! is ended there.
//!
//! Neither engine tells its process id, so it is marked by a variable of its
//! environment with a value that no other has. What it starts inherits that.

use std::process::ExitStatus;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use futures_util::future::BoxFuture;
use tokio::time::{Instant, sleep, timeout};

use super::engine::Engine;
use super::error::ContainerError;
use super::refusal::Wanted;
use super::shell;
use super::state::State;
use crate::child::{Behind, Stderr, Told, described};
use crate::target::ContainerTarget;

/// The variable that marks a process.
const MARK: &str = "SPAR_EXEC";

/// How long an engine may take for one thing.
const ASKING: Duration = Duration::from_secs(2);

/// How long what is left may take to end once it was asked to.
const ASKED: Duration = Duration::from_secs(5);

/// How long it may take to be gone once it was killed.
const KILLED: Duration = Duration::from_secs(1);

/// How long the end of a container takes to be noticed, at each look.
const NOTICED: Duration = Duration::from_millis(50);

/// How often it is looked whether it is gone.
const LOOK: Duration = Duration::from_millis(20);

const UNREACHED: &str = "the host does not show it, and no shell in there can end it";

/// What is in a container.
pub(super) struct Inside {
    engine: Engine,
    target: ContainerTarget,
    /// `SPAR_EXEC=…`, as it stands in the environment.
    entry: String,
    /// Set once the host has shown the process: from then on, what the host
    /// does not show is not there.
    #[cfg(target_os = "linux")]
    seen: AtomicBool,
    /// Set when the engine said that there never was a process.
    never_began: AtomicBool,
    /// Set once it was killed: there is nothing more to ask it for.
    killed: AtomicBool,
    left: Mutex<Option<String>>,
}

#[derive(Clone, Copy)]
enum Wish {
    Look,
    Terminate,
    Kill,
}

impl Inside {
    pub(super) fn new(engine: Engine, target: &ContainerTarget) -> Inside {
        let mut bytes = [0_u8; 16];
        getrandom::fill(&mut bytes).expect("every system has random numbers");
        let value: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        Inside {
            engine,
            target: target.clone(),
            entry: format!("{MARK}={value}"),
            #[cfg(target_os = "linux")]
            seen: AtomicBool::new(false),
            never_began: AtomicBool::new(false),
            killed: AtomicBool::new(false),
            left: Mutex::new(None),
        }
    }

    /// The command line that runs the command inside.
    pub(super) fn exec(&self) -> Vec<String> {
        let command = &self.target.command;
        let mut words = vec!["exec".to_owned(), "-i".to_owned(), format!("--env={}", self.entry)];
        words.extend(command.env.iter().map(|(name, value)| format!("--env={name}={value}")));
        words.extend(command.cwd.iter().map(|cwd| format!("--workdir={}", cwd.display())));
        words.extend(self.target.flags.iter().cloned());
        words.extend([self.target.name.clone(), command.program.clone()]);
        words.extend(command.args.iter().cloned());
        self.engine.with(words)
    }

    pub(super) fn left(&self) -> Option<String> {
        self.left.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What keeps the container from running anything; nothing where it runs or
    /// the engine does not say.
    pub(super) async fn trouble(&self) -> Option<String> {
        match timeout(ASKING, self.engine.state(&self.target.name)).await {
            Ok(Ok(State::Bad(error))) => Some(error.to_string()),
            Ok(Err(error @ ContainerError::NoContainer { .. })) => Some(error.to_string()),
            _ => None,
        }
    }

    /// Does it to all that has the mark; whether there was something, and
    /// nothing where that cannot be told.
    async fn reach(&self, wish: Wish) -> Option<bool> {
        if self.never_began.load(Ordering::Relaxed) {
            return Some(false);
        }
        match self.on_the_host(wish) {
            Some(found) => Some(found),
            None => self.by_a_shell(wish).await,
        }
    }

    /// The same by the host, where it shows the processes and lets us at them.
    #[cfg(target_os = "linux")]
    fn on_the_host(&self, wish: Wish) -> Option<bool> {
        use rustix::process::Signal;
        let found = super::host::Found::by(&self.entry);
        if found.is_empty() {
            return self.seen.load(Ordering::Relaxed).then_some(false);
        }
        let reached = match wish {
            Wish::Look => true,
            // One that was stopped could not heed it.
            Wish::Terminate => found.signal(Signal::TERM) & found.signal(Signal::CONT),
            Wish::Kill => found.signal(Signal::KILL),
        };
        self.seen.store(reached, Ordering::Relaxed);
        reached.then_some(true)
    }

    #[cfg(not(target_os = "linux"))]
    fn on_the_host(&self, _: Wish) -> Option<bool> {
        None
    }

    /// The same from inside; a container that does not run has nothing left.
    async fn by_a_shell(&self, wish: Wish) -> Option<bool> {
        let signals: &[&str] = match wish {
            Wish::Look => &[],
            Wish::Terminate => &["TERM", "CONT"],
            Wish::Kill => &["KILL"],
        };
        let exec: Vec<String> = std::iter::once("exec".to_owned())
            .chain(self.target.flags.iter().cloned())
            .chain([self.target.name.clone()])
            .collect();
        let asked = shell::signal(&self.engine, &exec, &self.entry, signals);
        match timeout(ASKING, asked).await {
            Ok(Ok(Some(found))) => Some(found > 0),
            _ => match timeout(ASKING, self.engine.state(&self.target.name)).await {
                Ok(Ok(State::Bad(ContainerError::NotRunning { .. }))) => Some(false),
                Ok(Err(ContainerError::NoContainer { .. })) => Some(false),
                _ => None,
            },
        }
    }

    /// Whether nothing is left within that time, while it is wished again and
    /// again: what was started meanwhile has not heard it yet.
    async fn is_gone_within(&self, time: Duration, wish: Wish) -> bool {
        let until = Instant::now() + time;
        while self.reach(wish).await != Some(false) {
            if Instant::now() >= until {
                return false;
            }
            sleep(LOOK).await;
        }
        true
    }

    async fn end_what_is_left(&self, by_itself: bool) {
        if !self.killed.load(Ordering::Relaxed) {
            match self.reach(Wish::Terminate).await {
                Some(false) => return,
                // The engine has told that the command ended, which is all that
                // can be known.
                None if by_itself => return,
                None => return self.leave(UNREACHED).await,
                Some(true) => {}
            }
            if self.is_gone_within(ASKED, Wish::Look).await {
                return;
            }
        }
        match self.reach(Wish::Kill).await {
            None if by_itself => {}
            None => self.leave(UNREACHED).await,
            Some(_) if self.is_gone_within(KILLED, Wish::Kill).await => {}
            Some(_) => self.leave("it was killed, and is still there").await,
        }
    }

    /// Notes that something may be left; a container that cannot run anything
    /// is the reason before any other.
    async fn leave(&self, why: &str) {
        let trouble = self.trouble().await;
        let why = trouble.as_deref().unwrap_or(why);
        let text = format!("the server may still run in container {}: {why}", self.target.name);
        *self.left.lock().unwrap_or_else(PoisonError::into_inner) = Some(text);
    }

    async fn words(&self, status: ExitStatus, stderr: &str) -> Told {
        let wanted = Wanted {
            engine: self.engine.name(),
            container: &self.target.name,
            program: &self.target.command.program,
            cwd: self.target.command.cwd.as_ref().map(|cwd| cwd.display().to_string()),
        };
        if let Some(refusal) = wanted.refusal(status.code(), stderr) {
            self.never_began.store(true, Ordering::Relaxed);
            return Told::NotStarted(refusal);
        }
        let how = described(status);
        // Whoever was killed may have been so with its container, which the
        // engine may notice later.
        let times = match status.code() {
            Some(0) => 0,
            Some(137) => 5,
            _ => 1,
        };
        for time in 0..times {
            if time > 0 {
                sleep(NOTICED).await;
            }
            if let Some(trouble) = self.trouble().await {
                return Told::Ended(format!("{how}; {trouble}"));
            }
        }
        Told::Ended(how)
    }
}

impl Behind for Inside {
    fn look(&self) {
        self.on_the_host(Wish::Look);
    }

    fn terminate(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {
            let _ = self.reach(Wish::Terminate).await;
        })
    }

    fn kill(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {
            let _ = self.reach(Wish::Kill).await;
            self.killed.store(true, Ordering::Relaxed);
        })
    }

    fn kill_now(&self) {
        self.on_the_host(Wish::Kill);
    }

    fn end_rest(&self, by_itself: bool) -> BoxFuture<'_, ()> {
        Box::pin(self.end_what_is_left(by_itself))
    }

    fn told<'a>(&'a self, status: ExitStatus, stderr: &'a Stderr) -> BoxFuture<'a, Told> {
        Box::pin(async move {
            let words = timeout(ASKING, self.words(status, &stderr.tail())).await;
            words.unwrap_or_else(|_| Told::Ended(described(status)))
        })
    }
}
