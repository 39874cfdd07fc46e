//! Examines a schema before it is compiled: does it refer to itself without end, and
//! how much work can one value cause?
//!
//! A validator tries every way through `$ref` and the combinators, so a small schema
//! whose alternatives share targets has an exponential number of ways. This module
//! counts them without following them one by one: the count of a schema is the sum of
//! the counts of the schemas that apply to the same value, and is computed once.

use std::collections::HashMap;

use referencing::{Draft, Error, Registry, Resolver, ResourceRef, Retrieve, Uri};
use serde_json::{Map, Value};

use super::error::SchemaError;
use super::text::{MAX_SHOWN, shorten};

/// The most ways through schemas that apply to the same value.
const MAX_PATHS: u64 = 10_000;

/// The longest chain of schemas that apply to the same value.
const MAX_CHAIN: usize = 200;

/// The most JSON values in a schema.
const MAX_VALUES: usize = 200_000;

/// The deepest nesting of a schema.
const MAX_NESTING: usize = 200;

/// The most different patterns in a schema.
const MAX_PATTERNS: usize = 1_000;

/// The URI of a schema that has no `$id`.
const ROOT: &str = "json-schema:///";

/// Keywords with one schema for the value itself.
const IN_PLACE: [&str; 4] = ["not", "if", "then", "else"];

/// Keywords with several schemas for the value itself, as a list or by name.
const IN_PLACE_SEVERAL: [&str; 5] = ["allOf", "anyOf", "oneOf", "dependentSchemas", "dependencies"];

/// Keywords with schemas for members, items or names.
const BELOW: [&str; 7] = [
    "items",
    "additionalItems",
    "unevaluatedItems",
    "contains",
    "additionalProperties",
    "unevaluatedProperties",
    "propertyNames",
];

/// Keywords with several schemas for members or items, as a list or by name.
const BELOW_SEVERAL: [&str; 4] = ["items", "prefixItems", "properties", "patternProperties"];

/// How much work a schema can cause.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    /// The most ways through schemas that apply to the same value.
    pub(super) paths: u64,
    /// The longest chain of schemas that apply to the same value.
    pub(super) chain: usize,
    /// Whether a pattern has look-around or backreferences, and so may backtrack.
    pub(super) backtracks: bool,
    /// How many JSON values the schema consists of.
    pub(super) values: usize,
    /// How deeply the schema is nested.
    pub(super) nesting: usize,
    /// How many patterns the schema has.
    pub(super) patterns: usize,
}

impl Shape {
    /// Whether the schema is certain to be compiled quickly.
    pub(super) fn is_small(self) -> bool {
        self.values <= 2_000 && self.nesting <= 20 && self.patterns <= 20
    }
}

/// Counts the ways through a schema.
///
/// # Errors
/// When a reference leads nowhere or only to itself, or when the schema is too complex.
pub(super) fn examine(schema: &Value, mut shape: Shape) -> Result<Shape, SchemaError> {
    let draft = Draft::default().detect(schema);
    let registry = Registry::new()
        .retriever(NoRetriever)
        .draft(draft)
        .add(ROOT, schema)
        .and_then(referencing::RegistryBuilder::prepare)
        .map_err(|error| unresolved(schema, &error))?;
    let root = referencing::uri::from_str(ROOT).expect("the constant is a URI");
    let mut walk = Walk { root: schema, draft, counts: HashMap::new(), waiting: Vec::new() };
    walk.waiting.push((schema, registry.resolver(root)));
    while let Some((next, resolver)) = walk.waiting.pop() {
        let count = walk.visit(next, &resolver, 0)?;
        shape.paths = shape.paths.max(count.paths);
        shape.chain = shape.chain.max(count.chain);
    }
    Ok(shape)
}

/// Finds the sizes that need no references, without recursion.
///
/// # Errors
/// When one of them is too large.
pub(super) fn measure(schema: &Value) -> Result<Shape, SchemaError> {
    let mut shape =
        Shape { paths: 1, chain: 1, backtracks: false, values: 0, nesting: 0, patterns: 0 };
    let mut waiting = vec![(schema, 1)];
    while let Some((value, depth)) = waiting.pop() {
        shape.values += 1;
        shape.nesting = shape.nesting.max(depth);
        match value {
            Value::Array(items) => waiting.extend(items.iter().map(|item| (item, depth + 1))),
            Value::Object(members) => {
                waiting.extend(members.values().map(|member| (member, depth + 1)));
                for pattern in patterns(members) {
                    shape.patterns += 1;
                    shape.backtracks |= may_backtrack(pattern);
                }
            }
            _ => {}
        }
        let limit = if shape.values > MAX_VALUES {
            format!("it has more than {MAX_VALUES} values")
        } else if shape.nesting > MAX_NESTING {
            format!("it is nested more than {MAX_NESTING} levels deep")
        } else if shape.patterns > MAX_PATTERNS {
            format!("it has more than {MAX_PATTERNS} patterns")
        } else {
            continue;
        };
        return Err(SchemaError::too_complex(String::new(), limit));
    }
    Ok(shape)
}

fn patterns(members: &Map<String, Value>) -> impl Iterator<Item = &str> {
    let by_name = members.get("patternProperties").and_then(Value::as_object);
    let by_name = by_name.into_iter().flat_map(Map::keys).map(String::as_str);
    members.get("pattern").and_then(Value::as_str).into_iter().chain(by_name)
}

/// Whether a pattern contains what the linear engine cannot do.
fn may_backtrack(pattern: &str) -> bool {
    regex_syntax::ast::parse::Parser::new().parse(pattern).is_err()
}

/// The counts of one schema.
#[derive(Clone, Copy)]
struct Count {
    paths: u64,
    chain: usize,
}

struct Walk<'a> {
    root: &'a Value,
    draft: Draft,
    /// The counts by the address of a schema; none while a schema is being counted.
    counts: HashMap<usize, Option<Count>>,
    /// Schemas of members and items, which apply to other values.
    waiting: Vec<(&'a Value, Resolver<'a>)>,
}

impl<'a> Walk<'a> {
    /// Counts a schema. The recursion ends at [`MAX_CHAIN`].
    fn visit(
        &mut self,
        schema: &'a Value,
        resolver: &Resolver<'a>,
        above: usize,
    ) -> Result<Count, SchemaError> {
        let Value::Object(members) = schema else { return Ok(Count { paths: 1, chain: 1 }) };
        let address = std::ptr::from_ref(schema) as usize;
        match self.counts.get(&address) {
            Some(Some(count)) => return Ok(*count),
            Some(None) => {
                let message = "the schema refers to itself without end".to_owned();
                return Err(SchemaError::invalid(self.pointer(schema), message));
            }
            None => self.counts.insert(address, None),
        };
        self.limit(schema, Count { paths: 1, chain: 1 }, above)?;
        let resource = ResourceRef::new(schema, self.draft);
        let resolver = match resource.id() {
            Some(_) => resolver.in_subresource(resource),
            None => Ok(resolver.clone()),
        };
        let resolver = resolver
            .map_err(|error| SchemaError::invalid(self.pointer(schema), error.to_string()))?;
        let mut count = Count { paths: 1, chain: 0 };
        for (next, resolver) in self.in_place(schema, members, &resolver)? {
            let below = self.visit(next, &resolver, above + 1)?;
            count.paths = count.paths.saturating_add(below.paths);
            count.chain = count.chain.max(below.chain);
            self.limit(schema, count, above)?;
        }
        // What was evaluated is found out by going through the same schemas again.
        if members.contains_key("unevaluatedItems") || members.contains_key("unevaluatedProperties")
        {
            count.paths = count.paths.saturating_mul(2);
        }
        count.chain += 1;
        self.limit(schema, count, above)?;
        self.counts.insert(address, Some(count));
        self.waiting.extend(below(members).map(|next| (next, resolver.clone())));
        Ok(count)
    }

    fn limit(&self, schema: &Value, count: Count, above: usize) -> Result<(), SchemaError> {
        let limit = if count.paths > MAX_PATHS {
            format!("more than {MAX_PATHS} ways lead through its references and alternatives")
        } else if count.chain + above > MAX_CHAIN {
            format!("a chain of its references and alternatives is longer than {MAX_CHAIN}")
        } else {
            return Ok(());
        };
        Err(SchemaError::too_complex(self.pointer(schema), limit))
    }

    /// The schemas that apply to the same value as this one.
    fn in_place(
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
                Err(SchemaError::invalid(pointer, describe(&members[key], &error)))
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
        // Up to draft 7 nothing else beside a `$ref` counts.
        let old = matches!(self.draft, Draft::Draft4 | Draft::Draft6 | Draft::Draft7);
        if old && members.contains_key("$ref") {
            return Ok(found);
        }
        let one = IN_PLACE.iter().filter_map(|key| members.get(*key));
        let several = IN_PLACE_SEVERAL.iter().filter_map(|key| members.get(*key));
        for next in one.chain(several.flat_map(each)) {
            found.push((next, resolver.clone()));
        }
        Ok(found)
    }

    /// The JSON pointer of a schema. Only errors need it.
    fn pointer(&self, schema: &Value) -> String {
        find(self.root, &mut String::new(), &mut |value, _| std::ptr::eq(value, schema))
            .unwrap_or_default()
    }
}

/// The schemas that apply to members, items and names.
fn below(members: &Map<String, Value>) -> impl Iterator<Item = &Value> {
    let one = BELOW.iter().filter_map(|key| members.get(*key));
    let several = BELOW_SEVERAL.iter().filter_map(|key| members.get(*key));
    one.chain(several.flat_map(each)).filter(|it| it.is_object())
}

fn each(value: &Value) -> Box<dyn Iterator<Item = &Value> + '_> {
    match value {
        Value::Array(items) => Box::new(items.iter()),
        Value::Object(members) => Box::new(members.values()),
        _ => Box::new(std::iter::empty()),
    }
}

/// The pointer of the first value that fits.
fn find(
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
        let found = find(below, pointer, fits);
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

/// A reference to another document, or `$schema` of an unknown draft.
fn unresolved(schema: &Value, error: &Error) -> SchemaError {
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
    let pointer = find(schema, &mut String::new(), &mut fits).unwrap_or_default();
    let value = schema.pointer(&pointer).unwrap_or(&Value::Null);
    let message = describe(value, error);
    SchemaError::invalid(pointer, message)
}

fn describe(reference: &Value, error: &Error) -> String {
    let shown = shorten(&reference.to_string(), MAX_SHOWN);
    match error {
        Error::Unretrievable { .. } => {
            format!("the reference {shown} is to another document, and nothing is fetched")
        }
        Error::PointerToNowhere { .. } | Error::NoSuchAnchor { .. } => {
            format!("the reference {shown} leads nowhere")
        }
        Error::UnknownSpecification { .. } => format!(
            "{shown} is not a known draft; known are 2020-12, 2019-09, draft 7, draft 6 and draft 4"
        ),
        error => shorten(&error.to_string(), 2 * MAX_SHOWN),
    }
}

/// Fetches nothing.
struct NoRetriever;

impl Retrieve for NoRetriever {
    fn retrieve(
        &self,
        _uri: &Uri<String>,
    ) -> Result<Value, Box<dyn std::error::Error + Send + Sync>> {
        Err("nothing is fetched".into())
    }
}
