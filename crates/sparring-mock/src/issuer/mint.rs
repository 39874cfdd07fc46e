//! Tokens: made, wrong ones included, and looked at (RFC 9068).

use std::time::Duration;

use serde_json::{Map, Value, json};

use super::core::{Core, Purpose, now, random};
use super::plan::Wrong;

/// Somebody who is not here.
const ELSEWHERE: &str = "https://elsewhere.example";

/// How long ago a token has expired that is to have expired.
const LONG_AGO: u64 = 3600;

/// What a token is to say. What is left open is as it would be in one that a
/// client gets.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[must_use = "it is no token until an issuer makes one of it"]
pub struct Token {
    pub(crate) audience: Vec<String>,
    pub(crate) scopes: Option<Vec<String>>,
    pub(crate) subject: Option<String>,
    pub(crate) client: Option<String>,
    pub(crate) lifetime: Option<Duration>,
    pub(crate) wrong: Option<Wrong>,
}

impl Token {
    /// A good one for the server at that address, with all scopes that there are.
    /// `Token::default()` is for the mock that the issuer stands beside.
    pub fn for_server(audience: impl Into<String>) -> Self {
        Token { audience: vec![audience.into()], ..Token::default() }
    }

    /// With these scopes, and no others.
    pub fn scopes<T: Into<String>>(mut self, scopes: impl IntoIterator<Item = T>) -> Self {
        self.scopes = Some(scopes.into_iter().map(Into::into).collect());
        self
    }

    /// On behalf of this person.
    pub fn subject(mut self, subject: impl Into<String>) -> Self {
        self.subject = Some(subject.into());
        self
    }

    /// Given to this client.
    pub fn client(mut self, id: impl Into<String>) -> Self {
        self.client = Some(id.into());
        self
    }

    /// Good for so long.
    pub fn lifetime(mut self, lifetime: Duration) -> Self {
        self.lifetime = Some(lifetime);
        self
    }

    /// With this wrong.
    pub fn wrong(mut self, wrong: Wrong) -> Self {
        self.wrong = Some(wrong);
        self
    }
}

/// What is known of a token that is good.
pub(super) struct Known {
    pub(super) claims: Value,
    pub(super) family: String,
}

impl Known {
    pub(super) fn text(&self, name: &str) -> &str {
        self.claims.get(name).and_then(Value::as_str).unwrap_or_default()
    }

    pub(super) fn scopes(&self) -> Vec<String> {
        self.text("scope").split_whitespace().map(str::to_owned).collect()
    }

    /// Whom it is for.
    pub(super) fn audience(&self) -> Vec<&str> {
        match self.claims.get("aud") {
            Some(Value::Array(all)) => all.iter().filter_map(Value::as_str).collect(),
            other => other.and_then(Value::as_str).into_iter().collect(),
        }
    }
}

impl Core {
    /// Makes a token as it was told.
    pub(super) fn mint(&self, token: &Token, origin: &str) -> String {
        let client = token.client.clone().unwrap_or_else(|| "sparring".to_owned());
        let purpose = Purpose {
            subject: token.subject.clone().unwrap_or_else(|| client.clone()),
            client,
            scopes: token.scopes.clone().unwrap_or_else(|| self.plan.scopes.clone()),
            audience: token.audience.clone(),
            family: random(),
        };
        let lifetime = token.lifetime.unwrap_or_else(|| self.state().ways.lifetime);
        self.access(&purpose, origin, lifetime, token.wrong.unwrap_or(Wrong::Nothing))
    }

    /// An access token.
    pub(super) fn access(
        &self,
        purpose: &Purpose,
        origin: &str,
        lifetime: Duration,
        wrong: Wrong,
    ) -> String {
        let (mut issuer, mut audience) = (self.name_at(origin), purpose.audience.clone());
        let mut scope = purpose.scopes.join(" ");
        let mut begun = now();
        let mut until = begun.saturating_add(seconds(lifetime));
        match wrong {
            Wrong::Nothing | Wrong::Signature => {}
            Wrong::Issuer => issuer = ELSEWHERE.to_owned(),
            Wrong::Audience => audience = vec![format!("{ELSEWHERE}/mcp")],
            Wrong::Scope => scope.clear(),
            Wrong::Expired => {
                until = begun.saturating_sub(LONG_AGO);
                begun = until.saturating_sub(seconds(lifetime));
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
            "sub": purpose.subject,
            "aud": audience,
            "iat": begun,
            "exp": until,
            "jti": format!("{generation}.{}.{}", purpose.family, random()),
            "client_id": purpose.client,
        });
        if !scope.is_empty() {
            claims["scope"] = scope.into();
        }
        self.signed("at+jwt", &claims, wrong == Wrong::Signature)
    }

    /// A token that says who logged in (OpenID Connect Core, 2).
    pub(super) fn identity(&self, purpose: &Purpose, origin: &str, nonce: Option<&str>) -> String {
        let until = now().saturating_add(seconds(self.state().ways.lifetime));
        let mut claims = Map::new();
        claims.insert("iss".to_owned(), self.name_at(origin).into());
        claims.insert("sub".to_owned(), purpose.subject.clone().into());
        claims.insert("aud".to_owned(), purpose.client.clone().into());
        claims.insert("iat".to_owned(), now().into());
        claims.insert("exp".to_owned(), until.into());
        if let Some(nonce) = nonce {
            claims.insert("nonce".to_owned(), nonce.into());
        }
        self.signed("JWT", &claims.into(), false)
    }

    fn signed(&self, kind: &str, claims: &Value, by_a_stranger: bool) -> String {
        let header = json!({"typ": kind, "kid": self.public.id()});
        let key = if by_a_stranger { &self.stranger } else { &self.key };
        key.sign(&header, claims).expect("a key that was just made signs")
    }

    /// What a token says, if it is good here.
    pub(super) fn known(&self, token: &str, origin: &str) -> Result<Known, &'static str> {
        let claims = self.public.verify(token).ok_or("its signature is not the issuer's")?;
        let known = Known { family: String::new(), claims };
        let names = [Some(origin.to_owned()), self.home()];
        if !names.iter().flatten().any(|origin| self.name_at(origin) == known.text("iss")) {
            return Err("another issuer gave it");
        }
        let mut id = known.text("jti").split('.');
        let (generation, family) = (id.next().unwrap_or_default(), id.next().unwrap_or_default());
        // One that says who logged in has no id, and is for the client alone.
        if family.is_empty() {
            return Err("it is no access token");
        }
        let state = self.state();
        let until = known.claims.get("exp").and_then(Value::as_u64).unwrap_or_default();
        if until <= now() || generation != state.generation.to_string() {
            return Err("it has expired");
        }
        if state.ended.get(family).is_some() {
            return Err("it was revoked");
        }
        let family = family.to_owned();
        Ok(Known { family, ..known })
    }
}

/// Whole seconds; what is shorter than one is one.
pub(super) fn seconds(time: Duration) -> u64 {
    time.as_secs() + u64::from(time.subsec_nanos() > 0)
}
