//! The background task of a session, and the handle that stops it.

use std::future::poll_fn;
use std::task::Poll;

use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::session::Connection;
use crate::link::Cause;

/// A session served in the background. Dropping it stops the session at once.
#[derive(Debug)]
#[must_use = "a server that is dropped stops"]
pub struct ServerTask {
    task: JoinHandle<Cause>,
    stop: Option<oneshot::Sender<()>>,
    /// The reason of the end, once it was read from the task.
    cause: Option<Cause>,
}

impl ServerTask {
    pub(super) fn spawn(mut session: Connection) -> ServerTask {
        let (stop, mut stopped) = oneshot::channel::<()>();
        let task = tokio::spawn(async move {
            let ended = poll_fn(|cx| match std::pin::Pin::new(&mut stopped).poll(cx) {
                Poll::Ready(_) => Poll::Ready(None),
                Poll::Pending => session.poll_serve(cx, None).map(Some),
            });
            match ended.await {
                Some(cause) => cause,
                None => {
                    session.shut_down().await;
                    Cause::ClosedLocally
                }
            }
        });
        ServerTask { task, stop: Some(stop), cause: None }
    }

    /// Returns true if the session is still served.
    pub fn is_running(&self) -> bool {
        !self.task.is_finished()
    }

    /// Ends subscriptions, closes the link, and waits for the end.
    pub async fn stop(mut self) -> Cause {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
        self.wait().await
    }

    /// Waits until the session has ended.
    pub async fn wait(&mut self) -> Cause {
        if let Some(cause) = &self.cause {
            return cause.clone();
        }
        let broken = |error: tokio::task::JoinError| Cause::Broken(error.to_string());
        let cause = (&mut self.task).await.unwrap_or_else(broken);
        self.cause.insert(cause).clone()
    }
}

impl Drop for ServerTask {
    fn drop(&mut self) {
        self.task.abort();
    }
}
