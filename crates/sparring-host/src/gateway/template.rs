//! Whether a URI may have been made from a template (RFC 6570). What is filled in
//! is not read: it is only said whose resource it may be.

/// A part of a template.
enum Part<'a> {
    Literal(&'a str),
    /// What `{name}` is filled with: something, and no slash.
    Segment,
    /// What the other expressions, as `{+path}` or `{?query}`, are filled with:
    /// anything, or nothing.
    Any,
}

/// Whether it may.
pub(super) fn fits(template: &str, uri: &str) -> bool {
    let Some(parts) = parts(template) else { return false };
    // The places in the URI that the parts up to here can end at.
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

fn parts(template: &str) -> Option<Vec<Part<'_>>> {
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
        fitting.iter().for_each(|uri| assert!(fits(template, uri), "{template} and {uri}"));
        other.iter().for_each(|uri| assert!(!fits(template, uri), "{template} and {uri}"));
    }

    #[test]
    fn a_name_is_a_segment() {
        check("file:///{name}", &["file:///a", "file:///a.b"], &["file:///", "file:///a/b", "a"]);
        check("x://{a}/{b}.txt", &["x://1/2.txt", "x://1/.txt.txt"], &["x://1/.txt", "x://1/2"]);
    }

    #[test]
    fn other_expressions_are_anything() {
        check("file:///{+path}", &["file:///a/b", "file:///"], &["file://"]);
        check("db://{table}{?limit,offset}", &["db://t", "db://t?limit=1"], &["db://"]);
    }

    #[test]
    fn without_expressions_it_is_itself() {
        check("a://b", &["a://b"], &["a://bc", "a://"]);
        check("a://{b", &[], &["a://{b", "a://x"]);
    }
}
