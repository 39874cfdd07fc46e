//! Who we are at an authorization server: the client that the user names, a
//! document of ours that it looks at, or one that registers itself (2026-07-28,
//! basic/authorization/client-registration).

use http::StatusCode;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::denied::Denied;
use super::metadata::Provider;
use super::scopes::Scopes;
use super::token::Told;
use super::web::{Content, Web};
use super::{OAuth, Proof};

/// A client, as an authorization server knows it.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Client {
    pub(super) id: String,
    pub(super) proof: Proof,
    pub(super) method: Method,
    /// Where it said that the browser comes back to, if it registered itself.
    pub(super) redirect: Option<String>,
}

/// How a client shows at the token endpoint who it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Method {
    None,
    ClientSecretBasic,
    ClientSecretPost,
    PrivateKeyJwt,
}

impl Method {
    fn named(name: &str) -> Option<Method> {
        Some(match name {
            "none" => Method::None,
            "client_secret_basic" => Method::ClientSecretBasic,
            "client_secret_post" => Method::ClientSecretPost,
            "private_key_jwt" => Method::PrivateKeyJwt,
            _ => return None,
        })
    }

    fn name(self) -> &'static str {
        match self {
            Method::None => "none",
            Method::ClientSecretBasic => "client_secret_basic",
            Method::ClientSecretPost => "client_secret_post",
            Method::PrivateKeyJwt => "private_key_jwt",
        }
    }
}

/// The client that needs no registration: the one that the user names, or the
/// one of a document.
pub(super) fn known(oauth: &OAuth, provider: &Provider) -> Result<Option<Client>, Denied> {
    let documents = provider.metadata.client_id_metadata_document_supported;
    let id = match (&oauth.client_id, &oauth.document) {
        (Some(id), _) => id,
        (None, Some(document)) if documents => document,
        _ => return Ok(None),
    };
    let (proof, method) = (oauth.proof.clone(), method(&oauth.proof, provider)?);
    Ok(Some(Client { id: id.clone(), proof, method, redirect: None }))
}

/// The way to show a proof that the server has.
fn method(proof: &Proof, provider: &Provider) -> Result<Method, Denied> {
    let has = |method: Method| {
        let all = provider.metadata.token_endpoint_auth_methods_supported.as_ref();
        // Without a list it is this one (RFC 8414, 2).
        all.map_or(method == Method::ClientSecretBasic, |all| {
            all.iter().any(|name| name == method.name())
        })
    };
    let missing = |what| Denied::NotOffered { issuer: provider.issuer().to_owned(), what };
    match proof {
        Proof::None => Ok(Method::None),
        Proof::Secret(_) if has(Method::ClientSecretBasic) => Ok(Method::ClientSecretBasic),
        Proof::Secret(_) if has(Method::ClientSecretPost) => Ok(Method::ClientSecretPost),
        Proof::Secret(_) => Err(missing("client_secret_basic or client_secret_post")),
        Proof::Key(_) if has(Method::PrivateKeyJwt) => Ok(Method::PrivateKeyJwt),
        Proof::Key(_) => Err(missing("private_key_jwt")),
    }
}

#[derive(Deserialize)]
struct Registered {
    client_id: String,
    client_secret: Option<String>,
    token_endpoint_auth_method: Option<String>,
}

/// Registers a client (RFC 7591).
pub(super) async fn register(
    web: &Web<'_>,
    provider: &Provider,
    redirect: &str,
    scopes: &Scopes,
) -> Result<Client, Denied> {
    let issuer = provider.issuer().to_owned();
    let Some(url) = &provider.metadata.registration_endpoint else {
        return Err(Denied::NoRegistration(issuer));
    };
    let offered = provider.metadata.token_endpoint_auth_methods_supported.as_deref();
    let wanted = offered.map_or(Method::None, preferred);
    let mut body = json!({
        "client_name": "Sparring",
        "redirect_uris": [redirect],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": wanted.name(),
        "application_type": "native",
    });
    if !scopes.is_empty() {
        body["scope"] = scopes.to_string().into();
    }
    let content = Content { kind: "application/json", body: body.to_string(), authorization: None };
    let answer = web.post(url, content).await?;
    if !matches!(answer.status, StatusCode::CREATED | StatusCode::OK) {
        if let Some(tried) = &provider.guessed {
            let last = answer.status_shown();
            return Err(Denied::NoMetadata(format!("{tried}, {last}")));
        }
        return Err(Told::of(&answer).refused("register a client"));
    }
    let registered: Registered = answer.read()?;
    let method = registered.token_endpoint_auth_method.as_deref().and_then(Method::named);
    let secret = registered.client_secret.filter(|secret| !secret.is_empty());
    Ok(Client {
        id: registered.client_id,
        method: method.unwrap_or(wanted),
        proof: secret.map_or(Proof::None, Proof::Secret),
        redirect: Some(redirect.to_owned()),
    })
}

/// Of what is offered, what needs no secret; a program that anybody may have
/// cannot keep one anyway.
fn preferred(offered: &[String]) -> Method {
    let methods = [Method::None, Method::ClientSecretBasic, Method::ClientSecretPost];
    let offers = |method: &Method| offered.iter().any(|name| name == method.name());
    methods.into_iter().find(offers).unwrap_or(Method::None)
}
