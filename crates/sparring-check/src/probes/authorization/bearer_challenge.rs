//! The `Bearer` challenge of a response.

use sparring_wire::www_authenticate::parse_challenges;

use crate::http::Exchange;

/// The first `Bearer` challenge of a response.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct BearerChallenge {
    parameters: Vec<(String, String)>,
}

impl BearerChallenge {
    /// Returns the challenge of a response, if it has one with the scheme `Bearer`.
    pub(super) fn of(exchange: &Exchange) -> Option<BearerChallenge> {
        let headers = exchange.headers.iter();
        let values = headers.filter(|(name, _)| name.eq_ignore_ascii_case("www-authenticate"));
        let mut challenges = values.flat_map(|(_, value)| parse_challenges(value));
        let found = challenges.find(|it| it.scheme.eq_ignore_ascii_case("bearer"))?;
        Some(BearerChallenge { parameters: found.parameters })
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::Body;

    fn challenge(values: &[&str]) -> Option<BearerChallenge> {
        let headers = values.iter().map(|it| ("www-authenticate".to_owned(), (*it).to_owned()));
        BearerChallenge::of(&Exchange {
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
        assert_eq!(challenge(&["Bearer"]), Some(BearerChallenge::default()));
        assert_eq!(challenge(&[r#"Bearer scope="""#]).unwrap().parameter("scope"), None);
    }

    #[test]
    fn other_schemes_are_no_bearer_challenge() {
        for values in [&[][..], &["Basic realm=\"Bearer\""], &["", ","], &["=", "\""]] {
            assert_eq!(challenge(values), None, "{values:?}");
        }
    }
}
