//! A task with an owner: dropped, it is stopped.

use std::future::Future;

use tokio::task::JoinHandle;

/// A task that ends with whoever holds it.
pub(super) struct Task(JoinHandle<()>);

impl Task {
    pub(super) fn spawn(work: impl Future<Output = ()> + Send + 'static) -> Task {
        Task(tokio::spawn(work))
    }

    pub(super) fn is_over(&self) -> bool {
        self.0.is_finished()
    }

    /// Waits for its end.
    pub(super) async fn ended(mut self) {
        // One that panicked is over too.
        let _ = (&mut self.0).await;
    }
}

impl Drop for Task {
    fn drop(&mut self) {
        self.0.abort();
    }
}
