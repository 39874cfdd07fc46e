//! Problems in a user's text: collects all of them, and renders each with its source
//! lines.

mod render;

use std::fmt;

use crate::source::{Source, Span};

/// One problem at one position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The part of the text that is wrong.
    pub span: Span,
    /// The description of the problem.
    pub message: String,
    /// A suggestion to fix it.
    pub help: Option<String>,
}

/// All problems of one text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problems {
    source: Source,
    problems: Vec<Problem>,
}

impl Problems {
    /// Creates an empty list for a text.
    pub fn new(source: &Source) -> Self {
        Problems { source: source.clone(), problems: Vec::new() }
    }

    /// Returns the text that has these problems.
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// Adds a problem, unless the list has the same one already.
    pub fn add(&mut self, span: Span, message: impl Into<String>) {
        self.push(Problem { span, message: message.into(), help: None });
    }

    /// Adds a problem with a suggestion, unless the list has the same one already.
    pub fn add_with_help(&mut self, span: Span, message: impl Into<String>, help: Option<String>) {
        self.push(Problem { span, message: message.into(), help });
    }

    fn push(&mut self, problem: Problem) {
        if !self.problems.contains(&problem) {
            self.problems.push(problem);
        }
    }

    /// Returns true if the list is empty.
    pub fn is_empty(&self) -> bool {
        self.problems.is_empty()
    }

    /// Returns the problems in the order of the text.
    pub fn iter(&self) -> impl Iterator<Item = &Problem> {
        let mut sorted: Vec<&Problem> = self.problems.iter().collect();
        sorted.sort_by_key(|problem| problem.span.start);
        sorted.into_iter()
    }

    /// Returns the value if the list is empty.
    ///
    /// # Errors
    /// Returns the problems if the list has any.
    pub fn into_result<T>(self, value: T) -> Result<T, Problems> {
        if self.is_empty() { Ok(value) } else { Err(self) }
    }

    /// Renders the problems for a person: each with its source lines and a caret,
    /// and with ANSI colours if `coloured` is set.
    pub fn render(&self, coloured: bool) -> String {
        render::render_all(self, coloured)
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(false))
    }
}

impl std::error::Error for Problems {}
