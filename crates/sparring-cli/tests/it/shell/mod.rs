//! Tests `spar shell`, from a script and at a terminal.

mod questions;
mod scenarios;
pub(crate) mod screen;
mod shell_folder;
mod shutdown;
mod typing;
