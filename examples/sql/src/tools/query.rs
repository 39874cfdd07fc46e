//! `query`: runs a statement that only reads, and returns its rows.

use serde_json::{Value, json};
use sparring::Json;
use sparring::types::Tool;

use super::arguments::{Arguments, params_schema};
use super::{CallError, object, reads, rows, rows_properties, tool};
use crate::database::{SqlTool, StatementRequest};
use crate::server::SqlServer;

/// The input schema of `query` and `execute`.
pub(super) fn input() -> Value {
    json!({
        "type": "object",
        "required": ["sql"],
        "properties": {
            "sql": {"type": "string", "description": "One statement of SQLite's SQL."},
            "params": params_schema(),
            "limit": {"type": "integer", "minimum": 1, "description":
                "Maximum rows; the server's own limit also applies."},
        },
        "additionalProperties": false,
    })
}

pub(super) fn listed() -> Tool {
    let description = "Runs one SQL statement that only reads, such as SELECT or EXPLAIN. A row \
        is a list of values in the order of the columns; a value is null, a number, a text, \
        {\"blob\": BASE64}, or {\"integer\": DIGITS} beyond what a number holds exactly.";
    tool("query", description, input(), object(rows_properties()), reads())
}

pub(super) async fn call(server: &SqlServer, arguments: Json<'_>) -> Result<Value, CallError> {
    let request = read(server, arguments, SqlTool::Query)?;
    let outcome = server.database().with(move |engine| engine.run(&request)).await?;
    Ok(rows(outcome))
}

/// Reads the arguments of `query` or `execute`.
pub(super) fn read(
    server: &SqlServer,
    arguments: Json<'_>,
    tool: SqlTool,
) -> Result<StatementRequest, CallError> {
    let arguments = Arguments::read(arguments, &["sql", "params", "limit"])?;
    Ok(StatementRequest {
        sql: arguments.text("sql")?,
        params: arguments.params()?,
        max_rows: arguments.count("limit")?.unwrap_or(server.limits().max_rows),
        tool,
    })
}
