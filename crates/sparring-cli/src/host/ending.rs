//! Work on the servers, until it is done or a signal comes; then all of them
//! end in good order, and at once if another signal comes.

use std::time::Duration;

use tokio::time::timeout;

use super::Host;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Printer;
use crate::signals::Signals;

/// How long servers may take to end: a child has a second to end by itself and
/// five after it was told to.
const END: Duration = Duration::from_secs(8);

/// How long telling of a failure may take, to a reader that may not read.
const SOON: Duration = Duration::from_secs(1);

impl Host {
    /// Does the work while the registry follows the servers. Why it ended is
    /// told before they end.
    pub(crate) async fn during(
        &self,
        signals: &mut Signals,
        printer: &Printer,
        work: impl Future<Output = Result<Exit, Failure>>,
    ) -> Exit {
        let following = async {
            self.registry.follow(&self.manager).await;
            std::future::pending().await
        };
        let done = tokio::select! {
            biased;
            signal = signals.next() => Err(Failure::Stopped(signal)),
            done = work => done,
            never = following => never,
        };
        self.end(signals, printer, done).await
    }

    /// Tells why it ended, and ends the servers in good order; at once if a
    /// signal comes.
    pub(crate) async fn end(
        &self,
        signals: &mut Signals,
        printer: &Printer,
        done: Result<Exit, Failure>,
    ) -> Exit {
        let (exit, within) = match &done {
            Ok(exit) => (*exit, Duration::MAX),
            Err(failure @ Failure::Stopped(_)) => (failure.exit(), SOON),
            Err(failure) => (failure.exit(), Duration::MAX),
        };
        let telling = async {
            if let Err(failure) = &done {
                let _ = timeout(within, printer.failure(failure, None)).await;
            }
        };
        let ending = async {
            tokio::join!(telling, self.manager.shut_down(END));
        };
        tokio::select! {
            biased;
            signal = signals.next() => {
                self.manager.shut_down_now();
                Exit::Stopped(signal)
            }
            () = ending => exit,
        }
    }
}
