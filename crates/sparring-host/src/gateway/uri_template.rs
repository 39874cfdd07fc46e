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

/// Returns true if the URI can come from the template.
pub(super) fn template_matches(template: &str, uri: &str) -> bool {
    let Some(parts) = parse_parts(template) else { return false };
    // The positions in the URI at which the parts so far can end.
    let mut ends = vec![false; uri.len() + 1];
    ends[0] = true;
    for part in parts {
        let mut next = vec![false; uri.len() + 1];
        match part {
            Part::Literal(text) => {
                for at in (0..=uri.len()).filter(|at| ends[*at]) {
                    if uri.as_bytes()[at..].starts_with(text.as_bytes()) {
                        next[at + text.len()] = true;
                    }
                }
            }
            Part::Segment | Part::Any => {
                let any = matches!(part, Part::Any);
                let mut open = false;
                for at in 0..=uri.len() {
                    next[at] = open || any && ends[at];
                    open |= ends[at];
                    if !any && uri.as_bytes().get(at) == Some(&b'/') {
                        open = false;
                    }
                }
            }
        }
        ends = next;
    }
    ends[uri.len()]
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
        fitting
            .iter()
            .for_each(|uri| assert!(template_matches(template, uri), "{template} and {uri}"));
        other
            .iter()
            .for_each(|uri| assert!(!template_matches(template, uri), "{template} and {uri}"));
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
}
