//! Signs and verifies tokens, including faulty ones (RFC 9068).

use std::time::Duration;

use serde_json::{Map, Value, json};

use super::authorization_server::{Authorization, AuthorizationServer, random_token, unix_seconds};
use super::config::TokenFault;

/// Issuer and audience of faulty tokens.
const OTHER_ISSUER: &str = "https://elsewhere.example";

/// The time since an expired token expired, in seconds.
const EXPIRED_SECS_AGO: u64 = 3600;

/// Describes a token. Unset values are as in a token that a client would get.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[must_use = "a token description does nothing until an issuer issues it"]
pub struct Token {
    pub(crate) audience: Vec<String>,
    pub(crate) scopes: Option<Vec<String>>,
    pub(crate) subject: Option<String>,
    pub(crate) client: Option<String>,
    pub(crate) lifetime: Option<Duration>,
    pub(crate) wrong: Option<TokenFault>,
}

impl Token {
    /// A valid token for the server at this URL, with all scopes of the issuer.
    /// `Token::default()` is for the mock that has the issuer.
    pub fn for_server(audience: impl Into<String>) -> Self {
        Token { audience: vec![audience.into()], ..Token::default() }
    }

    /// Sets the scopes.
    pub fn scopes<T: Into<String>>(mut self, scopes: impl IntoIterator<Item = T>) -> Self {
        self.scopes = Some(scopes.into_iter().map(Into::into).collect());
        self
    }

    /// Sets the subject.
    pub fn subject(mut self, subject: impl Into<String>) -> Self {
        self.subject = Some(subject.into());
        self
    }

    /// Sets the client id.
    pub fn client(mut self, id: impl Into<String>) -> Self {
        self.client = Some(id.into());
        self
    }

    /// Sets the lifetime of the token.
    pub fn lifetime(mut self, lifetime: Duration) -> Self {
        self.lifetime = Some(lifetime);
        self
    }

    /// Makes the token faulty.
    pub fn fault(mut self, wrong: TokenFault) -> Self {
        self.wrong = Some(wrong);
        self
    }
}

/// A token that was verified.
pub(super) struct VerifiedToken {
    pub(super) claims: Value,
    pub(super) family: String,
}

impl VerifiedToken {
    pub(super) fn text(&self, name: &str) -> &str {
        self.claims.get(name).and_then(Value::as_str).unwrap_or_default()
    }

    pub(super) fn scopes(&self) -> Vec<String> {
        self.text("scope").split_whitespace().map(str::to_owned).collect()
    }

    /// Returns the audience.
    pub(super) fn audience(&self) -> Vec<&str> {
        match self.claims.get("aud") {
            Some(Value::Array(all)) => all.iter().filter_map(Value::as_str).collect(),
            other => other.and_then(Value::as_str).into_iter().collect(),
        }
    }
}

impl AuthorizationServer {
    /// Issues a token as described.
    pub(super) fn issue(&self, token: &Token, origin: &str) -> String {
        let client = token.client.clone().unwrap_or_else(|| "sparring".to_owned());
        let authorization = Authorization {
            subject: token.subject.clone().unwrap_or_else(|| client.clone()),
            client,
            scopes: token.scopes.clone().unwrap_or_else(|| self.config.scopes.clone()),
            audience: token.audience.clone(),
            family: random_token(),
        };
        let lifetime = token.lifetime.unwrap_or_else(|| self.state().behavior.lifetime);
        self.sign_access_token(
            &authorization,
            origin,
            lifetime,
            token.wrong.unwrap_or(TokenFault::None),
        )
    }

    /// Signs an access token.
    pub(super) fn sign_access_token(
        &self,
        authorization: &Authorization,
        origin: &str,
        lifetime: Duration,
        wrong: TokenFault,
    ) -> String {
        let (mut issuer, mut audience) = (self.issuer_at(origin), authorization.audience.clone());
        let mut scope = authorization.scopes.join(" ");
        let mut issued_at = unix_seconds();
        let mut expires_at = issued_at.saturating_add(to_seconds(lifetime));
        match wrong {
            TokenFault::None | TokenFault::Signature => {}
            TokenFault::Issuer => issuer = OTHER_ISSUER.to_owned(),
            TokenFault::Audience => audience = vec![format!("{OTHER_ISSUER}/mcp")],
            TokenFault::Scope => scope.clear(),
            TokenFault::Expired => {
                expires_at = issued_at.saturating_sub(EXPIRED_SECS_AGO);
                issued_at = expires_at.saturating_sub(to_seconds(lifetime));
            }
        }
        let audience = match &audience[..] {
            [] => json!(issuer),
            [one] => json!(one),
            all => json!(all),
        };
        let generation = self.state().generation;
        let mut claims = json!({
            "iss": issuer,
            "sub": authorization.subject,
            "aud": audience,
            "iat": issued_at,
            "exp": expires_at,
            "jti": format!("{generation}.{}.{}", authorization.family, random_token()),
            "client_id": authorization.client,
        });
        if !scope.is_empty() {
            claims["scope"] = scope.into();
        }
        self.sign("at+jwt", &claims, wrong == TokenFault::Signature)
    }

    /// Signs an ID token (OpenID Connect Core, 2).
    pub(super) fn sign_id_token(
        &self,
        authorization: &Authorization,
        origin: &str,
        nonce: Option<&str>,
    ) -> String {
        let expires_at = unix_seconds().saturating_add(to_seconds(self.state().behavior.lifetime));
        let mut claims = Map::new();
        claims.insert("iss".to_owned(), self.issuer_at(origin).into());
        claims.insert("sub".to_owned(), authorization.subject.clone().into());
        claims.insert("aud".to_owned(), authorization.client.clone().into());
        claims.insert("iat".to_owned(), unix_seconds().into());
        claims.insert("exp".to_owned(), expires_at.into());
        if let Some(nonce) = nonce {
            claims.insert("nonce".to_owned(), nonce.into());
        }
        self.sign("JWT", &claims.into(), false)
    }

    fn sign(&self, kind: &str, claims: &Value, with_wrong_key: bool) -> String {
        let header = json!({"typ": kind, "kid": self.public.id()});
        let key = if with_wrong_key { &self.wrong_key } else { &self.key };
        key.sign(&header, claims).expect("a key that was just made signs")
    }

    /// Returns the subject and the client of a valid token.
    pub(super) fn owner(&self, token: &str) -> String {
        let claims = self.public.verify(token).unwrap_or_default();
        let verified = VerifiedToken { family: String::new(), claims };
        format!("{} of {}", verified.text("sub"), verified.text("client_id"))
    }

    /// Verifies an access token of this issuer.
    pub(super) fn verify(&self, token: &str, origin: &str) -> Result<VerifiedToken, &'static str> {
        let claims = self.public.verify(token).ok_or("the signature is not the issuer's")?;
        let verified = VerifiedToken { family: String::new(), claims };
        let names = [Some(origin.to_owned()), self.own_origin()];
        if !names.iter().flatten().any(|origin| self.issuer_at(origin) == verified.text("iss")) {
            return Err("it is from another issuer");
        }
        let mut id = verified.text("jti").split('.');
        let (generation, family) = (id.next().unwrap_or_default(), id.next().unwrap_or_default());
        // An ID token has no `jti`, and is only for the client.
        if family.is_empty() {
            return Err("it is not an access token");
        }
        let state = self.state();
        let expires_at = verified.claims.get("exp").and_then(Value::as_u64).unwrap_or_default();
        if expires_at <= unix_seconds() || generation != state.generation.to_string() {
            return Err("it has expired");
        }
        if state.revoked_families.get(family).is_some() {
            return Err("it was revoked");
        }
        let family = family.to_owned();
        Ok(VerifiedToken { family, ..verified })
    }
}

/// Rounds up to whole seconds.
pub(super) fn to_seconds(time: Duration) -> u64 {
    time.as_secs() + u64::from(time.subsec_nanos() > 0)
}
