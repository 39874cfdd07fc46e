//! A command in a container as a link: `docker exec -i` or `podman exec -i` as a child. The
//! process in the container is ended like a child.
//!
//! This module neither starts nor stops the container, and copies nothing into it.

mod engine;
mod error;
mod exec_failure;
mod exec_process;
#[cfg(target_os = "linux")]
mod host_processes;
mod shell_signal;
mod state;

use std::sync::Arc;
use std::time::Duration;

use crate::child::{ChildError, ChildLink, RemoteProcess};
use crate::target::{ChildTarget, ContainerTarget};
use engine::ENGINES;
use exec_process::ExecProcess;
use state::ContainerState;
use tokio::time::{Instant, sleep, timeout_at};

pub use engine::{ContainerEngine, EngineOutput};
pub use error::ContainerError;

/// The interval between checks of a container that is not ready.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// The container of a link. Cheap to clone; outlives the link.
#[derive(Clone)]
pub struct Container(Arc<ExecProcess>);

impl Container {
    /// Returns the reason why the container cannot answer now: it is paused, stopped or
    /// removed.
    pub async fn problem(&self) -> Option<String> {
        self.0.problem().await
    }

    /// Describes the processes that may still run in the container after the link was closed,
    /// with the reason.
    pub fn leftover(&self) -> Option<String> {
        self.0.leftover()
    }
}

impl std::fmt::Debug for Container {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Container").field("left", &self.leftover()).finish_non_exhaustive()
    }
}

/// Waits until the container is ready and starts the command in it.
///
/// # Errors
/// When no engine is found, the container does not exist, or it does not become ready in time.
pub(crate) async fn open(
    target: &ContainerTarget,
) -> Result<(ChildLink, Container), ContainerError> {
    let deadline = Instant::now() + target.ready_timeout;
    let engine = find_ready_engine(target, deadline).await?;
    let process = Arc::new(ExecProcess::new(engine, target));
    let mut words = process.exec_command().into_iter();
    let program = words.next().unwrap_or_default();
    let mut child = ChildTarget::new(program).args(words);
    child.max_line = target.command.max_line;
    // The engine's processes serve the container.
    child.may_leave_processes = true;
    let remote: Arc<dyn RemoteProcess> = Arc::<ExecProcess>::clone(&process);
    let link = ChildLink::spawn_with_remote(&child, Some(remote))?;
    Ok((link, Container(process)))
}

/// Finds the engine that has the container and waits until the container is ready.
async fn find_ready_engine(
    target: &ContainerTarget,
    deadline: Instant,
) -> Result<ContainerEngine, ContainerError> {
    let (engine, state) = find_engine(target, deadline).await?;
    wait_until_ready(&engine, &target.name, (target.ready_timeout, deadline), state).await?;
    Ok(engine)
}

impl ContainerEngine {
    /// Waits until a container is ready: it runs, and its health check, if any, succeeds.
    ///
    /// # Errors
    /// When the container does not exist, or does not become ready in time.
    pub async fn wait_until_ready(
        &self,
        name: &str,
        within: Duration,
    ) -> Result<(), ContainerError> {
        let deadline = Instant::now() + within;
        let state = self.state_with_timeout(name, (within, deadline)).await?;
        wait_until_ready(self, name, (within, deadline), state).await
    }

    /// Asks for the state of a container until the deadline.
    async fn state_with_timeout(
        &self,
        name: &str,
        (within, deadline): (Duration, Instant),
    ) -> Result<ContainerState, ContainerError> {
        timeout_at(deadline, self.container_state(name)).await.unwrap_or_else(|_| {
            let (engine, name) = (self.name().to_owned(), name.to_owned());
            Err(ContainerError::EngineTimeout { engine, name, timeout: within })
        })
    }
}

async fn wait_until_ready(
    engine: &ContainerEngine,
    name: &str,
    (within, deadline): (Duration, Instant),
    mut state: ContainerState,
) -> Result<(), ContainerError> {
    loop {
        let how = match state {
            ContainerState::Ready => return Ok(()),
            ContainerState::Starting(how) => how,
            ContainerState::Unusable(error) => return Err(error),
        };
        let late = ContainerError::NotReady { name: name.to_owned(), timeout: within, state: how };
        if timeout_at(deadline, sleep(POLL_INTERVAL)).await.is_err() {
            return Err(late);
        }
        state = match timeout_at(deadline, engine.container_state(name)).await {
            Ok(state) => state?,
            Err(_) => return Err(late),
        };
    }
}

/// Returns the given engine, or the first that has the container.
async fn find_engine(
    target: &ContainerTarget,
    deadline: Instant,
) -> Result<(ContainerEngine, ContainerState), ContainerError> {
    let mut errors = Vec::new();
    for engine in ContainerEngine::candidates(target.engine.clone()) {
        match engine.state_with_timeout(&target.name, (target.ready_timeout, deadline)).await {
            Ok(state) => return Ok((engine, state)),
            Err(error) => errors.push(error),
        }
    }
    Err(ContainerError::from_all(errors, &ENGINES))
}

impl From<ChildError> for ContainerError {
    fn from(error: ChildError) -> Self {
        match error {
            ChildError::NotFound { program } => ContainerError::NoEngine { tried: program },
            error => ContainerError::EngineStart(error),
        }
    }
}
