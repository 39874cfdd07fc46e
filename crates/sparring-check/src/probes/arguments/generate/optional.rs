//! A strategy for a member that can be left out. It shrinks to nothing first.

use proptest::prelude::Strategy;
use proptest::strategy::{NewTree, ValueTree};
use proptest::test_runner::TestRunner;

/// A member that is there always or half of the time.
#[derive(Debug, Clone)]
pub(super) struct Optional<S> {
    pub(super) inner: S,
    pub(super) is_always_present: bool,
    pub(super) is_required: bool,
}

#[derive(Debug, Clone)]
pub(super) struct OptionalTree<T> {
    inner: T,
    is_present: bool,
    removal: Removal,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Removal {
    Untried,
    Trying,
    Over,
}

impl<S: Strategy> Strategy for Optional<S> {
    type Tree = OptionalTree<S::Tree>;
    type Value = Option<S::Value>;

    fn new_tree(&self, runner: &mut TestRunner) -> NewTree<Self> {
        let is_chosen = proptest::bool::ANY.new_tree(runner)?.current();
        let is_present = self.is_required || self.is_always_present || is_chosen;
        let removal = if self.is_required { Removal::Over } else { Removal::Untried };
        Ok(OptionalTree { inner: self.inner.new_tree(runner)?, is_present, removal })
    }
}

impl<T: ValueTree> ValueTree for OptionalTree<T> {
    type Value = Option<T::Value>;

    fn current(&self) -> Self::Value {
        self.is_present.then(|| self.inner.current())
    }

    fn simplify(&mut self) -> bool {
        if !self.is_present {
            self.removal = Removal::Over;
            return false;
        }
        if self.removal == Removal::Untried {
            self.removal = Removal::Trying;
            self.is_present = false;
            return true;
        }
        self.inner.simplify()
    }

    fn complicate(&mut self) -> bool {
        if self.removal == Removal::Trying && !self.is_present {
            self.removal = Removal::Over;
            self.is_present = true;
            return true;
        }
        self.is_present && self.inner.complicate()
    }
}
