//! Limits the steps and the time of a validation.
//!
//! `jsonschema` cannot cancel a validation. It reads the value through a trait, though,
//! and this implementation of that trait counts every access and unwinds out of the
//! validator when the budget is used up. The unwinding prints nothing, and the validator
//! can be used again.

use std::borrow::Cow;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::Instant;

use jsonschema::JsonType;
use jsonschema::json::{Array, Json, Node, NodeIdentity, Object, SerdeJson};
use serde_json::{Map, Number, Value};

/// The number of steps between two checks of the deadline.
const STEPS_PER_CLOCK_CHECK: u64 = 1_000;

/// The number of bytes of a string that count as one step.
const BYTES_PER_STEP: usize = 16;

thread_local! {
    static BUDGET: Cell<Option<Budget>> = const { Cell::new(None) };
}

/// The limits of a validation.
#[derive(Debug, Clone, Copy)]
pub(super) struct Budget {
    pub(super) steps: u64,
    pub(super) deadline: Instant,
}

/// The error of a validation whose budget is used up.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Exhausted;

/// Runs a validation within a budget.
pub(super) fn run_within<T>(budget: Budget, work: impl FnOnce() -> T) -> Result<T, Exhausted> {
    BUDGET.set(Some(budget));
    let result = catch_unwind(AssertUnwindSafe(work));
    BUDGET.set(None);
    result.map_err(|payload| match payload.downcast::<Exhausted>() {
        Ok(exhausted) => *exhausted,
        Err(other) => resume_unwind(other),
    })
}

/// Subtracts steps from the budget of this thread.
fn spend(steps: u64) {
    let Some(mut budget) = BUDGET.get() else { return };
    let before = budget.steps / STEPS_PER_CLOCK_CHECK;
    let Some(left) = budget.steps.checked_sub(steps) else { resume_unwind(Box::new(Exhausted)) };
    budget.steps = left;
    if left / STEPS_PER_CLOCK_CHECK != before && Instant::now() >= budget.deadline {
        resume_unwind(Box::new(Exhausted));
    }
    BUDGET.set(Some(budget));
}

/// The JSON representation whose accesses are counted.
pub(super) struct CountedJson;

/// A value whose accesses are counted.
#[derive(Clone, Copy)]
pub(super) struct CountedValue<'a>(pub(super) &'a Value);

/// An object whose accesses are counted.
pub(super) struct CountedObject<'a>(&'a Map<String, Value>);

/// An array whose accesses are counted.
pub(super) struct CountedArray<'a>(&'a [Value]);

impl Json for CountedJson {
    type Node<'a> = CountedValue<'a>;
    type PreparedKey = String;
    type StringBuffer = Value;

    fn prepare_key(key: &str) -> String {
        SerdeJson::prepare_key(key)
    }

    fn with_string_node<T>(
        buffer: &mut Value,
        string: &str,
        work: impl FnOnce(CountedValue<'_>) -> T,
    ) -> T {
        SerdeJson::with_string_node(buffer, string, |node| work(CountedValue(node)))
    }
}

impl<'a> Node<'a, CountedJson> for CountedValue<'a> {
    type Object = CountedObject<'a>;
    type Array = CountedArray<'a>;
    type Number = &'a Number;

    fn as_object(&self) -> Option<CountedObject<'a>> {
        spend(1);
        self.0.as_object().map(CountedObject)
    }

    fn as_array(&self) -> Option<CountedArray<'a>> {
        spend(1);
        self.0.as_array().map(|items| CountedArray(items))
    }

    fn as_string(&self) -> Option<Cow<'a, str>> {
        let text = self.0.as_str();
        spend(1 + text.map_or(0, |text| text.len() / BYTES_PER_STEP) as u64);
        text.map(Cow::Borrowed)
    }

    fn as_number(&self) -> Option<&'a Number> {
        spend(1);
        self.0.as_number()
    }

    fn as_boolean(&self) -> Option<bool> {
        spend(1);
        self.0.as_bool()
    }

    fn is_null(&self) -> bool {
        spend(1);
        self.0.is_null()
    }

    fn json_type(&self) -> JsonType {
        spend(1);
        Node::<SerdeJson>::json_type(&self.0)
    }

    fn string_length(&self) -> Option<u64> {
        spend(1);
        Node::<SerdeJson>::string_length(&self.0)
    }

    fn equals_value(&self, expected: &Value) -> bool {
        spend(1);
        Node::<SerdeJson>::equals_value(&self.0, expected)
    }

    fn to_value(&self) -> Cow<'a, Value> {
        spend(1);
        Cow::Borrowed(self.0)
    }

    fn identity(&self) -> Option<NodeIdentity> {
        Node::<SerdeJson>::identity(&self.0)
    }
}

impl<'a> Object<'a, CountedJson> for CountedObject<'a> {
    type Node = CountedValue<'a>;
    type MemberName = &'a str;
    type MembersIter = Box<dyn Iterator<Item = (&'a str, CountedValue<'a>)> + 'a>;

    fn len(&self) -> usize {
        self.0.len()
    }

    fn get(&self, key: &String) -> Option<CountedValue<'a>> {
        spend(1);
        self.0.get(key).map(CountedValue)
    }

    fn members(&self) -> Self::MembersIter {
        Box::new(self.0.iter().map(|(name, member)| {
            spend(1);
            (name.as_str(), CountedValue(member))
        }))
    }
}

impl<'a> Array<'a, CountedJson> for CountedArray<'a> {
    type Node = CountedValue<'a>;
    type ElementsIter =
        std::iter::Map<std::slice::Iter<'a, Value>, fn(&'a Value) -> CountedValue<'a>>;

    fn len(&self) -> usize {
        self.0.len()
    }

    fn elements(&self) -> Self::ElementsIter {
        self.0.iter().map(|item| {
            spend(1);
            CountedValue(item)
        })
    }

    fn is_unique(&self) -> bool {
        spend(self.0.len() as u64);
        Array::<SerdeJson>::is_unique(&self.0)
    }
}
