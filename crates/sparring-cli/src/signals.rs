//! Waits for the signals that end the program.

use std::io;

use crate::command_error::CommandError;
use crate::exit::Signal;

/// Once created, these signals no longer end the program.
pub(crate) struct Signals {
    #[cfg(unix)]
    hangup: tokio::signal::unix::Signal,
    #[cfg(unix)]
    interrupt: tokio::signal::unix::Signal,
    #[cfg(unix)]
    terminate: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    pub(crate) fn listen() -> io::Result<Signals> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Signals {
            hangup: signal(SignalKind::hangup())?,
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
        })
    }

    /// Waits for the next signal.
    pub(crate) async fn next(&mut self) -> Signal {
        tokio::select! {
            Some(()) = self.interrupt.recv() => Signal::Interrupt,
            Some(()) = self.terminate.recv() => Signal::Terminate,
            Some(()) = self.hangup.recv() => Signal::Hangup,
            else => std::future::pending().await,
        }
    }
}

#[cfg(not(unix))]
impl Signals {
    pub(crate) fn listen() -> io::Result<Signals> {
        Ok(Signals {})
    }

    /// Waits for the next signal.
    pub(crate) async fn next(&mut self) -> Signal {
        match tokio::signal::ctrl_c().await {
            Ok(()) => Signal::Interrupt,
            Err(_) => std::future::pending().await,
        }
    }
}

impl Signals {
    /// Runs blocking work, such as reading a pipe, until a signal arrives.
    ///
    /// # Errors
    /// When a signal arrives first.
    pub(crate) async fn interruptible_blocking<T: Send + 'static>(
        &mut self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, CommandError> {
        let done = self.interruptible(tokio::task::spawn_blocking(work)).await?;
        done.map_err(|error| CommandError::System(error.into()))
    }

    /// Waits for a future until a signal arrives.
    ///
    /// # Errors
    /// When a signal arrives first.
    pub(crate) async fn interruptible<T>(
        &mut self,
        work: impl Future<Output = T>,
    ) -> Result<T, CommandError> {
        tokio::select! {
            biased;
            signal = self.next() => Err(CommandError::Stopped(signal)),
            done = work => Ok(done),
        }
    }
}
