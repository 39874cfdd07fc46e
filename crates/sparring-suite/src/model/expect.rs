//! What must have come of a step.

use std::time::Duration;

use sparring_script::Span;

use super::{FileExpect, Pattern, Rules};

/// All expectations of a step.
#[derive(Debug, Default)]
pub(crate) struct Expect(pub(crate) Vec<(Span, Facet)>);

/// One expectation.
#[derive(Debug)]
pub(crate) enum Facet {
    /// Of a part of the answer.
    Value(Aspect, Pattern),
    /// Of things that came.
    Items(Collection, Items),
    /// Of what the server wrote to its stderr.
    Stderr(Pattern),
    /// Of the status of the HTTP response.
    Status(Pattern),
    /// Of the headers of the HTTP response.
    Headers(Pattern),
    /// Of the time it took.
    Within(Duration),
    /// That it is as it was kept.
    Snapshot(Rules),
    /// Of what came to a stand-in.
    Journal {
        journal: Journal,
        name: String,
        /// Where its name stands.
        span: Span,
        coming: Vec<Coming>,
    },
    /// Of how an agent ended.
    Exit(Pattern),
    /// Of what an agent wrote to its stdout.
    Stdout(Pattern),
    /// Of the files that an agent left.
    Files(Vec<FileExpect>),
}

/// What a stand-in keeps of what comes to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Journal {
    /// Requests over HTTP.
    Received,
    /// Calls of tools.
    Called,
}

/// What must have come: so many that fit, or at least one.
#[derive(Debug)]
pub(crate) struct Coming {
    pub(crate) span: Span,
    /// What they must be like; anything where nothing is said.
    pub(crate) pattern: Option<Pattern>,
    pub(crate) count: Option<Pattern>,
}

/// A part of an answer.
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

/// Things that came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Collection {
    /// What was asked for, by `list` or `complete`.
    List,
    Violations,
    Notifications,
    Requests,
    /// All that the server sent, as it was.
    Frames,
}

/// What things must be like.
#[derive(Debug, Default)]
pub(crate) struct Items {
    pub(crate) has: Vec<Pattern>,
    pub(crate) lacks: Vec<Pattern>,
    pub(crate) count: Option<Pattern>,
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

    /// Its key, which is also its name for `save`.
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

    /// Whether names below it are the user's own.
    pub(crate) fn is_passed_through(self) -> bool {
        matches!(self, Aspect::Json | Aspect::Structured)
    }
}

impl Collection {
    /// Its key; the list of a verb is asked for without one.
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

impl Expect {
    /// Whether something is expected of this part of the answer.
    pub(crate) fn looks_at(&self, wanted: Aspect) -> bool {
        self.0.iter().any(|(_, facet)| matches!(facet, Facet::Value(found, _) if *found == wanted))
    }

    /// Whether something is expected of these things.
    pub(crate) fn counts(&self, wanted: Collection) -> bool {
        self.items(wanted).next().is_some()
    }

    /// What is expected of these things.
    pub(crate) fn items(&self, wanted: Collection) -> impl Iterator<Item = &Items> {
        self.0.iter().filter_map(move |(_, facet)| match facet {
            Facet::Items(found, items) if *found == wanted => Some(items),
            _ => None,
        })
    }

    /// What is not kept of the answer, where it is to be as it was kept; and
    /// where that is said.
    pub(crate) fn snapshot(&self) -> Option<(Span, &Rules)> {
        self.0.iter().find_map(|(span, facet)| match facet {
            Facet::Snapshot(rules) => Some((*span, rules)),
            _ => None,
        })
    }

    /// Every pattern in it.
    pub(crate) fn patterns(&self) -> impl Iterator<Item = &Pattern> {
        self.0.iter().flat_map(|(_, facet)| match facet {
            Facet::Value(_, pattern)
            | Facet::Stderr(pattern)
            | Facet::Status(pattern)
            | Facet::Headers(pattern)
            | Facet::Exit(pattern)
            | Facet::Stdout(pattern) => vec![pattern],
            Facet::Files(files) => files.iter().flat_map(FileExpect::patterns).collect(),
            Facet::Journal { coming, .. } => {
                coming.iter().flat_map(|it| it.pattern.iter().chain(&it.count)).collect()
            }
            Facet::Items(_, items) => {
                items.has.iter().chain(&items.lacks).chain(&items.count).collect()
            }
            Facet::Within(_) | Facet::Snapshot(_) => Vec::new(),
        })
    }
}
