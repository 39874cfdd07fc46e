//! The values and bytes that one sample may still have, so that a small schema cannot describe a
//! sample that takes all memory.

use std::cell::Cell;

use serde_json::Value;

/// The limits of one sample.
const MAX_VALUES: usize = 10_000;
const MAX_BYTES: usize = 256 * 1024;

/// The rest of the limits. It is zero after a request for more than the rest.
pub(super) struct SampleBudget {
    values: Cell<usize>,
    bytes: Cell<usize>,
}

impl Default for SampleBudget {
    fn default() -> Self {
        SampleBudget { values: Cell::new(MAX_VALUES), bytes: Cell::new(MAX_BYTES) }
    }
}

impl SampleBudget {
    /// Returns true if more was asked for than the limits allow.
    pub(super) fn is_spent(&self) -> bool {
        self.values.get() == 0 || self.bytes.get() == 0
    }

    /// Takes one value. Returns false if that is too much.
    pub(super) fn spend_value(&self) -> bool {
        self.values.set(self.values.get().saturating_sub(1));
        !self.is_spent()
    }

    /// Takes bytes of texts and names, or steps of reading a schema. Returns false if that is too
    /// much.
    pub(super) fn spend(&self, bytes: usize) -> bool {
        self.bytes.set(self.bytes.get().saturating_sub(bytes));
        !self.is_spent()
    }

    /// Takes all parts of a value that the schema contains. Returns false if that is too much.
    pub(super) fn spend_copy(&self, value: &Value) -> bool {
        match value {
            Value::String(text) => self.spend(text.len()),
            Value::Array(items) => {
                items.iter().all(|item| self.spend_value() && self.spend_copy(item))
            }
            Value::Object(members) => members.iter().all(|(name, value)| {
                self.spend(name.len()) && self.spend_value() && self.spend_copy(value)
            }),
            _ => !self.is_spent(),
        }
    }
}
