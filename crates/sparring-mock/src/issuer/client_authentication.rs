//! Authenticates the client of a request (RFC 6749, 2.3; RFC 7523).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use super::authorization_server::{AuthorizationServer, unix_seconds};
use super::client::{AuthMethod, Client};
use super::form::{Form, OAuthError};
use super::metadata::Endpoint;
use crate::http_mock::HttpRequest;

/// The `client_assertion_type` of a signed JWT.
const JWT_ASSERTION_TYPE: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

impl AuthorizationServer {
    /// Returns the authenticated client of a request.
    pub(super) fn authenticate(
        &self,
        form: &Form,
        request: &HttpRequest,
        origin: &str,
    ) -> Result<Client, OAuthError> {
        let basic = request.headers.get("authorization");
        let (secret, assertion) = (form.get("client_secret")?, form.get("client_assertion")?);
        let used_methods = [basic.is_some(), secret.is_some(), assertion.is_some()];
        if used_methods.iter().filter(|used| **used).count() > 1 {
            return Err(OAuthError::invalid_request(
                "the client authenticated in more than one way",
            ));
        }
        let client_id = form.get("client_id")?;
        let (client, method) = match (basic, secret, assertion) {
            (Some(header), ..) => (self.authenticate_basic(header)?, AuthMethod::Basic),
            (_, Some(secret), _) => {
                (self.authenticate_secret(form.require("client_id")?, secret)?, AuthMethod::Post)
            }
            (.., Some(assertion)) => {
                if form.require("client_assertion_type")? != JWT_ASSERTION_TYPE {
                    return Err(OAuthError::invalid_request(format!(
                        "client_assertion_type is not {JWT_ASSERTION_TYPE}"
                    )));
                }
                (self.authenticate_assertion(assertion, origin)?, AuthMethod::Key)
            }
            _ => {
                let client = self.client(form.require("client_id")?);
                let client = client.ok_or_else(unknown_client)?;
                if !client.is_public() {
                    let description = "the client must authenticate";
                    return Err(OAuthError::new("invalid_client", description));
                }
                (client, AuthMethod::None)
            }
        };
        if client_id.is_some_and(|client_id| client_id != client.id) {
            return Err(OAuthError::invalid_request(
                "client_id does not match the authenticated client",
            ));
        }
        match client.method.filter(|registered| *registered != method) {
            Some(registered) => {
                let description = format!(
                    "the client registered for the authentication method {}",
                    registered.name()
                );
                Err(OAuthError::new("invalid_client", description))
            }
            None => Ok(client),
        }
    }

    fn authenticate_basic(&self, header: &str) -> Result<Client, OAuthError> {
        let credentials = header.split_once(' ').filter(|it| it.0.eq_ignore_ascii_case("basic"));
        let credentials =
            credentials.and_then(|(_, credentials)| STANDARD.decode(credentials.trim()).ok());
        let credentials = credentials.and_then(|credentials| String::from_utf8(credentials).ok());
        let Some((id, secret)) =
            credentials.as_deref().and_then(|credentials| credentials.split_once(':'))
        else {
            return Err(OAuthError::new(
                "invalid_client",
                "the Authorization header has no Basic credentials",
            ));
        };
        // Both are form-encoded (RFC 6749, 2.3.1).
        let decode = |text: &str| {
            let mut pairs = form_urlencoded::parse(text.as_bytes());
            pairs.next().map(|(name, _)| name.into_owned()).unwrap_or_default()
        };
        self.authenticate_secret(&decode(id), &decode(secret))
    }

    fn authenticate_secret(&self, id: &str, secret: &str) -> Result<Client, OAuthError> {
        let client = self.client(id).filter(|client| client.has_secret(secret));
        client.ok_or_else(unknown_client)
    }

    /// Authenticates a client by a JWT that it signed.
    fn authenticate_assertion(&self, assertion: &str, origin: &str) -> Result<Client, OAuthError> {
        let keys =
            self.config.clients.iter().filter_map(|client| Some((client, client.key.as_ref()?)));
        let found = keys.filter_map(|(client, key)| Some((client, key.verify(assertion)?)));
        let text = |claims: &Value, name: &str| {
            claims.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
        };
        // Several clients may share a key.
        let mut found = found.filter(|(client, claims)| text(claims, "sub") == client.id);
        let (client, claims) = found.next().ok_or_else(unknown_client)?;
        let wrong = |description: &str| OAuthError::new("invalid_client", description);
        if text(&claims, "iss") != client.id {
            return Err(wrong("iss and sub of the client assertion differ"));
        }
        let issuer = self.issuer_at(origin);
        let endpoint = format!("{issuer}{}", Endpoint::Token.path());
        let is_this_issuer =
            |audience: &Value| audience.as_str().is_some_and(|it| it == issuer || it == endpoint);
        let audience = claims.get("aud").unwrap_or(&Value::Null);
        if !is_this_issuer(audience)
            && !audience.as_array().is_some_and(|all| all.iter().any(is_this_issuer))
        {
            return Err(wrong("the audience of the client assertion is not this issuer"));
        }
        if claims.get("exp").and_then(Value::as_u64).is_none_or(|until| until <= unix_seconds()) {
            return Err(wrong("the client assertion has expired"));
        }
        let id = format!("{} {}", client.id, text(&claims, "jti"));
        let bytes = id.len();
        match id.ends_with(' ') || self.state().used_assertions.insert(id, (), bytes) {
            true => Ok(client.clone()),
            false => Err(wrong("the client assertion was used before")),
        }
    }
}

fn unknown_client() -> OAuthError {
    OAuthError::new("invalid_client", "unknown client or wrong credentials")
}
