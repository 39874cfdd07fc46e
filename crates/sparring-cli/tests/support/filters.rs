//! Replaces output that differs between two runs of a command by placeholders.

use std::path::Path;

/// The texts in front of numbers that differ each time.
const BEFORE_NUMBERS: [&str; 15] = [
    "\"at_ms\":",
    "duration_ms: ",
    "\"took_ms\":",
    "\"took_ms\": ",
    "\"at_ms\": ",
    "answered in ",
    "\"milliseconds\":",
    "\"at\":",
    "\"connect\":",
    "\"first_byte\":",
    "\"done\":",
    "event-stream ",
    "the last ",
    "sent ",
    "it took ",
];

/// Replaces the duration of a run, in the line with its counts.
pub(crate) fn without_run_times(text: &str) -> String {
    let filtered = text.split_inclusive('\n').map(|line| {
        let has = |word: &str| line.contains(word);
        let is_check = has(" undecided, ") && has(" not applicable");
        let is_summary = has(" passed, ") && has(" failed, ") && (has(" skipped") || is_check);
        match line.rsplit_once(" in ").filter(|_| is_summary) {
            Some((counts, rest)) if rest.starts_with(|c: char| c.is_ascii_digit()) => {
                let rest = rest.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '.');
                format!("{counts} in [TIME]{rest}")
            }
            _ => line.to_owned(),
        }
    });
    filtered.collect()
}

/// Replaces the temporary folder, the version, times and the resolver's messages.
pub(crate) fn filter(text: &str, folder: &Path) -> String {
    let mut text = without_version(&text.replace(&*folder.to_string_lossy(), "[TMP]"));
    for before in BEFORE_NUMBERS {
        text = without_numbers(&text, before);
    }
    without_resolver_messages(&without_run_times(&without_test_times(&text)))
}

/// Replaces the version wherever the program names itself: in its output, in HTTP
/// headers, in frames, in frames as strings of a report, and in the report itself.
fn without_version(text: &str) -> String {
    let places = [
        "spar [VERSION]",
        "\"sparring/[VERSION]\"",
        "\"name\":\"spar\",\"version\":\"[VERSION]\"",
        "\\\"name\\\":\\\"spar\\\",\\\"version\\\":\\\"[VERSION]\\\"",
        "\"spar\":\"[VERSION]\"",
        "\"spar\": \"[VERSION]\"",
    ];
    let version = env!("CARGO_PKG_VERSION");
    places.iter().fold(text.to_owned(), |text, place| {
        text.replace(&place.replace("[VERSION]", version), place)
    })
}

/// Removes ` (took 1.2s)`, which is printed only for slow tests.
fn without_test_times(text: &str) -> String {
    let mut parts = text.split(" (took ");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + part.split_once(')').map_or(part, |(_, rest)| rest))
}

/// Replaces the resolver's message about a name without an address, which differs
/// without a network.
fn without_resolver_messages(text: &str) -> String {
    let (before, mut filtered) = ("failed to lookup address information: ", String::new());
    for line in text.split_inclusive('\n') {
        filtered += &match line.split_once(before) {
            Some((start, _)) => format!("{start}{before}[WHY]\n"),
            None => line.to_owned(),
        };
    }
    filtered
}

/// Replaces the number after each `before` by `[N]`, with a unit that follows it at
/// once: the unit may differ too.
fn without_numbers(text: &str, before: &str) -> String {
    let mut parts = text.split(before);
    let mut filtered = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let rest = part.trim_start_matches(|c: char| c.is_ascii_digit() || ".e-".contains(c));
        let number = if rest == part { "" } else { "[N]" };
        let is_unit = |c: char| c.is_alphabetic() && !number.is_empty();
        filtered += &format!("{before}{number}{}", rest.trim_start_matches(is_unit));
    }
    filtered
}
