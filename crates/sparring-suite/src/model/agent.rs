//! The description of an agent, and the expectations of its files.

use std::time::Duration;

use sparring_script::{Span, TemplateTree};

use super::{Command, Glob, MatcherTemplate};

/// An agent under test.
#[derive(Debug)]
pub(crate) struct Agent {
    /// Its position in the suite.
    pub(crate) span: Span,
    pub(crate) command: Command,
    /// Its stdin; `None` if it is empty.
    pub(crate) stdin: Option<TemplateTree>,
    pub(crate) timeout: Option<Duration>,
}

/// An expectation of files in the test's folder.
#[derive(Debug)]
pub(crate) struct FileExpectation {
    /// The path or pattern as written.
    pub(crate) name: String,
    pub(crate) span: Span,
    pub(crate) glob: Glob,
    pub(crate) exists: Option<bool>,
    pub(crate) count: Option<MatcherTemplate>,
    pub(crate) size: Option<MatcherTemplate>,
    /// The matchers of the contents, by form.
    pub(crate) contents: Vec<(FileForm, MatcherTemplate)>,
}

/// The form in which the contents of a file are checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileForm {
    Text,
    Json,
    Base64,
}

impl Agent {
    /// Its templates.
    pub(crate) fn trees(&self) -> impl Iterator<Item = &TemplateTree> {
        self.command.trees().chain(&self.stdin)
    }
}

impl FileExpectation {
    pub(super) fn matchers(&self) -> impl Iterator<Item = &MatcherTemplate> {
        let contents = self.contents.iter().map(|(_, pattern)| pattern);
        self.count.iter().chain(&self.size).chain(contents)
    }
}

impl FileForm {
    pub(crate) const ALL: [FileForm; 3] = [FileForm::Text, FileForm::Json, FileForm::Base64];

    /// Its key in the suite.
    pub(crate) fn key(self) -> &'static str {
        match self {
            FileForm::Text => "text",
            FileForm::Json => "json",
            FileForm::Base64 => "base64",
        }
    }
}
