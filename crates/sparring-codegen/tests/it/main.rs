//! Tests of modules generated from random, huge and malformed tools.

mod formatted;
mod huge;
mod schemas;
mod tool_errors;
