//! Output for users and programs. Nothing here talks to a target.

pub(crate) mod binary_file;
pub(crate) mod content;
pub(crate) mod json;
pub(crate) mod line;
mod paint;
mod printer;
mod private_file;
pub(crate) mod table;
mod text_cleaner;
mod threaded_writer;
pub(crate) mod tool_arguments;

pub(crate) use paint::Paint;
pub(crate) use printer::{Printer, TerminalInfo, error_object};
pub(crate) use private_file::open_private;
pub(crate) use text_cleaner::clean_json;
pub(crate) use threaded_writer::{StreamWriter, ThreadedWriter};
