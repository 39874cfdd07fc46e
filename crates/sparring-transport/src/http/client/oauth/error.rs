//! Errors of obtaining a token.

use std::time::Duration;

/// The reason why no token could be obtained.
#[derive(Debug, thiserror::Error)]
pub(super) enum AuthError {
    #[error("the server requires a token, but no authorization server was found: {0}")]
    NoMetadata(String),
    #[error("invalid response of {url}: {why}")]
    InvalidResponse { url: String, why: String },
    #[error("wrong issuer: {url} names {found} instead of {expected}")]
    WrongIssuer { url: String, found: String, expected: String },
    #[error(
        "wrong issuer: the client {client} belongs to {expected}, but the server names {found}"
    )]
    ClientOfOtherIssuer { client: String, found: String, expected: String },
    #[error("wrong resource: {url} names {found} instead of {expected}")]
    WrongResource { url: String, found: String, expected: String },
    #[error("the authorization server is unavailable: {0}")]
    Unavailable(String),
    #[error("{0} is not https, but the server is")]
    Downgrade(String),
    #[error("{issuer} does not offer {what}")]
    NotOffered { issuer: String, what: &'static str },
    #[error("{0} does not support client registration (configure a client id)")]
    NoRegistration(String),
    #[error("{url} refused to {what}: {why}")]
    Refused { url: String, what: &'static str, why: String },
    #[error("the login at {issuer} failed: {why}")]
    LoginFailed { issuer: String, why: String },
    #[error("state mismatch: the redirect belongs to another login")]
    WrongState,
    #[error("wrong issuer: the redirect names {found} instead of {expected}")]
    WrongIssuerParameter { found: String, expected: String },
    #[error("the redirect lacks the parameter iss, which {0} announces")]
    MissingIssuerParameter(String),
    #[error("no login within {0:?}")]
    LoginTimeout(Duration),
    #[error("cannot use the redirect URL {redirect}: {why}")]
    CannotListen { redirect: String, why: String },
    #[error("server rejected a new token of {issuer}{}", because(reason))]
    NewTokenRejected { issuer: String, reason: Option<String> },
    #[error("server rejected {times} tokens in a row{}", because(reason))]
    TooManyTokens { times: usize, reason: Option<String> },
    #[error(
        "wrong scope: the server requires {wanted:?}, but {issuer} granted {given:?}{}",
        because(reason)
    )]
    ScopeNotGranted { issuer: String, wanted: String, given: String, reason: Option<String> },
    #[error("invalid key: {0}")]
    InvalidKey(String),
    #[error("cannot use the credentials in {path}: {why}")]
    CredentialStore { path: String, why: String },
}

fn because(reason: &Option<String>) -> String {
    reason.as_ref().map(|reason| format!(" ({reason})")).unwrap_or_default()
}
