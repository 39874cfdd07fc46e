//! Checks a value against a tool's JSON Schema.

use serde_json::Value;
use sparring_script::Schema;
use sparring_script::schema::{Step, Verdict};
use sparring_wire::{Json, JsonKind};

use crate::output::line;

/// The most breaches that are told.
const MOST: usize = 10;

/// How much of one is told.
const LONGEST: usize = 300;

/// One place where a value is not as the schema wants it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Breach {
    /// Where, as `$.a[0]`.
    pub(crate) path: String,
    /// The member of the value that the place lies in.
    pub(crate) member: Option<String>,
    /// What is wrong there.
    pub(crate) message: String,
}

/// Why a value was not held against a schema.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub(crate) enum Unchecked {
    /// The schema itself cannot be used.
    #[error("the schema cannot be used: {0}")]
    Schema(String),
    /// The check would take too long.
    #[error("{0}")]
    TooComplex(String),
    /// A number has more digits or a larger exponent than can be reckoned with.
    #[error("the number {0} is too large to be checked")]
    Number(String),
    /// The value cannot be read.
    #[error("{0}")]
    Value(String),
}

/// Every breach, with paths that begin with `root`.
///
/// # Errors
/// When that cannot be found out.
pub(crate) async fn breaches(
    schema: &Value,
    value: Json<'_>,
    root: &str,
) -> Result<Vec<Breach>, Unchecked> {
    let shown = |text: String| line::cut(&line::clean(&text), LONGEST);
    let schema = Schema::new_in_background(schema).await.map_err(|error| {
        let message = shown(error.to_string());
        match error.too_complex {
            true => Unchecked::TooComplex(message),
            false => Unchecked::Schema(message),
        }
    })?;
    if let Some(number) = too_large(value) {
        return Err(Unchecked::Number(shown(number.text().into_owned())));
    }
    let value: Value = value.to().map_err(|error| Unchecked::Value(shown(error.to_string())))?;
    let found = match schema.check_in_background(&value, MOST).await {
        Verdict::Valid => Vec::new(),
        Verdict::Invalid(found) => found,
        Verdict::Undecided(reason) => return Err(Unchecked::TooComplex(shown(reason))),
    };
    Ok(found
        .into_iter()
        .map(|breach| Breach {
            path: path(&breach.steps, root),
            member: match breach.steps.into_iter().next() {
                Some(Step::Name(name)) => Some(name),
                _ => None,
            },
            message: shown(breach.message),
        })
        .collect())
}

/// The first number that a validator would see as another one.
fn too_large(value: Json<'_>) -> Option<Json<'_>> {
    let text = value.text();
    let exact = match value.kind() {
        JsonKind::Integer => text.parse::<i64>().is_ok() || text.parse::<u64>().is_ok(),
        JsonKind::Number => text.parse::<f64>().is_ok_and(f64::is_finite),
        JsonKind::Array => return value.items().find_map(too_large),
        JsonKind::Object => return value.members().find_map(|(_, value)| too_large(value)),
        _ => true,
    };
    (!exact).then_some(value)
}

fn path(steps: &[Step], root: &str) -> String {
    let mut path = root.to_owned();
    for step in steps {
        match step {
            Step::Index(index) => path.push_str(&format!("[{index}]")),
            Step::Name(name) if is_plain(name) => {
                path.push('.');
                path.push_str(name);
            }
            Step::Name(name) => path.push_str(&format!("[{name:?}]")),
        }
    }
    path
}

fn is_plain(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-')
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use sparring_wire::RawJson;

    use super::*;

    async fn found(schema: &Value, value: &str) -> Result<Vec<(String, String)>, Unchecked> {
        let value = RawJson::parse(value).unwrap();
        let found = breaches(schema, value.view(), "$").await?;
        Ok(found.into_iter().map(|breach| (breach.path, breach.message)).collect())
    }

    #[tokio::test]
    async fn breaches_are_told_with_their_path() {
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
    async fn a_number_that_cannot_be_reckoned_with_is_not_called_a_breach() {
        let schema = json!({"items": {"type": "number", "multipleOf": 10}});
        for number in ["1e999", "12345678901234567890123450", "-9223372036854775810"] {
            let error = found(&schema, &format!("[20, {number}]")).await.unwrap_err();
            assert_eq!(error, Unchecked::Number(number.to_owned()));
        }
        assert_eq!(found(&schema, "[18446744073709551610, 1e2]").await.unwrap(), []);
    }

    #[tokio::test]
    async fn a_schema_that_is_none_is_told() {
        let error = found(&json!({"type": "unheard-of"}), "{}").await.unwrap_err();
        assert!(matches!(error, Unchecked::Schema(_)), "{error}");
    }
}
