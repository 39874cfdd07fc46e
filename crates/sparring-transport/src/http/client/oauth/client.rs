//! The client's identity at an authorization server: the client id that the user configures, a
//! client metadata document, or a dynamic registration (2026-07-28,
//! basic/authorization/client-registration). Also signs client assertions (RFC 7523, 2.2 and
//! 3).

use std::time::{SystemTime, UNIX_EPOCH};

use http::StatusCode;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::auth_server_client::{AuthServerClient, RequestContent};
use super::error::AuthError;
use super::metadata::{Provider, ServerMetadata};
use super::scopes::Scopes;
use super::token::ErrorResponse;
use super::{ClientAuth, OAuth};
use crate::http::jwt::{InvalidKey, SigningKey};
use crate::secrets::Secret;

/// The lifetime of a client assertion.
const ASSERTION_LIFETIME_SECS: u64 = 300;

/// A client, as an authorization server knows it.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Client {
    pub(super) id: String,
    pub(super) client_auth: ClientAuth,
    pub(super) method: TokenAuthMethod,
    /// The redirect URL that it registered, if it registered dynamically.
    pub(super) redirect: Option<String>,
}

/// The authentication method of a client at the token endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum TokenAuthMethod {
    None,
    ClientSecretBasic,
    ClientSecretPost,
    PrivateKeyJwt,
}

impl TokenAuthMethod {
    fn from_name(name: &str) -> Option<TokenAuthMethod> {
        Some(match name {
            "none" => TokenAuthMethod::None,
            "client_secret_basic" => TokenAuthMethod::ClientSecretBasic,
            "client_secret_post" => TokenAuthMethod::ClientSecretPost,
            "private_key_jwt" => TokenAuthMethod::PrivateKeyJwt,
            _ => return None,
        })
    }

    fn name(self) -> &'static str {
        match self {
            TokenAuthMethod::None => "none",
            TokenAuthMethod::ClientSecretBasic => "client_secret_basic",
            TokenAuthMethod::ClientSecretPost => "client_secret_post",
            TokenAuthMethod::PrivateKeyJwt => "private_key_jwt",
        }
    }
}

/// Returns the client that needs no registration: the configured one, or the one of a metadata
/// document.
pub(super) fn configured_client(
    oauth: &OAuth,
    provider: &Provider,
) -> Result<Option<Client>, AuthError> {
    let documents = provider.metadata.client_id_metadata_document_supported;
    let id = match (&oauth.client_id, &oauth.client_metadata_url) {
        (Some(id), _) => id,
        (None, Some(document)) if documents => document,
        _ => return Ok(None),
    };
    let (client_auth, method) =
        (oauth.client_auth.clone(), select_method(&oauth.client_auth, provider)?);
    Ok(Some(Client { id: id.clone(), client_auth, method, redirect: None }))
}

/// Selects an authentication method that the server offers.
fn select_method(
    client_auth: &ClientAuth,
    provider: &Provider,
) -> Result<TokenAuthMethod, AuthError> {
    let has = |method: TokenAuthMethod| {
        let all = provider.metadata.token_endpoint_auth_methods_supported.as_ref();
        // The default without a list (RFC 8414, 2).
        all.map_or(method == TokenAuthMethod::ClientSecretBasic, |all| {
            all.iter().any(|name| name == method.name())
        })
    };
    let missing = |what| AuthError::NotOffered { issuer: provider.issuer().to_owned(), what };
    match client_auth {
        ClientAuth::None => Ok(TokenAuthMethod::None),
        ClientAuth::Secret(_) if has(TokenAuthMethod::ClientSecretBasic) => {
            Ok(TokenAuthMethod::ClientSecretBasic)
        }
        ClientAuth::Secret(_) if has(TokenAuthMethod::ClientSecretPost) => {
            Ok(TokenAuthMethod::ClientSecretPost)
        }
        ClientAuth::Secret(_) => Err(missing("client_secret_basic or client_secret_post")),
        ClientAuth::Key(_) if has(TokenAuthMethod::PrivateKeyJwt) => {
            Ok(TokenAuthMethod::PrivateKeyJwt)
        }
        ClientAuth::Key(_) => Err(missing("private_key_jwt")),
    }
}

#[derive(Deserialize)]
struct RegistrationResponse {
    client_id: String,
    client_secret: Option<Secret>,
    token_endpoint_auth_method: Option<String>,
}

/// Registers a client (RFC 7591).
pub(super) async fn register(
    web: &AuthServerClient<'_>,
    provider: &Provider,
    redirect: &str,
    scopes: &Scopes,
) -> Result<Client, AuthError> {
    let issuer = provider.issuer().to_owned();
    let Some(url) = &provider.metadata.registration_endpoint else {
        return Err(AuthError::NoRegistration(issuer));
    };
    let offered = provider.metadata.token_endpoint_auth_methods_supported.as_deref();
    let wanted = offered.map_or(TokenAuthMethod::None, preferred_method);
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
    let content =
        RequestContent { kind: "application/json", body: body.to_string(), authorization: None };
    let answer = web.post(url, content).await?;
    if !matches!(answer.status, StatusCode::CREATED | StatusCode::OK) {
        if let Some(tried) = &provider.guessed {
            let last = answer.describe_status();
            return Err(AuthError::NoMetadata(format!("{tried}, {last}")));
        }
        return Err(ErrorResponse::from_response(&answer).into_error("register a client"));
    }
    let registered: RegistrationResponse = answer.parse()?;
    let method =
        registered.token_endpoint_auth_method.as_deref().and_then(TokenAuthMethod::from_name);
    let secret = registered.client_secret.filter(|secret| !secret.reveal().is_empty());
    Ok(Client {
        id: registered.client_id,
        method: method.unwrap_or(wanted),
        client_auth: secret.map_or(ClientAuth::None, ClientAuth::Secret),
        redirect: Some(redirect.to_owned()),
    })
}

/// Prefers a method without a secret, since a distributed program cannot keep one.
fn preferred_method(offered: &[String]) -> TokenAuthMethod {
    let methods = [
        TokenAuthMethod::None,
        TokenAuthMethod::ClientSecretBasic,
        TokenAuthMethod::ClientSecretPost,
    ];
    let offers = |method: &TokenAuthMethod| offered.iter().any(|name| name == method.name());
    methods.into_iter().find(offers).unwrap_or(TokenAuthMethod::None)
}

/// Signs an assertion that authenticates this client to this server.
pub(super) fn client_assertion(
    pem: &str,
    client_id: &str,
    server: &ServerMetadata,
) -> Result<String, AuthError> {
    let key = parse_key(pem)?;
    let offered = server.token_endpoint_auth_signing_alg_values_supported.as_ref();
    if offered.is_some_and(|all| all.iter().all(|name| name != key.algorithm())) {
        let what = key.algorithm();
        return Err(AuthError::NotOffered { issuer: server.issuer.clone(), what });
    }
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let claims = json!({
        "iss": client_id,
        "sub": client_id,
        "aud": server.issuer,
        "iat": now,
        "exp": now + ASSERTION_LIFETIME_SECS,
        "jti": super::login::random_token(),
    });
    key.sign(&json!({"typ": "JWT"}), &claims).map_err(bad_key)
}

/// Checks that a key can sign.
pub(super) fn check_key(pem: &str) -> Result<(), AuthError> {
    parse_key(pem).map(drop)
}

fn parse_key(pem: &str) -> Result<SigningKey, AuthError> {
    SigningKey::from_pem(pem).map_err(bad_key)
}

fn bad_key(InvalidKey(why): InvalidKey) -> AuthError {
    AuthError::InvalidKey(why)
}
