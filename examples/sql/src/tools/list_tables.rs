//! `list_tables`: all tables and views.

use serde_json::{Value, json};
use sparring::Json;
use sparring::types::Tool;

use super::arguments::Arguments;
use super::{CallError, object, reads, tool};
use crate::resources;
use crate::server::SqlServer;

pub(super) fn listed() -> Tool {
    let input = json!({"type": "object", "properties": {}, "additionalProperties": false});
    let table = object(json!({
        "name": {"type": "string"},
        "type": {"enum": ["table", "view", "virtual"]},
        "columns": {"type": "integer", "description": "the number of columns"},
        "uri": {"type": "string", "description": "the resource with its schema and first rows"},
    }));
    let output = object(json!({"tables": {"type": "array", "items": table}}));
    tool("list_tables", "Lists all tables and views.", input, output, reads())
}

pub(super) async fn call(server: &SqlServer, arguments: Json<'_>) -> Result<Value, CallError> {
    Arguments::read(arguments, &[])?;
    let tables = server.database().with(|engine| engine.tables()).await?;
    let tables = tables.into_iter().map(|table| {
        let uri = resources::uri(&table.name);
        json!({"name": table.name, "type": table.kind, "columns": table.columns, "uri": uri})
    });
    Ok(json!({"tables": tables.collect::<Vec<_>>()}))
}
