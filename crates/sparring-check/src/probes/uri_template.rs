//! URI templates (RFC 6570): their variables, and the URIs that they describe.

/// A part of a template.
enum Part<'a> {
    Literal(&'a str),
    Expression { operator: Option<char>, variables: Vec<&'a str> },
}

/// Returns the names of the variables of a template, each once.
pub(super) fn variables(template: &str) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for part in parts(template) {
        if let Part::Expression { variables, .. } = part {
            for name in variables {
                if !names.contains(&name) {
                    names.push(name);
                }
            }
        }
    }
    names
}

/// Returns the URI of a template with these values of its variables.
pub(super) fn expand(template: &str, value_of: impl Fn(&str) -> String) -> String {
    let mut uri = String::new();
    for part in parts(template) {
        match part {
            Part::Literal(text) => uri.push_str(text),
            Part::Expression { operator, variables } => {
                let (first, separator, is_named) = match operator {
                    Some('#') => ("#", ",", false),
                    Some('.') => (".", ".", false),
                    Some('/') => ("/", "/", false),
                    Some(';') => (";", ";", true),
                    Some('?') => ("?", "&", true),
                    Some('&') => ("&", "&", true),
                    _ => ("", ",", false),
                };
                let keeps_reserved = matches!(operator, Some('+' | '#'));
                let values = variables.iter().map(|name| {
                    let value = encode(&value_of(name), keeps_reserved);
                    if is_named { format!("{name}={value}") } else { value }
                });
                uri.push_str(first);
                uri.push_str(&values.collect::<Vec<_>>().join(separator));
            }
        }
    }
    uri
}

/// Returns true if a template may describe this URI, judged by its beginning.
pub(super) fn may_match(template: &str, uri: &str) -> bool {
    let prefix = template.split('{').next().unwrap_or_default();
    uri.starts_with(prefix)
}

fn parts(template: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let mut rest = template;
    while let Some((literal, after)) = rest.split_once('{') {
        let Some((expression, after)) = after.split_once('}') else { break };
        parts.push(Part::Literal(literal));
        parts.push(expression_of(expression));
        rest = after;
    }
    parts.push(Part::Literal(rest));
    parts
}

fn expression_of(text: &str) -> Part<'_> {
    let operator = text.chars().next().filter(|it| "+#./;?&".contains(*it));
    let names = text.get(operator.map_or(0, char::len_utf8)..).unwrap_or_default();
    // A modifier is a `*`, or a `:` and a length.
    let plain = |name: &'_ str| name.split([':', '*']).next().unwrap_or_default().trim().len();
    let variables = names.split(',').map(|name| &name.trim()[..plain(name)]);
    Part::Expression { operator, variables: variables.filter(|it| !it.is_empty()).collect() }
}

fn encode(value: &str, keeps_reserved: bool) -> String {
    let mut text = String::new();
    for byte in value.bytes() {
        let is_reserved = b":/?#[]@!$&'()*+,;=".contains(&byte);
        match byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            true => text.push(byte as char),
            false if keeps_reserved && is_reserved => text.push(byte as char),
            false => text.push_str(&format!("%{byte:02X}")),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(template: &str, names: &[&str], uri: &str) {
        assert_eq!(variables(template), names, "{template}");
        assert_eq!(expand(template, |name| format!("{name}/1")), uri, "{template}");
    }

    #[test]
    fn expands_templates() {
        check("test://items/{id}", &["id"], "test://items/id%2F1");
        check("file:///{+path}", &["path"], "file:///path/1");
        check("a://{x,y}/{x}", &["x", "y"], "a://x%2F1,y%2F1/x%2F1");
        check("a://b{?q,limit*}", &["q", "limit"], "a://b?q=q%2F1&limit=limit%2F1");
        check("a://b{/path*}{#part:3}", &["path", "part"], "a://b/path%2F1#part/1");
        check("a://b/{", &[], "a://b/{");
        check("a://b", &[], "a://b");
    }

    #[test]
    fn a_template_may_match_uris_with_its_beginning() {
        assert!(may_match("test://items/{id}", "test://items/1"));
        assert!(!may_match("test://items/{id}", "test://texts/1"));
        assert!(may_match("{+uri}", "test://texts/1"));
    }
}
