//! `describe`: the columns, indexes and foreign keys of a table or a view.

use serde_json::{Value, json};
use sparring::Json;
use sparring::types::Tool;

use super::arguments::Arguments;
use super::{CallError, object, reads, tool};
use crate::database::Description;
use crate::server::SqlServer;

pub(super) fn listed() -> Tool {
    let input = json!({
        "type": "object",
        "required": ["table"],
        "properties": {"table": {"type": "string", "description": "A table or a view."}},
        "additionalProperties": false,
    });
    let text = || json!({"type": "string"});
    let texts = || json!({"type": "array", "items": {"type": ["string", "null"]}});
    let yes_or_no = || json!({"type": "boolean"});
    let column = object(json!({
        "name": text(), "type": text(), "nullable": yes_or_no(),
        "default": {"type": ["string", "null"], "description": "an expression of SQL"},
        "primary_key": yes_or_no(), "generated": yes_or_no(),
    }));
    let index = object(json!({
        "name": text(), "unique": yes_or_no(), "partial": yes_or_no(), "columns": texts(),
    }));
    let foreign_key = object(json!({
        "columns": texts(), "table": text(), "to": texts(), "on_update": text(),
        "on_delete": text(),
    }));
    let output = object(json!({
        "name": text(),
        "type": {"enum": ["table", "view", "virtual"]},
        "columns": {"type": "array", "items": column},
        "indexes": {"type": "array", "items": index},
        "foreign_keys": {"type": "array", "items": foreign_key},
        "sql": {"type": ["string", "null"], "description": "the statement that created it"},
    }));
    let description = "Describes the columns, indexes and foreign keys of a table or a view.";
    tool("describe", description, input, output, reads())
}

pub(super) async fn call(server: &SqlServer, arguments: Json<'_>) -> Result<Value, CallError> {
    let table = Arguments::read(arguments, &["table"])?.text("table")?;
    let found = server.database().with(move |engine| engine.describe(&table)).await?;
    Ok(described(found))
}

/// Converts a description to JSON that matches the output schema.
pub(crate) fn described(found: Description) -> Value {
    json!({
        "name": found.table.name,
        "type": found.table.kind,
        "columns": found.columns,
        "indexes": found.indexes,
        "foreign_keys": found.foreign_keys,
        "sql": found.sql,
    })
}
