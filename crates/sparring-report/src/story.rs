//! A try that failed as plain text: what did not hold and where, what was said,
//! and how to run it again.

use crate::{Failure, Place, Test, Try, cut, spoken};

/// How much of a message, of a line, and of a diff is shown.
const LONGEST: usize = 4_000;
const LINES: usize = 200;
/// How many of the last frames are shown.
const FRAMES: usize = 20;

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

/// All that did not hold.
pub(crate) fn failures(failed: &Try) -> String {
    failed.failures.iter().map(failure).collect::<Vec<_>>().join("\n")
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

fn failure(failure: &Failure) -> String {
    let Failure { place, source, message, diff } = failure;
    let mut text = format!("{}: {}\n", at(place), cut::line(message, LONGEST));
    if !source.trim().is_empty() {
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
