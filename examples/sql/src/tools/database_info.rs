//! `database_info`: the served database, its rules and its limits.

use serde_json::{Value, json};
use sparring::Json;
use sparring::types::Tool;

use super::arguments::Arguments;
use super::{CallError, object, reads, tool};
use crate::server::SqlServer;

pub(super) fn listed() -> Tool {
    let input = json!({"type": "object", "properties": {}, "additionalProperties": false});
    let text = || json!({"type": "string"});
    let count = || json!({"type": "integer", "minimum": 0});
    let output = object(json!({
        "database": text(),
        "engine": text(),
        "engine_version": text(),
        "encoding": text(),
        "size_bytes": count(),
        "tables": count(),
        "views": count(),
        "read_only": {"type": "boolean"},
        "statements": {"type": "array", "items": text(), "description": "the kinds that may run"},
        "max_rows": count(),
        "timeout_ms": count(),
    }));
    let description = "Describes the database, the statements that may run, and their limits.";
    tool("database_info", description, input, output, reads())
}

pub(super) async fn call(server: &SqlServer, arguments: Json<'_>) -> Result<Value, CallError> {
    Arguments::read(arguments, &[])?;
    let facts = server.database().with(|engine| engine.facts()).await?;
    let allowed = server.rules().allowed();
    let limits = server.limits();
    Ok(json!({
        "database": facts.location,
        "engine": "SQLite",
        "engine_version": facts.sqlite_version,
        "encoding": facts.encoding,
        "size_bytes": facts.size_bytes,
        "tables": facts.tables,
        "views": facts.views,
        "read_only": server.rules().read_only,
        "statements": allowed.iter().map(|kind| kind.name()).collect::<Vec<_>>(),
        "max_rows": limits.max_rows,
        "timeout_ms": u64::try_from(limits.timeout.as_millis()).unwrap_or(u64::MAX),
    }))
}
