//! The page at which a person logs in: nobody is asked anything, and the browser
//! goes back at once (OAuth 2.1, 4.1; PKCE; RFC 8707; RFC 9207).

use super::client::{Client, unfit};
use super::core::{Code, Core, Purpose, now, random};
use super::form::{Form, Refused, unkept};
use super::plan::Login;
use crate::http_mock::{HttpReply, HttpRequest};

/// How long a code is good, in seconds.
const GOOD: u64 = 60;

/// Who logs in.
const SOMEBODY: &str = "somebody";

impl Core {
    /// Sends the browser back with a code, or with why there is none. Where it
    /// cannot be known that the address is the client's, nobody is sent anywhere
    /// (RFC 6749, 4.1.2.1).
    pub(super) fn authorize(&self, request: &HttpRequest, origin: &str) -> HttpReply {
        let form = match request.method.as_str() {
            "POST" => Form::of_body(request),
            _ => Ok(Form::of_query(request)),
        };
        let found = form.and_then(|form| {
            let (client, redirect) = self.whose(&form)?;
            Ok((form, client, redirect))
        });
        let (form, client, redirect) = match found {
            Ok(found) => found,
            Err(refused) => {
                let told = format!("{}: {}\n", refused.error, refused.about);
                let page = HttpReply::new(400).body(told);
                return unkept(page.header("content-type", "text/plain; charset=utf-8"));
            }
        };
        let mut back = form_urlencoded::Serializer::new(String::new());
        match self.code(&form, &client, &redirect, origin) {
            Ok(code) => back.append_pair("code", &code),
            Err(refused) => back
                .append_pair("error", &refused.error)
                .append_pair("error_description", &refused.about),
        };
        // One that is there twice was refused, and the first is as good as any.
        if let Some(state) = form.all("state").next() {
            back.append_pair("state", state);
        }
        back.append_pair("iss", &self.name_at(origin));
        let between = if redirect.contains('?') { '&' } else { '?' };
        let location = format!("{redirect}{between}{}", back.finish());
        unkept(HttpReply::new(302).header("location", &location))
    }

    /// The client, and where its browser is sent.
    fn whose(&self, form: &Form) -> Result<(Client, String), Refused> {
        let id = form.need("client_id")?;
        let client = self.client(id);
        let client = client.ok_or_else(|| Refused::request("no client has this client_id"))?;
        let redirect = match (form.get("redirect_uri")?, &client.redirects[..]) {
            (Some(given), _) => given.to_owned(),
            (None, [only]) => only.clone(),
            (None, _) => return Err(Refused::request("redirect_uri is missing")),
        };
        if unfit(&redirect).is_some() || !client.may_go_to(&redirect) {
            return Err(Refused::request("redirect_uri is none that this client has registered"));
        }
        Ok((client, redirect))
    }

    fn code(
        &self,
        form: &Form,
        client: &Client,
        redirect: &str,
        origin: &str,
    ) -> Result<String, Refused> {
        if form.need("response_type")? != "code" {
            return Err(Refused::new("unsupported_response_type", "there is only `code`"));
        }
        if !client.may_ask_by("authorization_code") {
            let about = "the client did not register for authorization_code";
            return Err(Refused::new("unauthorized_client", about));
        }
        form.get("state")?;
        let challenge = form.need("code_challenge")?;
        if form.get("code_challenge_method")? != Some("S256") {
            return Err(Refused::request("code_challenge_method is not S256"));
        }
        // What SHA-256 gives, as RFC 7636 writes it (4.2).
        let is_url_safe = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
        if challenge.len() != 43 || !challenge.bytes().all(is_url_safe) {
            return Err(Refused::request("code_challenge is none of S256"));
        }
        let purpose = Purpose {
            client: client.id.clone(),
            subject: SOMEBODY.to_owned(),
            scopes: self.scopes(form)?,
            audience: self.audience(form, origin)?,
            family: random(),
        };
        let nonce = form.get("nonce")?.map(str::to_owned);
        let mut state = self.state();
        if state.ways.login.take() == Some(Login::Deny) {
            return Err(Refused::new("access_denied", "the login was denied, as told"));
        }
        let code = random();
        let kept = Code {
            purpose,
            redirect: redirect.to_owned(),
            challenge: challenge.to_owned(),
            nonce,
            until: now() + GOOD,
            used: false,
        };
        state.codes.put(code.clone(), kept);
        Ok(code)
    }

    /// The scopes that are asked for; all that there are, if none are.
    pub(super) fn scopes(&self, form: &Form) -> Result<Vec<String>, Refused> {
        let Some(asked) = form.get("scope")? else { return Ok(self.plan.scopes.clone()) };
        let asked: Vec<String> = asked.split_whitespace().map(str::to_owned).collect();
        let unknown = |scope: &&String| {
            let plain = |byte: u8| byte.is_ascii_graphic() && byte != b'"' && byte != b'\\';
            let listed = self.plan.scopes.is_empty() || self.plan.scopes.contains(*scope);
            !listed || !scope.bytes().all(plain)
        };
        match asked.iter().find(unknown) {
            Some(_) => Err(Refused::new("invalid_scope", "there is no such scope")),
            None => Ok(asked),
        }
    }

    /// What a token is asked for (RFC 8707).
    pub(super) fn audience(&self, form: &Form, origin: &str) -> Result<Vec<String>, Refused> {
        let asked: Vec<String> = form.all("resource").map(str::to_owned).collect();
        let bound = !self.plan.resources.is_empty();
        if asked.is_empty() && bound {
            let own = self.plan.resources.first().map(|path| format!("{origin}{path}"));
            return Ok(own.into_iter().collect());
        }
        let unknown = |resource: &&String| {
            let is_absolute = resource.parse::<http::Uri>().is_ok_and(|uri| uri.scheme().is_some());
            !is_absolute || resource.contains('#') || bound && !self.is_for(resource, origin)
        };
        match asked.iter().find(unknown) {
            Some(_) => Err(Refused::new("invalid_target", "no token is given for this resource")),
            None => Ok(asked),
        }
    }
}
