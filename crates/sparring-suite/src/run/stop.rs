//! The wish that a run shall end early.

use std::time::Duration;

use tokio::sync::watch;

/// How long a teardown may take once the run is to end.
const LAST: Duration = Duration::from_secs(5);

/// Says to a run that it shall end.
#[derive(Debug)]
pub struct Stop(watch::Sender<bool>);

impl Default for Stop {
    fn default() -> Self {
        Stop(watch::Sender::new(false))
    }
}

impl Stop {
    /// Asks the run to end.
    pub fn ask(&self) {
        self.0.send_replace(true);
    }

    /// Whether somebody has asked.
    pub fn is_asked(&self) -> bool {
        *self.0.borrow()
    }

    /// Does something that must come to its end, but for a while only once
    /// somebody has asked; gives nothing when that was over first.
    pub(super) async fn bound<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        let over = async {
            self.asked().await;
            tokio::time::sleep(LAST).await;
        };
        tokio::select! {
            biased;
            done = work => Some(done),
            () = over => None,
        }
    }

    /// Waits until somebody asks.
    pub(super) async fn asked(&self) {
        // The sender is ours, so this ends only when somebody asks.
        let _ = self.0.subscribe().wait_for(|asked| *asked).await;
    }
}
