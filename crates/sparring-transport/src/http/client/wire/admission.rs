//! Requests as somebody whom the server lets in: with a token, where it wants one.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use http::Method;
use http::header::AUTHORIZATION;
use sparring_peer::Cause;

use super::super::answer::READ;
use super::super::call::Content;
use super::super::effort::Effort;
use super::super::endpoint::Endpoint;
use super::super::note::Note;
use super::super::oauth::{Authorizer, Tries};
use super::super::opened::Opened;
use super::super::{Credentials, HttpError, HttpTarget};
use super::Wire;
use crate::secrets::Secrets;

/// How requests are let in.
pub(super) struct Admission {
    authorizer: Option<Arc<Authorizer>>,
    /// How many requests wait for a token.
    held: AtomicUsize,
}

impl Admission {
    pub(super) fn of(
        target: &HttpTarget,
        endpoint: &Endpoint,
        secrets: &Secrets,
    ) -> Result<Self, HttpError> {
        let authorizer = match &target.credentials {
            Some(Credentials::OAuth(oauth)) => {
                let (endpoint, secrets) = (endpoint.clone(), secrets.clone());
                Some(Arc::new(Authorizer::new(target, oauth, endpoint, secrets)?))
            }
            _ => None,
        };
        Ok(Admission { authorizer, held: AtomicUsize::new(0) })
    }

    /// By the same tokens, for another session.
    pub(super) fn again(&self) -> Self {
        Admission { authorizer: self.authorizer.clone(), held: AtomicUsize::new(0) }
    }
}

impl Wire {
    /// Makes a request, as somebody whom the server lets in.
    pub(super) async fn call(
        &self,
        method: &Method,
        effort: Effort,
        content: Content<'_>,
        note: &mut Note,
    ) -> Result<Box<Opened>, Cause> {
        match &self.admission.authorizer {
            None => self.caller.call(method, content, note).await,
            // Apart, so that requests without it stay small.
            Some(authorizer) => {
                Box::pin(self.call_with_pass(authorizer, method, effort, content, note)).await
            }
        }
    }

    async fn call_with_pass(
        &self,
        authorizer: &Authorizer,
        method: &Method,
        effort: Effort,
        content: Content<'_>,
        note: &mut Note,
    ) -> Result<Box<Opened>, Cause> {
        let mut tries = Tries::new(effort);
        let mut pass = {
            let _held = Held::by(&self.admission.held);
            authorizer.pass(self.recorder()).await?
        };
        loop {
            let with_pass = || {
                let (mut head, body) = content();
                if let Some(pass) = &pass {
                    head.shown.push(AUTHORIZATION.as_str(), "(hidden)");
                    head.headers.insert(AUTHORIZATION, pass.header().clone());
                }
                (head, body)
            };
            let mut opened = self.caller.call(method, &with_pass, note).await?;
            let refusal = authorizer.refusal(opened.status, &opened.headers, pass.as_ref());
            let Some(refusal) = refusal else { return Ok(opened) };
            // Nothing else will be the answer.
            if effort == Effort::Full {
                self.finish(&mut opened, note).await;
            }
            let got = {
                let _held = Held::by(&self.admission.held);
                let got = authorizer.another(&refusal, pass.as_ref(), &mut tries, self.recorder());
                got.await?
            };
            // If there is none, what the server said is the answer.
            let Some(got) = got else { return Ok(opened) };
            pass = Some(got);
            self.finish(&mut opened, note).await;
            self.caller.keep(*opened);
        }
    }

    /// Reads what is left of a response that nobody wants.
    async fn finish(&self, opened: &mut Opened, note: &mut Note) {
        if !opened.ended && opened.body(READ, note).await.is_ok() {
            note.complete();
        }
    }

    /// Whether a request waits for a token, which has deadlines of its own.
    pub(in super::super) fn is_held(&self) -> bool {
        self.admission.held.load(Ordering::Relaxed) > 0
    }
}

/// One more that waits, for as long as this lives.
struct Held<'a>(&'a AtomicUsize);

impl<'a> Held<'a> {
    fn by(held: &'a AtomicUsize) -> Self {
        held.fetch_add(1, Ordering::Relaxed);
        Held(held)
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
