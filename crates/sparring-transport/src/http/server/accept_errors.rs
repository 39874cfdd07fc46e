//! Keeps the first error of a listener that cannot accept connections for a while, for example
//! because the system has no free file descriptors. The listener goes on.

use std::io;

use tokio::sync::watch;

/// The first error of a listener. Cheap to clone; all clones share it.
#[derive(Debug, Clone)]
pub struct AcceptErrors(watch::Sender<Option<String>>);

impl Default for AcceptErrors {
    fn default() -> Self {
        AcceptErrors(watch::Sender::new(None))
    }
}

impl AcceptErrors {
    /// Keeps the error if it is the first.
    pub fn report(&self, error: &io::Error) {
        self.0.send_if_modified(|first| {
            let is_first = first.is_none();
            if is_first {
                *first = Some(error.to_string());
            }
            is_first
        });
    }

    /// Waits for the first error, and returns it.
    pub async fn first(&self) -> String {
        let mut receiver = self.0.subscribe();
        let first = receiver.wait_for(Option::is_some).await;
        first.ok().and_then(|it| it.clone()).unwrap_or_default()
    }
}
