//! What others ask about a token: whether it is good (RFC 7662), and that it be
//! so no more (RFC 7009).
//!
//! Everybody may ask whether a token is good: nothing here is worth guarding,
//! and servers under test need no more than its URL.

use serde_json::{Value, json};

use super::core::Core;
use super::form::{Form, Refused, unkept};
use crate::http_mock::{HttpReply, HttpRequest};

impl Core {
    pub(super) fn introspect(&self, request: &HttpRequest, origin: &str) -> HttpReply {
        let form = Form::of_body(request);
        let token = form
            .as_ref()
            .map_err(Refused::reply)
            .and_then(|form| form.need("token").map_err(|refused| refused.reply()));
        let told = match token {
            Ok(token) => match self.known(token, origin) {
                Ok(known) => {
                    let mut told = known.claims;
                    told["active"] = Value::Bool(true);
                    told["token_type"] = "Bearer".into();
                    told
                }
                Err(_) => json!({"active": false}),
            },
            Err(reply) => return reply,
        };
        unkept(HttpReply::json(&told))
    }

    /// Ends a token and all that came of the same login. One that is not known,
    /// or another client's, is good for nothing anyway.
    pub(super) fn revoke(&self, request: &HttpRequest, origin: &str) -> HttpReply {
        let asked = Form::of_body(request).and_then(|form| {
            let client = self.authenticate(&form, request, origin)?;
            Ok((client, form.need("token")?.to_owned()))
        });
        let (client, token) = match asked {
            Ok(asked) => asked,
            Err(refused) => return refused.reply(),
        };
        let renewed = self.state().renewals.get(&token).map(|it| it.purpose.clone());
        let (owner, family) = match (renewed, self.known(&token, origin)) {
            (Some(purpose), _) => (purpose.client, purpose.family),
            (None, Ok(known)) => (known.text("client_id").to_owned(), known.family),
            (None, Err(_)) => return unkept(HttpReply::new(200)),
        };
        if owner == client.id {
            self.state().end(&family);
        }
        unkept(HttpReply::new(200))
    }
}
