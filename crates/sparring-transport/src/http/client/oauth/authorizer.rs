//! Holds the token of a link: provides it for each request, and replaces it when the server
//! rejects it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use http::{HeaderMap, HeaderValue, StatusCode};
use sparring_peer::Cause;
use sparring_peer::link::Recorder;

use super::super::endpoint::Endpoint;
use super::super::http_client::mark_sensitive;
use super::super::locality::PeerLocality;
use super::super::session::AuthPolicy;
use super::super::{HttpError, HttpTarget};
use super::auth_server_client::{AuthServerClient, clock_skew};
use super::bearer_challenge::BearerChallenge;
use super::credential_store::CredentialStore;
use super::discovery::{discover, full_url};
use super::error::AuthError;
use super::token::Tokens;
use super::{ClientAuth, OAuth, client, redirect_listener};
use crate::secrets::Secrets;

/// The maximum number of tokens for one request: the stored one, the refreshed one, a new one,
/// and some with more scopes.
const MAX_TOKENS_PER_REQUEST: usize = 5;

/// The longest reason that is reported, in characters.
const MAX_REASON_CHARS: usize = 2_000;

/// Holds the token of a link.
pub(in super::super) struct Authorizer {
    target: HttpTarget,
    pub(super) oauth: OAuth,
    pub(super) server: Endpoint,
    pub(super) secrets: Secrets,
    /// The class of addresses that the server was reached at.
    reached: PeerLocality,
    current: Mutex<Option<Arc<CurrentToken>>>,
    /// Locked while another token is obtained.
    store: tokio::sync::Mutex<CredentialStore>,
    /// True if the store was read.
    store_read: AtomicBool,
    /// True if the server ever accepted a request, with a token or without.
    was_let_in: AtomicBool,
    failures: Mutex<Failures>,
}

/// The number of failures to obtain a token, with the purpose and the cause of the last one.
#[derive(Default)]
struct Failures {
    count: u64,
    last: Option<(TokenPurpose, Cause)>,
}

/// The reason for obtaining a token. Requests that wait for the same purpose share the result.
#[derive(Clone, PartialEq, Eq)]
enum TokenPurpose {
    /// To replace an expiring token.
    Renewal,
    /// To answer a refusal with these demands.
    Refusal { status: StatusCode, scope: Option<String>, resource_metadata: Option<String> },
}

/// The current token.
pub(super) struct CurrentToken {
    pub(super) issuer: String,
    pub(super) tokens: Tokens,
    pub(super) source: TokenSource,
    /// True if the server accepted it.
    accepted: AtomicBool,
    header: HeaderValue,
}

impl CurrentToken {
    pub(super) fn is_accepted(&self) -> bool {
        self.accepted.load(Ordering::Relaxed)
    }
}

/// The source of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TokenSource {
    /// From the store.
    Stored,
    Refreshed,
    /// From a login or a client credentials request.
    New,
}

/// The token that a request sends.
#[derive(Clone)]
pub(in super::super) struct BearerToken(Arc<CurrentToken>);

impl BearerToken {
    pub(in super::super) fn header(&self) -> &HeaderValue {
        &self.0.header
    }

    pub(super) fn tokens(&self) -> &Tokens {
        &self.0.tokens
    }

    pub(super) fn source(&self) -> TokenSource {
        self.0.source
    }
}

/// The attempts to authorize one request.
pub(in super::super) struct AuthAttempts {
    pub(super) policy: AuthPolicy,
    /// The number of tokens that may still be tried.
    left: usize,
    pub(super) refreshed: bool,
    pub(super) asked: bool,
}

impl AuthAttempts {
    pub(in super::super) fn new(policy: AuthPolicy) -> Self {
        AuthAttempts { policy, left: MAX_TOKENS_PER_REQUEST, refreshed: false, asked: false }
    }
}

/// The refusal of a request that lacks a sufficient token.
pub(in super::super) struct AuthRefusal {
    status: StatusCode,
    pub(super) challenge: BearerChallenge,
    skew: Option<String>,
}

impl AuthRefusal {
    /// Returns true if the token is missing or invalid.
    fn is_unauthorized(&self) -> bool {
        self.status == StatusCode::UNAUTHORIZED
    }

    /// Returns the server's reason.
    pub(super) fn reason(&self) -> Option<String> {
        let reasons: Vec<_> =
            [self.challenge.reason(), self.skew.clone()].into_iter().flatten().collect();
        (!reasons.is_empty()).then(|| reasons.join("; "))
    }

    fn purpose(&self) -> TokenPurpose {
        let BearerChallenge { scope, resource_metadata, .. } = self.challenge.clone();
        TokenPurpose::Refusal { status: self.status, scope, resource_metadata }
    }
}

impl Authorizer {
    /// Creates an authorizer.
    ///
    /// # Errors
    /// When the user's settings are invalid for any server.
    pub(in super::super) fn new(
        target: &HttpTarget,
        oauth: &OAuth,
        server: Endpoint,
        secrets: Secrets,
        reached: PeerLocality,
    ) -> Result<Self, HttpError> {
        let checked = match &oauth.client_auth {
            ClientAuth::Key(pem) => client::check_key(pem),
            ClientAuth::Secret(_) | ClientAuth::None => Ok(()),
        };
        let checked = checked.and_then(|()| redirect_listener::check(&oauth.redirect_url));
        checked.map_err(|error| HttpError::OAuth(error.to_string()))?;
        Ok(Authorizer {
            target: target.clone(),
            oauth: oauth.clone(),
            server,
            secrets,
            reached,
            current: Mutex::default(),
            store: tokio::sync::Mutex::new(CredentialStore::new(oauth.store_path.clone())),
            store_read: AtomicBool::new(false),
            was_let_in: AtomicBool::new(false),
            failures: Mutex::default(),
        })
    }

    /// Returns the token to send, if there is one. Refreshes an expiring token first, if
    /// possible; if not, the server decides when it is too old.
    pub(in super::super) async fn current_token(
        &self,
        recorder: Option<Recorder>,
    ) -> Result<Option<BearerToken>, Cause> {
        let usable = self.current().clone().filter(|current| !current.tokens.should_refresh());
        if usable.is_some() || self.store_read.load(Ordering::Relaxed) && self.current().is_none() {
            return Ok(usable.map(BearerToken));
        }
        let web = self.web(recorder);
        let before = self.failures().count;
        let mut store = self.store.lock().await;
        self.share_failure(before, &TokenPurpose::Renewal)?;
        let loaded = self.load_token(&web, &mut store).await;
        loaded.map_err(|error| self.record_failure(TokenPurpose::Renewal, error))
    }

    fn web(&self, recorder: Option<Recorder>) -> AuthServerClient<'_> {
        let nearest = (!self.oauth.allow_local).then(|| self.reached.clone());
        let secrets = self.secrets.clone();
        AuthServerClient { target: &self.target, recorder, secrets, nearest }
    }

    /// Reads the stored token, and refreshes it if it expires.
    async fn load_token(
        &self,
        web: &AuthServerClient<'_>,
        store: &mut CredentialStore,
    ) -> Result<Option<BearerToken>, AuthError> {
        if !self.store_read.load(Ordering::Relaxed) {
            let server = full_url(&self.server);
            let stored = match store.is_empty() {
                true => None,
                false => store.lock().await?.credentials.tokens(&server, &self.oauth),
            };
            if let Some((issuer, tokens)) = stored {
                self.set_token(&issuer, tokens, TokenSource::Stored);
            }
            self.store_read.store(true, Ordering::Relaxed);
        }
        let Some(current) = self.current().clone() else { return Ok(None) };
        if !current.tokens.should_refresh() {
            return Ok(Some(BearerToken(current)));
        }
        let provider = discover(web, &self.server, &BearerChallenge::default()).await?;
        let refreshed = self.refresh(web, store, &provider, &current).await?;
        if refreshed.is_none() {
            self.drop_token();
        }
        Ok(refreshed)
    }

    /// Returns the refusal, if the server rejected the request because of its token.
    pub(in super::super) fn refusal(
        &self,
        status: StatusCode,
        headers: &HeaderMap,
        token: Option<&BearerToken>,
    ) -> Option<AuthRefusal> {
        let challenge = || BearerChallenge::from_headers(headers);
        let refused = match status {
            StatusCode::UNAUTHORIZED => true,
            StatusCode::FORBIDDEN => challenge().error.as_deref() == Some("insufficient_scope"),
            _ => false,
        };
        if status != StatusCode::UNAUTHORIZED {
            self.was_let_in.store(true, Ordering::Relaxed);
            if let Some(BearerToken(sent)) = token {
                sent.accepted.store(true, Ordering::Relaxed);
            }
        }
        refused.then(|| AuthRefusal { status, challenge: challenge(), skew: clock_skew(headers) })
    }

    /// Obtains another token after a refusal. Returns `None` if the policy does not allow it.
    pub(in super::super) async fn replace_token(
        &self,
        refusal: &AuthRefusal,
        sent: Option<&BearerToken>,
        attempts: &mut AuthAttempts,
        recorder: Option<Recorder>,
    ) -> Result<Option<BearerToken>, Cause> {
        if attempts.policy == AuthPolicy::Never {
            return Ok(None);
        }
        let web = self.web(recorder);
        let before = self.failures().count;
        let mut store = self.store.lock().await;
        let current = self.current().clone();
        if attempts.left == 0 {
            let reason = refusal.reason();
            return Err(
                self.to_cause(AuthError::TooManyTokens { times: MAX_TOKENS_PER_REQUEST, reason })
            );
        }
        attempts.left -= 1;
        // Another request obtained one meanwhile.
        if let Some(current) = &current
            && sent.is_none_or(|BearerToken(sent)| !Arc::ptr_eq(sent, current))
        {
            return Ok(Some(BearerToken(Arc::clone(current))));
        }
        self.share_failure(before, &refusal.purpose())?;
        let got = match refusal.is_unauthorized() {
            true => self.log_in(&web, &mut store, refusal, current, attempts).await,
            false => self.step_up(&web, &mut store, refusal, current, attempts).await,
        };
        got.map_err(|error| self.record_failure(refusal.purpose(), error))
    }

    /// Fails with the last failure for the same purpose, if it happened since `before`.
    fn share_failure(&self, before: u64, purpose: &TokenPurpose) -> Result<(), Cause> {
        let failures = self.failures();
        match &failures.last {
            Some((last, cause)) if failures.count != before && last == purpose => {
                Err(cause.clone())
            }
            _ => Ok(()),
        }
    }

    fn record_failure(&self, purpose: TokenPurpose, error: AuthError) -> Cause {
        let cause = self.to_cause(error);
        let mut failures = self.failures();
        failures.count += 1;
        failures.last = Some((purpose, cause.clone()));
        cause
    }

    pub(super) fn set_token(
        &self,
        issuer: &str,
        tokens: Tokens,
        source: TokenSource,
    ) -> BearerToken {
        self.secrets.add_temporary(tokens.access.reveal());
        if let Some(refresh) = &tokens.refresh {
            self.secrets.add_temporary(refresh.reveal());
        }
        let header = HeaderValue::try_from(format!("Bearer {}", tokens.access.reveal()));
        let current = Arc::new(CurrentToken {
            issuer: issuer.to_owned(),
            tokens,
            source,
            accepted: AtomicBool::new(false),
            // A token that is not a valid header value is useless.
            header: mark_sensitive(header.unwrap_or_else(|_| HeaderValue::from_static("Bearer"))),
        });
        *self.current() = Some(Arc::clone(&current));
        BearerToken(current)
    }

    /// Returns true if this request must not ask the user to log in.
    pub(super) fn must_not_prompt(&self, attempts: &AuthAttempts) -> bool {
        attempts.policy != AuthPolicy::Interactive && self.was_let_in.load(Ordering::Relaxed)
    }

    /// Drops the current token.
    pub(super) fn drop_token(&self) {
        *self.current() = None;
    }

    fn to_cause(&self, error: AuthError) -> Cause {
        let text = format!("not authorized: {error}");
        Cause::NotAuthorized(to_one_line(&self.secrets.mask(&text)))
    }

    fn current(&self) -> MutexGuard<'_, Option<Arc<CurrentToken>>> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn failures(&self) -> MutexGuard<'_, Failures> {
        self.failures.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Puts a text of another party on one line and limits its length.
fn to_one_line(text: &str) -> String {
    let mut plain: String = text
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .take(MAX_REASON_CHARS + 1)
        .collect();
    if let Some((end, _)) = plain.char_indices().nth(MAX_REASON_CHARS) {
        plain.truncate(end);
        plain.push('…');
    }
    plain
}
