//! Keeps a child: waits for its exit, ends it when asked, and never leaves it.

use std::io;
use std::process::ExitStatus;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use sparring_peer::task;
use tokio::process::Child;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout};

use super::behind::{Behind, Told};
use super::exit::described;
use super::group::Group;
use super::stderr::Stderr;

/// How long a child may take to end by itself once its stdin is closed.
const BY_ITSELF: Duration = Duration::from_secs(1);

/// How long it may take once it was asked to.
const ASKED: Duration = Duration::from_secs(5);

/// How long the end of its stderr may take after its exit.
const LAST_WORDS: Duration = Duration::from_millis(50);

/// How often it is looked whether its group is empty.
const LOOK: Duration = Duration::from_millis(5);

/// How long a child may take to notice that what it stood for was killed.
const NOTICED: Duration = Duration::from_secs(2);

/// The longest that ending a child takes.
const LONGEST: Duration = Duration::from_secs(12);

/// The same, where it only stands for something that has to be ended too.
const LONGEST_BEHIND: Duration = Duration::from_secs(40);

/// The task that owns a child. Dropped, the child is killed.
pub(super) struct Keeper {
    id: u32,
    group: Arc<Group>,
    behind: Option<Arc<dyn Behind>>,
    stop: Option<oneshot::Sender<()>>,
    exit: oneshot::Receiver<Exit>,
    /// How it ended, once that is known.
    exited: Option<Exit>,
    task: JoinHandle<()>,
}

/// The end of a child: what is to be said of it, and when it was.
#[derive(Debug, Clone)]
pub(super) struct Exit {
    pub(super) told: Told,
    pub(super) at: Instant,
}

/// A child, and what comes with it.
pub(super) struct Kept {
    pub(super) child: Child,
    pub(super) group: Group,
    pub(super) stderr: Stderr,
    /// The task that drains it.
    pub(super) draining: JoinHandle<()>,
    pub(super) behind: Option<Arc<dyn Behind>>,
}

impl Keeper {
    pub(super) fn start(kept: Kept) -> Keeper {
        let Kept { child, group, stderr, draining, behind } = kept;
        let id = child.id().unwrap_or_default();
        let group = Arc::new(group);
        let (stop, stopped) = oneshot::channel();
        let (exited, exit) = oneshot::channel();
        let keeping =
            Keeping { child, group: Arc::clone(&group), behind: behind.clone(), done: false };
        let last_words = (stderr, draining);
        let task = task::spawn(keeping.keep(last_words, stopped, exited));
        Keeper { id, group, behind, stop: Some(stop), exit, exited: None, task }
    }

    pub(super) fn id(&self) -> u32 {
        self.id
    }

    /// Ends the child in good order; its stdin is being closed.
    pub(super) fn stop(&mut self) {
        if let Some(stop) = self.stop.take() {
            if let Some(behind) = &self.behind {
                behind.look();
            }
            let _ = stop.send(());
        }
    }

    /// The longest that it takes after [`Keeper::stop`].
    pub(super) fn longest(&self) -> Duration {
        if self.behind.is_some() { LONGEST_BEHIND } else { LONGEST }
    }

    /// Whether it only stands for something elsewhere.
    pub(super) fn is_stand_in(&self) -> bool {
        self.behind.is_some()
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
        let given_up =
            |_| Exit { told: Told::Ended("it was given up".to_owned()), at: Instant::now() };
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
            if let Some(behind) = &self.behind {
                behind.kill_now();
            }
        }
        self.task.abort();
    }
}

/// What the task has.
struct Keeping {
    child: Child,
    group: Arc<Group>,
    behind: Option<Arc<dyn Behind>>,
    done: bool,
}

impl Keeping {
    async fn keep(
        mut self,
        (stderr, draining): (Stderr, JoinHandle<()>),
        mut stopped: oneshot::Receiver<()>,
        exited: oneshot::Sender<Exit>,
    ) {
        let ended = tokio::select! {
            status = self.child.wait() => Some(status),
            // A link that is dropped takes this task along, so this is a wish.
            _ = &mut stopped => None,
        };
        let asked = ended.is_none();
        let (status, by_itself) = match ended {
            Some(status) => (status, true),
            None => self.end().await,
        };
        let at = Instant::now();
        // Asked at once, while the number cannot be anybody else's.
        let _ = self.group.is_empty();
        let _ = timeout(LAST_WORDS, draining).await;
        let told = match (status, &self.behind) {
            (Ok(status), Some(behind)) if !asked => behind.told(status, &stderr).await,
            (Ok(status), _) => Told::Ended(described(status)),
            (Err(error), _) => Told::Ended(format!("its end could not be told: {error}")),
        };
        let _ = exited.send(Exit { told, at });
        // What a child that ended by itself left behind stays until the link is
        // closed or dropped.
        if !stopped.is_terminated() {
            let _ = stopped.await;
        }
        end_rest(&self.group).await;
        if let Some(behind) = &self.behind {
            behind.end_rest(by_itself).await;
        }
        self.done = true;
    }

    /// Waits for the child to end by itself, then asks it and all of its group
    /// to, then ends them. Says too whether it did not have to be killed.
    async fn end(&mut self) -> (io::Result<ExitStatus>, bool) {
        if let Ok(status) = timeout(BY_ITSELF, self.child.wait()).await {
            return (status, true);
        }
        match &self.behind {
            Some(behind) => behind.terminate().await,
            None => self.group.terminate(),
        }
        if let Ok(status) = timeout(ASKED, self.child.wait()).await {
            return (status, true);
        }
        if let Some(behind) = &self.behind {
            behind.kill().await;
            if let Ok(status) = timeout(NOTICED, self.child.wait()).await {
                return (status, true);
            }
        }
        self.group.kill();
        let _ = self.child.start_kill();
        (self.child.wait().await, false)
    }
}

impl Drop for Keeping {
    fn drop(&mut self) {
        // A runtime that ends may drop this before the link. The group is
        // killed by its own drop.
        if let Some(behind) = self.behind.as_ref().filter(|_| !self.done) {
            behind.kill_now();
        }
    }
}

/// Ends what is left of the group although its leader is gone.
pub(super) async fn end_rest(group: &Group) {
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
