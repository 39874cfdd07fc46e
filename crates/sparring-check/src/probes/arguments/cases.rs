//! The generated arguments of one tool, and their shrinking.
//!
//! A case is a recipe: it builds the same strategy again and again, and the random numbers
//! come from the seed. A shrunk value is found by repeating the decisions so far, so that
//! nothing of proptest lives while a call runs.

use std::time::{Duration, Instant};

use proptest::prelude::Strategy;
use proptest::strategy::{BoxedStrategy, Just, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::Value;
use sparring_script::Schema;
use sparring_script::schema::Verdict;

use super::generate::{Generator, Member, object};
use super::schema_parts::{merged, properties, required};

/// The number of values that are generated to get a valid one.
const MAX_ATTEMPTS: usize = 20;

/// The number of values that may be too large among them.
const MAX_TOO_LARGE: usize = 3;

/// The number of invalid values that one step of shrinking skips.
const MAX_SKIPPED: usize = 200;

/// The time to look for one valid value, which a hostile schema can exhaust.
const SEARCH_TIME: Duration = Duration::from_millis(500);

/// The largest work of one check against a schema from which values are made.
const MAX_SCHEMA_WORK: u64 = 2_000_000;

/// The recipe of arguments.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Case {
    /// These arguments. They shrink by leaving out optional ones.
    Given(Value),
    /// One kind of values for one argument, and good values for the others.
    One { argument: usize, kind: usize },
    /// Random values for all arguments.
    All { number: u64 },
}

/// The cases of one tool.
pub(super) struct Cases {
    schema: Value,
    compiled: Schema,
    /// The declared arguments.
    arguments: Vec<Argument>,
    seed: u64,
}

struct Argument {
    name: String,
    schema: Value,
    is_required: bool,
    /// A value that is probably good, if there is one.
    good: Option<Value>,
}

impl Cases {
    /// Returns the cases of a tool with this input schema. Returns `None` if the schema
    /// cannot be used. The good arguments should have few optional members.
    pub(super) fn new(schema: &Value, good: &Value, seed: u64) -> Option<Cases> {
        let compiled = Schema::new(schema).ok().filter(|it| it.work() <= MAX_SCHEMA_WORK)?;
        let flat = merged(schema, schema)?;
        let required = required(&flat);
        let arguments = properties(&flat).map(|(name, of_argument)| Argument {
            name: name.clone(),
            schema: of_argument.clone(),
            is_required: required.contains(&&**name),
            good: None,
        });
        let arguments = arguments.collect();
        let mut cases = Cases { schema: schema.clone(), compiled, arguments, seed };
        cases.set_good(good);
        Some(cases)
    }

    /// Replaces the good arguments.
    pub(super) fn set_good(&mut self, good: &Value) {
        for argument in &mut self.arguments {
            argument.good = good.get(&argument.name).cloned();
        }
    }

    /// Returns true if the arguments conform to the input schema.
    pub(super) fn is_valid(&self, arguments: &Value) -> bool {
        self.compiled.check(arguments, 1) == Verdict::Valid
    }

    /// Returns true if the arguments certainly do not conform to the input schema.
    pub(super) fn is_invalid(&self, arguments: &Value) -> bool {
        matches!(self.compiled.check(arguments, 1), Verdict::Invalid(_))
    }

    /// Returns the whole input schema.
    pub(super) fn schema(&self) -> &Value {
        &self.schema
    }

    /// Returns up to this number of cases: first one unusual argument each, then random ones.
    pub(super) fn cases(&self, count: u32) -> Vec<Case> {
        let count = count as usize;
        if self.arguments.is_empty() {
            return Vec::new();
        }
        let generator = Generator::new(&self.schema);
        let kinds =
            self.arguments.iter().map(|it| generator.kinds(&it.schema, Some(&it.name)).len());
        let kinds: Vec<usize> = kinds.collect();
        let most = kinds.iter().copied().max().unwrap_or_default();
        // The last kinds are the most unusual ones.
        let unusual = (1..=most).flat_map(|back| {
            let kinds = kinds.iter().enumerate().filter(move |(_, count)| **count >= back);
            kinds.map(move |(argument, count)| Case::One { argument, kind: count - back })
        });
        let ones = if self.arguments.len() == 1 { count * 4 / 5 } else { count * 2 / 3 };
        let mut cases: Vec<Case> = unusual.take(ones.max(1)).collect();
        let rest = count.saturating_sub(cases.len());
        cases.extend((0..rest as u64).map(|number| Case::All { number }));
        cases.truncate(count);
        cases
    }

    /// Returns the arguments of a case, unless it has no valid ones.
    pub(super) fn arguments(&self, case: &Case) -> Option<Value> {
        Some(self.tree(case)?.current())
    }

    fn tree(&self, case: &Case) -> Option<Box<dyn ValueTree<Value = Value>>> {
        let strategy = self.strategy(case);
        let mut runner = self.runner(case);
        if let Case::Given(_) = case {
            return strategy.new_tree(&mut runner).ok();
        }
        let began = Instant::now();
        let attempts = (0..MAX_ATTEMPTS).take_while(|_| began.elapsed() < SEARCH_TIME);
        let trees = attempts.map(|_| strategy.new_tree(&mut runner).ok());
        // Values that are too large once are so most of the time.
        let too_large = |failed: &mut usize, tree: &Option<_>| {
            *failed += usize::from(tree.is_none());
            *failed <= MAX_TOO_LARGE
        };
        let trees = trees.scan(0, |failed, tree| too_large(failed, &tree).then_some(tree));
        trees.flatten().find(|tree| self.is_valid(&tree.current()))
    }

    fn strategy(&self, case: &Case) -> BoxedStrategy<Value> {
        let generator = Generator::new(&self.schema);
        match case {
            Case::Given(value) => given(value, &self.schema),
            Case::One { argument, kind } => {
                let members = self.arguments.iter().enumerate();
                let members = members.filter_map(|(index, it)| match index == *argument {
                    true => {
                        let mut kinds = generator.kinds(&it.schema, Some(&it.name));
                        (*kind < kinds.len()).then(|| it.member(kinds.swap_remove(*kind), true))
                    }
                    false => it.good_member(&generator),
                });
                generator.limited(object(members.collect()))
            }
            Case::All { .. } => {
                let members = self.arguments.iter().map(|it| {
                    let values = generator.any(&it.schema, Some(&it.name));
                    it.member(values, false)
                });
                generator.limited(object(members.collect()))
            }
        }
    }

    /// Returns a source of random numbers for a case.
    fn runner(&self, case: &Case) -> TestRunner {
        let (kind, first, second) = match case {
            Case::Given(_) => (0, 0, 0),
            Case::One { argument, kind } => (1, *argument as u64, *kind as u64),
            Case::All { number } => (2, *number, 0),
        };
        let numbers = [self.seed, kind, first, second];
        let seed: Vec<u8> = numbers.iter().flat_map(|it| it.to_le_bytes()).collect();
        let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &seed);
        TestRunner::new_with_rng(Config { failure_persistence: None, ..Config::default() }, rng)
    }
}

/// The search for smaller arguments of one case that fail too.
pub(super) struct Shrinking {
    case: Case,
    /// The moves from the first arguments to the present ones.
    moves: Vec<Move>,
}

#[derive(Debug, Clone, Copy)]
enum Move {
    Simplify,
    Complicate,
}

impl Move {
    fn apply(self, tree: &mut dyn ValueTree<Value = Value>) -> bool {
        match self {
            Move::Simplify => tree.simplify(),
            Move::Complicate => tree.complicate(),
        }
    }
}

impl Shrinking {
    /// Begins with the arguments of a case.
    pub(super) fn new(case: Case) -> Shrinking {
        Shrinking { case, moves: Vec::new() }
    }

    /// Returns the next arguments to try, given whether the present ones fail. Returns
    /// `None` if there are no more.
    pub(super) fn next(&mut self, cases: &Cases, fails: bool) -> Option<Value> {
        let mut tree = cases.tree(&self.case)?;
        for known in &self.moves {
            known.apply(&mut *tree);
        }
        let mut next = if fails { Move::Simplify } else { Move::Complicate };
        let began = Instant::now();
        for _ in 0..MAX_SKIPPED {
            if began.elapsed() > SEARCH_TIME || !next.apply(&mut *tree) {
                return None;
            }
            self.moves.push(next);
            let arguments = tree.current();
            if cases.is_valid(&arguments) {
                return Some(arguments);
            }
            // Arguments that are not valid count as such that do not fail.
            next = Move::Complicate;
        }
        None
    }
}

impl Argument {
    fn member(&self, values: BoxedStrategy<Value>, is_always_present: bool) -> Member {
        let (name, is_required) = (self.name.clone(), self.is_required);
        Member { name, is_required, is_always_present, values }
    }

    /// Returns the member with its good value, or with any if it is required.
    fn good_member(&self, generator: &Generator<'_>) -> Option<Member> {
        match &self.good {
            Some(value) => Some(self.member(Just(value.clone()).boxed(), true)),
            None if self.is_required => {
                Some(self.member(generator.any(&self.schema, Some(&self.name)), true))
            }
            None => None,
        }
    }
}

/// Returns a strategy for one value, that shrinks by leaving out optional members.
fn given(value: &Value, schema: &Value) -> BoxedStrategy<Value> {
    let Some(members) = value.as_object() else { return Just(value.clone()).boxed() };
    let flat = merged(schema, schema).unwrap_or_default();
    let required = required(&flat);
    let members = members.iter().map(|(name, value)| Member {
        name: name.clone(),
        is_required: required.contains(&&**name),
        is_always_present: true,
        values: Just(value.clone()).boxed(),
    });
    object(members.collect())
}

/// Returns the seed of a tool: that of the check and the tool's name.
pub(super) fn seed_of(seed: u64, tool: &str) -> u64 {
    // FNV-1a, so that the same name gives the same number in every version of Rust.
    let start = 0xcbf2_9ce4_8422_2325 ^ seed;
    tool.bytes().fold(start, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn cases(schema: &Value, good: &Value) -> Cases {
        Cases::new(schema, good, seed_of(0, "tool")).unwrap()
    }

    /// Shrinks the first case that fails, and returns the smallest arguments and the number
    /// of calls.
    fn shrink(cases: &Cases, fails: impl Fn(&Value) -> bool) -> Option<(Value, usize)> {
        let failing = cases.cases(20).into_iter().find_map(|case| {
            let value = cases.arguments(&case)?;
            fails(&value).then_some((case, value))
        });
        let (case, mut smallest) = failing?;
        let mut shrinking = Shrinking::new(case);
        let (mut calls, mut failed) = (0, true);
        while let Some(value) = shrinking.next(cases, failed) {
            calls += 1;
            failed = fails(&value);
            if failed {
                smallest = value;
            }
            assert!(calls < 300);
        }
        Some((smallest, calls))
    }

    #[track_caller]
    fn check(schema: Value, good: Value, fails: fn(&Value) -> bool, expected: Value) {
        let cases = cases(&schema, &good);
        let (smallest, _) = shrink(&cases, fails).expect("no case fails");
        assert_eq!(smallest, expected, "{schema}");
    }

    #[test]
    fn finds_and_shrinks_unusual_values() {
        let of = |schema: Value| json!({"type": "object", "properties": {"a": schema, "b": {"type": "string"}}, "required": ["a"]});
        let integer = of(json!({"type": "integer"}));
        check(
            integer.clone(),
            json!({"a": 1}),
            |it| it["a"].as_i64() > Some(1000),
            json!({"a": 1001}),
        );
        check(integer.clone(), json!({"a": 1}), |it| it["a"].as_i64() < Some(0), json!({"a": -1}));
        check(integer, json!({"a": 1}), |it| it["a"] == 0, json!({"a": 0}));
        let bounded = of(json!({"type": "integer", "minimum": 3, "maximum": 10}));
        check(bounded.clone(), json!({"a": 5}), |it| it["a"] == 10, json!({"a": 10}));
        check(bounded, json!({"a": 5}), |it| it["a"] == 3, json!({"a": 3}));
        let number = of(json!({"type": "number"}));
        check(
            number,
            json!({"a": 1}),
            |it| it["a"].as_f64().is_some_and(|it| it.fract() != 0.0),
            json!({"a": 0.5}),
        );
        let text = of(json!({"type": "string"}));
        fn has(value: &Value, part: &str) -> bool {
            value["a"].as_str().is_some_and(|it| it.contains(part))
        }
        check(text.clone(), json!({"a": "x"}), |it| it["a"] == "", json!({"a": ""}));
        check(
            text.clone(),
            json!({"a": "x"}),
            |it| !it["a"].as_str().unwrap().is_ascii(),
            json!({"a": "😀"}),
        );
        check(text.clone(), json!({"a": "x"}), |it| has(it, "😀"), json!({"a": "😀"}));
        check(text.clone(), json!({"a": "x"}), |it| has(it, "\n"), json!({"a": "\n"}));
        check(
            text,
            json!({"a": "x"}),
            |it| it["a"].as_str().unwrap().len() > 100,
            json!({"a": "a".repeat(101)}),
        );
        let list = of(json!({"type": "array", "items": {"type": "integer"}}));
        check(list.clone(), json!({"a": [1]}), |it| it["a"] == json!([]), json!({"a": []}));
        check(
            list,
            json!({"a": [1]}),
            |it| it["a"].as_array().unwrap().len() > 10,
            json!({"a": vec![0; 11]}),
        );
        let nullable =
            of(json!({"anyOf": [{"type": "integer"}, {"type": "null"}], "default": null}));
        check(nullable, json!({"a": 1}), |it| it["a"].is_null(), json!({"a": null}));
    }

    #[test]
    fn values_that_multiply_have_a_limited_size() {
        let nested = |count: u64, length: u64, depth: usize| {
            let text = json!({"type": "string", "minLength": length});
            let nested = (0..depth)
                .fold(text, |items, _| json!({"type": "array", "minItems": count, "items": items}));
            json!({"type": "object", "properties": {"a": nested}, "required": ["a"]})
        };
        let names: Vec<String> = ('a'..='z').map(String::from).collect();
        let members = names.iter().map(|name| (name.clone(), json!({"$ref": "#"})));
        let wide =
            json!({"type": "object", "properties": members.collect::<serde_json::Map<_, _>>()});
        let long = json!({"$defs": {"a": {"const": "x".repeat(50_000)}}, "properties": {
            "a": {"type": "array", "items": {"$ref": "#/$defs/a"}},
        }});
        for schema in [nested(10, 1000, 12), nested(0, 20_000, 12), nested(200, 0, 3), wide, long] {
            let cases = cases(&schema, &json!({}));
            for case in cases.cases(6) {
                let size = cases.arguments(&case).map_or(0, |it| it.to_string().len());
                assert!(size < 600_000, "{size}: {case:?}");
            }
        }
        let endless = nested(1_000_000_000_000, 1_000_000_000, 1);
        assert!(
            cases(&endless, &json!({})).cases(20).iter().all(|it| matches!(it, Case::All { .. }))
        );
    }

    #[test]
    fn every_case_is_valid_and_repeatable() {
        let schema = json!({
            "type": "object",
            "$defs": {
                "node": {
                    "type": "object",
                    "properties": {"name": {"type": "string", "minLength": 1}, "next": {"$ref": "#/$defs/node"}},
                    "required": ["name"],
                    "additionalProperties": false,
                },
                "limited": {"allOf": [{"type": "integer", "minimum": 3}, {"maximum": 40, "multipleOf": 4}]},
            },
            "properties": {
                "node": {"$ref": "#/$defs/node"},
                "number": {"$ref": "#/$defs/limited"},
                "code": {"type": "string", "pattern": "^[A-Z]{2}-\\d{3}$"},
                "choice": {"oneOf": [{"const": "x"}, {"type": "object", "properties": {"k": {"enum": [1, 2]}}, "required": ["k"]}]},
                "pairs": {"type": "array", "prefixItems": [{"type": "string"}, {"type": "number"}], "items": false},
                "tags": {"type": "array", "items": {"type": "string", "maxLength": 3}, "uniqueItems": true, "minItems": 1},
                "map": {"type": "object", "additionalProperties": {"type": "integer", "minimum": 0}},
                "when": {"type": "string", "format": "date-time"},
                "any": {},
            },
            "required": ["node", "number", "code", "tags"],
        });
        let cases = cases(&schema, &json!({}));
        let all = cases.cases(200);
        assert_eq!(all.len(), 200);
        let values: Vec<_> = all.iter().map(|case| cases.arguments(case)).collect();
        let valid: Vec<&Value> = values.iter().flatten().collect();
        assert!(valid.len() > 150, "{}", valid.len());
        assert!(valid.iter().all(|value| cases.is_valid(value)));
        let again: Vec<_> = all.iter().map(|case| cases.arguments(case)).collect();
        assert_eq!(values, again);
        for name in ["node", "number", "code", "choice", "pairs", "tags", "map", "when", "any"] {
            assert!(valid.iter().any(|it| it.get(name).is_some()), "{name}");
        }
        let other = Cases::new(&schema, &json!({}), seed_of(1, "tool")).unwrap();
        let others: Vec<_> = all.iter().map(|case| other.arguments(case)).collect();
        assert_ne!(values, others);
    }
}
