//! Adds the directives of a test case to an agent's input. They name the test to mocks that
//! answer by recorded interactions.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};

use serde_json::Value;
use sparring_mock::directives;

use crate::model::{MockKind, Suite, Test};

/// The maximum number of characters of a test's name in its id.
const MAX_NAME_CHARS: usize = 40;

/// One run of a test.
#[derive(Debug, Default)]
pub(in crate::run) struct TestCase {
    /// The end of the agent's input; `None` if no mock needs it.
    directives: Option<String>,
}

impl TestCase {
    pub(in crate::run) fn new(suite: &Suite, test: &Test) -> TestCase {
        let is_needed =
            suite.mocks.iter().any(|mock| matches!(mock.kind, MockKind::Interactions(_)));
        let directives = match &test.interactions {
            Some(responses) => Some(directives(&id(&test.name), responses)),
            None => is_needed.then(|| format!("[test_case_id={}]", id(&test.name))),
        };
        TestCase { directives }
    }

    /// The complete input of an agent.
    pub(super) fn input(&self, input: Option<String>) -> Option<Value> {
        match (input, &self.directives) {
            (input, None) => input.map(Value::from),
            (None, Some(directives)) => Some(Value::from(&**directives)),
            (Some(input), Some(directives)) => Some(Value::from(format!("{input} {directives}"))),
        }
    }
}

/// A unique id of this run of a test, which begins with the test's name.
fn id(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    let name: String = name.chars().take(MAX_NAME_CHARS).map(plain).collect();
    // The keys of a new `RandomState` are random.
    let random = RandomState::new().build_hasher().finish();
    format!("{name}.{random:016x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_unique_and_contain_plain_characters() {
        let (one, two) = (id("it's a [chart], 100 %"), id("it's a [chart], 100 %"));
        assert_ne!(one, two);
        assert!(one.starts_with("it-s-a--chart---100--."), "{one}");
        assert!(one.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '.'), "{one}");
    }
}
