//! What a server says when it lets nobody in: the header `WWW-Authenticate`
//! (RFC 9110, 11.6.1; RFC 6750, 3; RFC 9728, 5.1).

use http::HeaderMap;
use http::header::WWW_AUTHENTICATE;

/// What a challenge of the scheme `Bearer` says; empty where there is none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Challenge {
    pub(super) resource_metadata: Option<String>,
    pub(super) scope: Option<String>,
    pub(super) error: Option<String>,
    pub(super) description: Option<String>,
}

impl Challenge {
    pub(super) fn of(headers: &HeaderMap) -> Challenge {
        let values =
            headers.get_all(WWW_AUTHENTICATE).iter().filter_map(|value| value.to_str().ok());
        values.flat_map(challenges).fold(Challenge::default(), |found, (scheme, parameters)| {
            match scheme.eq_ignore_ascii_case("bearer") {
                true => found.with(parameters),
                false => found,
            }
        })
    }

    fn with(mut self, parameters: Vec<(String, String)>) -> Challenge {
        for (name, value) in parameters {
            let field = match name.to_ascii_lowercase().as_str() {
                "resource_metadata" => &mut self.resource_metadata,
                "scope" => &mut self.scope,
                "error" => &mut self.error,
                "error_description" => &mut self.description,
                _ => continue,
            };
            field.get_or_insert(value);
        }
        self
    }

    /// What the server says is wrong, in its words.
    pub(super) fn reason(&self) -> Option<String> {
        match (&self.error, &self.description) {
            (Some(error), Some(description)) => Some(format!("{error}: {description}")),
            (error, description) => error.as_ref().or(description.as_ref()).cloned(),
        }
    }
}

/// A scheme and its parameters.
type Named = (String, Vec<(String, String)>);

/// The challenges of one header, which may have several of them.
fn challenges(text: &str) -> Vec<Named> {
    let mut found: Vec<Named> = Vec::new();
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches([' ', '\t', ',']);
        let end = rest.find(|c: char| !is_of_token(c)).unwrap_or(rest.len());
        if end == 0 {
            return found;
        }
        let (name, after) = rest.split_at(end);
        match after.trim_start().strip_prefix('=') {
            // A scheme may be followed by a token that ends with equals signs.
            Some(value) if !found.is_empty() && !value.starts_with('=') => {
                let (value, after) = value_of(value.trim_start());
                if let Some((_, parameters)) = found.last_mut() {
                    parameters.push((name.to_owned(), value));
                }
                rest = after;
            }
            Some(after) => rest = after.trim_start_matches('='),
            None => {
                found.push((name.to_owned(), Vec::new()));
                rest = after;
            }
        }
    }
}

/// A value, in quotes or without, and what follows it.
fn value_of(text: &str) -> (String, &str) {
    let Some(quoted) = text.strip_prefix('"') else {
        let (value, rest) = text.split_at(text.find([',', ' ', '\t']).unwrap_or(text.len()));
        return (value.to_owned(), rest);
    };
    let mut value = String::new();
    let mut chars = quoted.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return (value, &quoted[at + 1..]),
            '\\' => value.extend(chars.next().map(|(_, escaped)| escaped)),
            c => value.push(c),
        }
    }
    (value, "")
}

fn is_of_token(c: char) -> bool {
    c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~/".contains(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[&str]) -> Challenge {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(WWW_AUTHENTICATE, value.parse().expect("a header"));
        }
        Challenge::of(&headers)
    }

    #[test]
    fn parameters_are_read_with_and_without_quotes() {
        let found =
            of(&[r#"Bearer error=invalid_token, scope="a b",resource_metadata = "http://x/y""#]);
        assert_eq!(found.error.as_deref(), Some("invalid_token"));
        assert_eq!(found.scope.as_deref(), Some("a b"));
        assert_eq!(found.resource_metadata.as_deref(), Some("http://x/y"));
    }

    #[test]
    fn what_stands_in_quotes_is_no_parameter() {
        let found = of(&[r#"Bearer error_description="no \"scope=x\", no entry", error="e""#]);
        assert_eq!(found.scope, None);
        assert_eq!(found.reason().as_deref(), Some(r#"e: no "scope=x", no entry"#));
    }

    #[test]
    fn other_schemes_are_left_alone() {
        for values in [
            &[r#"Basic realm="a", scope="no", bearer scope=yes"#][..],
            &[r#"Negotiate abc==, Bearer scope="yes""#],
            &[r#"Basic scope="no""#, "Bearer scope=yes"],
            &["Bearer", "bearer scope=yes"],
        ] {
            assert_eq!(of(values).scope.as_deref(), Some("yes"), "{values:?}");
        }
    }

    #[test]
    fn anything_else_says_nothing() {
        for value in ["", ",", "=", "\"", "Bearer scope=\"", "Bearer =", "scope=x", "a=b=c"] {
            assert!(of(&[value]).scope.is_none_or(|scope| scope.is_empty()), "{value}");
        }
    }
}
