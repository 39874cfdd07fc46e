//! Measures the complexity of a schema before it is compiled: finds endless references and
//! limits the work that one value can cause.
//!
//! A validator tries every path through `$ref` and the combinators, so a small schema
//! whose alternatives share targets has an exponential number of paths. This module
//! counts them without following each one: the count of a schema is the sum of the counts
//! of the schemas that apply to the same value, and is computed once.

use std::collections::HashMap;

use referencing::{Draft, Error, Registry, Resolver, ResourceRef, Retrieve, Uri};
use serde_json::{Map, Value};

use super::error::SchemaError;
use crate::truncate::{MAX_VALUE_CHARS, truncate};

/// The maximum number of paths through schemas that apply to the same value.
const MAX_PATHS: u64 = 10_000;

/// The maximum length of a chain of schemas that apply to the same value.
const MAX_CHAIN: usize = 200;

/// The maximum number of JSON values in a schema.
const MAX_VALUES: usize = 200_000;

/// The maximum nesting depth of a schema.
const MAX_NESTING: usize = 200;

/// The maximum number of patterns in a schema.
const MAX_PATTERNS: usize = 1_000;

/// The URI of a schema that has no `$id`.
const ROOT_URI: &str = "json-schema:///";

/// Keywords with one schema for the value itself.
const SAME_VALUE_KEYWORDS: [&str; 4] = ["not", "if", "then", "else"];

/// Keywords with several schemas for the value itself, as a list or by name.
const SAME_VALUE_LIST_KEYWORDS: [&str; 5] =
    ["allOf", "anyOf", "oneOf", "dependentSchemas", "dependencies"];

/// Keywords with schemas for members, items or names.
const CHILD_KEYWORDS: [&str; 7] = [
    "items",
    "additionalItems",
    "unevaluatedItems",
    "contains",
    "additionalProperties",
    "unevaluatedProperties",
    "propertyNames",
];

/// Keywords with several schemas for members or items, as a list or by name.
const CHILD_LIST_KEYWORDS: [&str; 4] = ["items", "prefixItems", "properties", "patternProperties"];

/// The measures of the work that a schema can cause.
#[derive(Debug, Clone, Copy)]
pub(super) struct Complexity {
    /// The largest number of paths through schemas that apply to the same value.
    pub(super) paths: u64,
    /// The longest chain of schemas that apply to the same value.
    pub(super) chain: usize,
    /// True if a pattern has look-around or backreferences, and so may backtrack.
    pub(super) backtracks: bool,
    /// The number of JSON values in the schema.
    pub(super) values: usize,
    /// The nesting depth of the schema.
    pub(super) nesting: usize,
    /// The number of patterns in the schema.
    pub(super) patterns: usize,
}

impl Complexity {
    /// Returns true if the schema is certain to compile quickly.
    pub(super) fn is_small(self) -> bool {
        self.values <= 2_000 && self.nesting <= 20 && self.patterns <= 20
    }
}

/// Counts the paths through a schema and adds them to its measures.
///
/// # Errors
/// Returns an error if a reference does not resolve or refers only to itself, or if the
/// schema is too complex.
pub(super) fn count_paths(
    schema: &Value,
    mut complexity: Complexity,
) -> Result<Complexity, SchemaError> {
    let draft = Draft::default().detect(schema);
    let registry = Registry::new()
        .retriever(OfflineRetriever)
        .draft(draft)
        .add(ROOT_URI, schema)
        .and_then(referencing::RegistryBuilder::prepare)
        .map_err(|error| unresolved_reference(schema, &error))?;
    let root = referencing::uri::from_str(ROOT_URI).expect("the constant is a URI");
    let mut counter =
        PathCounter { root: schema, draft, counts: HashMap::new(), pending: Vec::new() };
    counter.pending.push((schema, registry.resolver(root)));
    while let Some((next, resolver)) = counter.pending.pop() {
        let count = counter.count(next, &resolver, 0)?;
        complexity.paths = complexity.paths.max(count.paths);
        complexity.chain = complexity.chain.max(count.chain);
    }
    Ok(complexity)
}

/// Measures the sizes that do not depend on references, without recursion.
///
/// # Errors
/// Returns an error if one of them is too large.
pub(super) fn measure_sizes(schema: &Value) -> Result<Complexity, SchemaError> {
    let mut complexity =
        Complexity { paths: 1, chain: 1, backtracks: false, values: 0, nesting: 0, patterns: 0 };
    let mut pending = vec![(schema, 1)];
    while let Some((value, depth)) = pending.pop() {
        complexity.values += 1;
        complexity.nesting = complexity.nesting.max(depth);
        match value {
            Value::Array(items) => pending.extend(items.iter().map(|item| (item, depth + 1))),
            Value::Object(members) => {
                pending.extend(members.values().map(|member| (member, depth + 1)));
                for pattern in patterns(members) {
                    complexity.patterns += 1;
                    complexity.backtracks |= may_backtrack(pattern);
                }
            }
            _ => {}
        }
        let limit = if complexity.values > MAX_VALUES {
            format!("more than {MAX_VALUES} values")
        } else if complexity.nesting > MAX_NESTING {
            format!("nested more than {MAX_NESTING} levels deep")
        } else if complexity.patterns > MAX_PATTERNS {
            format!("more than {MAX_PATTERNS} patterns")
        } else {
            continue;
        };
        return Err(SchemaError::too_complex(String::new(), limit));
    }
    Ok(complexity)
}

fn patterns(members: &Map<String, Value>) -> impl Iterator<Item = &str> {
    let by_name = members.get("patternProperties").and_then(Value::as_object);
    let by_name = by_name.into_iter().flat_map(Map::keys).map(String::as_str);
    members.get("pattern").and_then(Value::as_str).into_iter().chain(by_name)
}

/// Returns true if a pattern has features that the linear engine does not support.
fn may_backtrack(pattern: &str) -> bool {
    regex_syntax::ast::parse::Parser::new().parse(pattern).is_err()
}

/// The counts of one schema.
#[derive(Clone, Copy)]
struct PathCount {
    paths: u64,
    chain: usize,
}

struct PathCounter<'a> {
    root: &'a Value,
    draft: Draft,
    /// The counts by the address of a schema; `None` while a schema is being counted.
    counts: HashMap<usize, Option<PathCount>>,
    /// Schemas of members and items, which apply to other values.
    pending: Vec<(&'a Value, Resolver<'a>)>,
}

impl<'a> PathCounter<'a> {
    /// Counts a schema. The recursion ends at [`MAX_CHAIN`].
    fn count(
        &mut self,
        schema: &'a Value,
        resolver: &Resolver<'a>,
        above: usize,
    ) -> Result<PathCount, SchemaError> {
        let Value::Object(members) = schema else { return Ok(PathCount { paths: 1, chain: 1 }) };
        let address = std::ptr::from_ref(schema) as usize;
        match self.counts.get(&address) {
            Some(Some(count)) => return Ok(*count),
            Some(None) => {
                let message = "the schema refers to itself endlessly".to_owned();
                return Err(SchemaError::invalid(self.pointer(schema), message));
            }
            None => self.counts.insert(address, None),
        };
        self.check_limits(schema, PathCount { paths: 1, chain: 1 }, above)?;
        let resource = ResourceRef::new(schema, self.draft);
        let resolver = match resource.id() {
            Some(_) => resolver.in_subresource(resource),
            None => Ok(resolver.clone()),
        };
        let resolver = resolver
            .map_err(|error| SchemaError::invalid(self.pointer(schema), error.to_string()))?;
        let mut count = PathCount { paths: 1, chain: 0 };
        for (next, resolver) in self.same_value_schemas(schema, members, &resolver)? {
            let below = self.count(next, &resolver, above + 1)?;
            count.paths = count.paths.saturating_add(below.paths);
            count.chain = count.chain.max(below.chain);
            self.check_limits(schema, count, above)?;
        }
        // The validator visits the same schemas again to find the evaluated members.
        if members.contains_key("unevaluatedItems") || members.contains_key("unevaluatedProperties")
        {
            count.paths = count.paths.saturating_mul(2);
        }
        count.chain += 1;
        self.check_limits(schema, count, above)?;
        self.counts.insert(address, Some(count));
        self.pending.extend(child_schemas(members).map(|next| (next, resolver.clone())));
        Ok(count)
    }

    fn check_limits(
        &self,
        schema: &Value,
        count: PathCount,
        above: usize,
    ) -> Result<(), SchemaError> {
        let limit = if count.paths > MAX_PATHS {
            format!("more than {MAX_PATHS} paths through its references and alternatives")
        } else if count.chain + above > MAX_CHAIN {
            format!("more than {MAX_CHAIN} references and alternatives in a chain")
        } else {
            return Ok(());
        };
        Err(SchemaError::too_complex(self.pointer(schema), limit))
    }

    /// Returns the schemas that apply to the same value as this one.
    fn same_value_schemas(
        &self,
        schema: &'a Value,
        members: &'a Map<String, Value>,
        resolver: &Resolver<'a>,
    ) -> Result<Vec<(&'a Value, Resolver<'a>)>, SchemaError> {
        let mut found = Vec::new();
        let mut follow = |key: &str, target: Result<referencing::Resolved<'a>, Error>| match target
        {
            Ok(target) => {
                let (contents, resolver, _) = target.into_inner();
                found.push((contents, resolver));
                Ok(())
            }
            Err(error) => {
                let pointer = format!("{}/{key}", self.pointer(schema));
                Err(SchemaError::invalid(pointer, describe_reference_error(&members[key], &error)))
            }
        };
        for key in ["$ref", "$dynamicRef"] {
            if let Some(reference) = members.get(key).and_then(Value::as_str) {
                follow(key, resolver.lookup(reference))?;
            }
        }
        if members.contains_key("$recursiveRef") {
            follow("$recursiveRef", resolver.lookup_recursive_ref())?;
        }
        // Up to draft 7 a `$ref` disables all other keywords beside it.
        let is_ref_exclusive = matches!(self.draft, Draft::Draft4 | Draft::Draft6 | Draft::Draft7);
        if is_ref_exclusive && members.contains_key("$ref") {
            return Ok(found);
        }
        let one = SAME_VALUE_KEYWORDS.iter().filter_map(|key| members.get(*key));
        let several = SAME_VALUE_LIST_KEYWORDS.iter().filter_map(|key| members.get(*key));
        for next in one.chain(several.flat_map(subschemas)) {
            found.push((next, resolver.clone()));
        }
        Ok(found)
    }

    /// Returns the JSON pointer of a schema, for error messages.
    fn pointer(&self, schema: &Value) -> String {
        find_pointer(self.root, &mut String::new(), &mut |value, _| std::ptr::eq(value, schema))
            .unwrap_or_default()
    }
}

/// Returns the schemas that apply to members, items and names.
fn child_schemas(members: &Map<String, Value>) -> impl Iterator<Item = &Value> {
    let one = CHILD_KEYWORDS.iter().filter_map(|key| members.get(*key));
    let several = CHILD_LIST_KEYWORDS.iter().filter_map(|key| members.get(*key));
    one.chain(several.flat_map(subschemas)).filter(|it| it.is_object())
}

/// Returns the items of an array or the members of an object.
fn subschemas(value: &Value) -> Box<dyn Iterator<Item = &Value> + '_> {
    match value {
        Value::Array(items) => Box::new(items.iter()),
        Value::Object(members) => Box::new(members.values()),
        _ => Box::new(std::iter::empty()),
    }
}

/// Returns the pointer of the first value for which `fits` is true.
fn find_pointer(
    value: &Value,
    pointer: &mut String,
    fits: &mut dyn FnMut(&Value, &str) -> bool,
) -> Option<String> {
    if fits(value, pointer) {
        return Some(pointer.clone());
    }
    let length = pointer.len();
    let mut descend = |step: &str, below: &Value| {
        pointer.push('/');
        pointer.push_str(step);
        let found = find_pointer(below, pointer, fits);
        pointer.truncate(length);
        found
    };
    match value {
        Value::Array(items) => {
            items.iter().enumerate().find_map(|(index, item)| descend(&index.to_string(), item))
        }
        Value::Object(members) => members
            .iter()
            .find_map(|(name, below)| descend(&name.replace('~', "~0").replace('/', "~1"), below)),
        _ => None,
    }
}

/// Creates the error of a reference to another document, or of an unknown `$schema`.
fn unresolved_reference(schema: &Value, error: &Error) -> SchemaError {
    let is_meant = |value: &Value| match (error, value.as_str()) {
        (Error::Unretrievable { uri, .. }, Some(text)) => {
            let document = |uri: &str| uri.split('#').next().unwrap_or_default().to_owned();
            let meant = document(text);
            !meant.is_empty() && document(uri).ends_with(&meant)
        }
        (Error::UnknownSpecification { specification }, Some(text)) => text == specification,
        _ => false,
    };
    let is_reference = |pointer: &str| {
        ["/$ref", "/$dynamicRef", "/$schema"].iter().any(|key| pointer.ends_with(key))
    };
    let mut fits = |value: &Value, pointer: &str| is_reference(pointer) && is_meant(value);
    let pointer = find_pointer(schema, &mut String::new(), &mut fits).unwrap_or_default();
    let value = schema.pointer(&pointer).unwrap_or(&Value::Null);
    let message = describe_reference_error(value, error);
    SchemaError::invalid(pointer, message)
}

fn describe_reference_error(reference: &Value, error: &Error) -> String {
    let reference = truncate(&reference.to_string(), MAX_VALUE_CHARS);
    match error {
        Error::Unretrievable { .. } => {
            format!("reference {reference} is to another document, which is not fetched")
        }
        Error::PointerToNowhere { .. } | Error::NoSuchAnchor { .. } => {
            format!("reference {reference} does not resolve")
        }
        Error::UnknownSpecification { .. } => format!(
            "{reference} is not a known draft; known drafts: 2020-12, 2019-09, draft 7, draft 6, draft 4"
        ),
        error => truncate(&error.to_string(), 2 * MAX_VALUE_CHARS),
    }
}

/// A retriever that refuses every document.
struct OfflineRetriever;

impl Retrieve for OfflineRetriever {
    fn retrieve(
        &self,
        _uri: &Uri<String>,
    ) -> Result<Value, Box<dyn std::error::Error + Send + Sync>> {
        Err("documents are not fetched".into())
    }
}
