//! Spawns background tasks and reads the messages of panics.

use std::future::Future;
use std::pin::Pin;

use tokio::task::JoinHandle;

/// Spawns a future as a tokio task.
///
/// The future is boxed because the compiler generates tokio's task code once for
/// each future type. With a box it is generated once for all crates. The box adds
/// no measurable cost, even to tasks that every message wakes.
///
/// # Panics
/// Outside of a tokio runtime.
pub fn spawn(work: impl Future<Output = ()> + Send + 'static) -> JoinHandle<()> {
    spawn_boxed(Box::pin(work))
}

fn spawn_boxed(work: Pin<Box<dyn Future<Output = ()> + Send>>) -> JoinHandle<()> {
    tokio::spawn(work)
}

/// Returns the message of a panic, or an empty text if its payload is not text.
pub(crate) fn panic_message(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default()
}
