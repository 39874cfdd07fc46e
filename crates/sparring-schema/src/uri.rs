//! References to URIs: how one is resolved against a base (RFC 3986, section 5.2).

/// A URI in its parts; those that are not there are empty, but for the authority,
/// which may be there and empty.
struct Parts<'a> {
    scheme: &'a str,
    authority: Option<&'a str>,
    path: &'a str,
    query: Option<&'a str>,
    fragment: Option<&'a str>,
}

/// What a reference means where `base` is the URI of all that is around it.
pub(crate) fn resolve(base: &str, reference: &str) -> String {
    let to = parts(reference);
    if !to.scheme.is_empty() {
        return joined(to.scheme, to.authority, &without_dots(to.path), to.query, to.fragment);
    }
    let from = parts(base);
    if to.authority.is_some() {
        let path = without_dots(to.path);
        return joined(from.scheme, to.authority, &path, to.query, to.fragment);
    }
    if to.path.is_empty() {
        let query = to.query.or(from.query);
        return joined(from.scheme, from.authority, from.path, query, to.fragment);
    }
    let path = match to.path.starts_with('/') {
        true => without_dots(to.path),
        false => without_dots(&beside(&from, to.path)),
    };
    joined(from.scheme, from.authority, &path, to.query, to.fragment)
}

/// A URI without its fragment, and its fragment.
pub(crate) fn split(uri: &str) -> (&str, &str) {
    uri.split_once('#').unwrap_or((uri, ""))
}

fn parts(uri: &str) -> Parts<'_> {
    let (rest, fragment) = match uri.split_once('#') {
        Some((rest, fragment)) => (rest, Some(fragment)),
        None => (uri, None),
    };
    let (rest, query) = match rest.split_once('?') {
        Some((rest, query)) => (rest, Some(query)),
        None => (rest, None),
    };
    let (scheme, rest) = match rest.split_once(':') {
        Some((scheme, rest)) if is_scheme(scheme) => (scheme, rest),
        _ => ("", rest),
    };
    let (authority, path) = match rest.strip_prefix("//") {
        Some(rest) => {
            let end = rest.find('/').unwrap_or(rest.len());
            (Some(&rest[..end]), &rest[end..])
        }
        None => (None, rest),
    };
    Parts { scheme, authority, path, query, fragment }
}

fn is_scheme(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
}

/// A relative path in the folder of the base.
fn beside(base: &Parts<'_>, path: &str) -> String {
    match base.path.rfind('/') {
        Some(slash) => format!("{}{path}", &base.path[..=slash]),
        None if base.authority.is_some() => format!("/{path}"),
        None => path.to_owned(),
    }
}

fn without_dots(path: &str) -> String {
    if !path.contains('.') {
        return path.to_owned();
    }
    let mut kept: Vec<&str> = Vec::new();
    let mut ends_in_folder = false;
    for part in path.split('/') {
        ends_in_folder = part == "." || part == "..";
        match part {
            "." => {}
            // The empty part before the first slash stays.
            ".." if kept.len() > 1 => drop(kept.pop()),
            ".." => {}
            part => kept.push(part),
        }
    }
    if ends_in_folder {
        kept.push("");
    }
    kept.join("/")
}

fn joined(
    scheme: &str,
    authority: Option<&str>,
    path: &str,
    query: Option<&str>,
    fragment: Option<&str>,
) -> String {
    let mut uri = String::new();
    if !scheme.is_empty() {
        uri.push_str(scheme);
        uri.push(':');
    }
    for (mark, part) in [("//", authority), ("", Some(path)), ("?", query), ("#", fragment)] {
        if let Some(part) = part {
            uri.push_str(mark);
            uri.push_str(part);
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_resolved_as_the_rfc_says() {
        let base = "http://a/b/c/d;p?q";
        for (reference, expected) in [
            ("g:h", "g:h"),
            ("g", "http://a/b/c/g"),
            ("./g", "http://a/b/c/g"),
            ("g/", "http://a/b/c/g/"),
            ("/g", "http://a/g"),
            ("//g", "http://g"),
            ("?y", "http://a/b/c/d;p?y"),
            ("g?y#s", "http://a/b/c/g?y#s"),
            ("", "http://a/b/c/d;p?q"),
            ("#s", "http://a/b/c/d;p?q#s"),
            (".", "http://a/b/c/"),
            ("..", "http://a/b/"),
            ("../../g", "http://a/g"),
            ("../../../g", "http://a/g"),
        ] {
            assert_eq!(resolve(base, reference), expected, "{reference}");
        }
        assert_eq!(resolve("urn:uuid:1", "#/a"), "urn:uuid:1#/a");
        assert_eq!(resolve("http://a", "g"), "http://a/g");
    }
}
