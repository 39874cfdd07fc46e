//! Whoever keeps the token of a link: has it ready for each request, and gets
//! another one when the server wants one.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use http::{HeaderMap, HeaderValue, StatusCode};
use sparring_peer::Cause;
use sparring_peer::link::Recorder;

use super::super::call::hidden;
use super::super::effort::Effort;
use super::super::endpoint::Endpoint;
use super::super::{HttpError, HttpTarget};
use super::challenge::Challenge;
use super::denied::Denied;
use super::discovery::{discover, spelled};
use super::store::Store;
use super::token::Tokens;
use super::web::{Web, skew};
use super::{OAuth, Proof, jwt, redirect};
use crate::secrets::Secrets;

/// How many tokens one request is given in turn: the one that was kept, that one
/// renewed, a new one, and some that allow more.
const MOST: usize = 5;

/// The longest reason that is told, in characters.
const LONGEST: usize = 2_000;

/// Keeps the token of a link.
pub(in super::super) struct Authorizer {
    target: HttpTarget,
    pub(super) oauth: OAuth,
    pub(super) server: Endpoint,
    pub(super) secrets: Secrets,
    current: Mutex<Option<Arc<Current>>>,
    /// Held by whoever gets another token.
    store: tokio::sync::Mutex<Store>,
    /// Whether it was looked whether one is kept.
    looked: AtomicBool,
    /// Whether the server ever let us in, with a token or without.
    let_in: AtomicBool,
    failures: Mutex<Failures>,
}

/// How often somebody tried in vain to get a token; the last time for the sake
/// of what, and why in vain.
#[derive(Default)]
struct Failures {
    count: u64,
    last: Option<(Purpose, Cause)>,
}

/// What a token is got for. Nobody does it twice who waits for another one that
/// does it.
#[derive(Clone, PartialEq, Eq)]
enum Purpose {
    /// To show it from now on.
    Renewal,
    /// Since the server wants this.
    Refusal { status: StatusCode, scope: Option<String>, resource_metadata: Option<String> },
}

/// The token of now.
pub(super) struct Current {
    pub(super) issuer: String,
    pub(super) tokens: Tokens,
    pub(super) how: How,
    /// Whether the server let somebody in with it.
    accepted: AtomicBool,
    header: HeaderValue,
}

impl Current {
    pub(super) fn is_accepted(&self) -> bool {
        self.accepted.load(Ordering::Relaxed)
    }
}

/// How a token was come by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum How {
    /// It was kept from before.
    Kept,
    Renewed,
    /// It was asked for by us.
    Fresh,
}

/// What a request shows to be let in.
#[derive(Clone)]
pub(in super::super) struct Pass(Arc<Current>);

impl Pass {
    pub(in super::super) fn header(&self) -> &HeaderValue {
        &self.0.header
    }

    pub(super) fn tokens(&self) -> &Tokens {
        &self.0.tokens
    }

    pub(super) fn how(&self) -> How {
        self.0.how
    }
}

/// What was done so far for one request.
pub(in super::super) struct Tries {
    pub(super) effort: Effort,
    /// How many more tokens it may be given.
    left: usize,
    pub(super) renewed: bool,
    pub(super) asked: bool,
}

impl Tries {
    pub(in super::super) fn new(effort: Effort) -> Self {
        Tries { effort, left: MOST, renewed: false, asked: false }
    }
}

/// Why a request was not let in.
pub(in super::super) struct Refusal {
    status: StatusCode,
    pub(super) challenge: Challenge,
    skew: Option<String>,
}

impl Refusal {
    /// Whether the token is not good at all, or missing.
    fn is_of_the_token(&self) -> bool {
        self.status == StatusCode::UNAUTHORIZED
    }

    /// What the server says is wrong.
    pub(super) fn reason(&self) -> Option<String> {
        let reasons: Vec<_> =
            [self.challenge.reason(), self.skew.clone()].into_iter().flatten().collect();
        (!reasons.is_empty()).then(|| reasons.join("; "))
    }

    fn purpose(&self) -> Purpose {
        let Challenge { scope, resource_metadata, .. } = self.challenge.clone();
        Purpose::Refusal { status: self.status, scope, resource_metadata }
    }
}

impl Authorizer {
    /// # Errors
    /// When what the user says cannot be used, whatever the server wants.
    pub(in super::super) fn new(
        target: &HttpTarget,
        oauth: &OAuth,
        server: Endpoint,
        secrets: Secrets,
    ) -> Result<Self, HttpError> {
        let checked = match &oauth.proof {
            Proof::Key(pem) => jwt::check(pem),
            Proof::Secret(_) | Proof::None => Ok(()),
        };
        let checked = checked.and_then(|()| redirect::check(&oauth.redirect));
        checked.map_err(|denied| HttpError::OAuth(denied.to_string()))?;
        if let Proof::Secret(secret) = &oauth.proof {
            secrets.add(secret);
        }
        Ok(Authorizer {
            target: target.clone(),
            oauth: oauth.clone(),
            server,
            secrets,
            current: Mutex::default(),
            store: tokio::sync::Mutex::new(Store::new(oauth.store.clone())),
            looked: AtomicBool::new(false),
            let_in: AtomicBool::new(false),
            failures: Mutex::default(),
        })
    }

    /// The token to show, if there is one; one that is about to expire is
    /// renewed first, if it can be. If not, the server says when it is too old.
    pub(in super::super) async fn pass(
        &self,
        recorder: Option<Recorder>,
    ) -> Result<Option<Pass>, Cause> {
        let usable = self.current().clone().filter(|current| !current.tokens.wants_renewal());
        if usable.is_some() || self.looked.load(Ordering::Relaxed) && self.current().is_none() {
            return Ok(usable.map(Pass));
        }
        let web = self.web(recorder);
        let before = self.failures().count;
        let mut store = self.store.lock().await;
        self.fail_with_others(before, &Purpose::Renewal)?;
        let looked = self.look(&web, &mut store).await;
        looked.map_err(|denied| self.failed(Purpose::Renewal, denied))
    }

    fn web(&self, recorder: Option<Recorder>) -> Web<'_> {
        Web { target: &self.target, recorder, secrets: self.secrets.clone() }
    }

    /// Takes the token that was kept, if that is still good.
    async fn look(&self, web: &Web<'_>, store: &mut Store) -> Result<Option<Pass>, Denied> {
        if !self.looked.load(Ordering::Relaxed) {
            let server = spelled(&self.server);
            let kept = match store.is_empty() {
                true => None,
                false => store.lock().await?.kept.tokens(&server, &self.oauth),
            };
            if let Some((issuer, tokens)) = kept {
                self.set(&issuer, tokens, How::Kept);
            }
            self.looked.store(true, Ordering::Relaxed);
        }
        let Some(current) = self.current().clone() else { return Ok(None) };
        if !current.tokens.wants_renewal() {
            return Ok(Some(Pass(current)));
        }
        let provider = discover(web, &self.server, &Challenge::default()).await?;
        let renewed = self.renew(web, store, &provider, &current).await?;
        if renewed.is_none() {
            self.drop_token();
        }
        Ok(renewed)
    }

    /// Whether the server refused the request for want of a token, or of a
    /// better one.
    pub(in super::super) fn refusal(
        &self,
        status: StatusCode,
        headers: &HeaderMap,
        pass: Option<&Pass>,
    ) -> Option<Refusal> {
        let challenge = || Challenge::of(headers);
        let refused = match status {
            StatusCode::UNAUTHORIZED => true,
            StatusCode::FORBIDDEN => challenge().error.as_deref() == Some("insufficient_scope"),
            _ => false,
        };
        if status != StatusCode::UNAUTHORIZED {
            self.let_in.store(true, Ordering::Relaxed);
            if let Some(Pass(shown)) = pass {
                shown.accepted.store(true, Ordering::Relaxed);
            }
        }
        refused.then(|| Refusal { status, challenge: challenge(), skew: skew(headers) })
    }

    /// Gets another token, since the server does not let that one in; none, if
    /// that is not worth the effort.
    pub(in super::super) async fn another(
        &self,
        refusal: &Refusal,
        shown: Option<&Pass>,
        tries: &mut Tries,
        recorder: Option<Recorder>,
    ) -> Result<Option<Pass>, Cause> {
        if tries.effort == Effort::None {
            return Ok(None);
        }
        let web = self.web(recorder);
        let before = self.failures().count;
        let mut store = self.store.lock().await;
        let current = self.current().clone();
        if tries.left == 0 {
            let reason = refusal.reason();
            return Err(self.cause(Denied::TooOften { times: MOST, reason }));
        }
        tries.left -= 1;
        // Somebody else got one meanwhile.
        if let Some(current) = &current
            && shown.is_none_or(|Pass(shown)| !Arc::ptr_eq(shown, current))
        {
            return Ok(Some(Pass(Arc::clone(current))));
        }
        self.fail_with_others(before, &refusal.purpose())?;
        let got = match refusal.is_of_the_token() {
            true => self.log_in(&web, &mut store, refusal, current, tries).await,
            false => self.step_up(&web, &mut store, refusal, current, tries).await,
        };
        got.map_err(|denied| self.failed(refusal.purpose(), denied))
    }

    /// Fails if somebody did it in vain since there were so many failures.
    fn fail_with_others(&self, before: u64, purpose: &Purpose) -> Result<(), Cause> {
        let failures = self.failures();
        match &failures.last {
            Some((last, cause)) if failures.count != before && last == purpose => {
                Err(cause.clone())
            }
            _ => Ok(()),
        }
    }

    fn failed(&self, purpose: Purpose, denied: Denied) -> Cause {
        let cause = self.cause(denied);
        let mut failures = self.failures();
        failures.count += 1;
        failures.last = Some((purpose, cause.clone()));
        cause
    }

    pub(super) fn set(&self, issuer: &str, tokens: Tokens, how: How) -> Pass {
        self.secrets.add_passing(&tokens.access);
        self.secrets.add_passing(tokens.refresh.as_deref().unwrap_or_default());
        let header = HeaderValue::try_from(format!("Bearer {}", tokens.access));
        let current = Arc::new(Current {
            issuer: issuer.to_owned(),
            tokens,
            how,
            accepted: AtomicBool::new(false),
            // What cannot stand in a header is as good as nothing.
            header: hidden(header.unwrap_or_else(|_| HeaderValue::from_static("Bearer"))),
        });
        *self.current() = Some(Arc::clone(&current));
        Pass(current)
    }

    /// Whether nobody may be asked to log in for the sake of this.
    pub(super) fn must_be_quiet(&self, tries: &Tries) -> bool {
        tries.effort != Effort::Full && self.let_in.load(Ordering::Relaxed)
    }

    /// Lets the token of now go.
    pub(super) fn drop_token(&self) {
        *self.current() = None;
    }

    fn cause(&self, denied: Denied) -> Cause {
        let told = format!("not authorized: {denied}");
        Cause::NotAuthorized(words(&self.secrets.mask(&told)))
    }

    fn current(&self) -> MutexGuard<'_, Option<Arc<Current>>> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn failures(&self) -> MutexGuard<'_, Failures> {
        self.failures.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A text of others on one line, and not longer than anybody would read.
fn words(text: &str) -> String {
    let mut plain: String =
        text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(LONGEST + 1).collect();
    if let Some((end, _)) = plain.char_indices().nth(LONGEST) {
        plain.truncate(end);
        plain.push('…');
    }
    plain
}
