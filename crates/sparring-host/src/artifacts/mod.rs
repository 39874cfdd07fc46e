//! Results of tools as typed files: what they are is found, they are named and
//! kept with metadata beside them, and the model gets what it has room for.
//!
//! A [`Store`] takes results as they came, whatever they look like. Finding
//! kinds and names is pure; only the folder's file does I/O.

mod artifact;
mod blocks;
mod detect;
mod folder;
mod kind;
mod model;
mod name;
mod piece;
mod result;
mod settings;
mod store;
#[cfg(test)]
mod tests;
mod text;

pub use artifact::{Artifact, Status};
pub use kind::Kind;
pub use piece::{Found, Place};
pub use settings::Settings;
pub use store::{Call, Store, Taken};
