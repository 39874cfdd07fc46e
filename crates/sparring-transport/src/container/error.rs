//! Why there is no way into a container.

use std::time::Duration;

use crate::child::ChildError;

/// Why a command in a container could not be reached.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ContainerError {
    /// There is no engine.
    #[error("container engine not found: {tried}")]
    NoEngine {
        /// The programs that were looked for.
        tried: String,
    },
    /// The engine is there, and cannot be run.
    #[error("the container engine does not start: {0}")]
    Engine(ChildError),
    /// The engine is there, and does not work.
    #[error("{engine} does not work: {said}")]
    NotWorking {
        /// The engine.
        engine: String,
        /// What it said.
        said: String,
    },
    /// The engine does not say how the container is.
    #[error("{engine} does not tell the state of container {name}: {said}")]
    Refused {
        /// The engine.
        engine: String,
        /// The container.
        name: String,
        /// What the engine said instead.
        said: String,
    },
    /// The engine says nothing at all.
    #[error("{engine} does not tell the state of container {name} within {within:?}")]
    NoAnswer {
        /// The engine.
        engine: String,
        /// The container.
        name: String,
        /// How long was waited.
        within: Duration,
    },
    /// There is no such container.
    #[error("{engine} has no container {name}")]
    NoContainer {
        /// The engine.
        engine: String,
        /// The container.
        name: String,
    },
    /// None of the engines has the container.
    #[error("{}", each(.0))]
    None(Vec<ContainerError>),
    /// The container does not run, and nobody is about to start it.
    #[error("container {name} is not running: {how}")]
    NotRunning {
        /// The container.
        name: String,
        /// What is known of it instead.
        how: String,
    },
    /// The container is paused.
    #[error("container {name} is paused")]
    Paused {
        /// The container.
        name: String,
    },
    /// The container's own health check says no.
    #[error("container {name} is unhealthy: its health check fails")]
    Unhealthy {
        /// The container.
        name: String,
    },
    /// The container is still not ready.
    #[error("container {name} is not ready within {within:?}: {how}")]
    NotReady {
        /// The container.
        name: String,
        /// How long was waited.
        within: Duration,
        /// What it is instead.
        how: String,
    },
}

impl ContainerError {
    /// What keeps all engines from it; one that is not there matters only where
    /// no other is.
    pub(super) fn of_all(mut errors: Vec<ContainerError>, engines: &[&str]) -> ContainerError {
        if let [_] = &errors[..] {
            return errors.remove(0);
        }
        errors.retain(|error| !matches!(error, ContainerError::NoEngine { .. }));
        match errors.len() {
            0 => ContainerError::NoEngine {
                tried: format!("neither {} is on PATH", engines.join(" nor ")),
            },
            1 => errors.remove(0),
            _ => ContainerError::None(errors),
        }
    }
}

fn each(errors: &[ContainerError]) -> String {
    errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}
