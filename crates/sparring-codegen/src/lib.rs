//! The tools of a server as a Rust module: a struct of arguments and a typed
//! method for each, out of its input and output schema.
//!
//! JSON goes in and text comes out. Nothing here asks a server, reads or writes
//! a file, or runs another program: the text is laid out as `rustfmt` would do
//! it. What a schema says is typed where that is exact, or wider than what it
//! allows, and is a `Value` where it is not; no type is narrower than its schema.
//! Nothing that a server says becomes code: names are made anew out of letters
//! and digits, texts are escaped.
//!
//! The module depends on the crate `sparring` alone, whose `typed` makes calls.

mod boxes;
mod documentation;
mod literal;
mod model;
mod names;
mod schema;
mod source;
mod write;

pub use names::is_type_name;
pub use source::{Source, Unusable, module};
