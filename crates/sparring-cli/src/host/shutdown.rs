//! Runs work on a host until it ends or a signal arrives. Then shuts the servers down in
//! order, or at once after another signal.

use std::time::Duration;

use tokio::time::timeout;

use super::Host;
use crate::command_error::CommandError;
use crate::exit::{Exit, Signal};
use crate::output::Printer;
use crate::runtime::FAILURE_OUTPUT_TIMEOUT;
use crate::signals::Signals;

/// Limit for stopping the servers. A child process has one second to exit, and five more
/// after SIGTERM.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(8);

impl Host {
    /// Runs the work while the registry follows the servers. Prints the failure before
    /// the servers stop. `on_signal` is the outcome if a signal ends the work.
    pub(crate) async fn run_until_done(
        &self,
        signals: &mut Signals,
        printer: &Printer,
        work: impl Future<Output = Result<Exit, CommandError>>,
        on_signal: impl FnOnce(Signal) -> Result<Exit, CommandError>,
    ) -> Exit {
        let following = async {
            self.registry.follow_manager(&self.manager).await;
            std::future::pending().await
        };
        let outcome = tokio::select! {
            biased;
            signal = signals.next() => on_signal(signal),
            outcome = work => outcome,
            never = following => never,
        };
        self.shut_down(signals, printer, outcome).await
    }

    /// Prints the failure and stops the servers in order. A signal stops them at once.
    pub(crate) async fn shut_down(
        &self,
        signals: &mut Signals,
        printer: &Printer,
        outcome: Result<Exit, CommandError>,
    ) -> Exit {
        let (exit, within) = match &outcome {
            Ok(exit) => (*exit, Duration::MAX),
            Err(failure @ CommandError::Stopped(_)) => (failure.exit(), FAILURE_OUTPUT_TIMEOUT),
            Err(failure) => (failure.exit(), Duration::MAX),
        };
        let reporting = async {
            if let Err(failure) = &outcome {
                let _ = timeout(within, printer.report_error(failure, None)).await;
            }
        };
        let stopping = async {
            tokio::join!(reporting, self.manager.shut_down(SHUTDOWN_TIMEOUT));
        };
        tokio::select! {
            biased;
            signal = signals.next() => {
                self.manager.shut_down_now();
                Exit::Stopped(signal)
            }
            () = stopping => exit,
        }
    }
}
