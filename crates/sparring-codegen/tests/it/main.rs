//! Modules of tools that nobody would write, and what is said of tools that no
//! module can be made of.

mod formatted;
mod huge;
mod schemas;
mod unusable;
