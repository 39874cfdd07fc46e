//! From the JSON Schemas of a tool to types. What is read here is the shape of
//! values; what else a schema demands of them is the server's to check.

mod object;
mod pointer;
mod reader;

pub(crate) use reader::Reader;
