//! Supervises a child: waits for its exit, ends it on request, and leaves no process behind.

use std::io;
use std::process::ExitStatus;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::future::BoxFuture;
use sparring_peer::task;
use tokio::process::Child;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout};

use super::exit::{ExitDescription, describe_exit_status};
use super::process_group::ProcessGroup;
use super::stderr::Stderr;

/// The maximum wait for the exit of a child after its stdin is closed, if the child reads its
/// messages there.
pub(super) const EXIT_TIMEOUT: Duration = Duration::from_secs(1);

/// The maximum wait for the exit of a child after SIGTERM.
const TERMINATE_TIMEOUT: Duration = Duration::from_secs(5);

/// The maximum wait for the end of other processes after SIGKILL.
const KILL_TIMEOUT: Duration = Duration::from_secs(1);

/// The maximum wait for the rest of the stderr after the exit.
const STDERR_TIMEOUT: Duration = Duration::from_millis(50);

/// The wait for the end of stderr when all processes have ended. After it, another process must
/// hold stderr open.
const LAST_STDERR_TIMEOUT: Duration = Duration::from_millis(500);

/// The interval between checks for an empty process group.
const GROUP_POLL_INTERVAL: Duration = Duration::from_millis(5);

/// The maximum wait for the exit of a child after its remote process was killed.
const REMOTE_KILL_TIMEOUT: Duration = Duration::from_secs(2);

/// The maximum time that ending a child takes.
const MAX_CLOSE_TIME: Duration = Duration::from_secs(13);

/// The same for a child with a remote process, which is ended too.
const MAX_REMOTE_CLOSE_TIME: Duration = Duration::from_secs(40);

/// A process elsewhere that a child only carries bytes for, and that signals to the child do
/// not reach. Each method has its own deadline.
pub(crate) trait RemoteProcess: Send + Sync + 'static {
    /// Called before the input is closed, while the process most likely still runs.
    fn probe(&self);

    /// Asks the process and its descendants to end.
    fn terminate(&self) -> BoxFuture<'_, ()>;

    /// Kills the process and its descendants.
    fn kill(&self) -> BoxFuture<'_, ()>;

    /// Kills the processes that can be killed without waiting.
    fn kill_without_waiting(&self);

    /// Ends the remaining processes after the child is gone. `exited_alone` is true if the
    /// child exited without SIGKILL, which shows that the remote process has ended.
    fn end_remaining(&self, exited_alone: bool) -> BoxFuture<'_, ()>;

    /// Describes the child's exit.
    fn describe_exit<'a>(
        &'a self,
        status: ExitStatus,
        stderr: &'a Stderr,
    ) -> BoxFuture<'a, ExitDescription>;
}

/// The handle of the task that owns a child. Dropping it kills the child.
pub(super) struct Supervisor {
    id: u32,
    group: Arc<ProcessGroup>,
    remote: Option<Arc<dyn RemoteProcess>>,
    stop: Option<oneshot::Sender<()>>,
    exit: oneshot::Receiver<ChildExit>,
    /// The exit, once it is known.
    exited: Option<ChildExit>,
    task: JoinHandle<()>,
}

/// The exit of a child and its time.
#[derive(Debug, Clone)]
pub(super) struct ChildExit {
    pub(super) description: ExitDescription,
    pub(super) at: Instant,
    /// True if the child reported an error or crashed. The exit after a signal of ours is
    /// not a failure.
    pub(super) failed: bool,
    /// True if the child only ended after a signal of ours.
    pub(super) signalled: bool,
}

/// A child with the parts that its supervisor needs.
pub(super) struct SupervisedChild {
    pub(super) child: Child,
    pub(super) group: ProcessGroup,
    pub(super) stderr: Stderr,
    /// The task that drains stderr.
    pub(super) draining: JoinHandle<()>,
    pub(super) remote: Option<Arc<dyn RemoteProcess>>,
    /// The maximum wait between the end of its stdin and SIGTERM.
    pub(super) exit_timeout: Duration,
}

impl Supervisor {
    pub(super) fn start(child_parts: SupervisedChild) -> Supervisor {
        let SupervisedChild { child, group, stderr, draining, remote, exit_timeout } = child_parts;
        let id = child.id().unwrap_or_default();
        let group = Arc::new(group);
        let (stop, stopped) = oneshot::channel();
        let (exited, exit) = oneshot::channel();
        let task_state = SupervisorTask {
            child,
            group: Arc::clone(&group),
            remote: remote.clone(),
            exit_timeout,
            done: false,
        };
        let stderr_and_drain = (stderr, draining);
        let task = task::spawn(task_state.run(stderr_and_drain, stopped, exited));
        Supervisor { id, group, remote, stop: Some(stop), exit, exited: None, task }
    }

    pub(super) fn id(&self) -> u32 {
        self.id
    }

    /// Ends the child in an orderly way; the caller closes its stdin.
    pub(super) fn stop(&mut self) {
        if let Some(stop) = self.stop.take() {
            if let Some(remote) = &self.remote {
                remote.probe();
            }
            let _ = stop.send(());
        }
    }

    /// Returns the longest time that the end takes after [`Supervisor::stop`].
    pub(super) fn max_close_time(&self) -> Duration {
        if self.remote.is_some() { MAX_REMOTE_CLOSE_TIME } else { MAX_CLOSE_TIME }
    }

    /// Returns true if the child carries bytes for a remote process.
    pub(super) fn is_remote(&self) -> bool {
        self.remote.is_some()
    }

    /// Ready when the child and its group are gone, after [`Supervisor::stop`].
    pub(super) fn poll_done(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        match self.task.is_finished() {
            true => Poll::Ready(()),
            false => std::pin::Pin::new(&mut self.task).poll(cx).map(drop),
        }
    }

    /// Ready when the child has exited.
    pub(super) fn poll_exit(&mut self, cx: &mut Context<'_>) -> Poll<ChildExit> {
        if let Some(exited) = &self.exited {
            return Poll::Ready(exited.clone());
        }
        let exit = std::task::ready!(std::pin::Pin::new(&mut self.exit).poll(cx));
        let given_up = |_| ChildExit {
            description: ExitDescription::Ended("was abandoned".to_owned()),
            at: Instant::now(),
            failed: false,
            signalled: false,
        };
        let exit = exit.unwrap_or_else(given_up);
        Poll::Ready(self.exited.insert(exit).clone())
    }
}

impl Drop for Supervisor {
    fn drop(&mut self) {
        // The task would do this too, but only when its runtime runs it, which may never happen
        // again.
        if !self.task.is_finished() {
            self.group.kill();
            if let Some(remote) = &self.remote {
                remote.kill_without_waiting();
            }
        }
        self.task.abort();
    }
}

/// The last signal that a child got from its supervisor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LastSignal {
    Terminate,
    /// SIGKILL to the child itself, not only to its remote process.
    Kill,
}

/// The state of the task.
struct SupervisorTask {
    child: Child,
    group: Arc<ProcessGroup>,
    remote: Option<Arc<dyn RemoteProcess>>,
    exit_timeout: Duration,
    done: bool,
}

impl SupervisorTask {
    async fn run(
        mut self,
        (stderr, mut draining): (Stderr, JoinHandle<()>),
        mut stopped: oneshot::Receiver<()>,
        exited: oneshot::Sender<ChildExit>,
    ) {
        let ended = tokio::select! {
            status = self.child.wait() => Some(status),
            // Dropping the link aborts this task, so this is an explicit request.
            _ = &mut stopped => None,
        };
        let asked = ended.is_none();
        let (status, last_signal) = match ended {
            Some(status) => (status, None),
            None => self.end_child().await,
        };
        let signalled = last_signal.is_some();
        let failed = !signalled && status.as_ref().is_ok_and(|it| !it.success());
        let at = Instant::now();
        // Checked at once, while the group's id cannot be reused.
        let _ = self.group.is_empty();
        let drained = timeout(STDERR_TIMEOUT, &mut draining).await.is_ok();
        let description = match (status, &self.remote) {
            (Ok(status), Some(remote)) if !asked => remote.describe_exit(status, &stderr).await,
            (Ok(status), _) => ExitDescription::Ended(describe_exit_status(status)),
            (Err(error), _) => {
                ExitDescription::Ended(format!("ended with an unknown status: {error}"))
            }
        };
        let _ = exited.send(ChildExit { description, at, failed, signalled });
        // Processes that a child left behind stay until the link is closed or dropped.
        if !stopped.is_terminated() {
            let _ = stopped.await;
        }
        end_remaining(&self.group).await;
        let drained = drained || timeout(LAST_STDERR_TIMEOUT, draining).await.is_ok();
        if self.remote.is_none()
            && let Some(left) = describe_left(&self.group, drained)
        {
            stderr.add(format!("sparring: the process left {left}\n").as_bytes());
        }
        if let Some(remote) = &self.remote {
            remote.end_remaining(last_signal != Some(LastSignal::Kill)).await;
        }
        self.done = true;
    }

    /// Waits for the child to exit, then sends SIGTERM to its group, then SIGKILL. The second
    /// value is the last signal that was sent, if any.
    async fn end_child(&mut self) -> (io::Result<ExitStatus>, Option<LastSignal>) {
        if let Ok(status) = timeout(self.exit_timeout, self.child.wait()).await {
            return (status, None);
        }
        match &self.remote {
            Some(remote) => remote.terminate().await,
            None => self.group.terminate(),
        }
        if let Ok(status) = timeout(TERMINATE_TIMEOUT, self.child.wait()).await {
            return (status, Some(LastSignal::Terminate));
        }
        if let Some(remote) = &self.remote {
            remote.kill().await;
            if let Ok(status) = timeout(REMOTE_KILL_TIMEOUT, self.child.wait()).await {
                return (status, Some(LastSignal::Terminate));
            }
        }
        self.group.kill();
        let _ = self.child.start_kill();
        (self.child.wait().await, Some(LastSignal::Kill))
    }
}

impl Drop for SupervisorTask {
    fn drop(&mut self) {
        // A runtime that ends may drop this before the link. The drop of `ProcessGroup` kills
        // the group.
        if let Some(remote) = self.remote.as_ref().filter(|_| !self.done) {
            remote.kill_without_waiting();
        }
    }
}

/// Describes the processes that could not be ended. `drained` is true if no process holds the
/// output of the group open.
pub(super) fn describe_left(group: &ProcessGroup, drained: bool) -> Option<String> {
    match group.describe_left() {
        Some(names) => Some(format!("processes that could not be ended: {names}")),
        None if drained => None,
        None => Some("a process that holds its output open".to_owned()),
    }
}

/// Ends the processes of a group whose leader is gone, and those that have left it.
pub(super) async fn end_remaining(group: &ProcessGroup) {
    if group.is_empty() {
        return;
    }
    group.terminate();
    if timeout(TERMINATE_TIMEOUT, wait_until_empty(group)).await.is_err() {
        group.kill();
        let _ = timeout(KILL_TIMEOUT, wait_until_empty(group)).await;
    }
}

async fn wait_until_empty(group: &ProcessGroup) {
    while !group.is_empty() {
        sleep(GROUP_POLL_INTERVAL).await;
    }
}
