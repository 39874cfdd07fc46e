//! When two values are the same to JSON Schema: numbers by their values, objects
//! in any order.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};

use serde_json::Value;

use crate::numbers;

/// Below this depth nothing is looked at for a digest.
const DEEPEST: usize = 8;

/// From so many items on they are sorted before they are compared.
const MANY: usize = 16;

/// Whether two values are the same.
pub(crate) fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => numbers::compare(one, other).is_eq(),
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len()
                && one.iter().all(|(name, one)| match other.get(name) {
                    Some(other) => same(one, other),
                    None => false,
                })
        }
        (Value::String(one), Value::String(other)) => one == other,
        (Value::Bool(one), Value::Bool(other)) => one == other,
        (one, other) => one.is_null() && other.is_null(),
    }
}

/// Two items that are the same, by their places.
pub(crate) fn twins(items: &[Value]) -> Option<(usize, usize)> {
    if items.len() < MANY {
        for (later, item) in items.iter().enumerate() {
            for (earlier, other) in items[..later].iter().enumerate() {
                if same(item, other) {
                    return Some((earlier, later));
                }
            }
        }
        return None;
    }
    let keys = RandomState::new();
    let mut digests = Vec::with_capacity(items.len());
    for (index, item) in items.iter().enumerate() {
        digests.push((digest(&keys, item, 0), index));
    }
    digests.sort_unstable();
    for (at, (digest, later)) in digests.iter().enumerate() {
        for (other, earlier) in digests[..at].iter().rev() {
            if other != digest {
                break;
            }
            if same(&items[*earlier], &items[*later]) {
                return Some((*earlier, *later));
            }
        }
    }
    None
}

/// The same number for values that are the same.
fn digest(keys: &RandomState, value: &Value, depth: usize) -> u64 {
    let mut hasher = keys.build_hasher();
    match value {
        Value::Null => hasher.write_u8(0),
        Value::Bool(value) => hasher.write_u8(1 + u8::from(*value)),
        Value::Number(number) => {
            // Zero has two signs.
            hasher.write_u64((number.as_f64().unwrap_or(0.0) + 0.0).to_bits());
        }
        Value::String(text) => {
            hasher.write_u8(3);
            hasher.write(text.as_bytes());
        }
        Value::Array(items) => {
            hasher.write_usize(items.len());
            if depth < DEEPEST {
                for item in items {
                    hasher.write_u64(digest(keys, item, depth + 1));
                }
            }
        }
        Value::Object(members) => {
            hasher.write_usize(members.len());
            let mut sum: u64 = 0;
            if depth < DEEPEST {
                for (name, member) in members {
                    let mut name_hasher = keys.build_hasher();
                    name_hasher.write(name.as_bytes());
                    name_hasher.write_u64(digest(keys, member, depth + 1));
                    sum = sum.wrapping_add(name_hasher.finish());
                }
            }
            hasher.write_u64(sum);
        }
    }
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn numbers_are_the_same_by_value_and_objects_in_any_order() {
        assert!(same(&json!([1, {"a": 1, "b": 2.0}]), &json!([1.0, {"b": 2, "a": 1}])));
        assert!(!same(&json!(1), &json!(true)));
        assert!(!same(&json!({"a": null}), &json!({"b": null})));
        assert!(!same(&json!([1]), &json!([1, 1])));
    }

    #[test]
    fn twins_are_found_among_few_and_many() {
        for count in [3, 100_000] {
            let mut items: Vec<Value> = (0..count).map(|it| json!(it)).collect();
            assert_eq!(twins(&items), None);
            items.push(json!(2.0));
            assert_eq!(twins(&items), Some((2, count)));
            let last = items.len() - 1;
            items[last] = json!({"a": [1, -0.0], "b": null});
            items[0] = json!({"b": null, "a": [1.0, 0]});
            assert_eq!(twins(&items), Some((0, last)));
        }
    }
}
