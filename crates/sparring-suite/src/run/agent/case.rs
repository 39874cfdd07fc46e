//! What makes a test a case of its own for mocks that answer turn by turn.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};

use serde_json::Value;
use sparring_mock::directives;

use crate::model::{StandInKind, Suite, Test};

/// How much of a test's name is in the id of its case.
const NAME: usize = 40;

/// One run of a test.
#[derive(Debug, Default)]
pub(in crate::run) struct Case {
    /// What its input has at its end; none where no mock needs to know.
    directives: Option<String>,
}

impl Case {
    pub(in crate::run) fn new(suite: &Suite, test: &Test) -> Case {
        let turns = |kind: &StandInKind| matches!(kind, StandInKind::Interactions(_));
        let known = suite.stand_ins.iter().any(|it| turns(&it.kind));
        let directives = match &test.interactions {
            Some(responses) => Some(directives(&id(&test.name), responses)),
            None => known.then(|| format!("[test_case_id={}]", id(&test.name))),
        };
        Case { directives }
    }

    /// The input of an agent, as it is given to it.
    pub(super) fn input(&self, said: Option<String>) -> Option<Value> {
        match (said, &self.directives) {
            (said, None) => said.map(Value::from),
            (None, Some(directives)) => Some(Value::from(&**directives)),
            (Some(said), Some(directives)) => Some(Value::from(format!("{said} {directives}"))),
        }
    }
}

/// An id that no other run of any test has, and that tells a person which test
/// it is.
fn id(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    let name: String = name.chars().take(NAME).map(plain).collect();
    // The keys of a new state are random.
    let random = RandomState::new().build_hasher().finish();
    format!("{name}.{random:016x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_words_and_never_the_same() {
        let (one, two) = (id("it's a [chart], 100 %"), id("it's a [chart], 100 %"));
        assert_ne!(one, two);
        assert!(one.starts_with("it-s-a--chart---100--."), "{one}");
        assert!(one.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '.'), "{one}");
    }
}
