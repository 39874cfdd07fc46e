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

use crate::child::{Behind, ChildError, ChildLink};
use crate::target::{ChildTarget, ContainerTarget};
use engine::Engine;
use inside::Inside;
use state::State;
use tokio::time::{Instant, sleep, timeout_at};

pub use error::ContainerError;

/// The engines that are looked for, in this order.
const ENGINES: [&str; 2] = ["docker", "podman"];

/// How often a container that is not ready is looked at again.
const LOOK: std::time::Duration = std::time::Duration::from_millis(100);

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
    let (engine, mut state) = find(target, until).await?;
    loop {
        let starting = match state {
            State::Ready => return Ok(engine),
            State::Starting(how) => how,
            State::Bad(error) => return Err(error),
        };
        let late = ContainerError::NotReady {
            name: target.name.clone(),
            within: target.ready_within,
            how: starting,
        };
        if timeout_at(until, sleep(LOOK)).await.is_err() {
            return Err(late);
        }
        state = match timeout_at(until, engine.state(&target.name)).await {
            Ok(state) => state?,
            Err(_) => return Err(late),
        };
    }
}

/// The engine that is named, or the first that has the container.
async fn find(target: &ContainerTarget, until: Instant) -> Result<(Engine, State), ContainerError> {
    let named = Engine::new(target.engine.clone());
    let engines = match named {
        Some(engine) => vec![engine],
        None => ENGINES.iter().filter_map(|name| Engine::new(vec![(*name).to_owned()])).collect(),
    };
    let mut errors = Vec::new();
    for engine in engines {
        let asked = timeout_at(until, engine.state(&target.name)).await;
        let silent = |_| ContainerError::NoAnswer {
            engine: engine.name().to_owned(),
            name: target.name.clone(),
            within: target.ready_within,
        };
        match asked.map_err(silent).and_then(|state| state) {
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
