//! A raw OAuth client and browser for tests.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use reqwest::redirect::Policy;
use serde_json::Value;
use sparring_mock::Issuer;

use crate::fixture::within;

/// The example of RFC 7636, appendix B.
pub(super) const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
pub(super) const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

pub(super) const REDIRECT_URI: &str = "http://127.0.0.1:7/back";

/// Form parameters.
pub(super) type Pairs<'a> = Vec<(&'a str, &'a str)>;

/// An OAuth client of an issuer.
pub(super) struct TestClient {
    pub(super) url: String,
    http: reqwest::Client,
    bearer: Option<&'static str>,
}

/// The redirect that a browser got.
#[derive(Debug)]
pub(super) struct Redirect {
    pub(super) status: u16,
    /// The redirect URI, without its query.
    pub(super) to: Option<String>,
    pub(super) params: BTreeMap<String, String>,
}

impl TestClient {
    pub(super) fn new(issuer: &Issuer) -> TestClient {
        TestClient::at(issuer.url())
    }

    pub(super) fn at(url: String) -> TestClient {
        let http = reqwest::Client::builder().redirect(Policy::none()).build().unwrap();
        TestClient { url, http, bearer: None }
    }

    /// Sends a bearer token with [`TestClient::get`] and [`TestClient::json`].
    pub(super) fn with_bearer(self, token: &'static str) -> TestClient {
        TestClient { bearer: Some(token), ..self }
    }

    pub(super) async fn get(&self, url: &str) -> (u16, Value) {
        let request = self.with_credentials(self.http.get(url));
        read(within(request.send()).await.unwrap()).await
    }

    fn with_credentials(&self, request: reqwest::RequestBuilder) -> reqwest::RequestBuilder {
        match self.bearer {
            Some(token) => request.bearer_auth(token),
            None => request,
        }
    }

    /// Sends a form to an endpoint; the first pair may be `basic`.
    pub(super) async fn post(&self, path: &str, pairs: &Pairs<'_>) -> (u16, Value) {
        let mut form = form_urlencoded::Serializer::new(String::new());
        let mut request = self.http.post(format!("{}{path}", self.url));
        for (name, value) in pairs {
            match *name {
                "basic" => {
                    let value = base64::engine::general_purpose::STANDARD.encode(value);
                    request = request.header("authorization", format!("Basic {value}"));
                }
                name => drop(form.append_pair(name, value)),
            }
        }
        let kind = "application/x-www-form-urlencoded";
        let request = request.header("content-type", kind).body(form.finish());
        read(within(request.send()).await.unwrap()).await
    }

    pub(super) async fn token(&self, pairs: &Pairs<'_>) -> (u16, Value) {
        self.post("/token", pairs).await
    }

    pub(super) async fn json(&self, path: &str, body: Value) -> (u16, Value) {
        let request = self.http.post(format!("{}{path}", self.url)).body(body.to_string());
        let request = request.header("content-type", "application/json");
        let request = self.with_credentials(request);
        read(within(request.send()).await.unwrap()).await
    }

    /// Sends an authorization request.
    pub(super) async fn browse(&self, pairs: &Pairs<'_>) -> Redirect {
        let query = form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish();
        let url = format!("{}/authorize?{query}", self.url);
        let response = within(self.http.get(url).send()).await.unwrap();
        let location = response.headers().get("location").map(|it| it.to_str().unwrap().to_owned());
        let (to, query) = match &location {
            Some(location) => match location.split_once('?') {
                Some((to, query)) => (Some(to.to_owned()), query.to_owned()),
                None => (Some(location.clone()), String::new()),
            },
            None => (None, String::new()),
        };
        let params = form_urlencoded::parse(query.as_bytes()).into_owned().collect();
        Redirect { status: response.status().as_u16(), to, params }
    }

    /// Gets a code for a client that redirects to [`REDIRECT_URI`].
    pub(super) async fn code(&self, client: &str, more: &Pairs<'_>) -> String {
        let sent = self.browse(&[&login(client)[..], more].concat()).await;
        sent.params.get("code").unwrap_or_else(|| panic!("{sent:?}")).clone()
    }

    /// Logs in as a public client and returns the token response.
    pub(super) async fn log_in(&self, client: &str, more: &Pairs<'_>) -> Value {
        let code = self.code(client, more).await;
        let (status, given) = self.token(&redeem(client, &code)).await;
        assert_eq!(status, 200, "{given}");
        given
    }
}

/// Parameters of a valid authorization request.
pub(super) fn login(client: &str) -> Pairs<'_> {
    vec![
        ("response_type", "code"),
        ("client_id", client),
        ("redirect_uri", REDIRECT_URI),
        ("state", "xyz"),
        ("code_challenge", CHALLENGE),
        ("code_challenge_method", "S256"),
    ]
}

/// Parameters of a token request for a code.
pub(super) fn redeem<'a>(client: &'a str, code: &'a str) -> Pairs<'a> {
    vec![
        ("grant_type", "authorization_code"),
        ("client_id", client),
        ("code", code),
        ("redirect_uri", REDIRECT_URI),
        ("code_verifier", VERIFIER),
    ]
}

/// Replaces a parameter; an empty value removes it.
pub(super) fn with_param<'a>(pairs: &Pairs<'a>, name: &str, value: &'a str) -> Pairs<'a> {
    let mut pairs = pairs.clone();
    if let Some(pair) = pairs.iter_mut().find(|pair| pair.0 == name) {
        pair.1 = value;
    }
    pairs
}

/// Decodes the claims of a token without verifying it.
pub(super) fn claims(token: &str) -> Value {
    let part = token.split('.').nth(1).unwrap();
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(part).unwrap()).unwrap()
}

async fn read(response: reqwest::Response) -> (u16, Value) {
    let status = response.status().as_u16();
    let text = within(response.text()).await.unwrap();
    (status, serde_json::from_str(&text).unwrap_or(Value::String(text)))
}
