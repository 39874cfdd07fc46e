//! Many values held against one expectation: how many fit, and which of the
//! others is the nearest.

use serde_json::Value;

/// What came of it.
#[derive(Debug)]
pub struct Held<'a, M> {
    /// How many fit.
    pub fit: usize,
    /// Of those that do not, the one with the fewest reasons, and these.
    pub nearest: Option<(&'a Value, Vec<M>)>,
}

impl<'a, M> Held<'a, M> {
    /// Holds each value against what `check` expects, which gives the reasons
    /// why one does not fit.
    pub fn of(
        values: impl IntoIterator<Item = &'a Value>,
        mut check: impl FnMut(&Value) -> Vec<M>,
    ) -> Self {
        let mut held = Held { fit: 0, nearest: None };
        for value in values {
            let reasons = check(value);
            if reasons.is_empty() {
                held.fit += 1;
            } else if held.nearest.as_ref().is_none_or(|(_, known)| reasons.len() < known.len()) {
                held.nearest = Some((value, reasons));
            }
        }
        held
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::Matcher;

    #[test]
    fn those_that_fit_are_counted_and_the_nearest_of_the_others_is_found() {
        let matcher = Matcher::of(&json!({"a": 1, "b": 2})).unwrap();
        let values = [json!({"a": 1, "b": 2}), json!({}), json!({"a": 1, "b": 3}), json!({"a": 1})];
        let held = Held::of(&values, |value| matcher.check(Some(value)));
        let (nearest, reasons) = held.nearest.unwrap();
        assert_eq!((held.fit, nearest, reasons.len()), (1, &values[2], 1));
    }
}
