//! Generates a Rust module from the tools of a server: for each tool a struct of arguments
//! and a typed method, from its input and output schema.
//!
//! The input is JSON and the output is Rust source. This crate does not connect to a server,
//! read or write files, or run other programs; it formats the source as `rustfmt` does. A
//! type is exact or wider than its schema, and is `Value` if the schema has no simple type;
//! no type is narrower than its schema. Texts of a server never become code: names are built
//! from letters and digits, and texts are escaped.
//!
//! The generated module depends only on the crate `sparring`, whose `typed` module makes the
//! calls.

mod generate;
mod model;
mod names;
mod recursive_types;
mod render;
mod schema;
mod server_text;

pub use generate::{ModuleSource, ToolError, generate_module};
pub use names::is_type_name;
