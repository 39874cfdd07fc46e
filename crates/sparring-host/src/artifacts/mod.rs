//! Saves results of tools as typed files: detects the kinds of their pieces,
//! names them, writes them with metadata, and renders the text for the model.
//!
//! A [`Store`] accepts any result, valid or not. Detection and naming are pure;
//! only the `folder` module does I/O.

mod artifact;
mod detect;
mod fenced_blocks;
mod file_name;
mod folder;
mod kind;
mod memory;
mod model_text;
mod piece;
mod result_pieces;
mod store;
#[cfg(test)]
mod tests;
mod text_pieces;

pub use artifact::{Artifact, ArtifactStatus};
pub use kind::Kind;
pub use memory::StoredArtifact;
pub use piece::{DetectedBy, PieceLocation};
pub use store::{Call, ProcessedResult, Settings, Store};
