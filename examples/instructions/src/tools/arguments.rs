//! Checks the arguments of a call against the tool's schema, and reports all problems
//! at once, each with the argument's name.

use serde_json::Value;
use sparring_script::Schema;
use sparring_script::schema::{MismatchKind, PointerSegment, SchemaMismatch, Verdict};

/// Maximum problems in one message.
const MAX_PROBLEMS: usize = 10;

/// Minimum similarity of a name that is suggested instead.
const MIN_SIMILARITY: f64 = 0.7;

/// Checks arguments against a compiled schema; `listed` is the same schema as JSON.
///
/// # Errors
/// All problems, in one message.
pub(super) fn check(schema: &Schema, listed: &Value, arguments: &Value) -> Result<(), String> {
    match schema.check(arguments, MAX_PROBLEMS) {
        Verdict::Valid => Ok(()),
        Verdict::Invalid(found) => {
            let problems: Vec<String> =
                found.iter().map(|it| describe_mismatch(it, listed)).collect();
            Err(problems.join("; "))
        }
        Verdict::Undecided(reason) => Err(reason),
    }
}

fn describe_mismatch(mismatch: &SchemaMismatch, listed: &Value) -> String {
    match &mismatch.kind {
        MismatchKind::Missing(name) if mismatch.segments.is_empty() => {
            format!("the argument `{name}` is missing")
        }
        MismatchKind::Unknown(unexpected) => {
            let known = listed["properties"].as_object();
            let known: Vec<&str> =
                known.into_iter().flat_map(|it| it.keys()).map(|it| &**it).collect();
            let messages =
                unexpected.iter().take(MAX_PROBLEMS).map(|name| describe_unknown(name, &known));
            messages.collect::<Vec<_>>().join("; ")
        }
        // The message leaves out the value: it may be long, and the caller knows it.
        _ => match mismatch.segments.first() {
            Some(PointerSegment::Name(name)) => {
                format!("the argument `{name}` is wrong: {}", mismatch.message_about("it"))
            }
            _ => format!("the arguments are wrong: {}", mismatch.message_about("they")),
        },
    }
}

fn describe_unknown(name: &str, known: &[&str]) -> String {
    let name: String = name.chars().take(100).collect();
    let nearest = known
        .iter()
        .map(|known| (strsim::jaro_winkler(&name, known), known))
        .filter(|(similarity, _)| *similarity >= MIN_SIMILARITY)
        .max_by(|one, other| one.0.total_cmp(&other.0));
    match nearest {
        Some((_, nearest)) => format!("unknown argument `{name}`; did you mean `{nearest}`?"),
        None => format!("unknown argument `{name}`; expected {}", known.join(", ")),
    }
}
