//! Finds the items of servers that the gateway does not list, because a strict
//! client would then reject the items of all servers, or because they pretend to
//! belong to another server.

use serde::Serialize;
use sparring_peer::client::ListKind;
use sparring_wire::check::Checker;
use sparring_wire::types::{Prompt, Resource, ResourceTemplate, Tool};
use sparring_wire::{RawJson, Revision, Rule};

use super::resources::has_gateway_scheme;
use crate::manager::Connection;
use crate::text::{escape_control, truncate};

/// The maximum number of characters of a name in a message.
const MAX_NAME_CHARS: usize = 100;

/// An item of a list.
pub(super) trait CheckedItem: Serialize + Sized {
    /// The item's type in the specification.
    const TYPE: &'static str;

    /// The item's name or URI.
    fn key(&self) -> &str;

    /// Returns the reason why the gateway does not list the item.
    fn problem(&self) -> Option<String> {
        // It has all members of all revisions.
        let checker = Checker::for_revision(Revision::LATEST);
        let json = RawJson::from_serialize(self).ok()?;
        let violations = checker.check_type(Self::TYPE, json.view())?;
        let is_shape =
            |rule| matches!(rule, Rule::MissingField | Rule::WrongType | Rule::WrongValue);
        let found = violations.into_iter().find(|violation| is_shape(violation.rule))?;
        Some(format!("{}: {}", found.path.trim_start_matches("$."), found.message))
    }
}

impl CheckedItem for Tool {
    const TYPE: &'static str = "Tool";

    fn key(&self) -> &str {
        &self.name
    }
}

impl CheckedItem for Prompt {
    const TYPE: &'static str = "Prompt";

    fn key(&self) -> &str {
        &self.name
    }
}

impl CheckedItem for Resource {
    const TYPE: &'static str = "Resource";

    fn key(&self) -> &str {
        &self.uri
    }
}

impl CheckedItem for ResourceTemplate {
    const TYPE: &'static str = "ResourceTemplate";

    fn key(&self) -> &str {
        &self.uri_template
    }
}

/// Describes the items of a server that the gateway does not list, each with the
/// reason.
pub fn unlisted_items(connection: &Connection) -> Vec<String> {
    let lists = connection.lists();
    let mut notes = Vec::new();
    add_notes(ListKind::Tools, &lists.tools.items, |_| false, &mut notes);
    add_notes(ListKind::Resources, &lists.resources.items, has_gateway_scheme, &mut notes);
    add_notes(ListKind::ResourceTemplates, &lists.templates.items, has_gateway_scheme, &mut notes);
    add_notes(ListKind::Prompts, &lists.prompts.items, |_| false, &mut notes);
    notes
}

fn add_notes<T: CheckedItem>(
    what: ListKind,
    items: &[std::sync::Arc<T>],
    is_reserved: fn(&str) -> bool,
    notes: &mut Vec<String>,
) {
    for item in items {
        let reserved = || "URIs that begin with mcp+SERVER+ belong to the gateway".to_owned();
        let problem = item.problem().or_else(|| is_reserved(item.key()).then(reserved));
        let name = truncate(&escape_control(item.key()), MAX_NAME_CHARS);
        let method = what.method();
        notes.extend(problem.map(|why| format!("'{name}' of {method} is not listed: {why}")));
    }
}
