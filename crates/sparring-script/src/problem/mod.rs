//! What is wrong with a user's text: collected, so that all of it is told at
//! once, and shown with the lines it is about.

mod show;

use std::fmt;

use crate::source::{Source, Span};

/// One thing that is wrong, at one place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Where.
    pub span: Span,
    /// What is wrong.
    pub message: String,
    /// What would be right, if that is known.
    pub help: Option<String>,
}

/// All that is wrong with one text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problems {
    source: Source,
    found: Vec<Problem>,
}

impl Problems {
    /// None yet.
    pub fn new(source: &Source) -> Self {
        Problems { source: source.clone(), found: Vec::new() }
    }

    /// The text they are about.
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// Adds one; the same one is not added twice.
    pub fn add(&mut self, span: Span, message: impl Into<String>) {
        self.push(Problem { span, message: message.into(), help: None });
    }

    /// Adds one of which it is known what would be right.
    pub fn add_with_help(&mut self, span: Span, message: impl Into<String>, help: Option<String>) {
        self.push(Problem { span, message: message.into(), help });
    }

    fn push(&mut self, problem: Problem) {
        if !self.found.contains(&problem) {
            self.found.push(problem);
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// All of them, in the order of the text.
    pub fn iter(&self) -> impl Iterator<Item = &Problem> {
        let mut sorted: Vec<&Problem> = self.found.iter().collect();
        sorted.sort_by_key(|problem| problem.span.start);
        sorted.into_iter()
    }

    /// The value, if nothing is wrong.
    ///
    /// # Errors
    /// When something is.
    pub fn or<T>(self, value: T) -> Result<T, Problems> {
        if self.is_empty() { Ok(value) } else { Err(self) }
    }

    /// All of them as a person reads them: each with its lines and a caret,
    /// in colour if wanted.
    pub fn shown(&self, coloured: bool) -> String {
        show::all(self, coloured)
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown(false))
    }
}

impl std::error::Error for Problems {}
