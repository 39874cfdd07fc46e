//! Strategies for values of a JSON Schema, each with proptest's generation and shrinking.
//!
//! A strategy can give values that do not conform, for example where a schema has `not`. The
//! caller checks them.

mod limited;
mod numbers;
mod optional;
mod search;
mod texts;

use std::cell::Cell;

use proptest::collection::vec;
use proptest::prelude::Strategy;
use proptest::sample::select;
use proptest::strategy::{BoxedStrategy, Just, NewTree, Union, ValueTree};
use proptest::test_runner::TestRunner;
use serde_json::{Map, Value, json};

pub(super) use self::numbers::lets_wait;

use self::limited::{Counted, Limited, Spent};
use self::optional::Optional;
use self::search::Search;
use super::schema_parts::{alternatives, merged, properties, required, types};

/// The limits of one strategy.
const MAX_DEPTH: usize = 6;
const MAX_PARTS: usize = 3_000;

/// The number of items of a long array without a limit in its schema.
const LONG: u64 = 200;

/// The number of kinds of items that each get an array of their own.
const MAX_ITEM_KINDS: usize = 3;

/// The names of members that only `additionalProperties` declares.
const NAMES: [&str; 6] = ["a", "b", "A b", "é", "__proto__", ""];

/// Makes strategies for the parts of one schema.
pub(super) struct Generator<'a> {
    root: &'a Value,
    /// The number of strategies so far.
    parts: Cell<usize>,
    /// The size of the value that the strategies are generating.
    spent: Spent,
}

/// A member of an object, with the values that it can have.
pub(super) struct Member {
    pub(super) name: String,
    pub(super) is_required: bool,
    pub(super) is_always_present: bool,
    pub(super) values: BoxedStrategy<Value>,
}

impl<'a> Generator<'a> {
    /// Makes strategies for parts of this schema.
    pub(super) fn new(root: &'a Value) -> Self {
        Generator { root, parts: Cell::new(0), spent: Spent::default() }
    }

    /// Limits the size of the values that a strategy generates from strategies of this generator.
    pub(super) fn limited(&self, inner: BoxedStrategy<Value>) -> BoxedStrategy<Value> {
        Limited { inner, spent: self.spent.clone() }.boxed()
    }

    /// Returns a strategy for all kinds of values that a part allows.
    pub(super) fn any(&self, schema: &Value, name: Option<&str>) -> BoxedStrategy<Value> {
        self.union(schema, name, 0)
    }

    /// Returns a strategy for each kind of values that a part allows, the simplest first.
    pub(super) fn kinds(&self, schema: &Value, name: Option<&str>) -> Vec<BoxedStrategy<Value>> {
        self.kinds_at(schema, name, 0)
    }

    fn union(&self, schema: &Value, name: Option<&str>, depth: usize) -> BoxedStrategy<Value> {
        let kinds = self.kinds_at(schema, name, depth);
        match kinds.is_empty() {
            true => Just(Value::Null).boxed(),
            false => Union::new(kinds).boxed(),
        }
    }

    fn kinds_at(
        &self,
        schema: &Value,
        name: Option<&str>,
        depth: usize,
    ) -> Vec<BoxedStrategy<Value>> {
        let kinds = self.uncounted_kinds(schema, name, depth).into_iter();
        kinds.map(|inner| Counted { inner, spent: self.spent.clone() }.boxed()).collect()
    }

    fn uncounted_kinds(
        &self,
        schema: &Value,
        name: Option<&str>,
        depth: usize,
    ) -> Vec<BoxedStrategy<Value>> {
        self.parts.set(self.parts.get() + 1);
        if depth > MAX_DEPTH * 2 || self.parts.get() > MAX_PARTS {
            return Vec::new();
        }
        let Some(schema) = merged(self.root, schema) else { return Vec::new() };
        if let Some(value) = schema.get("const") {
            return vec![Just(value.clone()).boxed()];
        }
        if let Some(values) = schema.get("enum").and_then(Value::as_array) {
            let values = values.clone();
            return if values.is_empty() { Vec::new() } else { vec![select(values).boxed()] };
        }
        let choices = alternatives(self.root, &schema);
        if choices.len() != 1 || choices[0] != schema {
            let choices = choices.into_iter().map(Value::Object);
            return choices.flat_map(|it| self.kinds_at(&it, name, depth + 1)).collect();
        }
        let types = types(&schema);
        if types.is_empty() {
            return anything();
        }
        types.into_iter().flat_map(|it| self.kinds_of_type(&schema, it, name, depth)).collect()
    }

    fn kinds_of_type(
        &self,
        schema: &Map<String, Value>,
        kind: &str,
        name: Option<&str>,
        depth: usize,
    ) -> Vec<BoxedStrategy<Value>> {
        match kind {
            "string" => texts::texts(schema),
            "integer" => numbers::integers(schema, name),
            "number" => numbers::numbers(schema, name),
            "boolean" => vec![select(vec![json!(false), json!(true)]).boxed()],
            "null" => vec![Just(Value::Null).boxed()],
            "array" => self.arrays(schema, name, depth),
            "object" => self.objects(schema, depth),
            _ => Vec::new(),
        }
    }

    fn arrays(
        &self,
        schema: &Map<String, Value>,
        name: Option<&str>,
        depth: usize,
    ) -> Vec<BoxedStrategy<Value>> {
        let size = |key: &str| schema.get(key).and_then(Value::as_u64);
        let least = size("minItems").unwrap_or(0);
        if least > LONG {
            return Vec::new();
        }
        let most = size("maxItems").unwrap_or(LONG).clamp(least, LONG);
        let empty = || Just(json!([])).boxed();
        if let Some(Value::Array(first)) = schema.get("prefixItems") {
            let items = first.iter().map(|it| self.union(it, name, depth + 1));
            return vec![items.collect::<Vec<_>>().prop_map(Value::Array).boxed()];
        }
        if depth > MAX_DEPTH && least == 0 {
            return vec![empty()];
        }
        let items = self.union(schema.get("items").unwrap_or(&Value::Bool(true)), name, depth + 1);
        let few = least as usize..=most.min(least.max(1) + 2) as usize;
        let mut kinds = vec![vec(items.clone(), few).prop_map(Value::Array).boxed()];
        let is_unique = schema.get("uniqueItems") == Some(&Value::Bool(true));
        if !is_unique && most > least.max(3) {
            let spent = self.spent.clone();
            kinds.push(RepeatedItem { item: items, least, start: most, spent }.boxed());
        }
        // One item of each of the most unusual kinds.
        if least <= 1 && most >= 1 {
            let item = schema.get("items").unwrap_or(&Value::Bool(true));
            let items = self.kinds_at(item, name, depth + 1).into_iter().rev();
            let mut single: Vec<_> = items.take(MAX_ITEM_KINDS).collect();
            single.reverse();
            kinds.extend(single.into_iter().map(|it| it.prop_map(|it| json!([it])).boxed()));
        }
        if least == 0 {
            kinds.push(empty());
        }
        kinds
    }

    fn objects(&self, schema: &Map<String, Value>, depth: usize) -> Vec<BoxedStrategy<Value>> {
        let required = required(schema);
        let mut members = Vec::new();
        for (name, of_member) in properties(schema) {
            let is_required = required.contains(&&**name);
            if !is_required && (depth > MAX_DEPTH || *of_member == false) {
                continue;
            }
            let values = self.union(of_member, Some(name), depth + 1);
            let (name, is_always_present) = (name.clone(), false);
            members.push(Member { name, is_required, is_always_present, values });
        }
        for name in required.iter() {
            if members.iter().any(|known| known.name == **name) {
                continue;
            }
            let values = self.union(&Value::Bool(true), Some(name), depth + 1);
            let (name, is_always_present) = ((*name).to_owned(), true);
            members.push(Member { name, is_required: true, is_always_present, values });
        }
        let declared = object(members);
        let further = schema.get("additionalProperties").filter(|it| it.is_object());
        match further.filter(|_| depth <= MAX_DEPTH) {
            None => vec![declared],
            Some(further) => {
                let values = self.union(further, None, depth + 1);
                let entries = vec((select(NAMES.to_vec()), values), 0..=2);
                let both = (declared, entries).prop_map(|(mut object, entries)| {
                    for (name, value) in entries {
                        if let Some(members) = object.as_object_mut() {
                            members.entry(name).or_insert(value);
                        }
                    }
                    object
                });
                vec![both.boxed()]
            }
        }
    }
}

/// Returns a strategy for objects with these members.
pub(super) fn object(members: Vec<Member>) -> BoxedStrategy<Value> {
    let members = members.into_iter().map(|member| {
        let Member { name, is_required, is_always_present, values } = member;
        let value = Optional { inner: values, is_always_present, is_required };
        value.prop_map(move |value| value.map(|value| (name.clone(), value)))
    });
    let members: Vec<_> = members.collect();
    members.prop_map(|members| Value::Object(members.into_iter().flatten().collect())).boxed()
}

/// Returns strategies for values without a schema.
fn anything() -> Vec<BoxedStrategy<Value>> {
    let values =
        [json!("a"), json!(0), json!(true), json!({}), json!([]), json!("😀"), Value::Null];
    vec![select(values.to_vec()).boxed()]
}

/// An array of one repeated item. It shrinks to fewer items, then to a simpler item.
#[derive(Debug, Clone)]
struct RepeatedItem {
    item: BoxedStrategy<Value>,
    least: u64,
    start: u64,
    spent: Spent,
}

struct RepeatedItemTree {
    item: Box<dyn ValueTree<Value = Value>>,
    count: Search,
    shrinks_item: bool,
}

impl Strategy for RepeatedItem {
    type Tree = RepeatedItemTree;
    type Value = Value;

    fn new_tree(&self, runner: &mut TestRunner) -> NewTree<Self> {
        let before = self.spent.get();
        let item = self.item.new_tree(runner)?;
        let copies = self.start.saturating_sub(1) as usize;
        self.spent.add((self.spent.get() - before).saturating_mul(copies))?;
        let count = Search::new(self.least, self.start);
        Ok(RepeatedItemTree { item, count, shrinks_item: false })
    }
}

impl ValueTree for RepeatedItemTree {
    type Value = Value;

    fn current(&self) -> Value {
        Value::Array(vec![self.item.current(); self.count.current() as usize])
    }

    fn simplify(&mut self) -> bool {
        if !self.shrinks_item && self.count.simplify() {
            return true;
        }
        self.shrinks_item = true;
        self.count.current() > 0 && self.item.simplify()
    }

    fn complicate(&mut self) -> bool {
        match self.shrinks_item {
            true => self.item.complicate(),
            false => self.count.complicate(),
        }
    }
}
