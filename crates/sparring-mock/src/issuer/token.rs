//! The token endpoint: what a token is given for (RFC 6749, 4.1.3, 4.4 and 6).

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::digest::{SHA256, digest};
use serde_json::json;
use subtle::ConstantTimeEq as _;

use super::client::Client;
use super::core::{Core, Purpose, Renewal, now, random};
use super::form::{Form, Refused, unkept};
use super::mint::seconds;
use super::plan::{Refresh, Wrong};
use crate::http_mock::{HttpReply, HttpRequest};

/// What is given.
struct Given {
    purpose: Purpose,
    refresh: Option<String>,
    /// A token that says who logged in, if that was asked for.
    identity: Option<String>,
}

impl Core {
    pub(super) fn token(&self, request: &HttpRequest, origin: &str) -> HttpReply {
        let mut state = self.state();
        if let Some(reply) = state.replies.pop_front() {
            return reply;
        }
        if let Some(error) = state.ways.refuse.take() {
            return Refused::new(&error, "refused, as told").reply();
        }
        drop(state);
        match self.given(request, origin) {
            Ok(given) => self.give(&given, origin),
            Err(refused) => {
                let reply = refused.reply();
                // Who came by this way is told of it (RFC 6749, 5.2).
                match refused.status == 401 && request.headers.get("authorization").is_some() {
                    true => reply.header("www-authenticate", "Basic realm=\"issuer\""),
                    false => reply,
                }
            }
        }
    }

    fn given(&self, request: &HttpRequest, origin: &str) -> Result<Given, Refused> {
        let form = Form::of_body(request)?;
        let grant = form.need("grant_type")?;
        let known = ["authorization_code", "client_credentials", "refresh_token"];
        if !known.contains(&grant) {
            let about = format!("there are {}", known.join(", "));
            return Err(Refused::new("unsupported_grant_type", about));
        }
        let client = self.authenticate(&form, request, origin)?;
        if !client.may_ask_by(grant) {
            let about = format!("the client did not register for {grant}");
            return Err(Refused::new("unauthorized_client", about));
        }
        match grant {
            "authorization_code" => self.by_code(&form, &client, origin),
            "refresh_token" => self.by_refresh(&form, &client),
            _ => self.by_itself(&form, &client, origin),
        }
    }

    fn by_itself(&self, form: &Form, client: &Client, origin: &str) -> Result<Given, Refused> {
        if client.is_public() {
            let about = "a client that cannot show who it is cannot ask for itself";
            return Err(Refused::new("unauthorized_client", about));
        }
        let purpose = Purpose {
            client: client.id.clone(),
            subject: client.id.clone(),
            scopes: self.scopes(form)?,
            audience: self.audience(form, origin)?,
            family: random(),
        };
        Ok(Given { purpose, refresh: None, identity: None })
    }

    fn by_code(&self, form: &Form, client: &Client, origin: &str) -> Result<Given, Refused> {
        let code = form.need("code")?;
        let verifier = form.need("code_verifier")?;
        let redirect = form.get("redirect_uri")?;
        let void = |about: &str| Refused::new("invalid_grant", about);
        let mut state = self.state();
        let kept = state.codes.get_mut(code).filter(|kept| kept.purpose.client == client.id);
        let kept = kept.ok_or_else(|| void("there is no such code"))?;
        if kept.used {
            // Somebody else may have it, so nothing of it is good any more
            // (RFC 6749, 4.1.2).
            let family = kept.purpose.family.clone();
            state.end(&family);
            return Err(void("the code was used before"));
        }
        if kept.until <= now() {
            return Err(void("the code has expired"));
        }
        // OAuth 2.1 needs it no more, but it must not be another one.
        if redirect.is_some_and(|redirect| redirect != kept.redirect) {
            return Err(void("redirect_uri is not the one of the login"));
        }
        let challenge = URL_SAFE_NO_PAD.encode(digest(&SHA256, verifier.as_bytes()));
        if !bool::from(challenge.as_bytes().ct_eq(kept.challenge.as_bytes())) {
            return Err(void("code_verifier does not fit"));
        }
        let purpose = narrowed(&kept.purpose, form, false)?;
        kept.used = true;
        let nonce = kept.nonce.clone();
        let renews = state.ways.refresh != Refresh::Never && client.may_ask_by("refresh_token");
        let refresh = renews.then(random);
        if let Some(token) = &refresh {
            let renewal = Renewal { purpose: purpose.clone(), used: false };
            state.renewals.put(token.clone(), renewal);
        }
        drop(state);
        let says_who = purpose.scopes.iter().any(|scope| scope == "openid");
        let identity = says_who.then(|| self.identity(&purpose, origin, nonce.as_deref()));
        Ok(Given { purpose, refresh, identity })
    }

    fn by_refresh(&self, form: &Form, client: &Client) -> Result<Given, Refused> {
        let token = form.need("refresh_token")?;
        let void = |about: &str| Refused::new("invalid_grant", about);
        let mut state = self.state();
        let rotates = state.ways.refresh == Refresh::Rotate;
        let kept = state.renewals.get_mut(token).filter(|kept| kept.purpose.client == client.id);
        let kept = kept.ok_or_else(|| void("there is no such refresh token"))?;
        let family = kept.purpose.family.clone();
        if kept.used {
            // Two have it, and nobody knows who of them should (OAuth 2.1, 4.3.1).
            state.end(&family);
            return Err(void("the refresh token was used before"));
        }
        let purpose = narrowed(&kept.purpose, form, true)?;
        if !rotates {
            return Ok(Given { purpose, refresh: None, identity: None });
        }
        kept.used = true;
        let whole = kept.purpose.clone();
        let next = random();
        state.renewals.put(next.clone(), Renewal { purpose: whole, used: false });
        Ok(Given { purpose, refresh: Some(next), identity: None })
    }

    fn give(&self, given: &Given, origin: &str) -> HttpReply {
        let mut state = self.state();
        let wrong = state.ways.wrong.take().unwrap_or(Wrong::Nothing);
        let lifetime = state.ways.lifetime;
        drop(state);
        let mut body = json!({
            "access_token": self.access(&given.purpose, origin, lifetime, wrong),
            "token_type": "Bearer",
            "expires_in": seconds(lifetime),
        });
        if !given.purpose.scopes.is_empty() {
            body["scope"] = given.purpose.scopes.join(" ").into();
        }
        if let Some(refresh) = &given.refresh {
            body["refresh_token"] = refresh.clone().into();
        }
        if let Some(identity) = &given.identity {
            body["id_token"] = identity.clone().into();
        }
        unkept(HttpReply::json(&body))
    }
}

/// The same purpose, or less of it if less is asked for. Scopes are narrowed
/// only when a token is renewed; those of a code were said before.
fn narrowed(purpose: &Purpose, form: &Form, renews: bool) -> Result<Purpose, Refused> {
    let mut purpose = purpose.clone();
    let asked: Vec<String> = form.all("resource").map(str::to_owned).collect();
    if !asked.is_empty() {
        let known = |resource: &String| purpose.audience.contains(resource);
        if !purpose.audience.is_empty() && !asked.iter().all(known) {
            let about = "the login was for another resource";
            return Err(Refused::new("invalid_target", about));
        }
        purpose.audience = asked;
    }
    if let Some(scope) = form.get("scope")?.filter(|_| renews) {
        let asked: Vec<String> = scope.split_whitespace().map(str::to_owned).collect();
        if !asked.iter().all(|scope| purpose.scopes.contains(scope)) {
            return Err(Refused::new("invalid_scope", "the login was for less"));
        }
        purpose.scopes = asked;
    }
    Ok(purpose)
}
