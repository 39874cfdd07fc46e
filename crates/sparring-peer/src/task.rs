//! Tasks in the background.

use std::future::Future;
use std::pin::Pin;

use tokio::task::JoinHandle;

/// Lets something go on by itself.
///
/// It is boxed: tokio's code for a task is built anew for each type of future, and
/// so it is built once, for all crates. What is woken for every message pays
/// nothing for it that could be measured.
///
/// # Panics
/// Outside of a tokio runtime.
pub fn spawn(work: impl Future<Output = ()> + Send + 'static) -> JoinHandle<()> {
    spawn_boxed(Box::pin(work))
}

fn spawn_boxed(work: Pin<Box<dyn Future<Output = ()> + Send>>) -> JoinHandle<()> {
    tokio::spawn(work)
}
