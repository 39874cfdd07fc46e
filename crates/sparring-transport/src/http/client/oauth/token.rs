//! The token endpoint: what is asked of it, and what it gives.

use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use super::super::endpoint::basic;
use super::client::{Client, Method};
use super::denied::Denied;
use super::jwt;
use super::metadata::Provider;
use super::scopes::Scopes;
use super::web::{Answer, Content, Web};
use super::{Grant, Proof};

/// A token is renewed so long before it expires, or earlier if it does not last
/// long.
const MARGIN: u64 = 30;

/// What the endpoint gives.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Tokens {
    pub(super) access: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) refresh: Option<String>,
    /// When to renew it, in seconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) renew_at: Option<u64>,
    /// What it was asked for, and what it allows.
    #[serde(default)]
    pub(super) asked: String,
    #[serde(default)]
    pub(super) given: String,
}

impl Tokens {
    pub(super) fn is_old(&self) -> bool {
        self.renew_at.is_some_and(|at| at <= now())
    }

    /// Whether it is to be renewed, and can be.
    pub(super) fn wants_renewal(&self) -> bool {
        self.is_old() && self.refresh.is_some()
    }
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

/// What is shown of an answer that is a refusal: the code and the words for it,
/// if it has them, and nothing else.
pub(super) struct Told {
    url: String,
    /// What OAuth calls it.
    pub(super) code: Option<String>,
    why: String,
}

impl Told {
    pub(super) fn of(answer: &Answer) -> Told {
        #[derive(Deserialize)]
        struct Refusal {
            error: String,
            error_description: Option<String>,
        }
        let refusal: Option<Refusal> = serde_json::from_slice(&answer.body).ok();
        let code = refusal.as_ref().map(|refusal| refusal.error.clone());
        let words = refusal.map(|refusal| match refusal.error_description {
            Some(more) => format!("{}: {more}", refusal.error),
            None => refusal.error,
        });
        let why = words.unwrap_or_else(|| format!("it answered {}", answer.status));
        let why = match answer.skew() {
            Some(skew) => format!("{why} ({skew})"),
            None => why,
        };
        Told { url: answer.url.clone(), code, why }
    }

    pub(super) fn refused(self, what: &'static str) -> Denied {
        Denied::Refused { url: self.url, what, why: self.why }
    }
}

/// What a token is asked for by.
pub(super) enum By<'a> {
    /// The code that a browser brought.
    Code { code: &'a str, verifier: &'a str, redirect: &'a str },
    /// The token for renewing.
    Refresh(&'a str),
    /// Being the client.
    Ourselves,
}

/// What came of asking.
pub(super) enum Outcome {
    Given(Tokens),
    /// What was shown is not good, or not any more.
    Void(Denied),
    /// The client is not known, or not any more.
    Stranger(Denied),
}

impl Outcome {
    pub(super) fn given(self) -> Result<Tokens, Denied> {
        match self {
            Outcome::Given(tokens) => Ok(tokens),
            Outcome::Void(denied) | Outcome::Stranger(denied) => Err(denied),
        }
    }
}

/// Asks for a token.
pub(super) async fn ask(
    web: &Web<'_>,
    provider: &Provider,
    client: &Client,
    by: By<'_>,
    scopes: &Scopes,
) -> Result<Outcome, Denied> {
    let (content, what) = request(web, provider, client, &by, scopes)?;
    let answer = web.post(&provider.metadata.token_endpoint, content).await?;
    if answer.status.is_server_error() {
        return Err(Denied::Down(answer.status_shown()));
    }
    if !answer.status.is_success() {
        let told = Told::of(&answer);
        if let Some(tried) = provider.guessed.as_ref().filter(|_| told.code.is_none()) {
            return Err(Denied::NoMetadata(format!("{tried}, {}", answer.status_shown())));
        }
        return match told.code.as_deref() {
            Some("invalid_grant") => Ok(Outcome::Void(told.refused(what))),
            Some("invalid_client" | "unauthorized_client") => {
                Ok(Outcome::Stranger(told.refused(what)))
            }
            _ => Err(told.refused(what)),
        };
    }
    let mut tokens = read(&answer, scopes)?;
    if let (By::Refresh(before), None) = (&by, &tokens.refresh) {
        tokens.refresh = Some((*before).to_owned());
    }
    Ok(Outcome::Given(tokens))
}

fn request(
    web: &Web<'_>,
    provider: &Provider,
    client: &Client,
    by: &By<'_>,
    scopes: &Scopes,
) -> Result<(Content, &'static str), Denied> {
    let mut form = form_urlencoded::Serializer::new(String::new());
    let what = match by {
        By::Code { code, verifier, redirect } => {
            form.append_pair("grant_type", "authorization_code");
            form.append_pair("code", code).append_pair("redirect_uri", redirect);
            form.append_pair("code_verifier", verifier);
            "give a token for the code"
        }
        By::Refresh(token) => {
            form.append_pair("grant_type", "refresh_token").append_pair("refresh_token", token);
            "renew the token"
        }
        By::Ourselves => {
            form.append_pair("grant_type", "client_credentials");
            "give a token to the client"
        }
    };
    // A code is for what was asked with it, and a renewed token for the same as
    // before.
    if matches!(by, By::Ourselves) && !scopes.is_empty() {
        form.append_pair("scope", &scopes.to_string());
    }
    form.append_pair("resource", &provider.resource);
    let mut authorization = None;
    match (client.method, &client.proof) {
        (Method::ClientSecretBasic, Proof::Secret(secret)) => {
            let encoded =
                |text: &str| form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>();
            let header = basic(&format!("{}:{}", encoded(&client.id), encoded(secret)));
            web.secrets.add(header.trim_start_matches("Basic "));
            authorization = Some(header);
        }
        (Method::ClientSecretPost, Proof::Secret(secret)) => {
            form.append_pair("client_id", &client.id).append_pair("client_secret", secret);
        }
        (Method::PrivateKeyJwt, Proof::Key(pem)) => {
            let assertion = jwt::assertion(pem, &client.id, &provider.metadata)?;
            let kind = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
            form.append_pair("client_assertion_type", kind);
            form.append_pair("client_assertion", &assertion);
            web.secrets.add_passing(&assertion);
        }
        _ => {
            form.append_pair("client_id", &client.id);
        }
    }
    let (kind, body) = ("application/x-www-form-urlencoded", form.finish());
    Ok((Content { kind, body, authorization }, what))
}

fn read(answer: &Answer, asked: &Scopes) -> Result<Tokens, Denied> {
    #[derive(Deserialize)]
    struct Given {
        access_token: String,
        token_type: String,
        expires_in: Option<serde_json::Value>,
        refresh_token: Option<String>,
        scope: Option<String>,
    }
    let given: Given = answer.read()?;
    let bad = |why: &str| Denied::Unusable { url: answer.url.clone(), why: why.to_owned() };
    if !given.token_type.eq_ignore_ascii_case("bearer") {
        return Err(bad("the token is not one for bearers"));
    }
    if given.access_token.is_empty() {
        return Err(bad("the token is empty"));
    }
    // RFC 6749, appendix A.12; anything else could not stand in a header either.
    if !given.access_token.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        return Err(bad("the token has characters that no token may have"));
    }
    // Some write the number as a text.
    let seconds = given.expires_in.and_then(|value| {
        value
            .as_u64()
            .or_else(|| value.as_f64().map(|float| float as u64))
            .or_else(|| value.as_str()?.parse().ok())
    });
    let renew_at = seconds.map(|seconds| now().saturating_add(seconds - MARGIN.min(seconds / 4)));
    let asked = asked.to_string();
    Ok(Tokens {
        access: given.access_token,
        refresh: given.refresh_token.filter(|token| !token.is_empty()),
        renew_at,
        given: given.scope.unwrap_or_else(|| asked.clone()),
        asked,
    })
}

/// Whether the authorization server has that way to a token at all.
pub(super) fn check_grant(provider: &Provider, grant: Grant) -> Result<(), Denied> {
    let what = match grant {
        Grant::Code => "authorization_code",
        Grant::ClientCredentials => "client_credentials",
    };
    let offered = provider.metadata.grant_types_supported.as_ref();
    match offered.is_some_and(|all| all.iter().all(|name| name != what)) {
        true => Err(Denied::NotOffered { issuer: provider.issuer().to_owned(), what }),
        false => Ok(()),
    }
}
