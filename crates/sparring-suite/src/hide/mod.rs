//! What must not be shown to anybody: which values of a suite are secrets, and
//! which members of a JSON text are called like one.
//!
//! A value is known from the moment it is filled in, and from then on hidden
//! wherever it is told. Nothing here changes what is sent or judged.

mod members;
mod names;
mod values;

pub(crate) use members::without_secrets;
pub(crate) use values::{entry, header, token, variable};
