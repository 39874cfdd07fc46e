//! An agent: a program that is run to its end, as a suite describes it, and what
//! is expected of the files that it leaves.

use std::time::Duration;

use sparring_script::{Span, Tree};

use super::{Command, Glob, Pattern};

/// A program that is tested.
#[derive(Debug)]
pub(crate) struct Agent {
    /// Where it stands.
    pub(crate) span: Span,
    pub(crate) command: Command,
    /// What it reads there; none where nothing is to be read.
    pub(crate) stdin: Option<Tree>,
    pub(crate) timeout: Option<Duration>,
}

/// An expectation of files below the folder of the test.
#[derive(Debug)]
pub(crate) struct FileExpect {
    /// Their path, or a pattern of it, as it was written.
    pub(crate) name: String,
    pub(crate) span: Span,
    pub(crate) glob: Glob,
    pub(crate) exists: Option<bool>,
    pub(crate) count: Option<Pattern>,
    pub(crate) size: Option<Pattern>,
    /// What must be in each, and how it is to be read.
    pub(crate) contents: Vec<(Reading, Pattern)>,
}

/// How a file is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reading {
    Text,
    Json,
    Base64,
}

impl Agent {
    /// The texts with holes in it.
    pub(crate) fn trees(&self) -> impl Iterator<Item = &Tree> {
        self.command.trees().chain(&self.stdin)
    }
}

impl FileExpect {
    pub(super) fn patterns(&self) -> impl Iterator<Item = &Pattern> {
        let contents = self.contents.iter().map(|(_, pattern)| pattern);
        self.count.iter().chain(&self.size).chain(contents)
    }
}

impl Reading {
    pub(crate) const ALL: [Reading; 3] = [Reading::Text, Reading::Json, Reading::Base64];

    /// Its key.
    pub(crate) fn key(self) -> &'static str {
        match self {
            Reading::Text => "text",
            Reading::Json => "json",
            Reading::Base64 => "base64",
        }
    }
}
