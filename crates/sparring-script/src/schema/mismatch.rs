//! Mismatches between a value and a schema.

use jsonschema::ValidationError;
use jsonschema::error::ValidationErrorKind;

use crate::truncate::{MAX_VALUE_CHARS, truncate, truncate_display, truncate_json};

/// The maximum length of a message, in characters.
const MAX_MESSAGE: usize = 600;

/// The maximum number of alternatives of an `anyOf` or `oneOf` that a message explains.
const MAX_ALTERNATIVES: usize = 3;

/// One mismatch of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SchemaMismatch {
    /// The JSON pointer into the value.
    pub pointer: String,
    /// The segments of the pointer.
    pub segments: Vec<PointerSegment>,
    /// The description of the mismatch. Long values are truncated.
    pub message: String,
    /// The kind of the mismatch.
    pub kind: MismatchKind,
    /// The length of the value with which the message begins, in bytes.
    subject_len: usize,
}

/// A kind of mismatch.
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

/// One segment of a JSON pointer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PointerSegment {
    /// A member of an object.
    Name(String),
    /// An item of an array.
    Index(usize),
}

impl SchemaMismatch {
    /// Creates a mismatch of the whole value without details.
    pub(super) fn without_details(value: &serde_json::Value) -> Self {
        let truncated = truncate_json(value);
        SchemaMismatch {
            pointer: String::new(),
            segments: Vec::new(),
            subject_len: truncated.len(),
            message: format!(
                "{truncated} does not conform to the schema (too many details to list)"
            ),
            kind: MismatchKind::Other,
        }
    }

    pub(super) fn new(error: &ValidationError<'_>) -> Self {
        SchemaMismatch::from_error(error, true)
    }

    fn from_error(error: &ValidationError<'_>, with_alternatives: bool) -> Self {
        let value = truncate_json(error.instance());
        let mut message = truncate_display(&error.masked_with(value.as_str()), MAX_MESSAGE);
        if let (true, Some(alternatives)) = (with_alternatives, describe_alternatives(error)) {
            message.push_str(&alternatives);
        }
        if matches!(error.kind(), ValidationErrorKind::PropertyNames { .. }) {
            message = format!("a property name is not allowed: {message}");
        }
        let location = error.instance_path();
        SchemaMismatch {
            pointer: location.as_str().to_owned(),
            segments: parse_pointer(location.as_str()),
            subject_len: if message.starts_with(&value) { value.len() } else { 0 },
            message,
            kind: mismatch_kind(error.kind()),
        }
    }

    /// Returns the path of the mismatch, such as `$.a[0]`, if `root` is the path of the
    /// value.
    pub fn path(&self, root: &str) -> String {
        let mut path = root.to_owned();
        for segment in &self.segments {
            match segment {
                PointerSegment::Index(index) => path.push_str(&format!("[{index}]")),
                PointerSegment::Name(name) if is_plain_name(name) => {
                    path.push('.');
                    path.push_str(name);
                }
                PointerSegment::Name(name) => path.push_str(&format!("[{name:?}]")),
            }
        }
        path
    }

    /// Returns the message with `subject` in place of the value with which it begins:
    /// `it is not of type "string"`.
    pub fn message_about(&self, subject: &str) -> String {
        match self.subject_len {
            0 => self.message.clone(),
            length => format!("{subject}{}", &self.message[length..]),
        }
    }
}

/// Splits a JSON pointer. A number is taken for an index: a pointer does not distinguish
/// indices from names, and members with a number as their name are rare.
fn parse_pointer(pointer: &str) -> Vec<PointerSegment> {
    let parse = |token: &str| match token.parse() {
        Ok(index) => PointerSegment::Index(index),
        Err(_) => PointerSegment::Name(token.replace("~1", "/").replace("~0", "~")),
    };
    pointer.split('/').skip(1).map(parse).collect()
}

fn mismatch_kind(kind: &ValidationErrorKind) -> MismatchKind {
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

/// Describes the mismatch of each alternative of an `anyOf` or `oneOf`, the deepest in the
/// value first.
fn describe_alternatives(error: &ValidationError<'_>) -> Option<String> {
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
        let mismatch = SchemaMismatch::from_error(inner, false);
        parts.push(match mismatch.pointer.strip_prefix(base).filter(|rest| !rest.is_empty()) {
            Some(below) => format!("({index}) at {below}: {}", mismatch.message),
            None => format!("({index}) {}", mismatch.message_about("it")),
        });
    }
    if first.len() > MAX_ALTERNATIVES {
        parts.push(format!("and {} more", first.len() - MAX_ALTERNATIVES));
    }
    let parts = truncate(&parts.join("; "), MAX_ALTERNATIVES * (MAX_VALUE_CHARS + 200));
    (!parts.is_empty()).then(|| format!(": {parts}"))
}

/// Returns true if the error is a pattern on which the engine gave up, not a mismatch.
pub(super) fn is_abandoned_pattern(error: &ValidationError<'_>) -> bool {
    matches!(
        error.kind(),
        ValidationErrorKind::BacktrackLimitExceeded { .. }
            | ValidationErrorKind::RegexEngineFailure { .. }
    )
}

fn is_plain_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-')
}
