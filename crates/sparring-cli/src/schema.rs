//! Where a value breaks a tool's JSON Schema.

use jsonschema::paths::{Location, LocationSegment};
use serde_json::Value;

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

/// Every breach, with paths that begin with `root`.
///
/// # Errors
/// When the schema itself cannot be used; the error says why.
pub(crate) fn breaches(schema: &Value, value: &Value, root: &str) -> Result<Vec<Breach>, String> {
    let shown = |text: String| line::cut(&line::clean(&text), LONGEST);
    let validator = jsonschema::validator_for(schema).map_err(|error| shown(error.to_string()))?;
    let errors = validator.iter_errors(value).take(MOST);
    Ok(errors
        .map(|error| Breach {
            path: path(error.instance_path(), root),
            member: match error.instance_path().into_iter().next() {
                Some(LocationSegment::Property(name)) => Some(name.into_owned()),
                _ => None,
            },
            message: shown(error.to_string()),
        })
        .collect())
}

fn path(location: &Location, root: &str) -> String {
    let mut path = root.to_owned();
    for segment in location {
        match segment {
            LocationSegment::Index(index) => path.push_str(&format!("[{index}]")),
            LocationSegment::Property(name) if is_plain(&name) => {
                path.push('.');
                path.push_str(&name);
            }
            LocationSegment::Property(name) => path.push_str(&format!("[{:?}]", &*name)),
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

    use super::*;

    #[test]
    fn breaches_are_told_with_their_path() {
        let number = json!({"type": "number"});
        let schema = json!({"properties": {"a b": {"items": number}}, "required": ["c"]});
        let found = breaches(&schema, &json!({"a b": [1, "x"]}), "$").unwrap();
        let found: Vec<_> = found.iter().map(|breach| (&*breach.path, &*breach.message)).collect();
        assert_eq!(
            found,
            [
                ("$", "\"c\" is a required property"),
                ("$[\"a b\"][1]", "\"x\" is not of type \"number\""),
            ]
        );
    }

    #[test]
    fn a_schema_that_is_none_is_told() {
        assert!(breaches(&json!({"type": "unheard-of"}), &json!({}), "$").is_err());
    }
}
