//! Checks a value against a tool's JSON Schema.

use serde_json::Value;
use sparring_script::Schema;
use sparring_script::schema::{PointerSegment, Verdict};
use sparring_wire::{Json, JsonKind};

use crate::output::line;

/// Maximum number of mismatches to report.
const MAX_MISMATCHES: usize = 10;

/// Maximum length of one message.
const MAX_MESSAGE_COLUMNS: usize = 300;

/// One place where a value does not match the schema.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct SchemaMismatch {
    /// The path, as `$.a[0]`.
    pub(crate) path: String,
    /// The member of the value that contains the place.
    pub(crate) member: Option<String>,
    pub(crate) message: String,
}

/// Why a value could not be checked against a schema.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub(crate) enum SchemaCheckError {
    /// The schema itself cannot be used.
    #[error("invalid schema: {0}")]
    Schema(String),
    /// The check would take too long.
    #[error("{0}")]
    TooComplex(String),
    /// A number has too many digits or too large an exponent to be checked.
    #[error("the number {0} is too large to check")]
    Number(String),
    /// The value cannot be read.
    #[error("{0}")]
    Value(String),
}

/// Returns every mismatch, with paths that begin with `root`.
///
/// # Errors
/// When the value cannot be checked.
pub(crate) async fn find_mismatches(
    schema: &Value,
    value: Json<'_>,
    root: &str,
) -> Result<Vec<SchemaMismatch>, SchemaCheckError> {
    let shown = |text: String| line::truncate(&line::clean(&text), MAX_MESSAGE_COLUMNS);
    let schema = Schema::new_in_background(schema).await.map_err(|error| {
        let message = shown(error.to_string());
        match error.too_complex {
            true => SchemaCheckError::TooComplex(message),
            false => SchemaCheckError::Schema(message),
        }
    })?;
    if let Some(number) = find_inexact_number(value) {
        return Err(SchemaCheckError::Number(shown(number.text().into_owned())));
    }
    let value: Value =
        value.deserialize().map_err(|error| SchemaCheckError::Value(shown(error.to_string())))?;
    let found = match schema.check_in_background(&value, MAX_MISMATCHES).await {
        Verdict::Valid => Vec::new(),
        Verdict::Invalid(found) => found,
        Verdict::Undecided(reason) => return Err(SchemaCheckError::TooComplex(shown(reason))),
    };
    Ok(found
        .into_iter()
        .map(|mismatch| SchemaMismatch {
            path: mismatch.path(root),
            member: match mismatch.segments.into_iter().next() {
                Some(PointerSegment::Name(name)) => Some(name),
                _ => None,
            },
            message: shown(mismatch.message),
        })
        .collect())
}

/// Returns the first number that a validator would round.
fn find_inexact_number(value: Json<'_>) -> Option<Json<'_>> {
    let text = value.text();
    let exact = match value.kind() {
        JsonKind::Integer => text.parse::<i64>().is_ok() || text.parse::<u64>().is_ok(),
        JsonKind::Number => text.parse::<f64>().is_ok_and(f64::is_finite),
        JsonKind::Array => return value.items().find_map(find_inexact_number),
        JsonKind::Object => {
            return value.members().find_map(|(_, value)| find_inexact_number(value));
        }
        _ => true,
    };
    (!exact).then_some(value)
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use sparring_wire::RawJson;

    use super::*;

    async fn found(schema: &Value, value: &str) -> Result<Vec<(String, String)>, SchemaCheckError> {
        let value = RawJson::parse(value).unwrap();
        let found = find_mismatches(schema, value.view(), "$").await?;
        Ok(found.into_iter().map(|mismatch| (mismatch.path, mismatch.message)).collect())
    }

    #[tokio::test]
    async fn reports_mismatches_with_their_path() {
        let number = json!({"type": "number"});
        let schema = json!({"properties": {"a b": {"items": number}}, "required": ["c"]});
        assert_eq!(
            found(&schema, r#"{"a b": [1, "x"]}"#).await.unwrap(),
            [
                ("$".to_owned(), "\"c\" is a required property".to_owned()),
                ("$[\"a b\"][1]".to_owned(), "\"x\" is not of type \"number\"".to_owned()),
            ]
        );
    }

    #[tokio::test]
    async fn does_not_report_a_number_that_is_too_large_as_a_mismatch() {
        let schema = json!({"items": {"type": "number", "multipleOf": 10}});
        for number in ["1e999", "12345678901234567890123450", "-9223372036854775810"] {
            let error = found(&schema, &format!("[20, {number}]")).await.unwrap_err();
            assert_eq!(error, SchemaCheckError::Number(number.to_owned()));
        }
        assert_eq!(found(&schema, "[18446744073709551610, 1e2]").await.unwrap(), []);
    }

    #[tokio::test]
    async fn reports_an_invalid_schema() {
        let error = found(&json!({"type": "unheard-of"}), "{}").await.unwrap_err();
        assert!(matches!(error, SchemaCheckError::Schema(_)), "{error}");
    }
}
