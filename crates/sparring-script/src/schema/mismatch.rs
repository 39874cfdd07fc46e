//! Where and how a value does not conform to a schema.

use jsonschema::ValidationError;
use jsonschema::error::ValidationErrorKind;

use super::text::{self, MAX_SHOWN};

/// The most characters of a message.
const MAX_MESSAGE: usize = 600;

/// How many alternatives of an `anyOf` or `oneOf` a message explains.
const MAX_ALTERNATIVES: usize = 3;

/// One place where a value does not conform to a schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SchemaMismatch {
    /// Where in the value, as a JSON pointer.
    pub pointer: String,
    /// The same, step by step.
    pub steps: Vec<Step>,
    /// What is wrong there. Long values are cut.
    pub message: String,
    /// What sort of mismatch it is.
    pub kind: MismatchKind,
    /// How many bytes of the message are the value that it begins with.
    subject: usize,
}

/// A sort of mismatch.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum MismatchKind {
    /// The object lacks a member.
    Missing(String),
    /// The object has members that the schema does not allow.
    Unknown(Vec<String>),
    /// Anything else.
    Other,
}

/// A step into a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// To a member of an object.
    Name(String),
    /// To an item of an array.
    Index(usize),
}

impl SchemaMismatch {
    /// A mismatch of the whole value, of which no more is known.
    pub(super) fn unexplained(value: &serde_json::Value) -> Self {
        let shown = text::value(value);
        SchemaMismatch {
            pointer: String::new(),
            steps: Vec::new(),
            subject: shown.len(),
            message: format!("{shown} does not conform to the schema; the details are too many"),
            kind: MismatchKind::Other,
        }
    }

    pub(super) fn new(error: &ValidationError<'_>) -> Self {
        SchemaMismatch::explained(error, true)
    }

    fn explained(error: &ValidationError<'_>, with_alternatives: bool) -> Self {
        let value = text::value(error.instance());
        let mut message = text::display(&error.masked_with(value.as_str()), MAX_MESSAGE);
        if let (true, Some(alternatives)) = (with_alternatives, alternatives(error)) {
            message.push_str(&alternatives);
        }
        if matches!(error.kind(), ValidationErrorKind::PropertyNames { .. }) {
            message = format!("the name of a member is not allowed: {message}");
        }
        let location = error.instance_path();
        SchemaMismatch {
            pointer: location.as_str().to_owned(),
            steps: steps(location.as_str()),
            subject: if message.starts_with(&value) { value.len() } else { 0 },
            message,
            kind: kind(error.kind()),
        }
    }

    /// The message with another word for the value, where it begins with the value:
    /// `it is not of type "string"`.
    pub fn message_about(&self, subject: &str) -> String {
        match self.subject {
            0 => self.message.clone(),
            length => format!("{subject}{}", &self.message[length..]),
        }
    }
}

/// Steps of a JSON pointer. Whether a number is an index or a name, the pointer does
/// not say; a member with a number for a name is rare.
fn steps(pointer: &str) -> Vec<Step> {
    let step = |step: &str| match step.parse() {
        Ok(index) => Step::Index(index),
        Err(_) => Step::Name(step.replace("~1", "/").replace("~0", "~")),
    };
    pointer.split('/').skip(1).map(step).collect()
}

fn kind(kind: &ValidationErrorKind) -> MismatchKind {
    match kind {
        ValidationErrorKind::Required { property } => {
            MismatchKind::Missing(property.as_str().unwrap_or_default().to_owned())
        }
        ValidationErrorKind::AdditionalProperties { unexpected }
        | ValidationErrorKind::UnevaluatedProperties { unexpected } => {
            MismatchKind::Unknown(unexpected.clone())
        }
        _ => MismatchKind::Other,
    }
}

/// What each alternative of an `anyOf` or `oneOf` says, those first that got furthest
/// into the value.
fn alternatives(error: &ValidationError<'_>) -> Option<String> {
    let (ValidationErrorKind::AnyOf { context } | ValidationErrorKind::OneOfNotValid { context }) =
        error.kind()
    else {
        return None;
    };
    let mut first: Vec<(usize, &ValidationError<'_>)> = Vec::new();
    for (index, errors) in context.iter().enumerate() {
        first.extend(errors.first().map(|error| (index, error)));
    }
    let depth = |error: &ValidationError<'_>| error.instance_path().as_str().matches('/').count();
    first.sort_by_key(|(_, error)| std::cmp::Reverse(depth(error)));
    let base = error.instance_path().as_str();
    let mut parts = Vec::new();
    for (index, inner) in first.iter().take(MAX_ALTERNATIVES) {
        let mismatch = SchemaMismatch::explained(inner, false);
        parts.push(match mismatch.pointer.strip_prefix(base).filter(|rest| !rest.is_empty()) {
            Some(below) => format!("({index}) at {below}: {}", mismatch.message),
            None => format!("({index}) {}", mismatch.message_about("it")),
        });
    }
    if first.len() > MAX_ALTERNATIVES {
        parts.push(format!("and {} more", first.len() - MAX_ALTERNATIVES));
    }
    let parts = text::shorten(&parts.join("; "), MAX_ALTERNATIVES * (MAX_SHOWN + 200));
    (!parts.is_empty()).then(|| format!(": {parts}"))
}

/// Whether this is no mismatch, but a pattern on which the engine gave up.
pub(super) fn gave_up(error: &ValidationError<'_>) -> bool {
    matches!(
        error.kind(),
        ValidationErrorKind::BacktrackLimitExceeded { .. }
            | ValidationErrorKind::RegexEngineFailure { .. }
    )
}
