//! The files of a suite: its own and those that it includes. Spans refer to the joined
//! text of all files, so that a span alone identifies a position.

use std::path::{Path, PathBuf};

use sparring_script::{Problems, Source, Span};

/// All files of a suite; the first is the suite itself.
#[derive(Debug, Default)]
pub(crate) struct Files(Vec<File>);

#[derive(Debug)]
struct File {
    source: Source,
    folder: PathBuf,
    /// The start of its text in the joined text.
    start: usize,
}

impl Files {
    /// Adds a file and returns the start of its text.
    pub(crate) fn add(&mut self, source: Source, folder: PathBuf) -> usize {
        let start = self.0.last().map_or(0, |last| last.start + last.source.text().len() + 1);
        self.0.push(File { source, folder, start });
        start
    }

    /// The joined text.
    pub(crate) fn joined(&self) -> Source {
        let texts: Vec<&str> = self.0.iter().map(|file| file.source.text()).collect();
        Source::new(self.0.first().map_or("", |file| file.source.name()), texts.join("\n"))
    }

    /// The sources of all files.
    pub(crate) fn sources(&self) -> impl Iterator<Item = &Source> {
        self.0.iter().map(|file| &file.source)
    }

    /// The folder of the file that contains a span.
    pub(crate) fn folder(&self, span: Span) -> &Path {
        self.at(span).map_or(Path::new(""), |file| &file.folder)
    }

    /// The file that contains a span, and the span in that file.
    pub(crate) fn place(&self, span: Span) -> Option<(&Source, Span)> {
        let file = self.at(span)?;
        let within = |at: usize| at.saturating_sub(file.start);
        Some((&file.source, Span { start: within(span.start), end: within(span.end) }))
    }

    /// Sorts problems by file.
    pub(crate) fn sorted(&self, problems: &Problems) -> Vec<Problems> {
        let mut all: Vec<Problems> = self.sources().map(Problems::new).collect();
        for problem in problems.iter() {
            let Some((source, span)) = self.place(problem.span) else { continue };
            if let Some(of_file) = all.iter_mut().find(|it| it.source() == source) {
                of_file.add_with_help(span, problem.message.clone(), problem.help.clone());
            }
        }
        all.retain(|problems| !problems.is_empty());
        all
    }

    fn at(&self, span: Span) -> Option<&File> {
        self.0.iter().rev().find(|file| file.start <= span.start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_file_of_a_span() {
        let mut files = Files::default();
        files.add(Source::new("a", "one"), "x".into());
        let start = files.add(Source::new("b", "two"), "y".into());
        assert_eq!((start, files.joined().text()), (4, "one\ntwo"));
        let place = |at| {
            let (source, span) = files.place(Span { start: at, end: at + 1 }).unwrap();
            (source.name().to_owned(), span.start)
        };
        assert_eq!(place(3), ("a".to_owned(), 3));
        assert_eq!(place(4), ("b".to_owned(), 0));
        assert_eq!(files.folder(Span { start: 5, end: 5 }), Path::new("y"));
    }
}
