//! Reads the arguments of a call one by one, so that an error names its argument.

use serde_json::{Map, Value};
use sparring::Json;

use crate::database::Params;

/// The arguments of a call.
pub(super) struct Arguments(Map<String, Value>);

/// The error about a wrong argument.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(super) struct WrongArguments(String);

impl Arguments {
    /// Reads an object with no other members than these.
    pub(super) fn read(json: Json<'_>, known: &[&str]) -> Result<Self, WrongArguments> {
        let read = json.deserialize::<Map<String, Value>>();
        let members =
            read.map_err(|error| wrong(format!("the arguments are not an object: {error}")))?;
        match members.keys().find(|name| !known.contains(&name.as_str())) {
            Some(name) if known.is_empty() => {
                Err(wrong(format!("unknown argument `{name}`; the tool has no arguments")))
            }
            Some(name) => {
                Err(wrong(format!("unknown argument `{name}`; expected {}", known.join(", "))))
            }
            None => Ok(Arguments(members)),
        }
    }

    /// A required text.
    pub(super) fn text(&self, name: &str) -> Result<String, WrongArguments> {
        match self.0.get(name) {
            Some(Value::String(text)) => Ok(text.clone()),
            Some(other) => Err(wrong(format!("`{name}` must be a text, and is {other}"))),
            None => Err(wrong(format!("the argument `{name}` is missing"))),
        }
    }

    /// An optional number, at least 1.
    pub(super) fn count(&self, name: &str) -> Result<Option<usize>, WrongArguments> {
        let Some(value) = self.0.get(name) else { return Ok(None) };
        let count = value.as_u64().filter(|count| *count > 0);
        let count = count.and_then(|count| usize::try_from(count).ok());
        let error = || wrong(format!("`{name}` must be an integer of at least 1, and is {value}"));
        count.map(Some).ok_or_else(error)
    }

    /// Values for the parameters of a statement.
    pub(super) fn params(&self) -> Result<Params, WrongArguments> {
        match self.0.get("params") {
            None | Some(Value::Null) => Ok(Params::None),
            Some(Value::Array(values)) => Ok(Params::Listed(values.clone())),
            Some(Value::Object(values)) => Ok(Params::Named(values.clone())),
            Some(other) => {
                Err(wrong(format!("`params` must be a list or an object, and is {other}")))
            }
        }
    }
}

fn wrong(message: String) -> WrongArguments {
    WrongArguments(message)
}

/// The schema of `params`.
pub(super) fn params_schema() -> Value {
    serde_json::json!({
        "type": ["array", "object"],
        "description": "Values for ?, or by name for :name, @name and $name. A blob is \
            {\"blob\": BASE64}, a large integer {\"integer\": DIGITS}.",
    })
}
