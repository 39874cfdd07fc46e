//! Who may come in: bearer tokens and basic credentials, compared in constant
//! time.
//!
//! Where tokens come from is an issuer's business; here they are a list.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::header::AUTHORIZATION;
use http::{HeaderMap, StatusCode};
use subtle::{Choice, ConstantTimeEq as _};

/// The credentials that a server accepts; with none, everybody may come in.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Auth {
    bearer: Vec<String>,
    basic: Vec<String>,
}

impl Auth {
    /// Accepts this bearer token as well.
    #[must_use]
    pub fn bearer(mut self, token: impl Into<String>) -> Self {
        self.bearer.push(token.into());
        self
    }

    /// Accepts this user with this password as well.
    #[must_use]
    pub fn basic(mut self, user: &str, password: &str) -> Self {
        self.basic.push(format!("{user}:{password}"));
        self
    }

    /// Whether everybody may come in.
    pub fn is_open(&self) -> bool {
        self.bearer.is_empty() && self.basic.is_empty()
    }

    /// Lets a request in or says why not.
    pub(super) fn check(&self, headers: &HeaderMap) -> Result<(), Denied> {
        if self.is_open() {
            return Ok(());
        }
        let given = headers.get(AUTHORIZATION).map(|value| value.as_bytes());
        let Some((scheme, credentials)) = given.and_then(split) else {
            return Err(Denied::NothingGiven);
        };
        let known = if scheme.eq_ignore_ascii_case(b"bearer") && !self.bearer.is_empty() {
            is_among(credentials, &self.bearer)
        } else if scheme.eq_ignore_ascii_case(b"basic") && !self.basic.is_empty() {
            STANDARD.decode(credentials).is_ok_and(|pair| is_among(&pair, &self.basic))
        } else {
            return Err(Denied::NothingGiven);
        };
        if known { Ok(()) } else { Err(Denied::Wrong) }
    }

    /// The challenges, each a `WWW-Authenticate` of its own. A bearer's names
    /// the metadata (RFC 9728, 5.1) and what was wrong with a token that was
    /// given (RFC 6750, 3).
    pub(super) fn challenges(&self, denied: Denied, metadata: Option<&str>) -> Vec<String> {
        let mut challenges = Vec::new();
        if !self.bearer.is_empty() {
            let error = (denied == Denied::Wrong).then_some("error=\"invalid_token\"".to_owned());
            let metadata = metadata.map(|url| format!("resource_metadata=\"{url}\""));
            let params: Vec<_> = error.into_iter().chain(metadata).collect();
            challenges.push(format!("Bearer {}", params.join(", ")).trim_end().to_owned());
        }
        if !self.basic.is_empty() {
            challenges.push("Basic realm=\"mcp\", charset=\"UTF-8\"".to_owned());
        }
        challenges
    }
}

/// Why a request is not let in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Denied {
    /// No credentials of a kind that is accepted.
    NothingGiven,
    /// Credentials that are not accepted.
    Wrong,
}

impl Denied {
    pub(super) fn status(self) -> StatusCode {
        match self {
            Denied::NothingGiven => StatusCode::UNAUTHORIZED,
            Denied::Wrong => StatusCode::FORBIDDEN,
        }
    }

    pub(super) fn message(self) -> &'static str {
        match self {
            Denied::NothingGiven => "credentials are needed",
            Denied::Wrong => "these credentials are not accepted",
        }
    }
}

fn split(value: &[u8]) -> Option<(&[u8], &[u8])> {
    let space = value.iter().position(|byte| *byte == b' ')?;
    let credentials = value[space..].trim_ascii();
    (!credentials.is_empty()).then_some((&value[..space], credentials))
}

/// Compares with all of them, so that time does not tell which it was.
fn is_among(given: &[u8], known: &[String]) -> bool {
    let none = Choice::from(0);
    known.iter().fold(none, |found, known| found | known.as_bytes().ct_eq(given)).into()
}

/// Says how many there are, never what they are.
impl fmt::Debug for Auth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Auth")
            .field("bearer", &self.bearer.len())
            .field("basic", &self.basic.len())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(auth: &Auth, value: &str) -> Result<(), Denied> {
        let mut headers = HeaderMap::new();
        headers.insert(AUTHORIZATION, value.parse().expect("a header"));
        auth.check(&headers)
    }

    #[test]
    fn credentials_are_found_in_any_scheme_that_is_accepted() {
        let auth = Auth::default().bearer("one").bearer("two").basic("ann", "a:b");
        assert_eq!(check(&auth, "Bearer two"), Ok(()));
        assert_eq!(check(&auth, "bearer  one "), Ok(()));
        assert_eq!(check(&auth, &format!("Basic {}", STANDARD.encode("ann:a:b"))), Ok(()));
        for wrong in ["Bearer on", "Bearer onee", "Bearer ONE", "Basic %%%", "Basic YTpi"] {
            assert_eq!(check(&auth, wrong), Err(Denied::Wrong), "{wrong}");
        }
        for nothing in ["Bearer", "Bearer ", "Digest one", "one"] {
            assert_eq!(check(&auth, nothing), Err(Denied::NothingGiven), "{nothing}");
        }
        assert_eq!(auth.check(&HeaderMap::new()), Err(Denied::NothingGiven));
        assert_eq!(Auth::default().check(&HeaderMap::new()), Ok(()));
    }

    #[test]
    fn a_secret_is_not_shown() {
        let auth = Auth::default().bearer("hidden").basic("ann", "hidden");
        assert_eq!(format!("{auth:?}"), "Auth { bearer: 1, basic: 1 }");
    }
}
