//! The token endpoint (RFC 6749, 4.1.3, 4.4 and 6).

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::digest::{SHA256, digest};
use serde_json::json;
use sparring_transport::Secret;

use super::authorization_server::{
    Authorization, AuthorizationServer, RefreshToken, random_token, unix_seconds,
};
use super::client::Client;
use super::config::{RefreshPolicy, TokenFault};
use super::form::{Form, OAuthError, no_store};
use super::tokens::to_seconds;
use crate::http_mock::{HttpReply, HttpRequest};

/// The tokens that a request gets.
struct IssuedTokens {
    authorization: Authorization,
    refresh: Option<String>,
    /// An ID token, if the scope `openid` was requested.
    identity: Option<String>,
}

impl AuthorizationServer {
    pub(super) fn answer_token_request(&self, request: &HttpRequest, origin: &str) -> HttpReply {
        let mut state = self.state();
        if let Some(reply) = state.queued_replies.pop_front() {
            return reply;
        }
        if let Some(error) = state.behavior.refuse.take() {
            return OAuthError::new(&error, "refused by the script").reply();
        }
        drop(state);
        match self.issue_tokens(request, origin) {
            Ok(tokens) => self.render_tokens(&tokens, origin),
            Err(error) => {
                let reply = error.reply();
                // A client that used Basic authentication gets a challenge (RFC 6749, 5.2).
                match error.status == 401 && request.headers.get("authorization").is_some() {
                    true => reply.header("www-authenticate", "Basic realm=\"issuer\""),
                    false => reply,
                }
            }
        }
    }

    fn issue_tokens(
        &self,
        request: &HttpRequest,
        origin: &str,
    ) -> Result<IssuedTokens, OAuthError> {
        let form = Form::from_body(request)?;
        let grant = form.require("grant_type")?;
        let known = ["authorization_code", "client_credentials", "refresh_token"];
        if !known.contains(&grant) {
            let description = format!("supported grant types: {}", known.join(", "));
            return Err(OAuthError::new("unsupported_grant_type", description));
        }
        let client = self.authenticate(&form, request, origin)?;
        if !client.allows_grant(grant) {
            let description = format!("the client did not register for {grant}");
            return Err(OAuthError::new("unauthorized_client", description));
        }
        match grant {
            "authorization_code" => self.redeem_code(&form, &client, origin),
            "refresh_token" => self.redeem_refresh_token(&form, &client),
            _ => self.issue_for_client(&form, &client, origin),
        }
    }

    fn issue_for_client(
        &self,
        form: &Form,
        client: &Client,
        origin: &str,
    ) -> Result<IssuedTokens, OAuthError> {
        if client.is_public() {
            let description = "a public client cannot use client_credentials";
            return Err(OAuthError::new("unauthorized_client", description));
        }
        let authorization = Authorization {
            client: client.id.clone(),
            subject: client.id.clone(),
            scopes: self.requested_scopes(form)?,
            audience: self.requested_audience(form, origin)?,
            family: random_token(),
        };
        Ok(IssuedTokens { authorization, refresh: None, identity: None })
    }

    fn redeem_code(
        &self,
        form: &Form,
        client: &Client,
        origin: &str,
    ) -> Result<IssuedTokens, OAuthError> {
        let code = form.require("code")?;
        let verifier = form.require("code_verifier")?;
        let redirect = form.get("redirect_uri")?;
        let invalid_grant = |description: &str| OAuthError::new("invalid_grant", description);
        let mut state = self.state();
        let stored = state
            .codes
            .get_mut(&Secret::from(code))
            .filter(|stored| stored.authorization.client == client.id);
        let stored = stored.ok_or_else(|| invalid_grant("unknown code"))?;
        if stored.used {
            // The code may be stolen, so all tokens from it are revoked (RFC 6749, 4.1.2).
            let family = stored.authorization.family.clone();
            state.revoke_family(&family);
            return Err(invalid_grant("the code was used before"));
        }
        if stored.until <= unix_seconds() {
            return Err(invalid_grant("the code has expired"));
        }
        // OAuth 2.1 no longer requires `redirect_uri`, but it must match if present.
        if redirect.is_some_and(|redirect| redirect != stored.redirect) {
            return Err(invalid_grant("redirect_uri differs from the authorization request"));
        }
        let challenge = URL_SAFE_NO_PAD.encode(digest(&SHA256, verifier.as_bytes()));
        if !stored.challenge.matches(challenge.as_bytes()) {
            return Err(invalid_grant("code_verifier does not match code_challenge"));
        }
        let authorization = narrow(&stored.authorization, form, false)?;
        stored.used = true;
        let nonce = stored.nonce.clone();
        let issues_refresh =
            state.behavior.refresh != RefreshPolicy::Never && client.allows_grant("refresh_token");
        let refresh = issues_refresh.then(random_token);
        if let Some(token) = &refresh {
            let refresh_token = RefreshToken { authorization: authorization.clone(), used: false };
            state.refresh_tokens.insert(token.as_str().into(), refresh_token, authorization.size());
        }
        drop(state);
        let wants_id_token = authorization.scopes.iter().any(|scope| scope == "openid");
        let identity =
            wants_id_token.then(|| self.sign_id_token(&authorization, origin, nonce.as_deref()));
        Ok(IssuedTokens { authorization, refresh, identity })
    }

    fn redeem_refresh_token(
        &self,
        form: &Form,
        client: &Client,
    ) -> Result<IssuedTokens, OAuthError> {
        let token = form.require("refresh_token")?;
        let invalid_grant = |description: &str| OAuthError::new("invalid_grant", description);
        let mut state = self.state();
        let rotates = state.behavior.refresh == RefreshPolicy::Rotate;
        let stored = state
            .refresh_tokens
            .get_mut(&Secret::from(token))
            .filter(|stored| stored.authorization.client == client.id);
        let stored = stored.ok_or_else(|| invalid_grant("unknown refresh token"))?;
        let family = stored.authorization.family.clone();
        if stored.used {
            // Two clients have the token, and one of them may be an attacker (OAuth 2.1, 4.3.1).
            state.revoke_family(&family);
            return Err(invalid_grant("the refresh token was used before"));
        }
        let authorization = narrow(&stored.authorization, form, true)?;
        if !rotates {
            return Ok(IssuedTokens { authorization, refresh: None, identity: None });
        }
        stored.used = true;
        let full = stored.authorization.clone();
        let bytes = full.size();
        let next = random_token();
        let refresh_token = RefreshToken { authorization: full, used: false };
        state.refresh_tokens.insert(next.as_str().into(), refresh_token, bytes);
        Ok(IssuedTokens { authorization, refresh: Some(next), identity: None })
    }

    fn render_tokens(&self, tokens: &IssuedTokens, origin: &str) -> HttpReply {
        let mut state = self.state();
        let wrong = state.behavior.wrong.take().unwrap_or(TokenFault::None);
        let lifetime = state.behavior.lifetime;
        drop(state);
        let mut body = json!({
            "access_token": self.sign_access_token(&tokens.authorization, origin, lifetime, wrong),
            "token_type": "Bearer",
            "expires_in": to_seconds(lifetime),
        });
        if !tokens.authorization.scopes.is_empty() {
            body["scope"] = tokens.authorization.scopes.join(" ").into();
        }
        if let Some(refresh) = &tokens.refresh {
            body["refresh_token"] = refresh.clone().into();
        }
        if let Some(identity) = &tokens.identity {
            body["id_token"] = identity.clone().into();
        }
        no_store(HttpReply::json(&body))
    }
}

/// Narrows an authorization to the requested resources. Scopes are narrowed only on refresh;
/// those of a code were requested before.
fn narrow(
    authorization: &Authorization,
    form: &Form,
    is_refresh: bool,
) -> Result<Authorization, OAuthError> {
    let mut authorization = authorization.clone();
    let requested: Vec<String> = form.all("resource").map(str::to_owned).collect();
    if !requested.is_empty() {
        let known = |resource: &String| authorization.audience.contains(resource);
        if !authorization.audience.is_empty() && !requested.iter().all(known) {
            let description = "the login was for another resource";
            return Err(OAuthError::new("invalid_target", description));
        }
        authorization.audience = requested;
    }
    if let Some(scope) = form.get("scope")?.filter(|_| is_refresh) {
        let requested: Vec<String> = scope.split_whitespace().map(str::to_owned).collect();
        if !requested.iter().all(|scope| authorization.scopes.contains(scope)) {
            return Err(OAuthError::new("invalid_scope", "the login did not include this scope"));
        }
        authorization.scopes = requested;
    }
    Ok(authorization)
}
