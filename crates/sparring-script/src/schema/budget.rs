//! JSON values whose use is counted, so that a validation can be stopped.
//!
//! `jsonschema` has no way to cancel a validation. It reads the value through a trait,
//! though, and this implementation of it unwinds out of the validator when the budget
//! is used up. Nothing is printed for that, and the validator can be used again.

use std::borrow::Cow;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::Instant;

use jsonschema::JsonType;
use jsonschema::json::{Array, Json, Node, NodeIdentity, Object, SerdeJson};
use serde_json::{Map, Number, Value};

/// How many steps are taken between two looks at the clock.
const STEPS_PER_LOOK: u64 = 1_000;

/// How many bytes of a text count as a step.
const BYTES_PER_STEP: usize = 16;

thread_local! {
    static BUDGET: Cell<Option<Budget>> = const { Cell::new(None) };
}

/// How much a validation may do.
#[derive(Debug, Clone, Copy)]
pub(super) struct Budget {
    pub(super) steps: u64,
    pub(super) deadline: Instant,
}

/// The budget is used up.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Exhausted;

/// Runs a validation within a budget.
pub(super) fn within<T>(budget: Budget, work: impl FnOnce() -> T) -> Result<T, Exhausted> {
    BUDGET.set(Some(budget));
    let result = catch_unwind(AssertUnwindSafe(work));
    BUDGET.set(None);
    result.map_err(|payload| match payload.downcast::<Exhausted>() {
        Ok(exhausted) => *exhausted,
        Err(other) => resume_unwind(other),
    })
}

/// Takes steps from the budget of this thread.
fn take(steps: u64) {
    let Some(mut budget) = BUDGET.get() else { return };
    let before = budget.steps / STEPS_PER_LOOK;
    let Some(left) = budget.steps.checked_sub(steps) else { resume_unwind(Box::new(Exhausted)) };
    budget.steps = left;
    if left / STEPS_PER_LOOK != before && Instant::now() >= budget.deadline {
        resume_unwind(Box::new(Exhausted));
    }
    BUDGET.set(Some(budget));
}

/// JSON whose use is counted.
pub(super) struct CountedJson;

/// A value whose use is counted.
#[derive(Clone, Copy)]
pub(super) struct Counted<'a>(pub(super) &'a Value);

/// The members of an object whose use is counted.
pub(super) struct CountedObject<'a>(&'a Map<String, Value>);

/// The items of an array whose use is counted.
pub(super) struct CountedArray<'a>(&'a [Value]);

impl Json for CountedJson {
    type Node<'a> = Counted<'a>;
    type PreparedKey = String;
    type StringBuffer = Value;

    fn prepare_key(key: &str) -> String {
        SerdeJson::prepare_key(key)
    }

    fn with_string_node<T>(
        buffer: &mut Value,
        string: &str,
        work: impl FnOnce(Counted<'_>) -> T,
    ) -> T {
        SerdeJson::with_string_node(buffer, string, |node| work(Counted(node)))
    }
}

impl<'a> Node<'a, CountedJson> for Counted<'a> {
    type Object = CountedObject<'a>;
    type Array = CountedArray<'a>;
    type Number = &'a Number;

    fn as_object(&self) -> Option<CountedObject<'a>> {
        take(1);
        self.0.as_object().map(CountedObject)
    }

    fn as_array(&self) -> Option<CountedArray<'a>> {
        take(1);
        self.0.as_array().map(|items| CountedArray(items))
    }

    fn as_string(&self) -> Option<Cow<'a, str>> {
        let text = self.0.as_str();
        take(1 + text.map_or(0, |text| text.len() / BYTES_PER_STEP) as u64);
        text.map(Cow::Borrowed)
    }

    fn as_number(&self) -> Option<&'a Number> {
        take(1);
        self.0.as_number()
    }

    fn as_boolean(&self) -> Option<bool> {
        take(1);
        self.0.as_bool()
    }

    fn is_null(&self) -> bool {
        take(1);
        self.0.is_null()
    }

    fn json_type(&self) -> JsonType {
        take(1);
        Node::<SerdeJson>::json_type(&self.0)
    }

    fn string_length(&self) -> Option<u64> {
        take(1);
        Node::<SerdeJson>::string_length(&self.0)
    }

    fn equals_value(&self, expected: &Value) -> bool {
        take(1);
        Node::<SerdeJson>::equals_value(&self.0, expected)
    }

    fn to_value(&self) -> Cow<'a, Value> {
        take(1);
        Cow::Borrowed(self.0)
    }

    fn identity(&self) -> Option<NodeIdentity> {
        Node::<SerdeJson>::identity(&self.0)
    }
}

impl<'a> Object<'a, CountedJson> for CountedObject<'a> {
    type Node = Counted<'a>;
    type MemberName = &'a str;
    type MembersIter = Box<dyn Iterator<Item = (&'a str, Counted<'a>)> + 'a>;

    fn len(&self) -> usize {
        self.0.len()
    }

    fn get(&self, key: &String) -> Option<Counted<'a>> {
        take(1);
        self.0.get(key).map(Counted)
    }

    fn members(&self) -> Self::MembersIter {
        Box::new(self.0.iter().map(|(name, member)| {
            take(1);
            (name.as_str(), Counted(member))
        }))
    }
}

impl<'a> Array<'a, CountedJson> for CountedArray<'a> {
    type Node = Counted<'a>;
    type ElementsIter = std::iter::Map<std::slice::Iter<'a, Value>, fn(&'a Value) -> Counted<'a>>;

    fn len(&self) -> usize {
        self.0.len()
    }

    fn elements(&self) -> Self::ElementsIter {
        self.0.iter().map(|item| {
            take(1);
            Counted(item)
        })
    }

    fn is_unique(&self) -> bool {
        take(self.0.len() as u64);
        Array::<SerdeJson>::is_unique(&self.0)
    }
}
