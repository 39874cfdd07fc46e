//! Requests as somebody whom the server lets in: with a token, where it wants one.

use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use http::Method;
use http::header::AUTHORIZATION;
use sparring_peer::Cause;

use super::super::answer::READ;
use super::super::call::Head;
use super::super::note::Note;
use super::super::oauth::{Authorizer, Effort, Tries};
use super::super::opened::Opened;
use super::Wire;

impl Wire {
    /// Makes a request, as somebody whom the server lets in.
    pub(super) async fn call(
        &self,
        method: &Method,
        effort: Effort,
        content: impl Fn() -> (Head, Bytes),
        note: &mut Note,
    ) -> Result<Box<Opened>, Cause> {
        match &self.authorizer {
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
        content: impl Fn() -> (Head, Bytes),
        note: &mut Note,
    ) -> Result<Box<Opened>, Cause> {
        let mut tries = Tries::new(effort);
        let mut pass = {
            let _held = Held::by(&self.held);
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
            let mut opened = self.caller.call(method, with_pass, note).await?;
            let refusal = authorizer.refusal(opened.status, &opened.headers, pass.as_ref());
            let Some(refusal) = refusal else { return Ok(opened) };
            // Nothing else will be the answer.
            if effort == Effort::Full {
                self.finish(&mut opened, note).await;
            }
            let got = {
                let _held = Held::by(&self.held);
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
        self.held.load(Ordering::Relaxed) > 0
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
