//! What a person or a program gets to see. Nothing here talks to a target.

pub(crate) mod content;
mod failure;
pub(crate) mod json;
pub(crate) mod line;
mod outlet;
mod paint;
mod printer;
pub(crate) mod table;

pub(crate) use failure::object as failure_object;
pub(crate) use outlet::Outlet;
pub(crate) use paint::Paint;
pub(crate) use printer::{Printer, Surroundings};
