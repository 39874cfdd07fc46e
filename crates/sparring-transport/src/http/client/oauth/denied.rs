//! Why there is no token, each reason by its name.

use std::time::Duration;

/// Why there is no token.
#[derive(Debug, thiserror::Error)]
pub(super) enum Denied {
    #[error("the server wants a token, and nothing says where to get one: {0}")]
    NoMetadata(String),
    #[error("what {url} answers cannot be used: {why}")]
    Unusable { url: String, why: String },
    #[error("wrong issuer: {url} says that it is about {said}, and not about {expected}")]
    WrongIssuer { url: String, said: String, expected: String },
    #[error("wrong issuer: the client {client} belongs to {expected}, and the server names {said}")]
    OtherIssuer { client: String, said: String, expected: String },
    #[error("wrong resource: {url} is about {said}, and not about the server at {expected}")]
    WrongResource { url: String, said: String, expected: String },
    #[error("the authorization server is down: {0}")]
    Down(String),
    #[error("{0} is not https, though the server is")]
    Downgrade(String),
    #[error("{issuer} does not offer {what}, which this needs")]
    NotOffered { issuer: String, what: &'static str },
    #[error("{0} knows no way to register a client; say which one to be (client id)")]
    NoRegistration(String),
    #[error("{url} refused to {what}: {why}")]
    Refused { url: String, what: &'static str, why: String },
    #[error("the login at {issuer} failed: {why}")]
    LoginFailed { issuer: String, why: String },
    #[error("state mismatch: the browser came back from a login that this one did not begin")]
    WrongState,
    #[error("wrong issuer: the browser comes from {said}, and was sent to {expected}")]
    WrongSender { said: String, expected: String },
    #[error("the browser came back without the name of its issuer, which {0} promises to give")]
    NoSender(String),
    #[error("nobody came back from the login within {0:?}")]
    NobodyCame(Duration),
    #[error("the browser cannot come back to {redirect}: {why}")]
    NoRedirect { redirect: String, why: String },
    #[error("the server does not accept the token that {issuer} has just given{}", because(reason))]
    NotAccepted { issuer: String, reason: Option<String> },
    #[error("the server wants still another token after {times} in a row{}", because(reason))]
    TooOften { times: usize, reason: Option<String> },
    #[error(
        "wrong scope: the server wants {wanted:?}, which {issuer} was asked for; \
         it gave {given:?}{}",
        because(reason)
    )]
    NotEnough { issuer: String, wanted: String, given: String, reason: Option<String> },
    #[error("the key cannot be used: {0}")]
    BadKey(String),
    #[error("the credentials in {path}: {why}")]
    Store { path: String, why: String },
}

fn because(reason: &Option<String>) -> String {
    reason.as_ref().map(|reason| format!(" ({reason})")).unwrap_or_default()
}
