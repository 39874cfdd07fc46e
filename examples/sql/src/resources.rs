//! Tables and views as resources: `sql://tables/NAME` has the schema and the
//! first rows.

use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use serde_json::{Value, json};
use sparring::ErrorObject;
use sparring::server::{Context, HandlerResult, Reply};
use sparring::types::{ReadResourceResult, Resource, ResourceContents, ResourceTemplate, Rest};

use crate::database::Table;
use crate::error::Error;
use crate::server::SqlServer;
use crate::tools::{described, rows};

const BASE: &str = "sql://tables/";
/// The URI template of all resources.
pub(crate) const TEMPLATE: &str = "sql://tables/{name}";
const JSON: &str = "application/json";

/// The rows in a resource.
const FIRST_ROWS: usize = 10;

/// Maximum names in a completion.
const MAX_COMPLETIONS: usize = 100;

/// The resource of a table or view.
pub(crate) fn uri(table: &str) -> String {
    format!("{BASE}{}", utf8_percent_encode(table, NON_ALPHANUMERIC))
}

/// The table or view of a resource.
fn table_of(uri: &str) -> Option<String> {
    let name = uri.strip_prefix(BASE).filter(|name| !name.is_empty() && !name.contains('/'))?;
    percent_decode_str(name).decode_utf8().ok().map(String::from)
}

pub(crate) async fn list(server: &SqlServer) -> HandlerResult {
    let tables = server.database().with(|engine| engine.tables()).await.map_err(internal)?;
    Ok(tables.iter().map(resource).collect::<Vec<_>>().into())
}

fn resource(table: &Table) -> Resource {
    let kind = if table.kind == "view" { "view" } else { "table" };
    Resource {
        description: Some(format!("The {kind} {}: its schema and its first rows.", table.name)),
        mime_type: Some(JSON.to_owned()),
        ..Resource::new(uri(&table.name), table.name.as_str())
    }
}

pub(crate) fn templates() -> HandlerResult {
    let mut rest = Rest::new();
    rest.insert("description".to_owned(), "The schema and the first rows of a table.".into());
    rest.insert("mimeType".to_owned(), JSON.into());
    let template =
        ResourceTemplate { uri_template: TEMPLATE.to_owned(), name: "table".to_owned(), rest };
    Ok(vec![template].into())
}

pub(crate) async fn read(server: &SqlServer, uri: &str, cx: &Context) -> HandlerResult {
    let missing = |why: String| ErrorObject::new(cx.revision().resource_not_found_code(), why);
    let table = table_of(uri)
        .ok_or_else(|| missing(format!("unknown resource {uri}; tables are at {TEMPLATE}")))?;
    let work = server.database().with(move |engine| {
        let found = engine.describe(&table)?;
        // A client that may not query still gets the schema.
        let first = match engine.first_rows(&found.table.name, FIRST_ROWS) {
            Ok(outcome) => Ok(outcome),
            Err(Error::Refused(refusal)) => Err(refusal.to_string()),
            Err(error) => return Err(error),
        };
        Ok((found, first))
    });
    let (found, first) = match work.await {
        Err(error @ Error::NoTable { .. }) => return Err(missing(error.to_string()).into()),
        other => other.map_err(internal)?,
    };
    let first = match first {
        Ok(outcome) => rows(outcome),
        Err(refused) => json!({"refused": refused}),
    };
    let contents = json!({"schema": described(found), "first_rows": first});
    let contents = ResourceContents {
        mime_type: Some(JSON.to_owned()),
        ..ResourceContents::text(uri, contents.to_string())
    };
    Ok(ReadResourceResult::new(vec![contents]).into())
}

/// Completes the name in the template.
pub(crate) async fn complete(server: &SqlServer, prefix: &str) -> HandlerResult {
    let tables = server.database().with(|engine| engine.tables()).await.map_err(internal)?;
    let prefix = prefix.to_lowercase();
    let names = tables.iter().map(|table| table.name.as_str());
    let names: Vec<_> = names.filter(|name| name.to_lowercase().starts_with(&prefix)).collect();
    let shown = &names[..names.len().min(MAX_COMPLETIONS)];
    let values: Value =
        json!({"values": shown, "total": names.len(), "hasMore": names.len() > shown.len()});
    Ok(Reply::from(json!({"completion": values})))
}

fn internal(error: Error) -> ErrorObject {
    ErrorObject::internal(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_table_name_survives_the_round_trip_through_its_uri() {
        for name in ["orders", "Order Items", "a/b?c#d", "größe", "100%"] {
            assert_eq!(table_of(&uri(name)).as_deref(), Some(name), "{}", uri(name));
        }
        for wrong in ["sql://tables/", "sql://tables/a/b", "sql://views/a", "orders"] {
            assert_eq!(table_of(wrong), None, "{wrong}");
        }
    }
}
