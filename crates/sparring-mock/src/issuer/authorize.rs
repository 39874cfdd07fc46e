//! The authorization endpoint. It shows no page and redirects the browser back at once (OAuth
//! 2.1, 4.1; PKCE; RFC 8707; RFC 9207).

use super::authorization_server::{
    Authorization, AuthorizationCode, AuthorizationServer, random_token, unix_seconds,
};
use super::client::{Client, redirect_problem};
use super::config::LoginOutcome;
use super::form::{Form, OAuthError, no_store};
use crate::http_mock::{HttpReply, HttpRequest};

/// The lifetime of an authorization code, in seconds.
const CODE_LIFETIME_SECS: u64 = 60;

/// The subject of every login.
const TEST_USER: &str = "somebody";

impl AuthorizationServer {
    /// Redirects the browser back with a code or an error. Without a redirect URI that is known
    /// to be the client's, the error is shown here instead (RFC 6749, 4.1.2.1).
    pub(super) fn authorize(&self, request: &HttpRequest, origin: &str) -> HttpReply {
        let form = match request.method.as_str() {
            "POST" => Form::from_body(request),
            _ => Ok(Form::from_query(request)),
        };
        let found = form.and_then(|form| {
            let (client, redirect) = self.find_client(&form)?;
            Ok((form, client, redirect))
        });
        let (form, client, redirect) = match found {
            Ok(found) => found,
            Err(error) => {
                let text = format!("{}: {}\n", error.error, error.description);
                let page = HttpReply::new(400).body(text);
                return no_store(page.header("content-type", "text/plain; charset=utf-8"));
            }
        };
        let mut query = form_urlencoded::Serializer::new(String::new());
        match self.issue_code(&form, &client, &redirect, origin) {
            Ok(code) => query.append_pair("code", &code),
            Err(error) => query
                .append_pair("error", &error.error)
                .append_pair("error_description", &error.description),
        };
        // A repeated `state` was rejected above; the error returns the first.
        if let Some(state) = form.all("state").next() {
            query.append_pair("state", state);
        }
        query.append_pair("iss", &self.issuer_at(origin));
        let separator = if redirect.contains('?') { '&' } else { '?' };
        let location = format!("{redirect}{separator}{}", query.finish());
        no_store(HttpReply::new(302).header("location", &location))
    }

    /// Returns the client and the URI to redirect to.
    fn find_client(&self, form: &Form) -> Result<(Client, String), OAuthError> {
        let id = form.require("client_id")?;
        let client = self.client(id);
        let client = client.ok_or_else(|| OAuthError::invalid_request("unknown client_id"))?;
        let redirect = match (form.get("redirect_uri")?, &client.redirects[..]) {
            (Some(given), _) => given.to_owned(),
            (None, [only]) => only.clone(),
            (None, _) => return Err(OAuthError::invalid_request("redirect_uri is missing")),
        };
        if redirect_problem(&redirect).is_some() || !client.allows_redirect(&redirect) {
            return Err(OAuthError::invalid_request(
                "the client has not registered this redirect_uri",
            ));
        }
        Ok((client, redirect))
    }

    fn issue_code(
        &self,
        form: &Form,
        client: &Client,
        redirect: &str,
        origin: &str,
    ) -> Result<String, OAuthError> {
        if form.require("response_type")? != "code" {
            return Err(OAuthError::new(
                "unsupported_response_type",
                "the only response_type is `code`",
            ));
        }
        if !client.allows_grant("authorization_code") {
            let description = "the client did not register for authorization_code";
            return Err(OAuthError::new("unauthorized_client", description));
        }
        form.get("state")?;
        let challenge = form.require("code_challenge")?;
        if form.get("code_challenge_method")? != Some("S256") {
            return Err(OAuthError::invalid_request("code_challenge_method is not S256"));
        }
        // The length and alphabet of an S256 challenge (RFC 7636, 4.2).
        let is_url_safe = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
        if challenge.len() != 43 || !challenge.bytes().all(is_url_safe) {
            return Err(OAuthError::invalid_request("code_challenge is not an S256 challenge"));
        }
        let authorization = Authorization {
            client: client.id.clone(),
            subject: TEST_USER.to_owned(),
            scopes: self.requested_scopes(form)?,
            audience: self.requested_audience(form, origin)?,
            family: random_token(),
        };
        let nonce = form.get("nonce")?.map(str::to_owned);
        let mut state = self.state();
        if state.behavior.login.take() == Some(LoginOutcome::Deny) {
            return Err(OAuthError::new("access_denied", "the login was denied by the script"));
        }
        let code = random_token();
        let stored = AuthorizationCode {
            authorization,
            redirect: redirect.to_owned(),
            challenge: challenge.into(),
            nonce,
            until: unix_seconds() + CODE_LIFETIME_SECS,
            used: false,
        };
        let bytes = stored.authorization.size()
            + redirect.len()
            + stored.nonce.as_ref().map_or(0, String::len);
        state.codes.insert(code.as_str().into(), stored, bytes);
        Ok(code)
    }

    /// Returns the requested scopes (default: all that the issuer has).
    pub(super) fn requested_scopes(&self, form: &Form) -> Result<Vec<String>, OAuthError> {
        let Some(requested) = form.get("scope")? else { return Ok(self.config.scopes.clone()) };
        let requested: Vec<String> = requested.split_whitespace().map(str::to_owned).collect();
        let unknown = |scope: &&String| {
            let is_allowed = |byte: u8| byte.is_ascii_graphic() && byte != b'"' && byte != b'\\';
            let listed = self.config.scopes.is_empty() || self.config.scopes.contains(*scope);
            !listed || !scope.bytes().all(is_allowed)
        };
        match requested.iter().find(unknown) {
            Some(_) => Err(OAuthError::new("invalid_scope", "unknown scope")),
            None => Ok(requested),
        }
    }

    /// Returns the requested audience (RFC 8707).
    pub(super) fn requested_audience(
        &self,
        form: &Form,
        origin: &str,
    ) -> Result<Vec<String>, OAuthError> {
        let requested: Vec<String> = form.all("resource").map(str::to_owned).collect();
        let bound = !self.config.resources.is_empty();
        if requested.is_empty() && bound {
            let default_audience =
                self.config.resources.first().map(|path| format!("{origin}{path}"));
            return Ok(default_audience.into_iter().collect());
        }
        let unknown = |resource: &&String| {
            let is_absolute = resource.parse::<http::Uri>().is_ok_and(|uri| uri.scheme().is_some());
            !is_absolute
                || resource.contains('#')
                || bound && !self.is_own_resource(resource, origin)
        };
        match requested.iter().find(unknown) {
            Some(_) => Err(OAuthError::new(
                "invalid_target",
                "this issuer issues no tokens for this resource",
            )),
            None => Ok(requested),
        }
    }
}
