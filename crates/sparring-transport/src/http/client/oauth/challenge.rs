//! Parses `WWW-Authenticate`, the challenge of a server that requires authorization (RFC 9110,
//! 11.6.1; RFC 6750, 3; RFC 9728, 5.1).

use http::HeaderMap;
use http::header::WWW_AUTHENTICATE;

/// The parameters of the `Bearer` challenges; empty without one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Challenge {
    pub(super) resource_metadata: Option<String>,
    pub(super) scope: Option<String>,
    pub(super) error: Option<String>,
    pub(super) description: Option<String>,
}

impl Challenge {
    pub(super) fn from_headers(headers: &HeaderMap) -> Challenge {
        let values =
            headers.get_all(WWW_AUTHENTICATE).iter().filter_map(|value| value.to_str().ok());
        values.flat_map(parse_challenges).fold(
            Challenge::default(),
            |found, (scheme, parameters)| match scheme.eq_ignore_ascii_case("bearer") {
                true => found.with_parameters(parameters),
                false => found,
            },
        )
    }

    fn with_parameters(mut self, parameters: Vec<(String, String)>) -> Challenge {
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

    /// Returns the server's reason, in its words.
    pub(super) fn reason(&self) -> Option<String> {
        match (&self.error, &self.description) {
            (Some(error), Some(description)) => Some(format!("{error}: {description}")),
            (error, description) => error.as_ref().or(description.as_ref()).cloned(),
        }
    }
}

/// A scheme and its parameters.
type SchemeParameters = (String, Vec<(String, String)>);

/// Parses the challenges of one header, which may contain several.
fn parse_challenges(text: &str) -> Vec<SchemeParameters> {
    let mut found: Vec<SchemeParameters> = Vec::new();
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches([' ', '\t', ',']);
        let end = rest.find(|c: char| !is_token_char(c)).unwrap_or(rest.len());
        if end == 0 {
            return found;
        }
        let (name, after) = rest.split_at(end);
        match after.trim_start().strip_prefix('=') {
            // A scheme may be followed by a token that ends with equals signs.
            Some(value) if !found.is_empty() && !value.starts_with('=') => {
                let (value, after) = parse_value(value.trim_start());
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

/// Parses a value with or without quotes; also returns the rest.
fn parse_value(text: &str) -> (String, &str) {
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

fn is_token_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~/".contains(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(values: &[&str]) -> Challenge {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(WWW_AUTHENTICATE, value.parse().expect("a header"));
        }
        Challenge::from_headers(&headers)
    }

    #[test]
    fn parameters_are_read_with_and_without_quotes() {
        let found =
            parse(&[r#"Bearer error=invalid_token, scope="a b",resource_metadata = "http://x/y""#]);
        assert_eq!(found.error.as_deref(), Some("invalid_token"));
        assert_eq!(found.scope.as_deref(), Some("a b"));
        assert_eq!(found.resource_metadata.as_deref(), Some("http://x/y"));
    }

    #[test]
    fn ignores_parameters_inside_quotes() {
        let found = parse(&[r#"Bearer error_description="no \"scope=x\", no entry", error="e""#]);
        assert_eq!(found.scope, None);
        assert_eq!(found.reason().as_deref(), Some(r#"e: no "scope=x", no entry"#));
    }

    #[test]
    fn ignores_other_schemes() {
        for values in [
            &[r#"Basic realm="a", scope="no", bearer scope=yes"#][..],
            &[r#"Negotiate abc==, Bearer scope="yes""#],
            &[r#"Basic scope="no""#, "Bearer scope=yes"],
            &["Bearer", "bearer scope=yes"],
        ] {
            assert_eq!(parse(values).scope.as_deref(), Some("yes"), "{values:?}");
        }
    }

    #[test]
    fn ignores_anything_else() {
        for value in ["", ",", "=", "\"", "Bearer scope=\"", "Bearer =", "scope=x", "a=b=c"] {
            assert!(parse(&[value]).scope.is_none_or(|scope| scope.is_empty()), "{value}");
        }
    }
}
