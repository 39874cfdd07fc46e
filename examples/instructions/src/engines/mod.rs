//! The routing engines, one file each. A client can switch the engine while the server runs.

mod durian_0_5;
mod durian_0_6;

use crate::library::{Library, LibraryError};
use crate::routing::{Request, Routed};

/// A routing engine.
pub trait Engine: Send + Sync {
    /// The version of the engine.
    fn version(&self) -> &'static str;

    /// The engine's method, in a sentence.
    fn summary(&self) -> &'static str;

    /// Returns all instructions that fit, best first.
    ///
    /// # Errors
    /// If the library cannot be searched.
    fn route(&self, library: &Library, request: &Request) -> Result<Vec<Routed>, LibraryError>;
}

/// All engines, the oldest first.
pub static ENGINES: [&dyn Engine; 2] = [&durian_0_5::Durian, &durian_0_6::Durian];

/// The index of the default engine.
pub const DEFAULT_ENGINE: usize = ENGINES.len() - 1;

/// The index of the engine with this version.
pub fn find(version: &str) -> Option<usize> {
    ENGINES.iter().position(|engine| engine.version() == version)
}

/// The versions of all engines.
pub fn versions() -> Vec<String> {
    ENGINES.iter().map(|engine| engine.version().to_owned()).collect()
}
