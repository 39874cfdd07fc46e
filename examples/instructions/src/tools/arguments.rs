//! Whether arguments are what a tool takes, told so that whoever called can do
//! better: all that is wrong at once, each with the argument's name.

use jsonschema::error::ValidationErrorKind;
use jsonschema::paths::LocationSegment;
use jsonschema::{ValidationError, Validator};
use serde_json::Value;

/// The most problems that are told.
const MOST: usize = 10;

/// How alike a name must be to be what was meant.
const ALIKE: f64 = 0.7;

/// Holds arguments against the schema that the validator is made of.
///
/// # Errors
/// With all that is wrong, as a sentence.
pub(super) fn check(
    validator: &Validator,
    schema: &Value,
    arguments: &Value,
) -> Result<(), String> {
    let problems: Vec<String> =
        validator.iter_errors(arguments).take(MOST).map(|error| tell(&error, schema)).collect();
    match problems.is_empty() {
        true => Ok(()),
        false => Err(problems.join("; ")),
    }
}

fn tell(error: &ValidationError<'_>, schema: &Value) -> String {
    match error.kind() {
        ValidationErrorKind::Required { property } if error.instance_path().is_empty() => {
            format!("the argument `{}` is missing", property.as_str().unwrap_or_default())
        }
        ValidationErrorKind::AdditionalProperties { unexpected } => {
            let known = schema["properties"].as_object();
            let known: Vec<&str> =
                known.into_iter().flat_map(|it| it.keys()).map(|it| &**it).collect();
            let told = unexpected.iter().take(MOST).map(|name| unknown(name, &known));
            told.collect::<Vec<_>>().join("; ")
        }
        // The value itself may be long, and whoever sent it knows it.
        _ => match error.instance_path().into_iter().next() {
            Some(LocationSegment::Property(name)) => {
                format!("the argument `{name}` is wrong: {}", error.masked_with("it"))
            }
            _ => format!("the arguments are wrong: {}", error.masked_with("they")),
        },
    }
}

fn unknown(name: &str, known: &[&str]) -> String {
    let name: String = name.chars().take(100).collect();
    let nearest = known
        .iter()
        .map(|known| (strsim::jaro_winkler(&name, known), known))
        .filter(|(alike, _)| *alike >= ALIKE)
        .max_by(|one, other| one.0.total_cmp(&other.0));
    match nearest {
        Some((_, nearest)) => format!("there is no argument `{name}`, but `{nearest}`"),
        None => format!("there is no argument `{name}`; there are {}", known.join(", ")),
    }
}
