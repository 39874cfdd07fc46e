//! The wish that a run shall end early.

use tokio::sync::watch;

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

    /// Waits until somebody asks.
    pub(super) async fn asked(&self) {
        // The sender is ours, so this ends only when somebody asks.
        let _ = self.0.subscribe().wait_for(|asked| *asked).await;
    }
}
