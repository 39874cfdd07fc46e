//! A strict TAP 14 parser that accepts only the subset that reports use.

use serde_json::Value;

/// One test point.
#[derive(Debug)]
pub(crate) struct Point {
    pub(crate) ok: bool,
    pub(crate) description: String,
    /// The reason if the test was skipped.
    pub(crate) skip: Option<String>,
    pub(crate) block: Option<Value>,
}

/// Parses a document to its test points and the reason of a bail-out.
pub(crate) fn read(text: &str) -> (Vec<Point>, Option<String>) {
    assert!(text.ends_with('\n'), "the last line has no end");
    let mut lines = text.strip_suffix('\n').unwrap().split('\n').peekable();
    assert_eq!(lines.next(), Some("TAP version 14"));
    let plan = lines.next().and_then(|line| line.strip_prefix("1..")).expect("a plan");
    let planned: usize = plan.parse().unwrap();
    let mut points: Vec<Point> = Vec::new();
    let mut bail = None;
    while let Some(line) = lines.next() {
        assert!(bail.is_none(), "something after the end: {line:?}");
        if let Some(reason) = line.strip_prefix("Bail out! ") {
            bail = Some(reason.to_owned());
            continue;
        }
        let mut point = parse_point(line, points.len() + 1);
        if lines.peek() == Some(&"  ---") {
            lines.next();
            let block: Vec<&str> = lines.by_ref().take_while(|line| *line != "  ...").collect();
            assert!(block.iter().all(|line| line.starts_with("  ")), "{block:?}");
            let yaml: String = block.iter().map(|line| format!("{}\n", &line[2..])).collect();
            let value = serde_saphyr::from_str(&yaml);
            point.block = Some(value.unwrap_or_else(|error| panic!("{error}: {yaml}")));
        }
        points.push(point);
    }
    assert_eq!(points.len(), planned);
    (points, bail)
}

fn parse_point(line: &str, number: usize) -> Point {
    let (ok, rest) = match line.strip_prefix("not ") {
        Some(rest) => (false, rest),
        None => (true, line),
    };
    let rest = rest.strip_prefix(&format!("ok {number} - ")).unwrap_or_else(|| panic!("{line:?}"));
    let (description, directive) = unescape(rest);
    let skip = directive.map(|it| it.trim().strip_prefix("SKIP").expect(line).to_owned());
    let skip = skip.map(|reason| unescape(reason.trim()).0);
    Point { ok, description, skip, block: None }
}

/// Unescapes a text up to the first unescaped `#`. Returns it with the text that follows.
fn unescape(text: &str) -> (String, Option<&str>) {
    let mut plain = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => plain.push(chars.next().expect("something escaped")),
            '#' => return (plain, Some(chars.as_str())),
            c => plain.push(c),
        }
    }
    (plain, None)
}
