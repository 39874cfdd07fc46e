//! A task that is aborted when its owner drops it.

use std::future::Future;

use tokio::task::JoinHandle;

/// A task that is aborted on drop.
pub(super) struct OwnedTask(JoinHandle<()>);

impl OwnedTask {
    pub(super) fn spawn(work: impl Future<Output = ()> + Send + 'static) -> OwnedTask {
        OwnedTask(tokio::spawn(work))
    }

    pub(super) fn is_finished(&self) -> bool {
        self.0.is_finished()
    }

    /// Waits for the end of the task.
    pub(super) async fn join(mut self) {
        // A panic ends the task too.
        let _ = (&mut self.0).await;
    }
}

impl Drop for OwnedTask {
    fn drop(&mut self) {
        self.0.abort();
    }
}
