//! Runs a verb on a runtime of one thread, until it ends or a signal arrives.

use std::future::Future;
use std::io;
use std::time::Duration;

use tokio::time::timeout;

use crate::command_error::CommandError;
use crate::exit::Exit;
use crate::output::Printer;
use crate::signals::Signals;

/// Limit for printing a failure, since nothing may be reading stdout or stderr.
pub(crate) const FAILURE_OUTPUT_TIMEOUT: Duration = Duration::from_secs(1);

/// The pairs of descriptors that must be free at the start. tokio opens five descriptors
/// for a runtime with signals, and panics if it gets only some of them.
#[cfg(unix)]
const REQUIRED_PAIRS: usize = 3;

/// The number of tasks that run before the runtime looks for new events. With tokio's default, a
/// request waits longer while a notification goes to thousands of sessions.
const EVENT_INTERVAL: u32 = 16;

/// Runs a verb and prints its failure.
///
/// # Errors
/// When the system provides no runtime or no signal handlers.
pub(crate) fn run<F>(printer: &Printer, verb: impl FnOnce(Signals) -> F) -> io::Result<Exit>
where
    F: Future<Output = Result<Exit, CommandError>>,
{
    check_free_descriptors()?;
    // One thread: on Linux a child dies with the thread that started it.
    let mut builder = tokio::runtime::Builder::new_current_thread();
    let runtime = builder.event_interval(EVENT_INTERVAL).enable_all().build()?;
    let exit = runtime.block_on(async {
        let exit = match verb(Signals::listen()?).await {
            Ok(exit) => exit,
            Err(failure) => {
                let printing = printer.report_error(&failure, None);
                timeout(FAILURE_OUTPUT_TIMEOUT, printing).await.unwrap_or(failure.exit())
            }
        };
        Ok(exit)
    });
    // Does not wait for a thread that is blocked in a read or a write.
    runtime.shutdown_background();
    exit
}

/// Checks that the system gives the descriptors that a runtime needs.
#[cfg(unix)]
fn check_free_descriptors() -> io::Result<()> {
    let pairs = (0..REQUIRED_PAIRS).map(|_| std::os::unix::net::UnixStream::pair());
    pairs.collect::<io::Result<Vec<_>>>().map(drop)
}

#[cfg(not(unix))]
fn check_free_descriptors() -> io::Result<()> {
    Ok(())
}
