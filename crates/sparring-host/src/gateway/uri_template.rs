//! Matches a URI against a template (RFC 6570). Values are not
//! extracted: the result only selects the server.

/// A part of a template.
enum Part<'a> {
    Literal(&'a str),
    /// The value of `{name}`: not empty, and without a slash.
    Segment,
    /// The value of any other expression, such as `{+path}` or `{?query}`:
    /// anything or nothing.
    Any,
}

/// The maximum length of a URI that is compared with templates.
const MAX_URI_BYTES: usize = 64 * 1024;

/// The maximum length of a template that is compared with URIs.
const MAX_TEMPLATE_BYTES: usize = 8 * 1024;

/// The maximum number of steps for one URI and all templates. A step looks at one byte of the
/// URI, and this many take less than a tenth of a second.
const MAX_STEPS: usize = 10_000_000;

/// Compares one URI with templates. Matching takes linear time for each expression of a
/// template, and all templates share a limit, since servers write templates and clients URIs.
pub(super) struct TemplateMatcher<'a> {
    uri: &'a [u8],
    steps_left: usize,
}

impl<'a> TemplateMatcher<'a> {
    pub(super) fn new(uri: &'a str) -> Self {
        let steps_left = if uri.len() > MAX_URI_BYTES { 0 } else { MAX_STEPS };
        TemplateMatcher { uri: uri.as_bytes(), steps_left }
    }

    /// Returns true if the URI can come from the template; false without steps.
    pub(super) fn matches(&mut self, template: &str) -> bool {
        if template.len() > MAX_TEMPLATE_BYTES {
            return false;
        }
        let Some(parts) = parse_parts(template) else { return false };
        let uri = self.uri;
        // The positions in the URI at which the parts so far can end.
        let mut ends = vec![false; uri.len() + 1];
        ends[0] = true;
        for part in parts {
            let steps = uri.len() + 1;
            let Some(left) = self.steps_left.checked_sub(steps) else {
                self.steps_left = 0;
                return false;
            };
            self.steps_left = left;
            let mut next = vec![false; uri.len() + 1];
            match part {
                Part::Literal(text) => {
                    for end in ends_of(text.as_bytes(), uri) {
                        next[end] = ends[end - text.len()];
                    }
                }
                Part::Segment | Part::Any => {
                    let any = matches!(part, Part::Any);
                    let mut open = false;
                    for at in 0..=uri.len() {
                        next[at] = open || any && ends[at];
                        open |= ends[at];
                        if !any && uri.get(at) == Some(&b'/') {
                            open = false;
                        }
                    }
                }
            }
            ends = next;
        }
        ends[uri.len()]
    }
}

/// Returns the ends of all occurrences of a literal, in linear time (Knuth, Morris and Pratt).
fn ends_of(literal: &[u8], text: &[u8]) -> Vec<usize> {
    if literal.is_empty() {
        return (0..=text.len()).collect();
    }
    // The length of the longest proper prefix that ends at each position of the literal.
    let mut prefixes = vec![0; literal.len()];
    let mut length = 0;
    for at in 1..literal.len() {
        while length > 0 && literal[at] != literal[length] {
            length = prefixes[length - 1];
        }
        length += usize::from(literal[at] == literal[length]);
        prefixes[at] = length;
    }
    let (mut ends, mut length) = (Vec::new(), 0);
    for (at, byte) in text.iter().enumerate() {
        while length > 0 && (length == literal.len() || *byte != literal[length]) {
            length = prefixes[length - 1];
        }
        length += usize::from(*byte == literal[length]);
        if length == literal.len() {
            ends.push(at + 1);
        }
    }
    ends
}

fn parse_parts(template: &str) -> Option<Vec<Part<'_>>> {
    let mut parts = Vec::new();
    let mut rest = template;
    while let Some((literal, after)) = rest.split_once('{') {
        let (expression, after) = after.split_once('}')?;
        parts.push(Part::Literal(literal));
        let plain = expression.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
        parts.push(if plain { Part::Segment } else { Part::Any });
        rest = after;
    }
    parts.push(Part::Literal(rest));
    Some(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(template: &str, fitting: &[&str], other: &[&str]) {
        fitting.iter().for_each(|uri| {
            assert!(TemplateMatcher::new(uri).matches(template), "{template} and {uri}")
        });
        other.iter().for_each(|uri| {
            assert!(!TemplateMatcher::new(uri).matches(template), "{template} and {uri}")
        });
    }

    #[test]
    fn a_name_matches_one_segment() {
        check("file:///{name}", &["file:///a", "file:///a.b"], &["file:///", "file:///a/b", "a"]);
        check("x://{a}/{b}.txt", &["x://1/2.txt", "x://1/.txt.txt"], &["x://1/.txt", "x://1/2"]);
    }

    #[test]
    fn other_expressions_match_anything() {
        check("file:///{+path}", &["file:///a/b", "file:///"], &["file://"]);
        check("db://{table}{?limit,offset}", &["db://t", "db://t?limit=1"], &["db://"]);
    }

    #[test]
    fn a_template_without_expressions_matches_itself() {
        check("a://b", &["a://b"], &["a://bc", "a://"]);
        check("a://{b", &[], &["a://{b", "a://x"]);
    }

    #[test]
    fn finds_overlapping_literals() {
        assert_eq!(ends_of(b"aba", b"ababaXaba"), [3, 5, 9]);
        assert_eq!(ends_of(b"", b"ab"), [0, 1, 2]);
        assert_eq!(ends_of(b"abc", b"ab"), [0; 0]);
        check("{+a}aa{+b}", &["aaa", "aaaa"], &["a"]);
    }

    #[test]
    fn one_uri_and_many_templates_take_limited_steps() {
        let uri = "a".repeat(MAX_URI_BYTES);
        let template = format!("{}b", "{+x}aaaa".repeat(100));
        let mut matcher = TemplateMatcher::new(&uri);
        (0..1_000).for_each(|_| assert!(!matcher.matches(&template)));
        assert_eq!(matcher.steps_left, 0);
        assert!(!matcher.matches("{+x}"), "no steps are left");
        assert!(TemplateMatcher::new(&uri).matches("{+x}"));
        let longer = uri + "a";
        assert!(!TemplateMatcher::new(&longer).matches("{+x}"));
        assert!(!TemplateMatcher::new("a").matches(&"{+x}".repeat(MAX_TEMPLATE_BYTES)));
    }
}
