//! A command in a container as a link: `docker exec -i` or `podman exec -i` as a
//! child, and the process inside ended as a child would be.
//!
//! The container itself is neither started nor stopped here, nor is anything
//! put into it.

mod engine;
mod error;
#[cfg(target_os = "linux")]
mod host;
mod inside;
mod refusal;
mod shell;
mod state;

use std::sync::Arc;
use std::time::Duration;

use crate::child::{Behind, ChildError, ChildLink};
use crate::target::{ChildTarget, ContainerTarget};
use engine::ENGINES;
use inside::Inside;
use state::State;
use tokio::time::{Instant, sleep, timeout_at};

pub use engine::{Engine, Ran};
pub use error::ContainerError;

/// How often a container that is not ready is looked at again.
const LOOK: Duration = Duration::from_millis(100);

/// The container that a link leads into. Cheap to clone, and outlives the link.
#[derive(Clone)]
pub struct Container(Arc<Inside>);

impl Container {
    /// What keeps the container from answering, as it is now: that it is
    /// paused, stopped or gone.
    pub async fn trouble(&self) -> Option<String> {
        self.0.trouble().await
    }

    /// What may still run inside although the link was closed, and why.
    pub fn left(&self) -> Option<String> {
        self.0.left()
    }
}

impl std::fmt::Debug for Container {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Container").field("left", &self.left()).finish_non_exhaustive()
    }
}

/// Waits until the container is ready, and starts the command in it.
///
/// # Errors
/// When there is no engine, no such container, or none that becomes ready in
/// time; the error says which.
pub(crate) async fn open(
    target: &ContainerTarget,
) -> Result<(ChildLink, Container), ContainerError> {
    let until = Instant::now() + target.ready_within;
    let engine = ready(target, until).await?;
    let inside = Arc::new(Inside::new(engine, target));
    let mut words = inside.exec().into_iter();
    let program = words.next().unwrap_or_default();
    let mut child = ChildTarget::new(program).args(words);
    child.max_line = target.command.max_line;
    let behind: Arc<dyn Behind> = Arc::<Inside>::clone(&inside);
    let link = ChildLink::spawn_for(&child, Some(behind))?;
    Ok((link, Container(inside)))
}

/// The engine that has the container, once that is ready.
async fn ready(target: &ContainerTarget, until: Instant) -> Result<Engine, ContainerError> {
    let (engine, state) = find(target, until).await?;
    become_ready(&engine, &target.name, (target.ready_within, until), state).await?;
    Ok(engine)
}

impl Engine {
    /// Waits until a container is ready: it runs, and is healthy where it says so.
    ///
    /// # Errors
    /// When there is no such container, or it does not become ready in that time.
    pub async fn ready(&self, name: &str, within: Duration) -> Result<(), ContainerError> {
        let until = Instant::now() + within;
        let state = self.state_by(name, (within, until)).await?;
        become_ready(self, name, (within, until), state).await
    }

    /// How a container is, as far as the engine says so in time.
    async fn state_by(
        &self,
        name: &str,
        (within, until): (Duration, Instant),
    ) -> Result<State, ContainerError> {
        timeout_at(until, self.state(name)).await.unwrap_or_else(|_| {
            let (engine, name) = (self.name().to_owned(), name.to_owned());
            Err(ContainerError::NoAnswer { engine, name, within })
        })
    }
}

async fn become_ready(
    engine: &Engine,
    name: &str,
    (within, until): (Duration, Instant),
    mut state: State,
) -> Result<(), ContainerError> {
    loop {
        let how = match state {
            State::Ready => return Ok(()),
            State::Starting(how) => how,
            State::Bad(error) => return Err(error),
        };
        let late = ContainerError::NotReady { name: name.to_owned(), within, how };
        if timeout_at(until, sleep(LOOK)).await.is_err() {
            return Err(late);
        }
        state = match timeout_at(until, engine.state(name)).await {
            Ok(state) => state?,
            Err(_) => return Err(late),
        };
    }
}

/// The engine that is named, or the first that has the container.
async fn find(target: &ContainerTarget, until: Instant) -> Result<(Engine, State), ContainerError> {
    let mut errors = Vec::new();
    for engine in Engine::candidates(target.engine.clone()) {
        match engine.state_by(&target.name, (target.ready_within, until)).await {
            Ok(state) => return Ok((engine, state)),
            Err(error) => errors.push(error),
        }
    }
    Err(ContainerError::of_all(errors, &ENGINES))
}

impl From<ChildError> for ContainerError {
    fn from(error: ChildError) -> Self {
        match error {
            ChildError::NotFound { program } => ContainerError::NoEngine { tried: program },
            error => ContainerError::Engine(error),
        }
    }
}
