//! The token endpoint: requests and responses.

use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use super::super::endpoint::basic_credentials;
use super::auth_server_client::{AuthServerClient, AuthServerResponse, RequestContent};
use super::client::{self, Client, TokenAuthMethod};
use super::error::AuthError;
use super::metadata::Provider;
use super::scopes::Scopes;
use super::{ClientAuth, Grant};
use crate::secrets::Secret;

/// The time before its expiry at which a token is refreshed; at most a quarter of its
/// lifetime.
const RENEWAL_MARGIN_SECS: u64 = 30;

/// The tokens of one response.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Tokens {
    pub(super) access: Secret,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) refresh: Option<Secret>,
    /// The time to refresh it, in seconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) renew_at: Option<u64>,
    /// The scopes that were requested and granted.
    #[serde(default)]
    pub(super) asked: String,
    #[serde(default)]
    pub(super) given: String,
}

impl Tokens {
    pub(super) fn is_due(&self) -> bool {
        self.renew_at.is_some_and(|at| at <= now())
    }

    /// Returns true if it is due and can be refreshed.
    pub(super) fn should_refresh(&self) -> bool {
        self.is_due() && self.refresh.is_some()
    }
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

/// The parts of an error response that may be shown: the code and its description.
pub(super) struct ErrorResponse {
    url: String,
    /// The OAuth error code.
    pub(super) code: Option<String>,
    why: String,
}

impl ErrorResponse {
    pub(super) fn from_response(answer: &AuthServerResponse) -> ErrorResponse {
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
        let why = match answer.clock_skew() {
            Some(skew) => format!("{why} ({skew})"),
            None => why,
        };
        ErrorResponse { url: answer.url.clone(), code, why }
    }

    pub(super) fn into_error(self, what: &'static str) -> AuthError {
        AuthError::Refused { url: self.url, what, why: self.why }
    }
}

/// The grant of a token request.
pub(super) enum TokenGrant<'a> {
    /// The code from the redirect.
    Code { code: &'a str, verifier: &'a str, redirect: &'a str },
    /// The refresh token.
    Refresh(&'a Secret),
    /// The client's own credentials.
    ClientCredentials,
}

/// The result of a token request.
pub(super) enum TokenOutcome {
    Granted(Tokens),
    /// The code or the refresh token is invalid or expired.
    InvalidGrant(AuthError),
    /// The client is unknown, or not known any more.
    UnknownClient(AuthError),
}

impl TokenOutcome {
    pub(super) fn into_tokens(self) -> Result<Tokens, AuthError> {
        match self {
            TokenOutcome::Granted(tokens) => Ok(tokens),
            TokenOutcome::InvalidGrant(error) | TokenOutcome::UnknownClient(error) => Err(error),
        }
    }
}

/// Requests tokens.
pub(super) async fn request_tokens(
    web: &AuthServerClient<'_>,
    provider: &Provider,
    client: &Client,
    by: TokenGrant<'_>,
    scopes: &Scopes,
) -> Result<TokenOutcome, AuthError> {
    let (content, what) = build_request(web, provider, client, &by, scopes)?;
    let answer = web.post(&provider.metadata.token_endpoint, content).await?;
    if answer.status.is_server_error() {
        return Err(AuthError::Unavailable(answer.describe_status()));
    }
    if !answer.status.is_success() {
        let refusal = ErrorResponse::from_response(&answer);
        if let Some(tried) = provider.guessed.as_ref().filter(|_| refusal.code.is_none()) {
            return Err(AuthError::NoMetadata(format!("{tried}, {}", answer.describe_status())));
        }
        return match refusal.code.as_deref() {
            Some("invalid_grant") => Ok(TokenOutcome::InvalidGrant(refusal.into_error(what))),
            Some("invalid_client" | "unauthorized_client") => {
                Ok(TokenOutcome::UnknownClient(refusal.into_error(what)))
            }
            _ => Err(refusal.into_error(what)),
        };
    }
    let mut tokens = parse_tokens(&answer, scopes)?;
    if let (TokenGrant::Refresh(before), None) = (&by, &tokens.refresh) {
        tokens.refresh = Some((*before).clone());
    }
    Ok(TokenOutcome::Granted(tokens))
}

fn build_request(
    web: &AuthServerClient<'_>,
    provider: &Provider,
    client: &Client,
    by: &TokenGrant<'_>,
    scopes: &Scopes,
) -> Result<(RequestContent, &'static str), AuthError> {
    let mut form = form_urlencoded::Serializer::new(String::new());
    let what = match by {
        TokenGrant::Code { code, verifier, redirect } => {
            form.append_pair("grant_type", "authorization_code");
            form.append_pair("code", code).append_pair("redirect_uri", redirect);
            form.append_pair("code_verifier", verifier);
            "exchange the code for a token"
        }
        TokenGrant::Refresh(token) => {
            form.append_pair("grant_type", "refresh_token")
                .append_pair("refresh_token", token.reveal());
            "refresh the token"
        }
        TokenGrant::ClientCredentials => {
            form.append_pair("grant_type", "client_credentials");
            "issue a token to the client"
        }
    };
    // The scopes of a code are those of its login, and those of a refreshed token stay the
    // same.
    if matches!(by, TokenGrant::ClientCredentials) && !scopes.is_empty() {
        form.append_pair("scope", &scopes.to_string());
    }
    form.append_pair("resource", &provider.resource);
    let mut authorization = None;
    match (client.method, &client.client_auth) {
        (TokenAuthMethod::ClientSecretBasic, ClientAuth::Secret(secret)) => {
            let encoded =
                |text: &str| form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>();
            let header =
                basic_credentials(&format!("{}:{}", encoded(&client.id), encoded(secret.reveal())));
            web.secrets.add(header.trim_start_matches("Basic "));
            authorization = Some(header);
        }
        (TokenAuthMethod::ClientSecretPost, ClientAuth::Secret(secret)) => {
            form.append_pair("client_id", &client.id).append_pair("client_secret", secret.reveal());
        }
        (TokenAuthMethod::PrivateKeyJwt, ClientAuth::Key(pem)) => {
            let assertion = client::client_assertion(pem, &client.id, &provider.metadata)?;
            let kind = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
            form.append_pair("client_assertion_type", kind);
            form.append_pair("client_assertion", &assertion);
            web.secrets.add_temporary(&assertion);
        }
        _ => {
            form.append_pair("client_id", &client.id);
        }
    }
    let (kind, body) = ("application/x-www-form-urlencoded", form.finish());
    Ok((RequestContent { kind, body, authorization }, what))
}

fn parse_tokens(answer: &AuthServerResponse, asked: &Scopes) -> Result<Tokens, AuthError> {
    #[derive(Deserialize)]
    struct TokenResponse {
        access_token: String,
        token_type: String,
        expires_in: Option<serde_json::Value>,
        refresh_token: Option<String>,
        scope: Option<String>,
    }
    let given: TokenResponse = answer.parse()?;
    let bad =
        |why: &str| AuthError::InvalidResponse { url: answer.url.clone(), why: why.to_owned() };
    if !given.token_type.eq_ignore_ascii_case("bearer") {
        return Err(bad("the token type is not Bearer"));
    }
    if given.access_token.is_empty() {
        return Err(bad("the token is empty"));
    }
    // RFC 6749, appendix A.12; other characters are not valid in a header either.
    if !given.access_token.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        return Err(bad("the token contains invalid characters"));
    }
    // Some servers write the number as a string.
    let seconds = given.expires_in.and_then(|value| {
        value
            .as_u64()
            .or_else(|| value.as_f64().map(|float| float as u64))
            .or_else(|| value.as_str()?.parse().ok())
    });
    let renew_at =
        seconds.map(|seconds| now().saturating_add(seconds - RENEWAL_MARGIN_SECS.min(seconds / 4)));
    let asked = asked.to_string();
    Ok(Tokens {
        access: given.access_token.into(),
        refresh: given.refresh_token.filter(|token| !token.is_empty()).map(Secret::from),
        renew_at,
        given: given.scope.unwrap_or_else(|| asked.clone()),
        asked,
    })
}

/// Checks that the authorization server supports a grant.
pub(super) fn check_grant(provider: &Provider, grant: Grant) -> Result<(), AuthError> {
    let what = match grant {
        Grant::Code => "authorization_code",
        Grant::ClientCredentials => "client_credentials",
    };
    let offered = provider.metadata.grant_types_supported.as_ref();
    match offered.is_some_and(|all| all.iter().all(|name| name != what)) {
        true => Err(AuthError::NotOffered { issuer: provider.issuer().to_owned(), what }),
        false => Ok(()),
    }
}
