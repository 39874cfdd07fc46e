//! Token introspection (RFC 7662) and revocation (RFC 7009).
//!
//! Introspection needs no authentication: test tokens are not worth guarding, and servers under
//! test need only the URL.

use serde_json::{Value, json};
use sparring_transport::Secret;

use super::authorization_server::AuthorizationServer;
use super::form::{Form, OAuthError, no_store};
use crate::http_mock::{HttpReply, HttpRequest};

impl AuthorizationServer {
    pub(super) fn introspect(&self, request: &HttpRequest, origin: &str) -> HttpReply {
        let form = Form::from_body(request);
        let token = form
            .as_ref()
            .map_err(OAuthError::reply)
            .and_then(|form| form.require("token").map_err(|error| error.reply()));
        let body = match token {
            Ok(token) => match self.verify(token, origin) {
                Ok(known) => {
                    let mut body = known.claims;
                    body["active"] = Value::Bool(true);
                    body["token_type"] = "Bearer".into();
                    body
                }
                Err(_) => json!({"active": false}),
            },
            Err(reply) => return reply,
        };
        no_store(HttpReply::json(&body))
    }

    /// Revokes a token and all tokens of the same login. Unknown tokens and tokens of other
    /// clients are ignored.
    pub(super) fn revoke(&self, request: &HttpRequest, origin: &str) -> HttpReply {
        let request_parts = Form::from_body(request).and_then(|form| {
            let client = self.authenticate(&form, request, origin)?;
            Ok((client, form.require("token")?.to_owned()))
        });
        let (client, token) = match request_parts {
            Ok(request_parts) => request_parts,
            Err(error) => return error.reply(),
        };
        let refreshed = self
            .state()
            .refresh_tokens
            .get(&Secret::from(&*token))
            .map(|it| it.authorization.clone());
        let (owner, family) = match (refreshed, self.verify(&token, origin)) {
            (Some(authorization), _) => (authorization.client, authorization.family),
            (None, Ok(known)) => (known.text("client_id").to_owned(), known.family),
            (None, Err(_)) => return no_store(HttpReply::new(200)),
        };
        if owner == client.id {
            self.state().revoke_family(&family);
        }
        no_store(HttpReply::new(200))
    }
}
