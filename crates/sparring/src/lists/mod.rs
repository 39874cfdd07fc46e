//! Lists of tools, resources, templates and prompts, with checks. The list types are
//! at the crate root.

pub(crate) mod found_item;
pub(crate) mod item_list;
mod tool_checks;

pub use item_list::Item;
