//! Whether arguments are what a tool takes, told so that whoever called can do
//! better: all that is wrong at once, each with the argument's name.

use serde_json::Value;
use sparring_script::Schema;
use sparring_script::schema::{MismatchKind, SchemaMismatch, Step, Verdict};

/// The most problems that are told.
const MOST: usize = 10;

/// How alike a name must be to be what was meant.
const ALIKE: f64 = 0.7;

/// Holds arguments against a schema, which is also given as it is listed.
///
/// # Errors
/// With all that is wrong, as a sentence.
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
        MismatchKind::Missing(name) if breach.steps.is_empty() => {
            format!("the argument `{name}` is missing")
        }
        MismatchKind::Unknown(unexpected) => {
            let known = listed["properties"].as_object();
            let known: Vec<&str> =
                known.into_iter().flat_map(|it| it.keys()).map(|it| &**it).collect();
            let told = unexpected.iter().take(MOST).map(|name| unknown(name, &known));
            told.collect::<Vec<_>>().join("; ")
        }
        // The value itself may be long, and whoever sent it knows it.
        _ => match breach.steps.first() {
            Some(Step::Name(name)) => {
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
