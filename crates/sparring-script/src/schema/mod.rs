//! JSON Schema validation, on top of `jsonschema`: the drafts 2020-12, 2019-09, 7, 6 and 4
//! as selected by `$schema` (default: 2020-12).
//!
//! Schemas and values may come from a hostile server, so each has limits: `complexity`
//! measures a schema before it is compiled, `budget` limits a validation, and work that is
//! not certain to be quick runs in a separate thread with a deadline. References to other
//! documents are not fetched. `format` and the content keywords are annotations in every
//! draft, so values are not checked against them.

mod budget;
mod complexity;
mod error;
mod mismatch;

use std::fmt;
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use jsonschema::{PatternOptions, ValidationError, Validator};
use serde_json::Value;

pub use error::SchemaError;
pub use mismatch::{MismatchKind, PointerSegment, SchemaMismatch};

use crate::truncate::truncate_json;
use budget::{Budget, CountedJson, CountedValue, Exhausted, run_within};
use complexity::Complexity;

/// The time limit for compiling a schema or validating a value.
const CHECK_TIMEOUT: Duration = Duration::from_millis(800);

/// The maximum number of steps of a validation in the thread of the caller.
const QUICK_STEPS: u64 = 20_000;

/// The maximum number of paths of a schema for a validation in the thread of the caller.
const QUICK_PATHS: u64 = 100;

/// The maximum number of nested calls of a validation in the thread of the caller.
const QUICK_FRAMES: usize = 200;

/// The maximum depth of a value. Messages on the wire are never nested as deeply.
const MAX_DEPTH: usize = 300;

/// The maximum number of nested calls of a validation in a separate thread.
const MAX_FRAMES: usize = 20_000;

/// The stack size of that thread. Only the used part takes memory.
const STACK_SIZE: usize = 128 << 20;

/// The maximum number of steps to find the details of a mismatch, for a schema with one path.
const DETAIL_STEPS: u64 = 200_000;

/// The maximum number of backtracking steps of one pattern on one text.
const BACKTRACK_LIMIT: usize = 20_000;

/// The maximum length of a text for a pattern that may backtrack, in bytes.
const MAX_BACKTRACKED_TEXT: usize = 64 << 10;

/// The maximum size of a compiled pattern, in bytes.
const PATTERN_SIZE_LIMIT: usize = 16 << 20;

/// The maximum size of all compiled patterns of a schema, in bytes.
const ALL_PATTERNS_SIZE_LIMIT: usize = 100 << 20;

/// A compiled schema. Cheap to clone.
#[derive(Clone)]
pub struct Schema(Arc<CompiledSchema>);

struct CompiledSchema {
    validator: Validator<CountedJson>,
    complexity: Complexity,
    /// The schema, if a pattern may backtrack: the message about giving up names the pattern.
    source: Option<Value>,
}

/// The result of checking a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// The value conforms to the schema.
    Valid,
    /// The value does not conform. The list has at least one mismatch.
    Invalid(Vec<SchemaMismatch>),
    /// The check was abandoned for this reason.
    Undecided(String),
}

impl Schema {
    /// Compiles a schema.
    ///
    /// # Errors
    /// Returns an error if it is not a JSON Schema, refers to another document, or is too
    /// complex.
    pub fn new(schema: &Value) -> Result<Schema, SchemaError> {
        let complexity = complexity::measure_sizes(schema)?;
        match complexity.is_small() {
            true => compile(schema, complexity),
            false => compile_in_thread(schema.clone(), complexity),
        }
    }

    /// Compiles a schema without blocking the thread of the caller.
    ///
    /// # Errors
    /// Returns an error if it is not a JSON Schema, refers to another document, or is too
    /// complex.
    pub async fn new_in_background(schema: &Value) -> Result<Schema, SchemaError> {
        let complexity = complexity::measure_sizes(schema)?;
        if complexity.is_small() {
            return compile(schema, complexity);
        }
        let schema = schema.clone();
        let compiled = run_in_background(move || compile_in_thread(schema, complexity)).await;
        compiled.unwrap_or_else(|| Err(compile_timeout()))
    }

    /// Returns the work that a small value can cause: the number of JSON values in the schema,
    /// times that of the paths through schemas that apply to one value.
    pub fn work(&self) -> u64 {
        let Complexity { values, paths, .. } = self.0.complexity;
        paths.saturating_mul(values as u64)
    }

    /// Checks a value and reports up to `max_mismatches` mismatches, but at least one.
    ///
    /// A check that is not certain to be quick waits for another thread, for up to a
    /// second; [`Schema::check_in_background`] does not block.
    pub fn check(&self, value: &Value, max_mismatches: usize) -> Verdict {
        let size = ValueSize::measure(value);
        if let Some(verdict) = self.check_quickly(value, size, max_mismatches) {
            return verdict;
        }
        match self.check_limits(size) {
            Some(verdict) => verdict,
            None => self.check_in_thread(value.clone(), max_mismatches),
        }
    }

    /// Checks a value without blocking the thread of the caller.
    pub async fn check_in_background(&self, value: &Value, max_mismatches: usize) -> Verdict {
        let size = ValueSize::measure(value);
        if let Some(verdict) = self.check_quickly(value, size, max_mismatches) {
            return verdict;
        }
        if let Some(verdict) = self.check_limits(size) {
            return verdict;
        }
        let (schema, value) = (self.clone(), value.clone());
        let verdict =
            run_in_background(move || schema.check_in_thread(value, max_mismatches)).await;
        verdict.unwrap_or_else(|| undecided("cannot start a thread"))
    }

    /// Returns the verdict if it can be found quickly.
    fn check_quickly(&self, value: &Value, size: ValueSize, max: usize) -> Option<Verdict> {
        let Complexity { paths, chain, backtracks, .. } = self.0.complexity;
        let is_quick = !backtracks && paths <= QUICK_PATHS && size.depth * chain <= QUICK_FRAMES;
        is_quick.then(|| self.0.check(value, QUICK_STEPS, max).ok()).flatten()
    }

    /// Returns a verdict if the value is too large to be checked.
    fn check_limits(&self, size: ValueSize) -> Option<Verdict> {
        let Complexity { chain, backtracks, .. } = self.0.complexity;
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
        let verdict = run_in_thread(move || compiled.check(&value, u64::MAX, max));
        match verdict {
            Some(Ok(verdict)) => verdict,
            Some(Err(Exhausted)) | None => undecided("the check takes too long"),
        }
    }
}

impl CompiledSchema {
    fn check(&self, value: &Value, steps: u64, max: usize) -> Result<Verdict, Exhausted> {
        let deadline = Instant::now() + CHECK_TIMEOUT;
        let node = CountedValue(value);
        // Most values are valid, and that is faster to find out than the mismatches.
        if run_within(Budget { steps, deadline }, || self.validator.is_valid(node))? {
            return Ok(Verdict::Valid);
        }
        let steps = steps.min((DETAIL_STEPS / self.complexity.paths).max(1_000));
        let budget = Budget { steps, deadline };
        let all = || self.verdict(self.validator.iter_errors(node), max);
        let first = || self.verdict(self.validator.validate(node).err(), max);
        let found = run_within(budget, all).or_else(|Exhausted| run_within(budget, first));
        Ok(found.unwrap_or_else(|_| Verdict::Invalid(vec![SchemaMismatch::without_details(value)])))
    }

    /// Returns the verdict about a value that is not certain to be valid. One certain
    /// mismatch makes it invalid, even if a pattern gave up.
    fn verdict<'a>(
        &self,
        errors: impl IntoIterator<Item = ValidationError<'a>>,
        max: usize,
    ) -> Verdict {
        let (mut found, mut gave_up) = (Vec::new(), None);
        for error in errors {
            if mismatch::is_abandoned_pattern(&error) {
                gave_up = gave_up.or(Some(error));
            } else if found.len() < max.max(1) {
                found.push(SchemaMismatch::new(&error));
            } else {
                break;
            }
        }
        match gave_up.filter(|_| found.is_empty()) {
            Some(error) => {
                undecided(&self.describe_abandoned_pattern(error.schema_path().as_str()))
            }
            None => Verdict::Invalid(found),
        }
    }

    /// Describes the pattern on which the engine gave up.
    fn describe_abandoned_pattern(&self, pointer: &str) -> String {
        let pattern = self.source.as_ref().and_then(|source| source.pointer(pointer));
        match pattern.filter(|it| it.is_string()) {
            Some(pattern) => {
                format!("gave up on pattern {} at {pointer}", truncate_json(pattern))
            }
            // The pattern is a key of `patternProperties`, so the pointer contains it.
            None => format!("gave up on the pattern at {pointer}"),
        }
    }
}

fn undecided(reason: &str) -> Verdict {
    Verdict::Undecided(format!("schema too complex to check: {reason}"))
}

fn compile_in_thread(schema: Value, complexity: Complexity) -> Result<Schema, SchemaError> {
    run_in_thread(move || compile(&schema, complexity)).unwrap_or_else(|| Err(compile_timeout()))
}

fn compile_timeout() -> SchemaError {
    SchemaError::too_complex(String::new(), "compiling takes too long".to_owned())
}

fn compile(schema: &Value, complexity: Complexity) -> Result<Schema, SchemaError> {
    let complexity = complexity::count_paths(schema, complexity)?;
    let patterns = PatternOptions::fancy_regex()
        .backtrack_limit(BACKTRACK_LIMIT)
        .size_limit(PATTERN_SIZE_LIMIT.min(ALL_PATTERNS_SIZE_LIMIT / complexity.patterns.max(1)));
    let validator = jsonschema::options_for::<CountedJson>()
        .offline()
        .should_validate_formats(false)
        .without_content_encoding_support("base64")
        .without_content_media_type_support("application/json")
        .with_pattern_options(patterns)
        .build(schema)
        .map_err(|error| SchemaError::from_meta_schema(&error))?;
    let source = complexity.backtracks.then(|| schema.clone());
    Ok(Schema(Arc::new(CompiledSchema { validator, complexity, source })))
}

/// Runs work in a separate thread. Returns `None` after [`CHECK_TIMEOUT`]; the thread then
/// ends within the limits of the work.
fn run_in_thread<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    let (sender, receiver) = mpsc::sync_channel(1);
    let builder = std::thread::Builder::new().name("schema".to_owned()).stack_size(STACK_SIZE);
    builder.spawn(move || sender.send(work())).ok()?;
    receiver.recv_timeout(CHECK_TIMEOUT).ok()
}

/// Runs blocking work in a separate thread without blocking the caller.
async fn run_in_background<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    let (sender, receiver) = futures_channel::oneshot::channel();
    let builder = std::thread::Builder::new().name("schema".to_owned());
    // The receiver is gone if the caller was cancelled.
    builder.spawn(move || sender.send(work()).ok()).ok()?;
    receiver.await.ok()
}

/// The sizes of a value that limit the work of its validation.
#[derive(Debug, Clone, Copy)]
struct ValueSize {
    depth: usize,
    longest_text: usize,
}

impl ValueSize {
    fn measure(value: &Value) -> ValueSize {
        let mut size = ValueSize { depth: 1, longest_text: 0 };
        let mut pending = vec![(value, 1)];
        while let Some((value, depth)) = pending.pop() {
            size.depth = size.depth.max(depth);
            match value {
                Value::Array(items) => pending.extend(items.iter().map(|it| (it, depth + 1))),
                Value::Object(members) => {
                    let names = members.keys().map(String::len).max().unwrap_or_default();
                    size.longest_text = size.longest_text.max(names);
                    pending.extend(members.values().map(|it| (it, depth + 1)));
                }
                Value::String(text) => size.longest_text = size.longest_text.max(text.len()),
                _ => {}
            }
        }
        size
    }
}

impl Verdict {
    /// Returns true if the value certainly conforms to the schema.
    pub fn is_valid(&self) -> bool {
        *self == Verdict::Valid
    }
}

impl fmt::Debug for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Schema").field(&self.0.complexity).finish()
    }
}
