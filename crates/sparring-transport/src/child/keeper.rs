//! Keeps a child: waits for its exit, ends it when asked, and never leaves it.

use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::process::Child;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout};

use super::exit::described;
use super::group::Group;

/// How long a child may take to end by itself once its stdin is closed.
const BY_ITSELF: Duration = Duration::from_secs(1);

/// How long it may take once it was asked to.
const ASKED: Duration = Duration::from_secs(5);

/// How long the end of its stderr may take after its exit.
const LAST_WORDS: Duration = Duration::from_millis(50);

/// How often it is looked whether its group is empty.
const LOOK: Duration = Duration::from_millis(5);

/// The longest that ending a child takes.
pub(super) const LONGEST: Duration = Duration::from_secs(12);

/// The task that owns a child. Dropped, the child is killed.
#[derive(Debug)]
pub(super) struct Keeper {
    id: u32,
    group: Arc<Group>,
    stop: Option<oneshot::Sender<()>>,
    exit: oneshot::Receiver<Exit>,
    /// How it ended, once that is known.
    exited: Option<Exit>,
    task: JoinHandle<()>,
}

/// The end of a child: what is to be said of it, and when it was.
#[derive(Debug, Clone)]
pub(super) struct Exit {
    pub(super) how: String,
    pub(super) at: Instant,
}

impl Keeper {
    pub(super) fn start(child: Child, group: Group, stderr: JoinHandle<()>) -> Keeper {
        let id = child.id().unwrap_or_default();
        let group = Arc::new(group);
        let (stop, stopped) = oneshot::channel();
        let (exited, exit) = oneshot::channel();
        let task = tokio::spawn(keep(child, Arc::clone(&group), stderr, stopped, exited));
        Keeper { id, group, stop: Some(stop), exit, exited: None, task }
    }

    pub(super) fn id(&self) -> u32 {
        self.id
    }

    /// Ends the child in good order; its stdin is being closed.
    pub(super) fn stop(&mut self) {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
    }

    /// Ready when the child and all of its group are gone, after
    /// [`Keeper::stop`].
    pub(super) fn poll_done(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        match self.task.is_finished() {
            true => Poll::Ready(()),
            false => std::pin::Pin::new(&mut self.task).poll(cx).map(drop),
        }
    }

    /// Ready when the child is gone, with what is to be said of it.
    pub(super) fn poll_exit(&mut self, cx: &mut Context<'_>) -> Poll<Exit> {
        if let Some(exited) = &self.exited {
            return Poll::Ready(exited.clone());
        }
        let exit = std::task::ready!(std::pin::Pin::new(&mut self.exit).poll(cx));
        let given_up = |_| Exit { how: "it was given up".to_owned(), at: Instant::now() };
        let exit = exit.unwrap_or_else(given_up);
        Poll::Ready(self.exited.insert(exit).clone())
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        // The task would do it as well, but only when its runtime gets to it,
        // and that may never run again.
        if !self.task.is_finished() {
            self.group.kill();
        }
        self.task.abort();
    }
}

async fn keep(
    mut child: Child,
    group: Arc<Group>,
    stderr: JoinHandle<()>,
    mut stopped: oneshot::Receiver<()>,
    exited: oneshot::Sender<Exit>,
) {
    let ended = tokio::select! {
        status = child.wait() => Some(status),
        // A link that is dropped takes this task along, so this is a wish.
        _ = &mut stopped => None,
    };
    let status = match ended {
        Some(status) => status,
        None => end(&mut child, &group).await,
    };
    let at = Instant::now();
    // Asked at once, while the number cannot be anybody else's.
    let _ = group.is_empty();
    let _ = timeout(LAST_WORDS, stderr).await;
    let how = match status {
        Ok(status) => described(status),
        Err(error) => format!("its end could not be told: {error}"),
    };
    let _ = exited.send(Exit { how, at });
    // What a child that ended by itself left behind stays until the link is
    // closed or dropped.
    if !stopped.is_terminated() {
        let _ = stopped.await;
    }
    end_rest(&group).await;
}

/// Waits for the child to end by itself, then asks it and all of its group to,
/// then ends them.
async fn end(child: &mut Child, group: &Group) -> std::io::Result<std::process::ExitStatus> {
    if let Ok(status) = timeout(BY_ITSELF, child.wait()).await {
        return status;
    }
    group.terminate();
    if let Ok(status) = timeout(ASKED, child.wait()).await {
        return status;
    }
    group.kill();
    let _ = child.start_kill();
    child.wait().await
}

/// Ends what is left of the group although its leader is gone.
async fn end_rest(group: &Group) {
    if group.is_empty() {
        return;
    }
    group.terminate();
    let until = Instant::now() + ASKED;
    while !group.is_empty() {
        if Instant::now() >= until {
            group.kill();
            return;
        }
        sleep(LOOK).await;
    }
}
