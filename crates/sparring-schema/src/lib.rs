//! JSON Schemas that values are held against: the drafts 2020-12, 2019-09, 7, 6
//! and 4, as `$schema` says, and 2020-12 where it says nothing.
//!
//! A schema is read once, into a flat list of nodes with their keywords; a value
//! is then followed through it. There is no I/O: what a schema refers to stands in
//! it, or is given along with it. `format` and the keywords about content are
//! annotations in every draft, and nothing is held against them.

mod bad_schema;
mod breach;
mod check;
mod compile;
mod draft;
mod keyword;
mod marks;
mod numbers;
mod references;
mod same;
mod schema;
mod told;
mod uri;

pub use bad_schema::BadSchema;
pub use breach::{Breach, Kind, Step};
pub use schema::Schema;
