//! Checks the arguments of a call against the tool's schema, and reports all problems
//! at once, each with the argument's name.

use serde_json::Value;
use sparring_script::Schema;
use sparring_script::schema::{MismatchKind, PointerSegment, SchemaMismatch, Verdict};

/// Maximum problems in one message.
const MOST: usize = 10;

/// Minimum similarity of a name that is suggested instead.
const ALIKE: f64 = 0.7;

/// Checks arguments against a compiled schema; `listed` is the same schema as JSON.
///
/// # Errors
/// All problems, in one message.
pub(super) fn check(takes: &Schema, listed: &Value, arguments: &Value) -> Result<(), String> {
    match takes.check(arguments, MOST) {
        Verdict::Valid => Ok(()),
        Verdict::Invalid(found) => {
            let problems: Vec<String> = found.iter().map(|it| tell(it, listed)).collect();
            Err(problems.join("; "))
        }
        Verdict::Undecided(reason) => Err(reason),
    }
}

fn tell(breach: &SchemaMismatch, listed: &Value) -> String {
    match &breach.kind {
        MismatchKind::Missing(name) if breach.segments.is_empty() => {
            format!("the argument `{name}` is missing")
        }
        MismatchKind::Unknown(unexpected) => {
            let known = listed["properties"].as_object();
            let known: Vec<&str> =
                known.into_iter().flat_map(|it| it.keys()).map(|it| &**it).collect();
            let told = unexpected.iter().take(MOST).map(|name| unknown(name, &known));
            told.collect::<Vec<_>>().join("; ")
        }
        // The message leaves out the value: it may be long, and the caller knows it.
        _ => match breach.segments.first() {
            Some(PointerSegment::Name(name)) => {
                format!("the argument `{name}` is wrong: {}", breach.message_about("it"))
            }
            _ => format!("the arguments are wrong: {}", breach.message_about("they")),
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
