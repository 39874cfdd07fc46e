//! Renders differences for people: of texts by line, of JSON by path.

use serde_json::Value;
use sparring_script::{DiffLine, render_diff_lines};

const MAX_EXCERPT_CHARS: usize = 600;

/// The limit of a JSON value in one line.
const MAX_VALUE_CHARS: usize = 160;

const MAX_DIFFERENCES: usize = 20;

/// Renders the start of a text: a single line in quotes, several lines indented.
pub(crate) fn render_excerpt(text: &str) -> String {
    let (start, rest) = match text.char_indices().nth(MAX_EXCERPT_CHARS) {
        Some((end, _)) => (&text[..end], format!("… ({} bytes)", text.len())),
        None => (text, String::new()),
    };
    match start.trim_end().contains('\n') {
        false => format!("{start:?}{rest}"),
        true => format!("\n{}{rest}", indent(start.trim_end_matches('\n'))),
    }
}

fn indent(text: &str) -> String {
    let lines: Vec<String> = text.lines().map(|line| format!("  {line}")).collect();
    lines.join("\n")
}

/// Renders two texts: one below the other if both are single lines, otherwise as a
/// line diff with `-` for expected and `+` for found lines.
pub(crate) fn render_text_diff(expected: &str, found: &str) -> String {
    let is_line = |text: &str| !text.contains('\n') && text.chars().count() <= MAX_EXCERPT_CHARS;
    match is_line(expected) && is_line(found) {
        true => format!("expected: {expected:?}\n   found: {found:?}"),
        false => format!("expected (-) and found (+):\n{}", render_line_diff(expected, found)),
    }
}

/// Renders a line diff. Equal lines appear only near differences.
pub(crate) fn render_line_diff(expected: &str, found: &str) -> String {
    // A final line break that only one text has would not be visible.
    let ends_alike = expected.ends_with('\n') == found.ends_with('\n');
    let render = |line: DiffLine<'_>| {
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
    render_diff_lines(expected, found, render, "    ")
}

/// The strictness of a comparison of two JSON values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Comparison {
    /// The values are equal.
    Exact,
    /// The found objects may have more members.
    Subset,
}

/// Renders one line for each path at which two values differ; `None` if they match.
pub(crate) fn render_json_diff(
    expected: &Value,
    found: &Value,
    comparison: Comparison,
) -> Option<String> {
    let mut differences = Vec::new();
    collect_differences(expected, found, comparison, &mut String::new(), &mut differences);
    let more = differences.len().saturating_sub(MAX_DIFFERENCES);
    differences.truncate(MAX_DIFFERENCES);
    if more > 0 {
        differences.push(format!("  … and {more} more"));
    }
    (!differences.is_empty()).then(|| differences.join("\n"))
}

fn collect_differences(
    expected: &Value,
    found: &Value,
    comparison: Comparison,
    path: &mut String,
    differences: &mut Vec<String>,
) {
    let mut deeper = |step: &str, expected: Option<&Value>, found: Option<&Value>| {
        let length = path.len();
        path.push_str(step);
        match (expected, found) {
            (Some(expected), Some(found)) => {
                collect_differences(expected, found, comparison, path, differences);
            }
            (Some(expected), None) => {
                let (path, expected) = (render_path(path), render_short(expected));
                differences.push(format!("  {path}: expected {expected}, found nothing"));
            }
            (None, Some(found)) => {
                let (path, found) = (render_path(path), render_short(found));
                differences.push(format!("  {path}: unexpected {found}"));
            }
            (None, None) => {}
        }
        path.truncate(length);
    };
    match (expected, found) {
        (Value::Object(expected), Value::Object(found)) => {
            for (name, value) in expected {
                deeper(&render_member(name), Some(value), found.get(name));
            }
            let rest = found.iter().filter(|(name, _)| !expected.contains_key(*name));
            for (name, value) in rest.filter(|_| comparison == Comparison::Exact) {
                deeper(&render_member(name), None, Some(value));
            }
        }
        (Value::Array(expected), Value::Array(found)) => {
            for index in 0..expected.len().max(found.len()) {
                deeper(&format!("[{index}]"), expected.get(index), found.get(index));
            }
        }
        (Value::Number(one), Value::Number(other)) if is_same_number(one, other) => {}
        (expected, found) if expected == found => {}
        (Value::String(one), Value::String(other))
            if one.contains('\n') || other.contains('\n') =>
        {
            let diff = render_text_diff(one, other).replace('\n', "\n  ");
            differences.push(format!("  {}: {diff}", render_path(path)));
        }
        (expected, found) => {
            let (expected, found) = (render_short(expected), render_short(found));
            let path = render_path(path);
            differences.push(format!("  {path}: expected {expected}, found {found}"));
        }
    }
}

/// Returns true if two numbers are equal. In JSON 1 and 1.0 are the same number.
fn is_same_number(one: &serde_json::Number, other: &serde_json::Number) -> bool {
    one == other || (one.as_f64() == other.as_f64() && (one.is_f64() || other.is_f64()))
}

fn render_member(name: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "_-$".contains(c);
    match !name.is_empty() && name.chars().all(plain) {
        true => format!(".{name}"),
        false => format!("[{name:?}]"),
    }
}

fn render_path(path: &str) -> &str {
    match path.strip_prefix('.').unwrap_or(path) {
        "" => "(root)",
        path => path,
    }
}

/// Renders a value in one line, truncated if it is long.
pub(crate) fn render_short(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(MAX_VALUE_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn renders_single_lines_below_each_other_and_several_as_a_line_diff() {
        assert_eq!(render_text_diff("a", "b"), "expected: \"a\"\n   found: \"b\"");
        let both = render_text_diff("one\ntwo\nthree\n", "one\n2\nthree\n");
        assert_eq!(both, "expected (-) and found (+):\n    one\n  - two\n  + 2\n    three");
        assert_eq!(render_line_diff("a\nb\n", "a\nb"), "    a\n  - b\n  + b⏎ missing");
        let long: String = (0..30).map(|n| format!("{n}\n")).collect();
        let changed = long.replace("15\n", "x\n");
        let expected =
            "    …\n    12\n    13\n    14\n  - 15\n  + x\n    16\n    17\n    18\n    …";
        assert_eq!(render_line_diff(&long, &changed), expected);
    }

    #[test]
    fn renders_each_path_at_which_values_differ() {
        let expected = json!({"a": {"b": [1, 2.0]}, "x.y": true, "gone": null, "same": "s"});
        let found = json!({"a": {"b": [1, 2, 3]}, "x.y": "true", "same": "s", "new": [1]});
        let diff = render_json_diff(&expected, &found, Comparison::Exact).expect("they differ");
        assert_eq!(
            diff,
            "  a.b[2]: unexpected 3\n  [\"x.y\"]: expected true, found \"true\"\n  \
             gone: expected null, found nothing\n  new: unexpected [1]"
        );
        assert_eq!(render_json_diff(&json!({"a": {}}), &found, Comparison::Subset), None);
        let diff = render_json_diff(&json!(1), &json!([1]), Comparison::Exact);
        assert_eq!(diff.as_deref(), Some("  (root): expected 1, found [1]"));
    }

    #[test]
    fn truncates_a_long_text() {
        assert_eq!(render_excerpt("a \"b\""), r#""a \"b\"""#);
        assert_eq!(render_excerpt("a\nb\n"), "\n  a\n  b");
        let long = render_excerpt(&"é".repeat(700));
        assert!(long.ends_with("é\"… (1400 bytes)"), "{long}");
    }
}
