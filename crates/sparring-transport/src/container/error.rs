//! Errors of reaching a command in a container.

use std::time::Duration;

use crate::child::ChildError;

/// The reason why a command in a container could not be reached.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ContainerError {
    /// No engine was found.
    #[error("container engine not found: {tried}")]
    NoEngine {
        /// The programs that were tried.
        tried: String,
    },
    /// The engine exists and cannot be started.
    #[error("cannot start the container engine: {0}")]
    EngineStart(ChildError),
    /// The engine does not work.
    #[error("{engine} failed: {output}")]
    NotWorking {
        /// The engine.
        engine: String,
        /// Its output.
        output: String,
    },
    /// The engine does not report the container's state.
    #[error("{engine} did not report the state of container {name}: {output}")]
    StateUnknown {
        /// The engine.
        engine: String,
        /// The container.
        name: String,
        /// The engine's output.
        output: String,
    },
    /// The engine does not answer in time.
    #[error("{engine} did not report the state of container {name} within {timeout:?}")]
    EngineTimeout {
        /// The engine.
        engine: String,
        /// The container.
        name: String,
        /// The timeout.
        timeout: Duration,
    },
    /// The container does not exist.
    #[error("{engine} has no container {name}")]
    NoContainer {
        /// The engine.
        engine: String,
        /// The container.
        name: String,
    },
    /// None of the engines has the container.
    #[error("{}", join_messages(.0))]
    AllEnginesFailed(Vec<ContainerError>),
    /// The container is not running and is not being started.
    #[error("container {name} is not running: {state}")]
    NotRunning {
        /// The container.
        name: String,
        /// Its state.
        state: String,
    },
    /// The container is paused.
    #[error("container {name} is paused")]
    Paused {
        /// The container.
        name: String,
    },
    /// The container's health check fails.
    #[error("container {name} is unhealthy: its health check fails")]
    Unhealthy {
        /// The container.
        name: String,
    },
    /// The container did not become ready in time.
    #[error("container {name} was not ready within {timeout:?}: {state}")]
    NotReady {
        /// The container.
        name: String,
        /// The timeout.
        timeout: Duration,
        /// Its state.
        state: String,
    },
}

impl ContainerError {
    /// Combines the errors of all engines. A missing engine only matters if all are missing.
    pub(super) fn from_all(mut errors: Vec<ContainerError>, engines: &[&str]) -> ContainerError {
        if let [_] = &errors[..] {
            return errors.remove(0);
        }
        errors.retain(|error| !matches!(error, ContainerError::NoEngine { .. }));
        match errors.len() {
            0 => ContainerError::NoEngine {
                tried: format!("neither {} is on PATH", engines.join(" nor ")),
            },
            1 => errors.remove(0),
            _ => ContainerError::AllEnginesFailed(errors),
        }
    }
}

fn join_messages(errors: &[ContainerError]) -> String {
    errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}
