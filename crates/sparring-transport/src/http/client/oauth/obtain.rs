//! How another token is come by when the server does not let the old one in:
//! renewed, by a login, or by the client itself.

use std::sync::Arc;

use super::authorizer::{Authorizer, Current, How, Pass, Refusal, Tries};
use super::challenge::Challenge;
use super::client::{self, Client};
use super::denied::Denied;
use super::discovery::{discover, spelled};
use super::metadata::Provider;
use super::redirect::Redirect;
use super::scopes::Scopes;
use super::store::Store;
use super::token::{self, By, Outcome};
use super::web::Web;
use super::{Grant, Proof, code};

impl Authorizer {
    /// The token is not good, or there is none.
    pub(super) async fn log_in(
        &self,
        web: &Web<'_>,
        store: &mut Store,
        refusal: &Refusal,
        current: Option<Arc<Current>>,
        tries: &mut Tries,
    ) -> Result<Option<Pass>, Denied> {
        let quiet = self.must_be_quiet(tries);
        if let Some(current) = &current
            && current.how == How::Fresh
            && (tries.asked || !current.is_accepted() && !current.tokens.is_old())
        {
            let (issuer, reason) = (current.issuer.clone(), refusal.reason());
            return if quiet { Ok(None) } else { Err(Denied::NotAccepted { issuer, reason }) };
        }
        if quiet && current.is_none() {
            return Ok(None);
        }
        let provider = discover(web, &self.server, &refusal.challenge).await?;
        if let Some(current) = &current
            && (current.how == How::Kept || current.is_accepted())
            && !tries.renewed
            && let Some(pass) = self.renew(web, store, &provider, current).await?
        {
            tries.renewed = pass.how() == How::Renewed;
            return Ok(Some(pass));
        }
        if quiet {
            return Ok(None);
        }
        // The server takes no tokens of others than its own issuer.
        if current.as_ref().is_some_and(|current| current.issuer != provider.issuer()) {
            self.drop_token();
        }
        let before = current.map(|current| Scopes::parse(&current.tokens.asked));
        let scopes = self.scopes(&provider, &refusal.challenge).and(&before.unwrap_or_default());
        tries.asked = true;
        self.obtain(web, store, &provider, scopes).await.map(Some)
    }

    /// The token is good, but does not allow enough.
    pub(super) async fn step_up(
        &self,
        web: &Web<'_>,
        store: &mut Store,
        refusal: &Refusal,
        current: Option<Arc<Current>>,
        tries: &mut Tries,
    ) -> Result<Option<Pass>, Denied> {
        if self.must_be_quiet(tries) {
            return Ok(None);
        }
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
        self.obtain(web, store, &provider, asked.and(&wanted)).await.map(Some)
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
    pub(super) async fn renew(
        &self,
        web: &Web<'_>,
        store: &mut Store,
        provider: &Provider,
        old: &Current,
    ) -> Result<Option<Pass>, Denied> {
        if old.issuer != provider.issuer() || old.tokens.refresh.is_none() {
            return Ok(None);
        }
        self.check_issuer(store, provider).await?;
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
        self.hide(&client);
        let by = By::Refresh(old.tokens.refresh.as_deref().unwrap_or_default());
        let asked = Scopes::parse(&old.tokens.asked);
        match token::ask(web, provider, &client, by, &asked).await? {
            Outcome::Given(tokens) => {
                locked.kept.keep_tokens(provider.issuer(), &server, &client.id, &tokens);
                // Before it is saved: the one before it may be good no more.
                let pass = self.set(provider.issuer(), tokens, How::Renewed);
                locked.save()?;
                Ok(Some(pass))
            }
            refused => {
                self.drop_token();
                locked.kept.forget_tokens(&server);
                if matches!(refused, Outcome::Stranger(_)) {
                    locked.kept.forget_client(provider.issuer());
                }
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
        self.check_issuer(store, provider).await?;
        match self.oauth.grant {
            Grant::ClientCredentials => {
                token::check_grant(provider, Grant::ClientCredentials)?;
                let none = || Denied::NoRegistration(provider.issuer().to_owned());
                let client = client::known(&self.oauth, provider)?.ok_or_else(none)?;
                let asked = token::ask(web, provider, &client, By::Ourselves, &scopes);
                Ok(self.set(provider.issuer(), asked.await?.given()?, How::Fresh))
            }
            Grant::Code => self.by_login(web, store, provider, &scopes).await,
        }
    }

    async fn by_login(
        &self,
        web: &Web<'_>,
        store: &mut Store,
        provider: &Provider,
        scopes: &Scopes,
    ) -> Result<Pass, Denied> {
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
        self.hide(&client);
        let login = code::log_in(web, &self.oauth, provider, &client, redirect, scopes).await;
        // A page that does not know the client sends nobody back; the next login
        // registers anew.
        let forgets = matches!(&login, Ok(Outcome::Stranger(_)) | Err(Denied::NobodyCame(_)));
        let tokens = login.and_then(Outcome::given);
        let given = tokens.map(|tokens| self.set(provider.issuer(), tokens, How::Fresh));
        let mut locked = store.lock().await?;
        match &given {
            Ok(pass) => {
                let (server, tokens) = (spelled(&self.server), pass.tokens());
                // Another process may have registered one as well.
                locked.kept.keep_client(provider.issuer(), &client);
                locked.kept.keep_tokens(provider.issuer(), &server, &client.id, tokens);
            }
            Err(_) if forgets => locked.kept.forget_client(provider.issuer()),
            Err(_) => {}
        }
        locked.save()?;
        given
    }

    fn hide(&self, client: &Client) {
        if let Proof::Secret(secret) = &client.proof {
            self.secrets.add(secret);
        }
    }
}
