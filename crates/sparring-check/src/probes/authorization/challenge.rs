//! Parses `WWW-Authenticate`, the challenge of a server that requires authorization (RFC 9110,
//! 11.6.1; RFC 6750, 3; RFC 9728, 5.1).

use crate::http::Exchange;

/// The first `Bearer` challenge of a response.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Challenge {
    parameters: Vec<(String, String)>,
}

impl Challenge {
    /// Returns the challenge of a response, if it has one with the scheme `Bearer`.
    pub(super) fn of(exchange: &Exchange) -> Option<Challenge> {
        let headers = exchange.headers.iter();
        let values = headers.filter(|(name, _)| name.eq_ignore_ascii_case("www-authenticate"));
        values.flat_map(|(_, value)| parse_challenges(value)).find_map(|(scheme, parameters)| {
            scheme.eq_ignore_ascii_case("bearer").then_some(Challenge { parameters })
        })
    }

    /// Returns a parameter that is not empty.
    pub(super) fn parameter(&self, name: &str) -> Option<&str> {
        let found = self.parameters.iter().find(|(it, _)| it.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.trim()).filter(|value| !value.is_empty())
    }

    /// Returns the scopes of the challenge.
    pub(super) fn scopes(&self) -> impl Iterator<Item = &str> {
        self.parameter("scope").unwrap_or_default().split_whitespace()
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
            Some(value) if !found.is_empty() => {
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
        let end = text.find([',', ' ', '\t']).unwrap_or(text.len());
        return (text[..end].to_owned(), &text[end..]);
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
    use crate::http::Body;

    fn challenge(values: &[&str]) -> Option<Challenge> {
        let headers = values.iter().map(|it| ("www-authenticate".to_owned(), (*it).to_owned()));
        Challenge::of(&Exchange {
            status: 401,
            headers: headers.collect(),
            body: Body::Whole(Vec::new()),
            sent: String::new(),
            broken: None,
        })
    }

    #[test]
    fn reads_the_parameters_of_the_bearer_challenge() {
        for values in [
            &[r#"Bearer error=invalid_token, scope="a b",resource_metadata = "http://x/y""#][..],
            &[
                r#"Basic realm="x", scope="c""#,
                r#"bearer scope="a b", resource_metadata="http://x/y""#,
            ],
            &[r#"Negotiate abc==, BEARER realm="a, b", scope="a b", resource_metadata=http://x/y"#],
        ] {
            let found = challenge(values).unwrap();
            assert_eq!(found.scopes().collect::<Vec<_>>(), ["a", "b"], "{values:?}");
            assert_eq!(found.parameter("resource_metadata"), Some("http://x/y"));
        }
        assert_eq!(challenge(&["Bearer"]), Some(Challenge::default()));
        assert_eq!(challenge(&[r#"Bearer scope="""#]).unwrap().parameter("scope"), None);
    }

    #[test]
    fn other_schemes_are_no_bearer_challenge() {
        for values in [&[][..], &["Basic realm=\"Bearer\""], &["", ","], &["=", "\""]] {
            assert_eq!(challenge(values), None, "{values:?}");
        }
    }
}
