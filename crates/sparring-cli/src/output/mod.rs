//! What a person or a program gets to see. Nothing here talks to a target.

pub(crate) mod content;
mod failure;
pub(crate) mod line;
mod paint;
mod printer;
pub(crate) mod table;

pub(crate) use paint::Paint;
pub(crate) use printer::{Printer, Surroundings};
