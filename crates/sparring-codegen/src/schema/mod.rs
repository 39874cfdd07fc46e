//! Converts the JSON Schemas of a tool to types. Only the shape of values matters here; the
//! server checks all other constraints.

mod object;
mod pointer;
mod reader;

pub(crate) use reader::SchemaReader;
