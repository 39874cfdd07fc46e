//! Which client it is that asks, and whether it is (RFC 6749, 2.3; RFC 7523).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use super::client::{Client, Method};
use super::core::{Core, now};
use super::form::{Form, Refused};
use super::metadata::Place;
use crate::http_mock::HttpRequest;

/// What a client's statement is called.
const STATEMENT: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

impl Core {
    /// The client that asks, if it shows that it is that one.
    pub(super) fn authenticate(
        &self,
        form: &Form,
        request: &HttpRequest,
        origin: &str,
    ) -> Result<Client, Refused> {
        let basic = request.headers.get("authorization");
        let (secret, statement) = (form.get("client_secret")?, form.get("client_assertion")?);
        let ways = [basic.is_some(), secret.is_some(), statement.is_some()];
        if ways.iter().filter(|way| **way).count() > 1 {
            return Err(Refused::request("the client shows in more than one way who it is"));
        }
        let named = form.get("client_id")?;
        let (client, method) = match (basic, secret, statement) {
            (Some(header), ..) => (self.by_basic(header)?, Method::Basic),
            (_, Some(secret), _) => {
                (self.by_secret(form.need("client_id")?, secret)?, Method::Post)
            }
            (.., Some(statement)) => {
                if form.need("client_assertion_type")? != STATEMENT {
                    return Err(Refused::request(format!(
                        "client_assertion_type is not {STATEMENT}"
                    )));
                }
                (self.by_statement(statement, origin)?, Method::Key)
            }
            _ => {
                let client = self.client(form.need("client_id")?);
                let client = client.ok_or_else(stranger)?;
                if !client.is_public() {
                    let about = "the client must show who it is";
                    return Err(Refused::new("invalid_client", about));
                }
                (client, Method::None)
            }
        };
        if named.is_some_and(|named| named != client.id) {
            return Err(Refused::request("client_id is another client's"));
        }
        match client.method.filter(|registered| *registered != method) {
            Some(registered) => {
                let about = format!("the client registered for {}", registered.name());
                Err(Refused::new("invalid_client", about))
            }
            None => Ok(client),
        }
    }

    fn by_basic(&self, header: &str) -> Result<Client, Refused> {
        let given = header.split_once(' ').filter(|it| it.0.eq_ignore_ascii_case("basic"));
        let given = given.and_then(|(_, given)| STANDARD.decode(given.trim()).ok());
        let given = given.and_then(|given| String::from_utf8(given).ok());
        let Some((id, secret)) = given.as_deref().and_then(|given| given.split_once(':')) else {
            return Err(Refused::new("invalid_client", "the header Authorization has no client"));
        };
        // Both are written as in a form (RFC 6749, 2.3.1).
        let read = |text: &str| {
            let mut pairs = form_urlencoded::parse(text.as_bytes());
            pairs.next().map(|(name, _)| name.into_owned()).unwrap_or_default()
        };
        self.by_secret(&read(id), &read(secret))
    }

    fn by_secret(&self, id: &str, secret: &str) -> Result<Client, Refused> {
        let client = self.client(id).filter(|client| client.has_secret(secret));
        client.ok_or_else(stranger)
    }

    /// A client that states that it is the one, and signs it.
    fn by_statement(&self, statement: &str, origin: &str) -> Result<Client, Refused> {
        let keys =
            self.plan.clients.iter().filter_map(|client| Some((client, client.key.as_ref()?)));
        let found = keys.filter_map(|(client, key)| Some((client, key.verify(statement)?)));
        let text = |claims: &Value, name: &str| {
            claims.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
        };
        // Some may have the same key.
        let mut found = found.filter(|(client, claims)| text(claims, "sub") == client.id);
        let (client, claims) = found.next().ok_or_else(stranger)?;
        let wrong = |about: &str| Refused::new("invalid_client", about);
        if text(&claims, "iss") != client.id {
            return Err(wrong("the statement has another iss than sub"));
        }
        let issuer = self.name_at(origin);
        let endpoint = format!("{issuer}{}", Place::Token.path());
        let meant =
            |audience: &Value| audience.as_str().is_some_and(|it| it == issuer || it == endpoint);
        let audience = claims.get("aud").unwrap_or(&Value::Null);
        if !meant(audience) && !audience.as_array().is_some_and(|all| all.iter().any(meant)) {
            return Err(wrong("the statement is for somebody else"));
        }
        if claims.get("exp").and_then(Value::as_u64).is_none_or(|until| until <= now()) {
            return Err(wrong("the statement has expired"));
        }
        let id = format!("{} {}", client.id, text(&claims, "jti"));
        match id.ends_with(' ') || self.state().statements.put(id, ()) {
            true => Ok(client.clone()),
            false => Err(wrong("the statement was used before")),
        }
    }
}

fn stranger() -> Refused {
    Refused::new("invalid_client", "there is no such client, or it is not this one")
}
