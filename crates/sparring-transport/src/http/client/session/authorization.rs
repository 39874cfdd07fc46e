//! Sends requests with a token, if the server requires one.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use http::Method;
use http::header::AUTHORIZATION;
use sparring_peer::Cause;

use super::super::endpoint::Endpoint;
use super::super::exchange::MAX_ERROR_BODY;
use super::super::exchange_recorder::ExchangeRecorder;
use super::super::http_client::ContentFn;
use super::super::locality::PeerLocality;
use super::super::oauth::{AuthAttempts, Authorizer};
use super::super::response::HttpResponse;
use super::super::{Credentials, HttpError, HttpTarget};
use super::{AuthPolicy, ClientSession};
use crate::secrets::Secrets;

/// Authorizes requests.
pub(super) struct Authorization {
    authorizer: Option<Arc<Authorizer>>,
    /// The number of requests that wait for a token.
    waiting: AtomicUsize,
}

impl Authorization {
    pub(super) fn new(
        target: &HttpTarget,
        endpoint: &Endpoint,
        secrets: &Secrets,
        reached: PeerLocality,
    ) -> Result<Self, HttpError> {
        let authorizer = match &target.credentials {
            Some(Credentials::OAuth(oauth)) => {
                let (endpoint, secrets) = (endpoint.clone(), secrets.clone());
                Some(Arc::new(Authorizer::new(target, oauth, endpoint, secrets, reached)?))
            }
            _ => None,
        };
        Ok(Authorization { authorizer, waiting: AtomicUsize::new(0) })
    }

    /// Returns a copy with the same tokens for another session.
    pub(super) fn for_new_session(&self) -> Self {
        Authorization { authorizer: self.authorizer.clone(), waiting: AtomicUsize::new(0) }
    }
}

impl ClientSession {
    /// Sends a request, with a token if needed.
    pub(in super::super) async fn send_http(
        &self,
        method: &Method,
        policy: AuthPolicy,
        content: ContentFn<'_>,
        exchange: &mut ExchangeRecorder,
    ) -> Result<Box<HttpResponse>, Cause> {
        match &self.authorization.authorizer {
            None => self.client.send(method, content, exchange).await,
            // Boxed separately, so that requests without a token stay small.
            Some(authorizer) => {
                Box::pin(self.send_authorized(authorizer, method, policy, content, exchange)).await
            }
        }
    }

    async fn send_authorized(
        &self,
        authorizer: &Authorizer,
        method: &Method,
        policy: AuthPolicy,
        content: ContentFn<'_>,
        exchange: &mut ExchangeRecorder,
    ) -> Result<Box<HttpResponse>, Cause> {
        let mut attempts = AuthAttempts::new(policy);
        let mut token = {
            let _waiting = TokenWait::new(&self.authorization.waiting);
            authorizer.current_token(self.recorder()).await?
        };
        loop {
            let with_token = || {
                let (mut head, body) = content();
                if let Some(token) = &token {
                    head.redacted.push(AUTHORIZATION.as_str(), "(hidden)");
                    head.headers.insert(AUTHORIZATION, token.header().clone());
                }
                (head, body)
            };
            let mut response = self.client.send(method, &with_token, exchange).await?;
            let refusal = authorizer.refusal(response.status, &response.headers, token.as_ref());
            let Some(refusal) = refusal else { return Ok(response) };
            // This response will not be returned.
            if policy == AuthPolicy::Interactive {
                self.discard_body(&mut response, exchange).await;
            }
            let got = {
                let _waiting = TokenWait::new(&self.authorization.waiting);
                let got = authorizer.replace_token(
                    &refusal,
                    token.as_ref(),
                    &mut attempts,
                    self.recorder(),
                );
                got.await?
            };
            // Without another token the refusal is the response.
            let Some(got) = got else { return Ok(response) };
            token = Some(got);
            self.discard_body(&mut response, exchange).await;
            self.client.release(*response);
        }
    }

    /// Reads and drops the rest of a response.
    async fn discard_body(&self, response: &mut HttpResponse, exchange: &mut ExchangeRecorder) {
        if !response.complete && response.body(MAX_ERROR_BODY, exchange).await.is_ok() {
            exchange.complete();
        }
    }

    /// Returns true if a request waits for a token, which has its own timeouts.
    pub(in super::super) fn is_waiting_for_token(&self) -> bool {
        self.authorization.waiting.load(Ordering::Relaxed) > 0
    }
}

/// Counts one waiting request while it lives.
struct TokenWait<'a>(&'a AtomicUsize);

impl<'a> TokenWait<'a> {
    fn new(waiting: &'a AtomicUsize) -> Self {
        waiting.fetch_add(1, Ordering::Relaxed);
        TokenWait(waiting)
    }
}

impl Drop for TokenWait<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
