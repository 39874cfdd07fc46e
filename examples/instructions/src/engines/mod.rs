//! The engines that route, one file each. Which one is at work can be changed
//! while the server runs.

mod durian_0_5;
mod durian_0_6;

use crate::library::{Library, LibraryError};
use crate::routing::{Request, Routed};

/// A way to route.
pub trait Engine: Send + Sync {
    /// What it is called.
    fn version(&self) -> &'static str;

    /// What it goes by, in a sentence.
    fn summary(&self) -> &'static str;

    /// All instructions that fit, the best first.
    ///
    /// # Errors
    /// When the library cannot be searched.
    fn route(&self, library: &Library, request: &Request) -> Result<Vec<Routed>, LibraryError>;
}

/// All engines, the oldest first.
pub static ENGINES: [&dyn Engine; 2] = [&durian_0_5::Durian, &durian_0_6::Durian];

/// The place of the one that is at work at first.
pub const FIRST: usize = ENGINES.len() - 1;

/// The place of an engine.
pub fn find(version: &str) -> Option<usize> {
    ENGINES.iter().position(|engine| engine.version() == version)
}

/// What all engines are called.
pub fn versions() -> Vec<String> {
    ENGINES.iter().map(|engine| engine.version().to_owned()).collect()
}
