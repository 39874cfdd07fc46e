//! Authorization of requests: bearer tokens and basic credentials, compared in constant time,
//! and tokens that a [`TokenVerifier`] verifies.
//!
//! Issuing tokens is left to the [`TokenVerifier`]'s issuer.

use std::fmt;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::header::AUTHORIZATION;
use http::{HeaderMap, StatusCode};
use sparring_wire::Frame;

use crate::secrets::Secret;

/// The credentials that a server accepts (default: no authorization).
#[derive(Clone, Default)]
pub struct Auth {
    bearer: Vec<Secret>,
    basic: Vec<Secret>,
    tokens: Option<Arc<dyn TokenVerifier>>,
}

/// Verifies tokens and returns their scopes.
pub trait TokenVerifier: fmt::Debug + Send + Sync + 'static {
    /// Returns the scopes of a token that is valid for this resource URL.
    ///
    /// # Errors
    /// The reason why the token is invalid, in text that is valid in a header.
    fn verify(&self, token: &str, resource: &str) -> Result<Vec<String>, String>;

    /// Returns the owner of a valid token (default: the token itself). A session belongs to the
    /// owner of the token that opened it, so a renewed token must have the same owner.
    fn owner(&self, token: &str) -> String {
        token.to_owned()
    }

    /// Returns the scopes that every request needs.
    fn required_scopes(&self) -> &[String];

    /// Returns the additional scopes that a frame needs.
    fn required_scopes_for(&self, frame: &Frame) -> Vec<String>;
}

/// The rights of an authorized request.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Access {
    /// The scopes of its token; `None` allows everything.
    scopes: Option<Vec<String>>,
    pub(super) owner: Owner,
}

/// The credential of a request, to which the sessions that it opens belong.
#[derive(Clone, PartialEq, Eq)]
pub(super) enum Owner {
    /// The server requires no authorization.
    Anyone,
    /// A bearer token of the server, by its place in the list.
    Bearer(u32),
    /// A user of the server, by its place in the list.
    Basic(u32),
    /// The owner of a verified token.
    Token(String),
}

/// Not shown, since it may contain a token.
impl fmt::Debug for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Owner")
    }
}

impl Access {
    /// Allows everything.
    pub(super) fn full(owner: Owner) -> Access {
        Access { scopes: None, owner }
    }
}

impl Auth {
    /// Also accepts this bearer token.
    #[must_use]
    pub fn bearer(mut self, token: impl Into<Secret>) -> Self {
        self.bearer.push(token.into());
        self
    }

    /// Also accepts this user with this password.
    #[must_use]
    pub fn basic(mut self, user: &str, password: &str) -> Self {
        self.basic.push(format!("{user}:{password}").into());
        self
    }

    /// Also accepts tokens that `check` verifies. The server answers an invalid token with 401
    /// and one with too few scopes with 403 (RFC 6750, 3.1).
    #[must_use]
    pub fn tokens(mut self, check: Arc<dyn TokenVerifier>) -> Self {
        self.tokens = Some(check);
        self
    }

    /// Returns true if no authorization is required.
    pub fn is_open(&self) -> bool {
        self.bearer.is_empty() && self.basic.is_empty() && self.tokens.is_none()
    }

    /// Authorizes a request, or returns the reason why not.
    pub(super) fn check(&self, headers: &HeaderMap, resource: &str) -> Result<Access, AuthDenied> {
        if self.is_open() {
            return Ok(Access::full(Owner::Anyone));
        }
        let given = headers.get(AUTHORIZATION).map(|value| value.as_bytes());
        let Some((scheme, credentials)) = given.and_then(split_credentials) else {
            return Err(AuthDenied::Missing);
        };
        let owner = if scheme.eq_ignore_ascii_case(b"bearer") && self.accepts_bearer() {
            match (Secret::find_match(&self.bearer, credentials), &self.tokens) {
                (None, Some(check)) => return verify_token(&**check, credentials, resource),
                (found, _) => found.map(Owner::Bearer),
            }
        } else if scheme.eq_ignore_ascii_case(b"basic") && !self.basic.is_empty() {
            let pair = STANDARD.decode(credentials).ok();
            pair.and_then(|pair| Secret::find_match(&self.basic, &pair)).map(Owner::Basic)
        } else {
            return Err(AuthDenied::Missing);
        };
        owner.map(Access::full).ok_or(AuthDenied::Rejected)
    }

    /// Checks the scopes that a frame needs.
    pub(super) fn check_frame(&self, access: &Access, frame: &Frame) -> Result<(), AuthDenied> {
        match (&self.tokens, &access.scopes) {
            (Some(check), Some(scopes)) => {
                let needed = check.required_scopes_for(frame);
                match needed.iter().all(|scope| scopes.contains(scope)) {
                    true => Ok(()),
                    false => Err(AuthDenied::MissingScopes(merge_scopes(
                        check.required_scopes(),
                        needed,
                    ))),
                }
            }
            _ => Ok(()),
        }
    }

    fn accepts_bearer(&self) -> bool {
        !self.bearer.is_empty() || self.tokens.is_some()
    }

    /// Returns the values of `WWW-Authenticate`. The bearer challenge names the metadata (RFC
    /// 9728, 5.1), the problem with the token (RFC 6750, 3), and the required scopes.
    pub(super) fn challenges(&self, error: &AuthDenied, metadata: Option<&str>) -> Vec<String> {
        let mut challenges = Vec::new();
        if self.accepts_bearer() {
            let mut params = Vec::new();
            let mut add_param =
                |name: &str, value: &str| params.push(format!("{name}=\"{value}\""));
            let needed = self.tokens.as_ref().map(|check| check.required_scopes().join(" "));
            let scope = match error {
                AuthDenied::MissingScopes(scopes) => {
                    add_param("error", "insufficient_scope");
                    Some(scopes.join(" "))
                }
                AuthDenied::InvalidToken(why) => {
                    add_param("error", "invalid_token");
                    add_param("error_description", why);
                    needed
                }
                AuthDenied::Rejected => {
                    add_param("error", "invalid_token");
                    needed
                }
                AuthDenied::Missing => needed,
            };
            if let Some(scope) = scope.filter(|scope| !scope.is_empty()) {
                add_param("scope", &scope);
            }
            if let Some(url) = metadata {
                add_param("resource_metadata", url);
            }
            challenges.push(format!("Bearer {}", params.join(", ")).trim_end().to_owned());
        }
        if !self.basic.is_empty() {
            challenges.push("Basic realm=\"mcp\", charset=\"UTF-8\"".to_owned());
        }
        challenges
    }
}

/// Verifies a token and its scopes.
fn verify_token(
    check: &dyn TokenVerifier,
    token: &[u8],
    resource: &str,
) -> Result<Access, AuthDenied> {
    let unreadable = || AuthDenied::InvalidToken("not valid UTF-8".to_owned());
    let token = std::str::from_utf8(token).map_err(|_| unreadable())?;
    let scopes = check.verify(token, resource).map_err(AuthDenied::InvalidToken)?;
    match check.required_scopes().iter().all(|scope| scopes.contains(scope)) {
        true => Ok(Access { scopes: Some(scopes), owner: Owner::Token(check.owner(token)) }),
        false => Err(AuthDenied::MissingScopes(check.required_scopes().to_vec())),
    }
}

/// Merges scopes without duplicates.
fn merge_scopes(first: &[String], second: Vec<String>) -> Vec<String> {
    let mut all = first.to_vec();
    second.into_iter().for_each(|scope| {
        if !all.contains(&scope) {
            all.push(scope);
        }
    });
    all
}

/// The reason why a request is not authorized.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum AuthDenied {
    /// No credentials of an accepted kind.
    Missing,
    /// The credentials are not accepted.
    Rejected,
    /// The token is invalid; the text gives the reason.
    InvalidToken(String),
    /// The token is valid, but lacks some of these scopes.
    MissingScopes(Vec<String>),
}

impl AuthDenied {
    pub(super) fn status(&self) -> StatusCode {
        match self {
            AuthDenied::Missing | AuthDenied::InvalidToken(_) => StatusCode::UNAUTHORIZED,
            AuthDenied::Rejected | AuthDenied::MissingScopes(_) => StatusCode::FORBIDDEN,
        }
    }

    pub(super) fn message(&self) -> String {
        match self {
            AuthDenied::Missing => "credentials required".to_owned(),
            AuthDenied::Rejected => "credentials rejected".to_owned(),
            AuthDenied::InvalidToken(why) => format!("token rejected: {why}"),
            AuthDenied::MissingScopes(scopes) => {
                format!("required scopes: {}", scopes.join(" "))
            }
        }
    }
}

fn split_credentials(value: &[u8]) -> Option<(&[u8], &[u8])> {
    let space = value.iter().position(|byte| *byte == b' ')?;
    let credentials = value[space..].trim_ascii();
    (!credentials.is_empty()).then_some((&value[..space], credentials))
}

/// Shows the number of credentials, never their values.
impl fmt::Debug for Auth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Auth")
            .field("bearer", &self.bearer.len())
            .field("basic", &self.basic.len())
            .field("tokens", &self.tokens.is_some())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(auth: &Auth, value: &str) -> Result<(), AuthDenied> {
        let mut headers = HeaderMap::new();
        headers.insert(AUTHORIZATION, value.parse().expect("a header"));
        auth.check(&headers, "http://a/mcp").map(|access| assert_eq!(access.scopes, None))
    }

    #[test]
    fn accepts_credentials_of_every_configured_scheme() {
        let auth = Auth::default().bearer("one").bearer("two").basic("ann", "a:b");
        assert_eq!(check(&auth, "Bearer two"), Ok(()));
        assert_eq!(check(&auth, "bearer  one "), Ok(()));
        assert_eq!(check(&auth, &format!("Basic {}", STANDARD.encode("ann:a:b"))), Ok(()));
        for wrong in ["Bearer on", "Bearer onee", "Bearer ONE", "Basic %%%", "Basic YTpi"] {
            assert_eq!(check(&auth, wrong), Err(AuthDenied::Rejected), "{wrong}");
        }
        for nothing in ["Bearer", "Bearer ", "Digest one", "one"] {
            assert_eq!(check(&auth, nothing), Err(AuthDenied::Missing), "{nothing}");
        }
        assert_eq!(auth.check(&HeaderMap::new(), ""), Err(AuthDenied::Missing));
        let open = Auth::default().check(&HeaderMap::new(), "");
        assert_eq!(open, Ok(Access::full(Owner::Anyone)));
    }

    #[test]
    fn a_secret_is_not_shown() {
        let auth = Auth::default().bearer("hidden").basic("ann", "hidden");
        assert_eq!(format!("{auth:?}"), "Auth { bearer: 1, basic: 1, tokens: false }");
    }
}
