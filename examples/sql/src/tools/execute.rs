//! `execute`: runs a statement that changes something, and returns the number of changed rows.

use serde_json::{Value, json};
use sparring::Json;
use sparring::types::Tool;

use super::query::{input, read};
use super::{CallError, object, rows, rows_properties, tool};
use crate::database::{SqlTool, integer, value_schema};
use crate::server::SqlServer;

pub(super) fn listed() -> Tool {
    let description = "Runs one SQL statement that changes rows or tables, in a transaction of \
        its own. With RETURNING it gives rows as `query` does.";
    let mut properties = json!({
        "statement": {"type": "string", "description": "its kind, such as insert"},
        "rows_affected": {"type": "integer", "minimum": 0},
        "last_insert_rowid": value_schema(),
    });
    if let (Some(all), Value::Object(rows)) = (properties.as_object_mut(), rows_properties()) {
        all.extend(rows);
    }
    let hints = json!({"readOnlyHint": false, "destructiveHint": true, "openWorldHint": false});
    tool("execute", description, input(), object(properties), hints)
}

pub(super) async fn call(server: &SqlServer, arguments: Json<'_>) -> Result<Value, CallError> {
    let request = read(server, arguments, SqlTool::Execute)?;
    let (outcome, tables_changed) = server
        .database()
        .with(move |engine| {
            let outcome = engine.run(&request)?;
            let changed = outcome.schema_changed && engine.tables_changed()?;
            Ok((outcome, changed))
        })
        .await?;
    if tables_changed {
        server.tables_changed();
    }
    if outcome.rows_affected > 0 || outcome.schema_changed {
        outcome.written.iter().for_each(|table| server.table_updated(table));
    }
    let mut result = json!({
        "statement": outcome.kind.map(|kind| kind.name()),
        "rows_affected": outcome.rows_affected,
        "last_insert_rowid": outcome.last_insert_rowid.map(integer),
    });
    if let (Some(all), Value::Object(rows)) = (result.as_object_mut(), rows(outcome)) {
        all.extend(rows);
    }
    Ok(result)
}
