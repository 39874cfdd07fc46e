//! JSON Schemas, on top of `jsonschema`: the drafts 2020-12, 2019-09, 7, 6 and 4, as
//! `$schema` says, and 2020-12 where it says nothing.
//!
//! Schemas and values may come from a hostile server, so each has limits: a schema is
//! examined before it is compiled (`graph`), a validation has a budget (`budget`),
//! and whatever is not certain to be quick runs in a thread of its own with a deadline.
//! Nothing is fetched. `format` and the keywords about content are annotations in every
//! draft, so no value is checked against them.

mod budget;
mod error;
mod graph;
mod mismatch;
mod text;

use std::fmt;
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use jsonschema::{PatternOptions, ValidationError, Validator};
use serde_json::Value;

pub use error::SchemaError;
pub use mismatch::{MismatchKind, SchemaMismatch, Step};

use budget::{Budget, Counted, CountedJson, Exhausted, within};
use graph::Shape;

/// The longest time that compiling a schema or validating a value may take.
const TIMEOUT: Duration = Duration::from_millis(800);

/// The steps of a validation that is done at once, in the thread of the caller.
const QUICK_STEPS: u64 = 20_000;

/// The most ways through a schema whose validations are tried at once.
const QUICK_PATHS: u64 = 100;

/// The most nested calls of a validation that is tried at once.
const QUICK_FRAMES: usize = 200;

/// The deepest value that is checked. No message on the wire is nested as deeply.
const MAX_DEPTH: usize = 300;

/// The most nested calls of a validation in a thread of its own.
const MAX_FRAMES: usize = 20_000;

/// The stack of that thread. Only what is used of it takes memory.
const STACK: usize = 128 << 20;

/// The steps of looking for the details of a mismatch, for a schema with one way.
const DETAIL_STEPS: u64 = 200_000;

/// The most steps back of one pattern on one text.
const BACKTRACK_LIMIT: usize = 20_000;

/// The longest text, in bytes, that a pattern is tried on that may backtrack.
const MAX_BACKTRACKED_TEXT: usize = 64 << 10;

/// The largest compiled form of a pattern, in bytes.
const PATTERN_SIZE_LIMIT: usize = 16 << 20;

/// The largest compiled form of all patterns of a schema together.
const ALL_PATTERNS_SIZE_LIMIT: usize = 100 << 20;

/// A compiled schema. A clone is the same one.
#[derive(Clone)]
pub struct Schema(Arc<Compiled>);

struct Compiled {
    validator: Validator<CountedJson>,
    shape: Shape,
    /// The schema, where patterns may backtrack, for the message that one gave up.
    source: Option<Value>,
}

/// What became of checking a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// The value conforms to the schema.
    Valid,
    /// The value does not conform; at least one mismatch.
    Invalid(Vec<SchemaMismatch>),
    /// The check was not finished, and why. This is neither of the others.
    Undecided(String),
}

impl Schema {
    /// Compiles a schema.
    ///
    /// # Errors
    /// When it is not a JSON Schema, refers to something outside of it, or is too complex.
    pub fn new(schema: &Value) -> Result<Schema, SchemaError> {
        let shape = graph::measure(schema)?;
        match shape.is_small() {
            true => compile(schema, shape),
            false => compile_in_thread(schema.clone(), shape),
        }
    }

    /// Compiles a schema without blocking the thread of the caller.
    ///
    /// # Errors
    /// When it is not a JSON Schema, refers to something outside of it, or is too complex.
    pub async fn new_in_background(schema: &Value) -> Result<Schema, SchemaError> {
        let shape = graph::measure(schema)?;
        if shape.is_small() {
            return compile(schema, shape);
        }
        let schema = schema.clone();
        let compiled = in_background(move || compile_in_thread(schema, shape)).await;
        compiled.unwrap_or_else(|| Err(too_slow()))
    }

    /// Checks a value, and reports at most so many mismatches, but at least one.
    ///
    /// A check that is not certain to be quick waits for another thread, for up to a
    /// second; [`Schema::check_in_background`] does not block.
    pub fn check(&self, value: &Value, max_mismatches: usize) -> Verdict {
        let size = Size::of(value);
        if let Some(verdict) = self.check_at_once(value, size, max_mismatches) {
            return verdict;
        }
        match self.limit(size) {
            Some(verdict) => verdict,
            None => self.check_in_thread(value.clone(), max_mismatches),
        }
    }

    /// Checks a value without blocking the thread of the caller.
    pub async fn check_in_background(&self, value: &Value, max_mismatches: usize) -> Verdict {
        let size = Size::of(value);
        if let Some(verdict) = self.check_at_once(value, size, max_mismatches) {
            return verdict;
        }
        if let Some(verdict) = self.limit(size) {
            return verdict;
        }
        let (schema, value) = (self.clone(), value.clone());
        let verdict = in_background(move || schema.check_in_thread(value, max_mismatches)).await;
        verdict.unwrap_or_else(|| undecided("no thread could be started"))
    }

    /// The verdict, if it can be found quickly.
    fn check_at_once(&self, value: &Value, size: Size, max: usize) -> Option<Verdict> {
        let Shape { paths, chain, backtracks, .. } = self.0.shape;
        let is_quick = !backtracks && paths <= QUICK_PATHS && size.depth * chain <= QUICK_FRAMES;
        is_quick.then(|| self.0.check(value, QUICK_STEPS, max).ok()).flatten()
    }

    /// The verdict about a value that is too large to be checked.
    fn limit(&self, size: Size) -> Option<Verdict> {
        let Shape { chain, backtracks, .. } = self.0.shape;
        if size.depth > MAX_DEPTH || size.depth * chain > MAX_FRAMES {
            Some(undecided("the value is nested too deeply"))
        } else if backtracks && size.longest_text > MAX_BACKTRACKED_TEXT {
            Some(undecided("a text is too long for a pattern that may backtrack"))
        } else {
            None
        }
    }

    fn check_in_thread(&self, value: Value, max: usize) -> Verdict {
        let compiled = self.0.clone();
        let verdict = in_thread(move || compiled.check(&value, u64::MAX, max));
        match verdict {
            Some(Ok(verdict)) => verdict,
            Some(Err(Exhausted)) | None => undecided("the check takes too long"),
        }
    }
}

impl Compiled {
    fn check(&self, value: &Value, steps: u64, max: usize) -> Result<Verdict, Exhausted> {
        let deadline = Instant::now() + TIMEOUT;
        let node = Counted(value);
        // Most values are valid, which is found out faster than what is wrong.
        if within(Budget { steps, deadline }, || self.validator.is_valid(node))? {
            return Ok(Verdict::Valid);
        }
        let steps = steps.min((DETAIL_STEPS / self.shape.paths).max(1_000));
        let budget = Budget { steps, deadline };
        let all = || self.verdict(self.validator.iter_errors(node), max);
        let first = || self.verdict(self.validator.validate(node).err(), max);
        let found = within(budget, all).or_else(|Exhausted| within(budget, first));
        Ok(found.unwrap_or_else(|_| Verdict::Invalid(vec![SchemaMismatch::unexplained(value)])))
    }

    /// The verdict about a value that is not certain to be valid: a certain mismatch
    /// decides, whatever else is uncertain.
    fn verdict<'a>(
        &self,
        errors: impl IntoIterator<Item = ValidationError<'a>>,
        max: usize,
    ) -> Verdict {
        let (mut found, mut gave_up) = (Vec::new(), None);
        for error in errors {
            if mismatch::gave_up(&error) {
                gave_up = gave_up.or(Some(error));
            } else if found.len() < max.max(1) {
                found.push(SchemaMismatch::new(&error));
            } else {
                break;
            }
        }
        match gave_up.filter(|_| found.is_empty()) {
            Some(error) => undecided(&self.gave_up(error.schema_path().as_str())),
            None => Verdict::Invalid(found),
        }
    }

    /// Names the pattern of a match that was given up.
    fn gave_up(&self, pointer: &str) -> String {
        let pattern = self.source.as_ref().and_then(|source| source.pointer(pointer));
        match pattern.filter(|it| it.is_string()) {
            Some(pattern) => {
                format!("gave up on the pattern {} at {pointer}", text::value(pattern))
            }
            // The pattern is the name of a member, and so in the pointer.
            None => format!("gave up on the pattern at {pointer}"),
        }
    }
}

fn undecided(reason: &str) -> Verdict {
    Verdict::Undecided(format!("schema too complex to check: {reason}"))
}

fn compile_in_thread(schema: Value, shape: Shape) -> Result<Schema, SchemaError> {
    in_thread(move || compile(&schema, shape)).unwrap_or_else(|| Err(too_slow()))
}

fn too_slow() -> SchemaError {
    SchemaError::too_complex(String::new(), "compiling it takes too long".to_owned())
}

fn compile(schema: &Value, shape: Shape) -> Result<Schema, SchemaError> {
    let shape = graph::examine(schema, shape)?;
    let patterns = PatternOptions::fancy_regex()
        .backtrack_limit(BACKTRACK_LIMIT)
        .size_limit(PATTERN_SIZE_LIMIT.min(ALL_PATTERNS_SIZE_LIMIT / shape.patterns.max(1)));
    let validator = jsonschema::options_for::<CountedJson>()
        .offline()
        .should_validate_formats(false)
        .without_content_encoding_support("base64")
        .without_content_media_type_support("application/json")
        .with_pattern_options(patterns)
        .build(schema)
        .map_err(|error| SchemaError::of_meta_schema(&error))?;
    let source = shape.backtracks.then(|| schema.clone());
    Ok(Schema(Arc::new(Compiled { validator, shape, source })))
}

/// Runs work in a thread of its own. There is no result when it takes too long; the
/// thread then ends by itself, within its own limits.
fn in_thread<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    let (sender, receiver) = mpsc::sync_channel(1);
    let builder = std::thread::Builder::new().name("schema".to_owned()).stack_size(STACK);
    builder.spawn(move || sender.send(work())).ok()?;
    receiver.recv_timeout(TIMEOUT).ok()
}

/// Runs work that may wait in a thread of its own, while the caller can do other things.
async fn in_background<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    let (sender, receiver) = futures_channel::oneshot::channel();
    let builder = std::thread::Builder::new().name("schema".to_owned());
    // The receiver is gone when the caller does not wait any longer.
    builder.spawn(move || sender.send(work()).ok()).ok()?;
    receiver.await.ok()
}

/// What of a value decides how much work it can cause.
#[derive(Debug, Clone, Copy)]
struct Size {
    depth: usize,
    longest_text: usize,
}

impl Size {
    fn of(value: &Value) -> Size {
        let mut size = Size { depth: 1, longest_text: 0 };
        let mut waiting = vec![(value, 1)];
        while let Some((value, depth)) = waiting.pop() {
            size.depth = size.depth.max(depth);
            match value {
                Value::Array(items) => waiting.extend(items.iter().map(|it| (it, depth + 1))),
                Value::Object(members) => {
                    let names = members.keys().map(String::len).max().unwrap_or_default();
                    size.longest_text = size.longest_text.max(names);
                    waiting.extend(members.values().map(|it| (it, depth + 1)));
                }
                Value::String(text) => size.longest_text = size.longest_text.max(text.len()),
                _ => {}
            }
        }
        size
    }
}

impl Verdict {
    /// Whether the value conforms to the schema for certain.
    pub fn is_valid(&self) -> bool {
        *self == Verdict::Valid
    }
}

impl fmt::Debug for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Schema").field(&self.0.shape).finish()
    }
}
