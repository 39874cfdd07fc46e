//! Obtains another token after a refusal: with the refresh token, by a login, or with client
//! credentials.

use std::sync::Arc;

use super::auth_server_client::AuthServerClient;
use super::authorizer::{
    AuthAttempts, AuthRefusal, Authorizer, BearerToken, CurrentToken, TokenSource,
};
use super::bearer_challenge::BearerChallenge;
use super::client::{self, Client};
use super::credential_store::CredentialStore;
use super::discovery::{discover, full_url};
use super::error::AuthError;
use super::metadata::Provider;
use super::redirect_listener::RedirectListener;
use super::scopes::Scopes;
use super::token::{self, TokenGrant, TokenOutcome};
use super::{ClientAuth, Grant, login};

impl Authorizer {
    /// Replaces a token that is invalid or missing.
    pub(super) async fn log_in(
        &self,
        web: &AuthServerClient<'_>,
        store: &mut CredentialStore,
        refusal: &AuthRefusal,
        current: Option<Arc<CurrentToken>>,
        attempts: &mut AuthAttempts,
    ) -> Result<Option<BearerToken>, AuthError> {
        let must_not_prompt = self.must_not_prompt(attempts);
        if let Some(current) = &current
            && current.source == TokenSource::New
            && (attempts.asked || !current.is_accepted() && !current.tokens.is_due())
        {
            let (issuer, reason) = (current.issuer.clone(), refusal.reason());
            return if must_not_prompt {
                Ok(None)
            } else {
                Err(AuthError::NewTokenRejected { issuer, reason })
            };
        }
        if must_not_prompt && current.is_none() {
            return Ok(None);
        }
        let provider = discover(web, &self.server, &refusal.challenge).await?;
        if let Some(current) = &current
            && (current.source == TokenSource::Stored || current.is_accepted())
            && !attempts.refreshed
            && let Some(token) = self.refresh(web, store, &provider, current).await?
        {
            attempts.refreshed = token.source() == TokenSource::Refreshed;
            return Ok(Some(token));
        }
        if must_not_prompt {
            return Ok(None);
        }
        // The server only accepts tokens of its own issuer.
        if current.as_ref().is_some_and(|current| current.issuer != provider.issuer()) {
            self.drop_token();
        }
        let before = current.map(|current| Scopes::parse(&current.tokens.asked));
        let scopes =
            self.initial_scopes(&provider, &refusal.challenge).union(&before.unwrap_or_default());
        attempts.asked = true;
        self.obtain(web, store, &provider, scopes).await.map(Some)
    }

    /// Replaces a token that is valid but lacks scopes.
    pub(super) async fn step_up(
        &self,
        web: &AuthServerClient<'_>,
        store: &mut CredentialStore,
        refusal: &AuthRefusal,
        current: Option<Arc<CurrentToken>>,
        attempts: &mut AuthAttempts,
    ) -> Result<Option<BearerToken>, AuthError> {
        if self.must_not_prompt(attempts) {
            return Ok(None);
        }
        let wanted = Scopes::parse(refusal.challenge.scope.as_deref().unwrap_or_default());
        let mut asked = Scopes::default();
        if let Some(current) = &current {
            asked = Scopes::parse(&current.tokens.asked);
            // The same request would give the same result.
            if current.source == TokenSource::New && asked.contains_all(&wanted) {
                return Err(AuthError::ScopeNotGranted {
                    issuer: current.issuer.clone(),
                    wanted: wanted.to_string(),
                    given: current.tokens.given.clone(),
                    reason: refusal.challenge.description.clone(),
                });
            }
            asked = asked.union(&Scopes::parse(&current.tokens.given));
        }
        let provider = discover(web, &self.server, &refusal.challenge).await?;
        self.obtain(web, store, &provider, asked.union(&wanted)).await.map(Some)
    }

    /// Returns the scopes to request first.
    fn initial_scopes(&self, provider: &Provider, challenge: &BearerChallenge) -> Scopes {
        let scopes = match &challenge.scope {
            _ if !self.oauth.scopes.is_empty() => Scopes::from_names(&self.oauth.scopes),
            Some(scope) => Scopes::parse(scope),
            None => Scopes::from_names(&provider.scopes),
        };
        let offline = Scopes::from_names(["offline_access"]);
        let offered =
            Scopes::from_names(&provider.metadata.scopes_supported).contains_all(&offline);
        match offered && self.oauth.grant == Grant::Code && !scopes.is_empty() {
            true => scopes.union(&offline),
            false => scopes,
        }
    }

    /// Refreshes a token, if its issuer is still the same and allows it.
    pub(super) async fn refresh(
        &self,
        web: &AuthServerClient<'_>,
        store: &mut CredentialStore,
        provider: &Provider,
        old: &CurrentToken,
    ) -> Result<Option<BearerToken>, AuthError> {
        let Some(refresh) = old.tokens.refresh.as_ref().filter(|_| old.issuer == provider.issuer())
        else {
            return Ok(None);
        };
        self.check_issuer(store, provider).await?;
        let server = full_url(&self.server);
        let mut locked = store.lock().await?;
        // Another process may have refreshed it meanwhile, and a refresh token is often valid
        // only once.
        if let Some((issuer, tokens)) = locked.credentials.tokens(&server, &self.oauth)
            && tokens.access != old.tokens.access
        {
            return Ok(Some(self.set_token(&issuer, tokens, TokenSource::Stored)));
        }
        let registered = || locked.credentials.client(provider.issuer());
        let Some(client) = client::configured_client(&self.oauth, provider)?.or_else(registered)
        else {
            return Ok(None);
        };
        self.mask_secret(&client);
        let by = TokenGrant::Refresh(refresh);
        let asked = Scopes::parse(&old.tokens.asked);
        match token::request_tokens(web, provider, &client, by, &asked).await? {
            TokenOutcome::Granted(tokens) => {
                locked.credentials.store_tokens(provider.issuer(), &server, &client.id, &tokens);
                // Set before saving: the previous token may be invalid now.
                let token = self.set_token(provider.issuer(), tokens, TokenSource::Refreshed);
                locked.save()?;
                Ok(Some(token))
            }
            refused => {
                self.drop_token();
                locked.credentials.forget_tokens(&server);
                if matches!(refused, TokenOutcome::UnknownClient(_)) {
                    locked.credentials.forget_client(provider.issuer());
                }
                locked.save()?;
                Ok(None)
            }
        }
    }

    /// Checks that the configured client belongs to this issuer: no other may see its secret
    /// (2026-07-28, basic/authorization/client-registration#authorization-server-binding).
    async fn check_issuer(
        &self,
        store: &mut CredentialStore,
        provider: &Provider,
    ) -> Result<(), AuthError> {
        let Some(client) = &self.oauth.client_id else { return Ok(()) };
        let server = full_url(&self.server);
        let mut locked = store.lock().await?;
        if let Some(issuer) = &self.oauth.issuer {
            locked.credentials.unbind(&server, client);
            locked.credentials.bind(&server, client, issuer);
        }
        let expected = locked.credentials.bind(&server, client, provider.issuer()).to_owned();
        locked.save()?;
        match expected == provider.issuer() {
            true => Ok(()),
            false => {
                let (client, found) = (client.clone(), provider.issuer().to_owned());
                Err(AuthError::ClientOfOtherIssuer { client, found, expected })
            }
        }
    }

    /// Obtains a new token.
    async fn obtain(
        &self,
        web: &AuthServerClient<'_>,
        store: &mut CredentialStore,
        provider: &Provider,
        scopes: Scopes,
    ) -> Result<BearerToken, AuthError> {
        self.check_issuer(store, provider).await?;
        match self.oauth.grant {
            Grant::ClientCredentials => {
                token::check_grant(provider, Grant::ClientCredentials)?;
                let none = || AuthError::NoRegistration(provider.issuer().to_owned());
                let client = client::configured_client(&self.oauth, provider)?.ok_or_else(none)?;
                let asked = token::request_tokens(
                    web,
                    provider,
                    &client,
                    TokenGrant::ClientCredentials,
                    &scopes,
                );
                Ok(self.set_token(provider.issuer(), asked.await?.into_tokens()?, TokenSource::New))
            }
            Grant::Code => self.obtain_by_login(web, store, provider, &scopes).await,
        }
    }

    async fn obtain_by_login(
        &self,
        web: &AuthServerClient<'_>,
        store: &mut CredentialStore,
        provider: &Provider,
        scopes: &Scopes,
    ) -> Result<BearerToken, AuthError> {
        login::check_login(provider)?;
        let stored = store.lock().await?.credentials.client(provider.issuer());
        let before = stored.as_ref().and_then(|client| client.redirect.as_deref());
        let redirect = RedirectListener::bind(&self.oauth.redirect_url, before).await?;
        let fits = |client: &Client| client.redirect.as_deref() == Some(&redirect.url);
        let client = match client::configured_client(&self.oauth, provider)?.or(stored.filter(fits))
        {
            Some(client) => client,
            None => {
                let scopes = scopes.clone().union(&Scopes::from_names(&provider.scopes));
                let client = client::register(web, provider, &redirect.url, &scopes).await?;
                let mut locked = store.lock().await?;
                locked.credentials.store_client(provider.issuer(), &client);
                locked.save()?;
                client
            }
        };
        self.mask_secret(&client);
        let outcome = login::log_in(web, &self.oauth, provider, &client, redirect, scopes).await;
        // A login page that does not know the client redirects nowhere; the next login
        // registers again.
        let forgets = matches!(
            &outcome,
            Ok(TokenOutcome::UnknownClient(_)) | Err(AuthError::LoginTimeout(_))
        );
        let tokens = outcome.and_then(TokenOutcome::into_tokens);
        let given =
            tokens.map(|tokens| self.set_token(provider.issuer(), tokens, TokenSource::New));
        let mut locked = store.lock().await?;
        match &given {
            Ok(token) => {
                let (server, tokens) = (full_url(&self.server), token.tokens());
                // Another process may have registered a client too.
                locked.credentials.store_client(provider.issuer(), &client);
                locked.credentials.store_tokens(provider.issuer(), &server, &client.id, tokens);
            }
            Err(_) if forgets => locked.credentials.forget_client(provider.issuer()),
            Err(_) => {}
        }
        locked.save()?;
        given
    }

    fn mask_secret(&self, client: &Client) {
        if let ClientAuth::Secret(secret) = &client.client_auth {
            self.secrets.add(secret.reveal());
        }
    }
}
