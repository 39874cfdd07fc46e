//! A try that failed as plain text: what did not hold and where, what was said,
//! and how to run it again.

use crate::{Failure, Place, Test, Try, cut, spoken};

/// How much of a message, of a line, and of a diff is shown.
const LONGEST: usize = 4_000;
const LINES: usize = 200;
/// How many of the last frames are shown.
const FRAMES: usize = 10;

/// A place as compilers write it.
pub(crate) fn at(place: &Place) -> String {
    format!("{}:{}:{}", cut::line(&place.file, 500), place.line, place.column)
}

/// What a try failed of in one line.
pub(crate) fn headline(failed: &Try, longest: usize) -> String {
    match failed.failures.as_slice() {
        [] => "it failed".to_owned(),
        [only] => cut::line(&only.message, longest),
        [first, others @ ..] => {
            format!("{} (and {} more)", cut::line(&first.message, longest), others.len())
        }
    }
}

/// Things that did not hold, each with the text of its line, unless that of the
/// one before is the same.
pub(crate) fn with_source(failures: &[Failure]) -> impl Iterator<Item = (&Failure, &str)> {
    let line = |failure: &Failure| (failure.place.file.clone(), failure.place.line);
    failures.iter().enumerate().map(move |(index, failure)| {
        let before = index.checked_sub(1).map(|before| line(&failures[before]));
        let source = if before == Some(line(failure)) { "" } else { failure.source.trim_end() };
        (failure, source)
    })
}

/// All that did not hold.
pub(crate) fn failures(failed: &Try) -> String {
    let told = with_source(&failed.failures).map(|(it, source)| failure(it, source));
    told.collect::<Vec<_>>().join("\n")
}

/// The whole story of the last try.
pub(crate) fn told(test: &Test, failed: &Try) -> String {
    let mut text = failures(failed);
    let said = spoken::conversation(test, FRAMES, LONGEST);
    if !said.is_empty() {
        text.push_str(&format!("\nwhat was said:\n{}\n", said.join("\n")));
    }
    text.push_str(&format!("\nagain:\n{}\n", cut::line(&test.again, LONGEST)));
    text
}

fn failure(failure: &Failure, source: &str) -> String {
    let Failure { place, message, diff, .. } = failure;
    let mut text = format!("{}: {}\n", at(place), cut::line(message, LONGEST));
    if !source.is_empty() {
        text.push_str(&format!("{:>4} | {}\n", place.line, cut::line(source, LONGEST)));
    }
    if let Some(diff) = diff {
        text.push_str("difference (- expected, + found):\n");
        for line in cut::first_lines(diff, LINES, LONGEST) {
            text.push_str(&format!("{line}\n"));
        }
    }
    text
}
