//! The signals that end the program, as something to wait for.

use std::io;

use crate::exit::Signal;
use crate::failure::Failure;

/// From its making on, these signals do not end the program by themselves.
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

    /// The next one that comes.
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

    /// The next one that comes.
    pub(crate) async fn next(&mut self) -> Signal {
        match tokio::signal::ctrl_c().await {
            Ok(()) => Signal::Interrupt,
            Err(_) => std::future::pending().await,
        }
    }
}

impl Signals {
    /// Does something that may hang, as reading a pipe that nobody writes to
    /// does, until a signal comes.
    ///
    /// # Errors
    /// When one comes first.
    pub(crate) async fn beside<T: Send + 'static>(
        &mut self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Failure> {
        let done = self.during(tokio::task::spawn_blocking(work)).await?;
        done.map_err(|error| Failure::System(error.into()))
    }

    /// Waits for something until a signal comes.
    ///
    /// # Errors
    /// When one comes first.
    pub(crate) async fn during<T>(&mut self, work: impl Future<Output = T>) -> Result<T, Failure> {
        tokio::select! {
            biased;
            signal = self.next() => Err(Failure::Stopped(signal)),
            done = work => Ok(done),
        }
    }
}
