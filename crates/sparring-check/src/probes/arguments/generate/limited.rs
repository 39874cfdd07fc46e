//! Limits the size of a generated value: a small schema can describe arrays of arrays of long
//! texts.

use std::cell::Cell;
use std::rc::Rc;

use proptest::prelude::Strategy;
use proptest::strategy::{BoxedStrategy, NewTree, ValueTree};
use proptest::test_runner::{Reason, TestRunner};
use serde_json::Value;

/// The largest generated value, in bytes. Each value within it counts as `VALUE_BYTES` at least.
const MAX_BYTES: usize = 256 * 1024;
const VALUE_BYTES: usize = 24;

/// The size of the value that is generated now.
#[derive(Debug, Clone, Default)]
pub(super) struct Spent(Rc<Cell<usize>>);

impl Spent {
    pub(super) fn get(&self) -> usize {
        self.0.get()
    }

    /// Adds a part of the value.
    ///
    /// # Errors
    /// If the value gets too large.
    pub(super) fn add(&self, bytes: usize) -> Result<(), Reason> {
        self.0.set(self.0.get().saturating_add(bytes));
        match self.0.get() > MAX_BYTES {
            true => Err("the value is too large".into()),
            false => Ok(()),
        }
    }
}

/// Generates values of limited size. The strategies within it count their parts.
#[derive(Debug)]
pub(super) struct Limited {
    pub(super) inner: BoxedStrategy<Value>,
    pub(super) spent: Spent,
}

/// Counts the values of a strategy. Arrays and objects count without their items, which are
/// counted before.
#[derive(Debug)]
pub(super) struct Counted {
    pub(super) inner: BoxedStrategy<Value>,
    pub(super) spent: Spent,
}

impl Strategy for Limited {
    type Tree = Box<dyn ValueTree<Value = Value>>;
    type Value = Value;

    fn new_tree(&self, runner: &mut TestRunner) -> NewTree<Self> {
        self.spent.0.set(0);
        self.inner.new_tree(runner)
    }
}

impl Strategy for Counted {
    type Tree = Box<dyn ValueTree<Value = Value>>;
    type Value = Value;

    fn new_tree(&self, runner: &mut TestRunner) -> NewTree<Self> {
        let before = self.spent.get();
        self.spent.add(VALUE_BYTES)?;
        let tree = self.inner.new_tree(runner)?;
        // Only a value without items of its own has counted nothing else.
        if self.spent.get() == before + VALUE_BYTES {
            self.spent.add(size(&tree.current()))?;
        }
        Ok(tree)
    }
}

/// Returns the size of a value that a schema contains, or of a text.
fn size(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(|item| VALUE_BYTES + size(item)).sum(),
        Value::Object(members) => {
            let sizes = members.iter().map(|(name, it)| VALUE_BYTES + name.len() + size(it));
            sizes.sum()
        }
        _ => 0,
    }
}
