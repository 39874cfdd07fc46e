//! Strategies for numbers: the limits of the schema, small ones, and fractions.

use proptest::prelude::Strategy;
use proptest::sample::select;
use proptest::strategy::{BoxedStrategy, NewTree, ValueTree};
use proptest::test_runner::TestRunner;
use serde_json::{Map, Value, json};

use super::search::Search;

/// The largest integer that every JSON library reads exactly.
const MAX_INTEGER: i128 = (1 << 53) - 1;

/// The ends of ordinary random integers.
const ORDINARY: i128 = 10_000;

/// The words in the names of numbers that let a tool wait.
const WAITING: [&str; 11] = [
    "duration", "delay", "sleep", "wait", "timeout", "interval", "secs", "millis", "ms", "ttl",
    "pause",
];

/// The units of time in the names and descriptions of such numbers.
const UNITS: [&str; 5] = ["seconds", "milliseconds", "microseconds", "minutes", "hours"];

/// The integers that a schema allows.
#[derive(Debug, Clone, Copy)]
struct Range {
    low: i128,
    high: i128,
    step: i128,
}

/// Returns the strategies for integers, the simplest first.
pub(super) fn integers(
    schema: &Map<String, Value>,
    name: Option<&str>,
) -> Vec<BoxedStrategy<Value>> {
    let Some(range) = Range::of(schema) else { return Vec::new() };
    let simplest = range.nearest(0);
    let around = |distance: i128| Integers {
        simplest,
        step: range.step,
        from: range.nearest((simplest - distance * range.step).max(range.low)),
        to: range.nearest((simplest + distance * range.step).min(range.high)),
    };
    if lets_wait(schema, name) {
        return vec![Integers { from: simplest, ..around(1) }.boxed()];
    }
    let at = |number: i128| {
        let number = range.nearest(number);
        Integers { simplest, step: range.step, from: number, to: number }.boxed()
    };
    let mut strategies = vec![around(10).boxed(), around(ORDINARY).boxed()];
    strategies.push(at(0));
    strategies.push(at(range.low));
    strategies.push(at(range.high));
    strategies
}

/// Returns the strategies for numbers, the simplest first.
pub(super) fn numbers(
    schema: &Map<String, Value>,
    name: Option<&str>,
) -> Vec<BoxedStrategy<Value>> {
    let mut strategies = integers(schema, name);
    if lets_wait(schema, name) && !strategies.is_empty() {
        return strategies;
    }
    let of = |key: &str| schema.get(key).and_then(Value::as_f64);
    let low = of("minimum").or(of("exclusiveMinimum")).unwrap_or(f64::MIN);
    let high = of("maximum").or(of("exclusiveMaximum")).unwrap_or(f64::MAX);
    let fits = |number: &f64| (low..=high).contains(number);
    let middle = if of("multipleOf").is_none() { low / 2.0 + high / 2.0 } else { 0.5 };
    let fractions = [0.5, 0.1, 1.5, -0.5, -1.5, middle].into_iter();
    let extremes = [1e-7, 1e15 + 0.5, low, high].into_iter();
    for numbers in [fractions.filter(fits).collect::<Vec<_>>(), extremes.filter(fits).collect()] {
        if !numbers.is_empty() {
            strategies
                .insert(strategies.len().min(2), select(numbers).prop_map(|it| json!(it)).boxed());
        }
    }
    strategies
}

/// Returns true if a large number probably lets the tool wait long, as it should.
pub(in crate::probes::arguments) fn lets_wait(
    schema: &Map<String, Value>,
    name: Option<&str>,
) -> bool {
    let mut words = String::new();
    for c in name.unwrap_or_default().chars() {
        if c.is_uppercase() {
            words.push(' ');
        }
        words.extend(c.to_lowercase());
    }
    let description = schema.get("description").and_then(Value::as_str).unwrap_or_default();
    let description = description.to_lowercase();
    let has = |text: &str, known: &[&str]| {
        text.split(|c: char| !c.is_alphabetic()).any(|word| known.contains(&word))
    };
    has(&words, &WAITING) || has(&words, &UNITS) || has(&description, &UNITS)
}

impl Range {
    fn of(schema: &Map<String, Value>) -> Option<Range> {
        let of = |key: &str| schema.get(key).and_then(Value::as_f64);
        let (format_low, format_high) = limits_of_format(schema);
        let step = of("multipleOf").filter(|it| it.fract() == 0.0 && *it >= 1.0).unwrap_or(1.0);
        let above = of("exclusiveMinimum").map(|it| it.floor() + 1.0);
        let below = of("exclusiveMaximum").map(|it| it.ceil() - 1.0);
        let low = of("minimum").map(f64::ceil).into_iter().chain(above).fold(f64::MIN, f64::max);
        let high = of("maximum").map(f64::floor).into_iter().chain(below).fold(f64::MAX, f64::min);
        let mut low = (low as i128).max(format_low);
        let mut high = (high as i128).min(format_high);
        // Limits beyond the exact integers are used only if nothing else is allowed.
        low = if high >= -MAX_INTEGER { low.max(-MAX_INTEGER) } else { low.max(i64::MIN.into()) };
        high = if low <= MAX_INTEGER { high.min(MAX_INTEGER) } else { high.min(u64::MAX.into()) };
        let step = step as i128;
        let range = Range { low, high, step };
        let first = range.round_up(low);
        (low <= high && first <= high).then_some(Range { low: first, ..range })
    }

    fn round_up(&self, number: i128) -> i128 {
        number + (-number).rem_euclid(self.step)
    }

    /// Returns the allowed integer that is nearest to this one.
    fn nearest(&self, number: i128) -> i128 {
        let number = self.round_up(number.clamp(self.low, self.high));
        if number > self.high { number - self.step } else { number }
    }
}

/// Returns the limits of a format such as `int32` or `uint8`, which serializers of Rust and of
/// OpenAPI write.
fn limits_of_format(schema: &Map<String, Value>) -> (i128, i128) {
    let format = schema.get("format").and_then(Value::as_str).unwrap_or_default();
    let (is_unsigned, bits) = match format.strip_prefix("uint") {
        Some(bits) => (true, bits),
        None => (false, format.strip_prefix("int").unwrap_or_default()),
    };
    match bits.parse::<u32>().ok().filter(|bits| (1..=64).contains(bits)) {
        Some(bits) if is_unsigned => (0, (1 << bits) - 1),
        Some(bits) => (-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
        None if is_unsigned && bits.is_empty() => (0, i128::MAX),
        None => (i128::MIN, i128::MAX),
    }
}

/// Integers of a range. They shrink towards the simplest one.
#[derive(Debug, Clone)]
struct Integers {
    simplest: i128,
    step: i128,
    from: i128,
    to: i128,
}

#[derive(Debug, Clone)]
struct IntegerTree {
    simplest: i128,
    /// The step away from the simplest integer.
    step: i128,
    distance: Search,
}

impl Strategy for Integers {
    type Tree = IntegerTree;
    type Value = Value;

    fn new_tree(&self, runner: &mut TestRunner) -> NewTree<Self> {
        let count = ((self.to - self.from) / self.step).clamp(0, u64::MAX.into()) as u64;
        let chosen = (0..=count).new_tree(runner)?.current();
        let away = self.from + i128::from(chosen) * self.step - self.simplest;
        let distance = (away.abs() / self.step) as u64;
        let step = self.step * away.signum();
        Ok(IntegerTree { simplest: self.simplest, step, distance: Search::new(0, distance) })
    }
}

impl ValueTree for IntegerTree {
    type Value = Value;

    fn current(&self) -> Value {
        let number = self.simplest + self.step * i128::from(self.distance.current());
        match i64::try_from(number) {
            Ok(number) => number.into(),
            Err(_) => json!(number as u64),
        }
    }

    fn simplify(&mut self) -> bool {
        self.distance.simplify()
    }

    fn complicate(&mut self) -> bool {
        self.distance.complicate()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn does_not_let_tools_wait() {
        let lets_wait = |name: &str, description: &str| {
            let schema = json!({"type": "integer", "description": description});
            super::lets_wait(schema.as_object().unwrap(), Some(name))
        };
        assert!(lets_wait("timeoutMs", ""));
        assert!(lets_wait("duration", ""));
        assert!(lets_wait("for_how_long", "Time in seconds."));
        assert!(!lets_wait("b", "The second number."));
        assert!(!lets_wait("count", "How many items."));
    }

    #[test]
    fn ranges_respect_limits_steps_and_formats() {
        for (schema, low, high, nearest) in [
            (json!({}), -MAX_INTEGER, MAX_INTEGER, 0),
            (json!({"minimum": 3, "exclusiveMaximum": 10}), 3, 9, 3),
            (json!({"exclusiveMinimum": 0.5, "maximum": 9.5}), 1, 9, 1),
            (json!({"minimum": 5, "maximum": 22, "multipleOf": 4}), 8, 22, 8),
            (json!({"maximum": -7}), -MAX_INTEGER, -7, -7),
            (json!({"format": "uint8"}), 0, 255, 0),
            (json!({"format": "int16"}), -32768, 32767, 0),
        ] {
            let range = Range::of(schema.as_object().unwrap()).unwrap();
            assert_eq!((range.low, range.high, range.nearest(0)), (low, high, nearest), "{schema}");
        }
        assert!(Range::of(json!({"minimum": 5, "maximum": 4}).as_object().unwrap()).is_none());
    }
}
