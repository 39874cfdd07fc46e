//! The tools, one file each: the definition of the tool, and its call.

mod arguments;
mod database_info;
mod describe;
mod execute;
mod list_tables;
mod query;

use serde_json::{Value, json};
use sparring::server::HandlerResult;
use sparring::types::{CallToolResult, Rest, Tool};
use sparring::{ErrorObject, Json};

use self::arguments::WrongArguments;
use crate::database::{Outcome, value_schema};
use crate::error::Error;
use crate::server::SqlServer;

pub(crate) use describe::described;

/// The reason why a call failed. The model gets it and can correct the call.
#[derive(Debug, thiserror::Error)]
enum CallError {
    #[error(transparent)]
    Arguments(#[from] WrongArguments),
    #[error(transparent)]
    Database(#[from] Error),
}

/// All tools; a read-only server has none that writes.
pub(crate) fn all(server: &SqlServer) -> Vec<Tool> {
    let mut tools =
        vec![query::listed(), describe::listed(), list_tables::listed(), database_info::listed()];
    if !server.rules().read_only {
        tools.push(execute::listed());
    }
    tools
}

/// Calls a tool by its name.
pub(crate) async fn call(server: &SqlServer, name: &str, arguments: Json<'_>) -> HandlerResult {
    let outcome = match name {
        "query" => query::call(server, arguments).await,
        "describe" => describe::call(server, arguments).await,
        "list_tables" => list_tables::call(server, arguments).await,
        "database_info" => database_info::call(server, arguments).await,
        "execute" if !server.rules().read_only => execute::call(server, arguments).await,
        "execute" => {
            let message = "no tool `execute`: the database is served read-only";
            return Err(ErrorObject::invalid_params(message).into());
        }
        _ => {
            let message = format!("unknown tool `{name}`");
            return Err(ErrorObject::invalid_params(message).into());
        }
    };
    let result = match outcome {
        Ok(value) => {
            let text = CallToolResult::text(value.to_string());
            CallToolResult { structured_content: Some(value), ..text }
        }
        Err(error) => CallToolResult::failure(error.to_string()),
    };
    Ok(result.into())
}

/// Builds the definition of a tool.
fn tool(name: &str, description: &str, input: Value, output: Value, hints: Value) -> Tool {
    let mut rest = Rest::new();
    rest.insert("annotations".to_owned(), hints);
    Tool {
        output_schema: Some(output),
        rest,
        ..Tool::new(name).described(description).taking(input)
    }
}

/// The hints of a tool that changes nothing.
fn reads() -> Value {
    json!({"readOnlyHint": true, "openWorldHint": false})
}

/// The schema of an object whose members are all required.
fn object(properties: Value) -> Value {
    let names: Vec<&String> = properties.as_object().into_iter().flat_map(|it| it.keys()).collect();
    json!({"type": "object", "required": names, "properties": properties,
           "additionalProperties": false})
}

/// The schema of columns and rows.
fn rows_properties() -> Value {
    let column = object(json!({
        "name": {"type": "string"},
        "type": {"type": ["string", "null"], "description": "as it was declared, if it was"},
    }));
    json!({
        "columns": {"type": "array", "items": column},
        "rows": {"type": "array", "items": {"type": "array", "items": value_schema()}},
        "row_count": {"type": "integer", "minimum": 0},
        "truncated": {"type": "boolean", "description": "there are more rows than are here"},
    })
}

/// Converts columns and rows to JSON that matches that schema.
pub(crate) fn rows(outcome: Outcome) -> Value {
    let columns = outcome.columns.into_iter();
    let columns = columns.map(|column| json!({"name": column.name, "type": column.declared}));
    json!({
        "columns": columns.collect::<Vec<_>>(),
        "row_count": outcome.rows.len(),
        "rows": outcome.rows,
        "truncated": outcome.truncated,
    })
}
