//! How two things differ, for a person: texts by their lines, JSON by its paths.

use serde_json::Value;
use sparring_script::{DiffLine, diff_lines};

/// The most of a text that is shown where it is not compared.
const SHOWN: usize = 600;

/// The most of a value that is shown in one line.
const MOST: usize = 160;

/// The most differences of two values that are told.
const DIFFERENCES: usize = 20;

/// How a text begins: in quotes where it is one line, below otherwise.
pub(crate) fn excerpt(text: &str) -> String {
    let (start, rest) = match text.char_indices().nth(SHOWN) {
        Some((end, _)) => (&text[..end], format!("… ({} bytes)", text.len())),
        None => (text, String::new()),
    };
    match start.trim_end().contains('\n') {
        false => format!("{start:?}{rest}"),
        true => format!("\n{}{rest}", indented(start.trim_end_matches('\n'))),
    }
}

fn indented(text: &str) -> String {
    let lines: Vec<String> = text.lines().map(|line| format!("  {line}")).collect();
    lines.join("\n")
}

/// Two texts: one below the other where each is a line, else line by line, `-`
/// what was expected and `+` what came.
pub(crate) fn texts(expected: &str, found: &str) -> String {
    let is_line = |text: &str| !text.contains('\n') && text.chars().count() <= SHOWN;
    match is_line(expected) && is_line(found) {
        true => format!("expected: {expected:?}\n   found: {found:?}"),
        false => format!("expected (-) and found (+):\n{}", lines(expected, found)),
    }
}

/// Two texts, line by line. What is the same stands there only near what is not.
pub(crate) fn lines(expected: &str, found: &str) -> String {
    // A line break that only one of them has would not be seen.
    let ends_alike = expected.ends_with('\n') == found.ends_with('\n');
    let tell = |line| {
        let (sign, line) = match line {
            DiffLine::Omitted => return "    …".to_owned(),
            DiffLine::Same(line) => (' ', line),
            DiffLine::Removed(line) => ('-', line),
            DiffLine::Added(line) => ('+', line),
        };
        let breaks = ends_alike || sign == ' ' || line.ends_with('\n');
        let end = if breaks { "" } else { "⏎ missing" };
        format!("  {sign} {}{end}", line.trim_end_matches('\n'))
    };
    diff_lines(expected, found).into_iter().map(tell).collect::<Vec<_>>().join("\n")
}

/// How exactly a value must be as expected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    /// All of it, and nothing else.
    Whole,
    /// What objects have besides is of no interest.
    Subset,
}

/// How two values differ, a line for each place; nothing where they do not.
pub(crate) fn values(expected: &Value, found: &Value, extent: Extent) -> Option<String> {
    let mut told = Vec::new();
    differ(expected, found, extent, &mut String::new(), &mut told);
    let more = told.len().saturating_sub(DIFFERENCES);
    told.truncate(DIFFERENCES);
    if more > 0 {
        told.push(format!("  … and {more} more"));
    }
    (!told.is_empty()).then(|| told.join("\n"))
}

fn differ(
    expected: &Value,
    found: &Value,
    extent: Extent,
    path: &mut String,
    told: &mut Vec<String>,
) {
    let mut deeper = |step: &str, expected: Option<&Value>, found: Option<&Value>| {
        let length = path.len();
        path.push_str(step);
        match (expected, found) {
            (Some(expected), Some(found)) => differ(expected, found, extent, path, told),
            (Some(expected), None) => {
                told.push(format!("  {}: expected {}, not there", place(path), short(expected)));
            }
            (None, Some(found)) => {
                told.push(format!("  {}: not expected, found {}", place(path), short(found)));
            }
            (None, None) => {}
        }
        path.truncate(length);
    };
    match (expected, found) {
        (Value::Object(expected), Value::Object(found)) => {
            for (name, value) in expected {
                deeper(&member(name), Some(value), found.get(name));
            }
            let rest = found.iter().filter(|(name, _)| !expected.contains_key(*name));
            for (name, value) in rest.filter(|_| extent == Extent::Whole) {
                deeper(&member(name), None, Some(value));
            }
        }
        (Value::Array(expected), Value::Array(found)) => {
            for index in 0..expected.len().max(found.len()) {
                deeper(&format!("[{index}]"), expected.get(index), found.get(index));
            }
        }
        (Value::Number(one), Value::Number(other)) if same(one, other) => {}
        (expected, found) if expected == found => {}
        (Value::String(one), Value::String(other))
            if one.contains('\n') || other.contains('\n') =>
        {
            told.push(format!("  {}: {}", place(path), texts(one, other).replace('\n', "\n  ")));
        }
        (expected, found) => {
            let (expected, found) = (short(expected), short(found));
            told.push(format!("  {}: expected {expected}, found {found}", place(path)));
        }
    }
}

/// Whether two numbers are the same: JSON does not tell 1 from 1.0.
fn same(one: &serde_json::Number, other: &serde_json::Number) -> bool {
    one == other || (one.as_f64() == other.as_f64() && (one.is_f64() || other.is_f64()))
}

fn member(name: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "_-$".contains(c);
    match !name.is_empty() && name.chars().all(plain) {
        true => format!(".{name}"),
        false => format!("[{name:?}]"),
    }
}

fn place(path: &str) -> &str {
    match path.strip_prefix('.').unwrap_or(path) {
        "" => "as a whole",
        path => path,
    }
}

/// A value in one line that is not too long.
pub(crate) fn short(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn lines_are_told_beside_each_other_and_texts_of_one_line_below() {
        assert_eq!(texts("a", "b"), "expected: \"a\"\n   found: \"b\"");
        let both = texts("one\ntwo\nthree\n", "one\n2\nthree\n");
        assert_eq!(both, "expected (-) and found (+):\n    one\n  - two\n  + 2\n    three");
        assert_eq!(lines("a\nb\n", "a\nb"), "    a\n  - b\n  + b⏎ missing");
        let long: String = (0..30).map(|n| format!("{n}\n")).collect();
        let changed = long.replace("15\n", "x\n");
        let told = "    …\n    12\n    13\n    14\n  - 15\n  + x\n    16\n    17\n    18\n    …";
        assert_eq!(lines(&long, &changed), told);
    }

    #[test]
    fn values_are_told_by_the_paths_where_they_differ() {
        let expected = json!({"a": {"b": [1, 2.0]}, "x.y": true, "gone": null, "same": "s"});
        let found = json!({"a": {"b": [1, 2, 3]}, "x.y": "true", "same": "s", "new": [1]});
        let told = values(&expected, &found, Extent::Whole).expect("they differ");
        assert_eq!(
            told,
            "  a.b[2]: not expected, found 3\n  [\"x.y\"]: expected true, found \"true\"\n  \
             gone: expected null, not there\n  new: not expected, found [1]"
        );
        assert_eq!(values(&json!({"a": {}}), &found, Extent::Subset), None);
        let told = values(&json!(1), &json!([1]), Extent::Whole);
        assert_eq!(told.as_deref(), Some("  as a whole: expected 1, found [1]"));
    }

    #[test]
    fn a_long_text_is_shown_by_its_start() {
        assert_eq!(excerpt("a \"b\""), r#""a \"b\"""#);
        assert_eq!(excerpt("a\nb\n"), "\n  a\n  b");
        let long = excerpt(&"é".repeat(700));
        assert!(long.ends_with("é\"… (1400 bytes)"), "{long}");
    }
}
