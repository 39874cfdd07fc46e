//! Runs a verb that has no target: until it is done, or until a signal comes.

use std::future::Future;
use std::io;
use std::time::Duration;

use tokio::time::timeout;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Printer;
use crate::signals::Signals;

/// How long telling of a failure may take, to a reader that may not read.
const SOON: Duration = Duration::from_secs(1);

/// Does what the verb says, and tells why it could not.
///
/// # Errors
/// When the system does not give what that needs.
pub(crate) fn run<F>(printer: &Printer, verb: impl FnOnce(Signals) -> F) -> io::Result<Exit>
where
    F: Future<Output = Result<Exit, Failure>>,
{
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let exit = runtime.block_on(async {
        let exit = match verb(Signals::listen()?).await {
            Ok(exit) => exit,
            Err(failure) => {
                let told = timeout(SOON, printer.failure(&failure, None)).await;
                told.unwrap_or(failure.exit())
            }
        };
        Ok(exit)
    });
    // A thread that hangs in a read or a write is not waited for.
    runtime.shutdown_background();
    exit
}
