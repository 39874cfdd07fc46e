//! Who may come in: bearer tokens and basic credentials, compared in constant
//! time, and tokens that somebody else vouches for.
//!
//! Where those come from is an issuer's business ([`TokenCheck`]).

use std::fmt;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::header::AUTHORIZATION;
use http::{HeaderMap, StatusCode};
use sparring_wire::Frame;
use subtle::{Choice, ConstantTimeEq as _};

/// The credentials that a server accepts; with none, everybody may come in.
#[derive(Clone, Default)]
pub struct Auth {
    bearer: Vec<String>,
    basic: Vec<String>,
    tokens: Option<Arc<dyn TokenCheck>>,
}

/// Whoever tells good tokens from bad ones, and what they are good for.
pub trait TokenCheck: fmt::Debug + Send + Sync + 'static {
    /// The scopes of a token that is good for this server, which was asked at
    /// that address.
    ///
    /// # Errors
    /// Says what is wrong with it, in words that may stand in a header.
    fn scopes_of(&self, token: &str, resource: &str) -> Result<Vec<String>, String>;

    /// The scopes that everybody needs to come in.
    fn needed(&self) -> &[String];

    /// The scopes that a frame needs besides.
    fn needed_for(&self, frame: &Frame) -> Vec<String>;
}

/// What somebody who came in may do.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Pass {
    /// Everything.
    Full,
    /// What these scopes are for.
    Scopes(Vec<String>),
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

    /// Accepts tokens as well that are good to somebody else. Such a one that is
    /// bad is answered by 401, and one whose scopes are too few by 403 (RFC 6750,
    /// 3.1).
    #[must_use]
    pub fn tokens(mut self, check: Arc<dyn TokenCheck>) -> Self {
        self.tokens = Some(check);
        self
    }

    /// Whether everybody may come in.
    pub fn is_open(&self) -> bool {
        self.bearer.is_empty() && self.basic.is_empty() && self.tokens.is_none()
    }

    /// Lets a request in or says why not.
    pub(super) fn check(&self, headers: &HeaderMap, resource: &str) -> Result<Pass, Denied> {
        if self.is_open() {
            return Ok(Pass::Full);
        }
        let given = headers.get(AUTHORIZATION).map(|value| value.as_bytes());
        let Some((scheme, credentials)) = given.and_then(split) else {
            return Err(Denied::NothingGiven);
        };
        let known = if scheme.eq_ignore_ascii_case(b"bearer") && self.takes_bearers() {
            match &self.tokens {
                Some(check) if !is_among(credentials, &self.bearer) => {
                    return vouched(&**check, credentials, resource);
                }
                _ => is_among(credentials, &self.bearer),
            }
        } else if scheme.eq_ignore_ascii_case(b"basic") && !self.basic.is_empty() {
            STANDARD.decode(credentials).is_ok_and(|pair| is_among(&pair, &self.basic))
        } else {
            return Err(Denied::NothingGiven);
        };
        if known { Ok(Pass::Full) } else { Err(Denied::Wrong) }
    }

    /// Whether somebody who came in may also send this.
    pub(super) fn check_frame(&self, pass: &Pass, frame: &Frame) -> Result<(), Denied> {
        match (&self.tokens, pass) {
            (Some(check), Pass::Scopes(scopes)) => {
                let needed = check.needed_for(frame);
                match needed.iter().all(|scope| scopes.contains(scope)) {
                    true => Ok(()),
                    false => Err(Denied::TooLittle(together(check.needed(), needed))),
                }
            }
            _ => Ok(()),
        }
    }

    fn takes_bearers(&self) -> bool {
        !self.bearer.is_empty() || self.tokens.is_some()
    }

    /// The challenges, each a `WWW-Authenticate` of its own. A bearer's names
    /// the metadata (RFC 9728, 5.1), what was wrong with a token that was given
    /// (RFC 6750, 3), and which scopes one needs.
    pub(super) fn challenges(&self, denied: &Denied, metadata: Option<&str>) -> Vec<String> {
        let mut challenges = Vec::new();
        if self.takes_bearers() {
            let mut params = Vec::new();
            let mut say = |name: &str, value: &str| params.push(format!("{name}=\"{value}\""));
            let needed = self.tokens.as_ref().map(|check| check.needed().join(" "));
            let scope = match denied {
                Denied::TooLittle(scopes) => {
                    say("error", "insufficient_scope");
                    Some(scopes.join(" "))
                }
                Denied::Bad(why) => {
                    say("error", "invalid_token");
                    say("error_description", why);
                    needed
                }
                Denied::Wrong => {
                    say("error", "invalid_token");
                    needed
                }
                Denied::NothingGiven => needed,
            };
            if let Some(scope) = scope.filter(|scope| !scope.is_empty()) {
                say("scope", &scope);
            }
            if let Some(url) = metadata {
                say("resource_metadata", url);
            }
            challenges.push(format!("Bearer {}", params.join(", ")).trim_end().to_owned());
        }
        if !self.basic.is_empty() {
            challenges.push("Basic realm=\"mcp\", charset=\"UTF-8\"".to_owned());
        }
        challenges
    }
}

/// Lets a token in that is good to somebody else.
fn vouched(check: &dyn TokenCheck, token: &[u8], resource: &str) -> Result<Pass, Denied> {
    let unreadable = || Denied::Bad("it is no text".to_owned());
    let token = std::str::from_utf8(token).map_err(|_| unreadable())?;
    let scopes = check.scopes_of(token, resource).map_err(Denied::Bad)?;
    match check.needed().iter().all(|scope| scopes.contains(scope)) {
        true => Ok(Pass::Scopes(scopes)),
        false => Err(Denied::TooLittle(check.needed().to_vec())),
    }
}

/// All of both, each once.
fn together(first: &[String], second: Vec<String>) -> Vec<String> {
    let mut all = first.to_vec();
    second.into_iter().for_each(|scope| {
        if !all.contains(&scope) {
            all.push(scope);
        }
    });
    all
}

/// Why a request is not let in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Denied {
    /// No credentials of a kind that is accepted.
    NothingGiven,
    /// Credentials that are not accepted.
    Wrong,
    /// A token that nobody vouches for; why.
    Bad(String),
    /// A token that is good, but not for this; these scopes are needed.
    TooLittle(Vec<String>),
}

impl Denied {
    pub(super) fn status(&self) -> StatusCode {
        match self {
            Denied::NothingGiven | Denied::Bad(_) => StatusCode::UNAUTHORIZED,
            Denied::Wrong | Denied::TooLittle(_) => StatusCode::FORBIDDEN,
        }
    }

    pub(super) fn message(&self) -> String {
        match self {
            Denied::NothingGiven => "credentials are needed".to_owned(),
            Denied::Wrong => "these credentials are not accepted".to_owned(),
            Denied::Bad(why) => format!("this token is not accepted: {why}"),
            Denied::TooLittle(scopes) => format!("this needs the scopes {}", scopes.join(" ")),
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
            .field("tokens", &self.tokens.is_some())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(auth: &Auth, value: &str) -> Result<(), Denied> {
        let mut headers = HeaderMap::new();
        headers.insert(AUTHORIZATION, value.parse().expect("a header"));
        auth.check(&headers, "http://a/mcp").map(|pass| assert_eq!(pass, Pass::Full))
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
        assert_eq!(auth.check(&HeaderMap::new(), ""), Err(Denied::NothingGiven));
        assert_eq!(Auth::default().check(&HeaderMap::new(), ""), Ok(Pass::Full));
    }

    #[test]
    fn a_secret_is_not_shown() {
        let auth = Auth::default().bearer("hidden").basic("ann", "hidden");
        assert_eq!(format!("{auth:?}"), "Auth { bearer: 1, basic: 1, tokens: false }");
    }
}
