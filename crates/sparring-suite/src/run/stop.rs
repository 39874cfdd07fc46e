//! Requests that a run ends early.

use std::time::Duration;

use tokio::sync::watch;

/// The timeout of a teardown after the run is asked to stop.
const TEARDOWN_TIMEOUT: Duration = Duration::from_secs(5);

/// Asks a run to stop.
#[derive(Debug)]
pub struct Stop(watch::Sender<bool>);

impl Default for Stop {
    fn default() -> Self {
        Stop(watch::Sender::new(false))
    }
}

impl Stop {
    /// Asks the run to stop.
    pub fn request(&self) {
        self.0.send_replace(true);
    }

    /// Returns true if the run is asked to stop.
    pub fn is_requested(&self) -> bool {
        *self.0.borrow()
    }

    /// Finishes some work even if the run is asked to stop. Returns `None` if the work then
    /// takes longer than [`TEARDOWN_TIMEOUT`].
    pub(super) async fn finish<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        let timeout = async {
            self.requested().await;
            tokio::time::sleep(TEARDOWN_TIMEOUT).await;
        };
        tokio::select! {
            biased;
            done = work => Some(done),
            () = timeout => None,
        }
    }

    /// Waits until the run is asked to stop.
    pub(super) async fn requested(&self) {
        // `self` owns the sender, so the channel cannot close meanwhile.
        let _ = self.0.subscribe().wait_for(|requested| *requested).await;
    }
}
