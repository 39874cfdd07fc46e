//! Reads what a server that requires a token says about it.

use http::HeaderMap;
use http::header::WWW_AUTHENTICATE;
use sparring_wire::www_authenticate::parse_challenges;

use crate::http::client::exchange::shortened;

/// The parameters of the `Bearer` challenges; empty without one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct BearerChallenge {
    pub(super) resource_metadata: Option<String>,
    pub(super) scope: Option<String>,
    pub(super) error: Option<String>,
    pub(super) description: Option<String>,
}

impl BearerChallenge {
    pub(super) fn from_headers(headers: &HeaderMap) -> BearerChallenge {
        let values =
            headers.get_all(WWW_AUTHENTICATE).iter().filter_map(|value| value.to_str().ok());
        values.flat_map(parse_challenges).fold(BearerChallenge::default(), |found, challenge| {
            match challenge.scheme.eq_ignore_ascii_case("bearer") {
                true => found.with_parameters(challenge.parameters),
                false => found,
            }
        })
    }

    fn with_parameters(mut self, parameters: Vec<(String, String)>) -> BearerChallenge {
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

    /// Returns the beginning of the server's reason, in its words.
    pub(super) fn reason(&self) -> Option<String> {
        let reason = match (&self.error, &self.description) {
            (Some(error), Some(description)) => Some(format!("{error}: {description}")),
            (error, description) => error.as_ref().or(description.as_ref()).cloned(),
        };
        reason.map(|it| shortened(&it))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(values: &[&str]) -> BearerChallenge {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(WWW_AUTHENTICATE, value.parse().expect("a header"));
        }
        BearerChallenge::from_headers(&headers)
    }

    #[test]
    fn a_long_reason_is_cut() {
        let value = format!("Bearer error_description=\"{}\"", "x".repeat(40_000));
        assert!(parse(&[&value]).reason().is_some_and(|it| it.len() < 400));
    }

    #[test]
    fn reads_the_parameters_of_all_bearer_challenges() {
        for values in [
            &[r#"Basic realm="a", scope="no", bearer scope=yes"#][..],
            &["Basic scope=\"no\"", "Bearer scope=yes"],
            &["Bearer", "bearer scope=yes, scope=no"],
        ] {
            assert_eq!(parse(values).scope.as_deref(), Some("yes"), "{values:?}");
        }
        assert_eq!(parse(&["Basic scope=no", "="]), BearerChallenge::default());
    }

    #[test]
    fn the_reason_has_the_error_and_its_description() {
        let found = parse(&[r#"Bearer error_description="no entry", error="e""#]);
        assert_eq!(found.reason().as_deref(), Some("e: no entry"));
        assert_eq!(parse(&["Bearer error=e"]).reason().as_deref(), Some("e"));
    }
}
