//! Whoever keeps the token of a link: has it ready for each request, and gets
//! another one when the server wants one.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use http::{HeaderMap, HeaderValue, StatusCode};
use sparring_peer::Cause;
use sparring_peer::link::Recorder;

use super::super::HttpTarget;
use super::super::call::hidden;
use super::super::endpoint::Endpoint;
use super::super::secrets::Secrets;
use super::challenge::Challenge;
use super::client::{self, Client};
use super::denied::Denied;
use super::discovery::{discover, spelled};
use super::metadata::Provider;
use super::redirect::Redirect;
use super::scopes::Scopes;
use super::store::Store;
use super::token::{self, By, Outcome, Tokens};
use super::web::{Web, skew};
use super::{Grant, OAuth, Proof, code};

/// Keeps the token of a link.
pub(in super::super) struct Authorizer {
    target: HttpTarget,
    oauth: OAuth,
    server: Endpoint,
    secrets: Secrets,
    current: Mutex<Option<Arc<Current>>>,
    /// Held by whoever gets another token.
    store: tokio::sync::Mutex<Store>,
    /// Whether it was looked whether one is kept.
    looked: AtomicBool,
}

/// The token of now.
struct Current {
    issuer: String,
    tokens: Tokens,
    how: How,
    /// Whether the server let somebody in with it.
    accepted: AtomicBool,
    header: HeaderValue,
}

/// How a token was come by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum How {
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
}

/// Why a request was not let in.
pub(in super::super) struct Refusal {
    status: StatusCode,
    challenge: Challenge,
    skew: Option<String>,
}

impl Refusal {
    /// Whether the token is not good at all, or missing.
    pub(in super::super) fn is_of_the_token(&self) -> bool {
        self.status == StatusCode::UNAUTHORIZED
    }
}

impl Authorizer {
    pub(in super::super) fn new(
        target: &HttpTarget,
        oauth: &OAuth,
        server: Endpoint,
        secrets: Secrets,
    ) -> Self {
        if let Proof::Secret(secret) = &oauth.proof {
            secrets.add(secret);
        }
        Authorizer {
            target: target.clone(),
            oauth: oauth.clone(),
            server,
            secrets,
            current: Mutex::default(),
            store: tokio::sync::Mutex::new(Store::new(oauth.store.clone())),
            looked: AtomicBool::new(false),
        }
    }

    /// The token to show, if there is one; one that is about to expire is
    /// renewed first.
    pub(in super::super) async fn pass(
        &self,
        recorder: Option<Recorder>,
    ) -> Result<Option<Pass>, Cause> {
        let usable = self.current().clone().filter(|current| !current.tokens.is_old());
        if usable.is_some() || self.looked.load(Ordering::Relaxed) && self.current().is_none() {
            return Ok(usable.map(Pass));
        }
        let web = self.web(recorder);
        self.look(&web).await.map_err(|denied| self.cause(denied))
    }

    fn web(&self, recorder: Option<Recorder>) -> Web<'_> {
        Web { target: &self.target, recorder, secrets: self.secrets.clone() }
    }

    /// Takes the token that was kept, if that is still good.
    async fn look(&self, web: &Web<'_>) -> Result<Option<Pass>, Denied> {
        let mut store = self.store.lock().await;
        if !self.looked.swap(true, Ordering::Relaxed) && self.current().is_none() {
            let kept = store.lock().await?.kept.tokens(&spelled(&self.server), &self.oauth);
            if let Some((issuer, tokens)) = kept {
                self.set(&issuer, tokens, How::Kept);
            }
        }
        let Some(current) = self.current().clone() else { return Ok(None) };
        if !current.tokens.is_old() {
            return Ok(Some(Pass(current)));
        }
        *self.current() = None;
        if current.tokens.refresh.is_none() {
            return Ok(None);
        }
        let provider = discover(web, &self.server, &Challenge::default()).await?;
        self.renew(web, &mut store, &provider, &current).await
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
        if status != StatusCode::UNAUTHORIZED
            && let Some(Pass(shown)) = pass
        {
            shown.accepted.store(true, Ordering::Relaxed);
        }
        refused.then(|| Refusal { status, challenge: challenge(), skew: skew(headers) })
    }

    /// Gets another token, since the server does not let that one in.
    pub(in super::super) async fn another(
        &self,
        refusal: &Refusal,
        shown: Option<&Pass>,
        recorder: Option<Recorder>,
    ) -> Result<Pass, Cause> {
        let web = self.web(recorder);
        let mut store = self.store.lock().await;
        let current = self.current().clone();
        // Somebody else got one meanwhile.
        if let Some(current) = &current
            && shown.is_none_or(|Pass(shown)| !Arc::ptr_eq(shown, current))
        {
            return Ok(Pass(Arc::clone(current)));
        }
        let got = match refusal.is_of_the_token() {
            true => self.log_in(&web, &mut store, refusal, current).await,
            false => self.step_up(&web, &mut store, refusal, current).await,
        };
        got.map_err(|denied| self.cause(denied))
    }

    /// The token is not good, or there is none.
    async fn log_in(
        &self,
        web: &Web<'_>,
        store: &mut Store,
        refusal: &Refusal,
        current: Option<Arc<Current>>,
    ) -> Result<Pass, Denied> {
        let accepted = |current: &Current| current.accepted.load(Ordering::Relaxed);
        if let Some(current) = &current
            && current.how == How::Fresh
            && !accepted(current)
        {
            let reasons = [refusal.challenge.reason(), refusal.skew.clone()];
            let reasons: Vec<_> = reasons.into_iter().flatten().collect();
            let reason = (!reasons.is_empty()).then(|| reasons.join("; "));
            return Err(Denied::NotAccepted { issuer: current.issuer.clone(), reason });
        }
        let provider = discover(web, &self.server, &refusal.challenge).await?;
        if let Some(current) = &current
            && (current.how == How::Kept || accepted(current))
            && let Some(pass) = self.renew(web, store, &provider, current).await?
        {
            return Ok(pass);
        }
        let before = current.map(|current| Scopes::parse(&current.tokens.asked));
        let scopes = self.scopes(&provider, &refusal.challenge).and(&before.unwrap_or_default());
        self.obtain(web, store, &provider, scopes).await
    }

    /// The token is good, but does not allow enough.
    async fn step_up(
        &self,
        web: &Web<'_>,
        store: &mut Store,
        refusal: &Refusal,
        current: Option<Arc<Current>>,
    ) -> Result<Pass, Denied> {
        let wanted = Scopes::parse(refusal.challenge.scope.as_deref().unwrap_or_default());
        let mut asked = Scopes::default();
        if let Some(current) = &current {
            asked = Scopes::parse(&current.tokens.asked);
            // Asking for the same once more would give the same.
            if current.how == How::Fresh && asked.has_all(&wanted) {
                return Err(Denied::NotEnough {
                    issuer: current.issuer.clone(),
                    wanted: wanted.to_string(),
                    given: current.tokens.given.clone(),
                    reason: refusal.challenge.description.clone(),
                });
            }
            asked = asked.and(&Scopes::parse(&current.tokens.given));
        }
        let provider = discover(web, &self.server, &refusal.challenge).await?;
        self.obtain(web, store, &provider, asked.and(&wanted)).await
    }

    /// What to ask for, to begin with.
    fn scopes(&self, provider: &Provider, challenge: &Challenge) -> Scopes {
        let scopes = match &challenge.scope {
            _ if !self.oauth.scopes.is_empty() => Scopes::of(&self.oauth.scopes),
            Some(scope) => Scopes::parse(scope),
            None => Scopes::of(&provider.scopes),
        };
        let offline = Scopes::of(["offline_access"]);
        let offered = Scopes::of(&provider.metadata.scopes_supported).has_all(&offline);
        match offered && self.oauth.grant == Grant::Code && !scopes.is_empty() {
            true => scopes.and(&offline),
            false => scopes,
        }
    }

    /// Renews a token, if its issuer is still the one and lets it.
    async fn renew(
        &self,
        web: &Web<'_>,
        store: &mut Store,
        provider: &Provider,
        old: &Current,
    ) -> Result<Option<Pass>, Denied> {
        if old.issuer != provider.issuer() || old.tokens.refresh.is_none() {
            return Ok(None);
        }
        let server = spelled(&self.server);
        let mut locked = store.lock().await?;
        // Another process may have renewed it meanwhile, and a token for
        // renewing is often good only once.
        if let Some((issuer, tokens)) = locked.kept.tokens(&server, &self.oauth)
            && tokens.access != old.tokens.access
        {
            return Ok(Some(self.set(&issuer, tokens, How::Kept)));
        }
        let registered = || locked.kept.client(provider.issuer());
        let Some(client) = client::known(&self.oauth, provider)?.or_else(registered) else {
            return Ok(None);
        };
        self.hide(&client, &old.tokens);
        let by = By::Refresh(old.tokens.refresh.as_deref().unwrap_or_default());
        let asked = Scopes::parse(&old.tokens.asked);
        match token::ask(web, provider, &client, by, &asked).await? {
            Outcome::Given(tokens) => {
                locked.kept.keep_tokens(provider.issuer(), &server, &client.id, &tokens);
                locked.save()?;
                Ok(Some(self.set(provider.issuer(), tokens, How::Renewed)))
            }
            Outcome::Void(_) => {
                locked.kept.forget_tokens(&server);
                locked.save()?;
                Ok(None)
            }
            Outcome::Stranger(_) => {
                locked.kept.forget_client(provider.issuer());
                locked.kept.forget_tokens(&server);
                locked.save()?;
                Ok(None)
            }
        }
    }

    /// Makes sure that the client that the user named is this issuer's: nobody
    /// else may be shown its secret (2026-07-28,
    /// basic/authorization/client-registration#authorization-server-binding).
    async fn check_issuer(&self, store: &mut Store, provider: &Provider) -> Result<(), Denied> {
        let Some(client) = &self.oauth.client_id else { return Ok(()) };
        let server = spelled(&self.server);
        let mut locked = store.lock().await?;
        if let Some(issuer) = &self.oauth.issuer {
            locked.kept.unbind(&server, client);
            locked.kept.bind(&server, client, issuer);
        }
        let expected = locked.kept.bind(&server, client, provider.issuer()).to_owned();
        locked.save()?;
        match expected == provider.issuer() {
            true => Ok(()),
            false => {
                let (client, said) = (client.clone(), provider.issuer().to_owned());
                Err(Denied::OtherIssuer { client, said, expected })
            }
        }
    }

    /// Gets a new token.
    async fn obtain(
        &self,
        web: &Web<'_>,
        store: &mut Store,
        provider: &Provider,
        scopes: Scopes,
    ) -> Result<Pass, Denied> {
        *self.current() = None;
        self.check_issuer(store, provider).await?;
        let tokens = match self.oauth.grant {
            Grant::ClientCredentials => {
                token::check_grant(provider, Grant::ClientCredentials)?;
                let none = || Denied::NoRegistration(provider.issuer().to_owned());
                let client = client::known(&self.oauth, provider)?.ok_or_else(none)?;
                let asked = token::ask(web, provider, &client, By::Ourselves, &scopes);
                asked.await?.given()?
            }
            Grant::Code => self.by_login(web, store, provider, &scopes).await?,
        };
        Ok(self.set(provider.issuer(), tokens, How::Fresh))
    }

    async fn by_login(
        &self,
        web: &Web<'_>,
        store: &mut Store,
        provider: &Provider,
        scopes: &Scopes,
    ) -> Result<Tokens, Denied> {
        code::check(provider)?;
        let kept = store.lock().await?.kept.client(provider.issuer());
        let before = kept.as_ref().and_then(|client| client.redirect.as_deref());
        let redirect = Redirect::bind(&self.oauth.redirect, before).await?;
        let fits = |client: &Client| client.redirect.as_deref() == Some(&redirect.url);
        let client = match client::known(&self.oauth, provider)?.or(kept.filter(fits)) {
            Some(client) => client,
            None => {
                let scopes = scopes.clone().and(&Scopes::of(&provider.scopes));
                let client = client::register(web, provider, &redirect.url, &scopes).await?;
                let mut locked = store.lock().await?;
                locked.kept.keep_client(provider.issuer(), &client);
                locked.save()?;
                client
            }
        };
        if let Proof::Secret(secret) = &client.proof {
            self.secrets.add(secret);
        }
        let outcome = code::log_in(web, &self.oauth, provider, &client, redirect, scopes).await?;
        let mut locked = store.lock().await?;
        match &outcome {
            Outcome::Given(tokens) => {
                let server = spelled(&self.server);
                locked.kept.keep_tokens(provider.issuer(), &server, &client.id, tokens);
            }
            // The next login registers anew.
            Outcome::Stranger(_) => locked.kept.forget_client(provider.issuer()),
            Outcome::Void(_) => {}
        }
        locked.save()?;
        outcome.given()
    }

    fn set(&self, issuer: &str, tokens: Tokens, how: How) -> Pass {
        self.secrets.add(&tokens.access);
        self.secrets.add(tokens.refresh.as_deref().unwrap_or_default());
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

    fn hide(&self, client: &Client, tokens: &Tokens) {
        if let Proof::Secret(secret) = &client.proof {
            self.secrets.add(secret);
        }
        self.secrets.add(tokens.refresh.as_deref().unwrap_or_default());
    }

    fn cause(&self, denied: Denied) -> Cause {
        let told = format!("not authorized: {denied}");
        Cause::NotAuthorized(self.secrets.mask(&told).into_owned())
    }

    fn current(&self) -> MutexGuard<'_, Option<Arc<Current>>> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
