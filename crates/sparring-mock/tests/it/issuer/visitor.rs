//! A client and a browser that say exactly what they are told.

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

pub(super) const BACK: &str = "http://127.0.0.1:7/back";

/// Names and values, as they are sent.
pub(super) type Pairs<'a> = Vec<(&'a str, &'a str)>;

/// Somebody who speaks with an issuer.
pub(super) struct Visitor {
    pub(super) url: String,
    http: reqwest::Client,
}

/// What a browser was told.
#[derive(Debug)]
pub(super) struct Sent {
    pub(super) status: u16,
    /// Where to go, without what to bring.
    pub(super) to: Option<String>,
    pub(super) brings: BTreeMap<String, String>,
}

impl Visitor {
    pub(super) fn of(issuer: &Issuer) -> Visitor {
        Visitor::at(issuer.url())
    }

    pub(super) fn at(url: String) -> Visitor {
        let http = reqwest::Client::builder().redirect(Policy::none()).build().unwrap();
        Visitor { url, http }
    }

    pub(super) async fn get(&self, url: &str) -> (u16, Value) {
        read(within(self.http.get(url).send()).await.unwrap()).await
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
        read(within(request.send()).await.unwrap()).await
    }

    /// Opens the page to log in at.
    pub(super) async fn browse(&self, pairs: &Pairs<'_>) -> Sent {
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
        let brings = form_urlencoded::parse(query.as_bytes()).into_owned().collect();
        Sent { status: response.status().as_u16(), to, brings }
    }

    /// A code for a client that goes back to [`BACK`].
    pub(super) async fn code(&self, client: &str, more: &Pairs<'_>) -> String {
        let sent = self.browse(&[&login(client)[..], more].concat()).await;
        sent.brings.get("code").unwrap_or_else(|| panic!("{sent:?}")).clone()
    }

    /// All tokens of a login of a client without a secret.
    pub(super) async fn log_in(&self, client: &str, more: &Pairs<'_>) -> Value {
        let code = self.code(client, more).await;
        let (status, given) = self.token(&redeem(client, &code)).await;
        assert_eq!(status, 200, "{given}");
        given
    }
}

/// What a good login says.
pub(super) fn login(client: &str) -> Pairs<'_> {
    vec![
        ("response_type", "code"),
        ("client_id", client),
        ("redirect_uri", BACK),
        ("state", "xyz"),
        ("code_challenge", CHALLENGE),
        ("code_challenge_method", "S256"),
    ]
}

/// What is said to get a token for a code.
pub(super) fn redeem<'a>(client: &'a str, code: &'a str) -> Pairs<'a> {
    vec![
        ("grant_type", "authorization_code"),
        ("client_id", client),
        ("code", code),
        ("redirect_uri", BACK),
        ("code_verifier", VERIFIER),
    ]
}

/// The same with some of it otherwise; with nothing it is left out.
pub(super) fn but<'a>(pairs: &Pairs<'a>, name: &str, value: &'a str) -> Pairs<'a> {
    let mut pairs = pairs.clone();
    if let Some(pair) = pairs.iter_mut().find(|pair| pair.0 == name) {
        pair.1 = value;
    }
    pairs
}

/// What a token says, whether it is good or not.
pub(super) fn claims(token: &str) -> Value {
    let part = token.split('.').nth(1).unwrap();
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(part).unwrap()).unwrap()
}

async fn read(response: reqwest::Response) -> (u16, Value) {
    let status = response.status().as_u16();
    let text = within(response.text()).await.unwrap();
    (status, serde_json::from_str(&text).unwrap_or(Value::String(text)))
}
