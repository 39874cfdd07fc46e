//! The expectations of a step.

use std::time::Duration;

use sparring_script::Span;

use super::{FileExpectation, MatcherTemplate, SnapshotRules};

/// All expectations of a step.
#[derive(Debug, Default)]
pub(crate) struct Expectations(pub(crate) Vec<(Span, Expectation)>);

/// One expectation.
#[derive(Debug)]
pub(crate) enum Expectation {
    /// An aspect of the answer.
    Value(Aspect, MatcherTemplate),
    /// A list, notifications, requests, frames or violations.
    Items(Collection, Items),
    /// The stderr of the server.
    Stderr(MatcherTemplate),
    /// The status of the HTTP response.
    Status(MatcherTemplate),
    /// The headers of the HTTP response.
    Headers(MatcherTemplate),
    /// The time until the answer.
    Within(Duration),
    /// The snapshot of the answer.
    Snapshot(SnapshotRules),
    /// The journal of a mock.
    Journal {
        journal: Journal,
        name: String,
        /// The position of the mock's name.
        span: Span,
        expected: Vec<JournalExpectation>,
    },
    /// The exit status of an agent.
    Exit(MatcherTemplate),
    /// The stdout of an agent.
    Stdout(MatcherTemplate),
    /// The files of an agent.
    Files(Vec<FileExpectation>),
}

/// The kind of a journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Journal {
    /// Requests.
    Received,
    /// Tool calls.
    Called,
}

/// The number of matching entries that a journal must have (default: at least one).
#[derive(Debug)]
pub(crate) struct JournalExpectation {
    pub(crate) span: Span,
    /// The matcher of entries; `None` matches all.
    pub(crate) matcher: Option<MatcherTemplate>,
    pub(crate) count: Option<MatcherTemplate>,
}

/// An aspect of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Aspect {
    Text,
    Json,
    Structured,
    Content,
    IsError,
    Error,
    Result,
}

/// A collection that a step can check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Collection {
    /// The result of `list` or `complete`.
    List,
    Violations,
    Notifications,
    Requests,
    /// All frames of the server.
    Frames,
}

/// The expectations of a collection.
#[derive(Debug, Default)]
pub(crate) struct Items {
    pub(crate) has: Vec<MatcherTemplate>,
    pub(crate) lacks: Vec<MatcherTemplate>,
    pub(crate) count: Option<MatcherTemplate>,
}

impl Aspect {
    pub(crate) const ALL: [Aspect; 7] = [
        Aspect::Text,
        Aspect::Json,
        Aspect::Structured,
        Aspect::Content,
        Aspect::IsError,
        Aspect::Error,
        Aspect::Result,
    ];

    /// Its key in `expect` and its name in `save`.
    pub(crate) fn key(self) -> &'static str {
        match self {
            Aspect::Text => "text",
            Aspect::Json => "json",
            Aspect::Structured => "structured",
            Aspect::Content => "content",
            Aspect::IsError => "is_error",
            Aspect::Error => "error",
            Aspect::Result => "result",
        }
    }

    /// Returns true if its keys are user data, not protocol names.
    pub(crate) fn is_user_data(self) -> bool {
        matches!(self, Aspect::Json | Aspect::Structured)
    }
}

impl Collection {
    /// Its key; `list` has none in `expect`.
    pub(crate) fn key(self) -> &'static str {
        match self {
            Collection::List => "list",
            Collection::Violations => "violations",
            Collection::Notifications => "notifications",
            Collection::Requests => "requests",
            Collection::Frames => "frames",
        }
    }
}

impl Expectations {
    /// Returns true if an expectation checks an aspect.
    pub(crate) fn checks_aspect(&self, wanted: Aspect) -> bool {
        self.0.iter().any(|(_, expectation)| matches!(expectation, Expectation::Value(found, _) if *found == wanted))
    }

    /// Returns true if an expectation checks a collection.
    pub(crate) fn checks_items(&self, wanted: Collection) -> bool {
        self.items(wanted).next().is_some()
    }

    /// The expectations of a collection.
    pub(crate) fn items(&self, wanted: Collection) -> impl Iterator<Item = &Items> {
        self.0.iter().filter_map(move |(_, expectation)| match expectation {
            Expectation::Items(found, items) if *found == wanted => Some(items),
            _ => None,
        })
    }

    /// The rules of the snapshot and their position, if the step has a snapshot.
    pub(crate) fn snapshot(&self) -> Option<(Span, &SnapshotRules)> {
        self.0.iter().find_map(|(span, expectation)| match expectation {
            Expectation::Snapshot(rules) => Some((*span, rules)),
            _ => None,
        })
    }

    /// All matchers.
    pub(crate) fn matchers(&self) -> impl Iterator<Item = &MatcherTemplate> {
        self.0.iter().flat_map(|(_, expectation)| match expectation {
            Expectation::Value(_, pattern)
            | Expectation::Stderr(pattern)
            | Expectation::Status(pattern)
            | Expectation::Headers(pattern)
            | Expectation::Exit(pattern)
            | Expectation::Stdout(pattern) => vec![pattern],
            Expectation::Files(files) => files.iter().flat_map(FileExpectation::matchers).collect(),
            Expectation::Journal { expected, .. } => {
                expected.iter().flat_map(|it| it.matcher.iter().chain(&it.count)).collect()
            }
            Expectation::Items(_, items) => {
                items.has.iter().chain(&items.lacks).chain(&items.count).collect()
            }
            Expectation::Within(_) | Expectation::Snapshot(_) => Vec::new(),
        })
    }
}
