//! State that all endpoints of an issuer share: keys, origin, clients, codes and tokens.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock};
use std::time::{SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sparring_transport::Secret;
use sparring_transport::http::jwt::{PublicKey, SigningKey};

use super::client::Client;
use super::config::{IssuerBehavior, IssuerConfig};
use crate::bounded_map::{BoundedMap, MapLimits};
use crate::http_mock::{HttpReply, HttpRequest, RequestLog};

/// The limits of each map.
const MAP_LIMITS: MapLimits = MapLimits { entries: 10_000, bytes: 16 * 1024 * 1024 };

pub(crate) struct AuthorizationServer {
    pub(super) config: IssuerConfig,
    pub(super) key: SigningKey,
    pub(super) public: PublicKey,
    /// Signs tokens with a wrong signature; clients do not know this key.
    pub(super) wrong_key: SigningKey,
    /// The origin of its listener, once it listens.
    origin: RwLock<Option<String>>,
    /// True if it shares the listener of a mock and takes its origin from the `Host` header.
    shares_listener: bool,
    state: Mutex<IssuerState>,
    pub(super) requests: RequestLog,
}

/// Everything that requests change.
#[derive(Debug)]
pub(super) struct IssuerState {
    /// Clients that registered themselves.
    pub(super) clients: BoundedMap<String, Client>,
    pub(super) codes: BoundedMap<Secret, AuthorizationCode>,
    pub(super) refresh_tokens: BoundedMap<Secret, RefreshToken>,
    /// Client assertions that were used.
    pub(super) used_assertions: BoundedMap<String, ()>,
    /// Families of revoked tokens.
    pub(super) revoked_families: BoundedMap<String, ()>,
    /// The number of times that all tokens were expired.
    pub(super) generation: u64,
    pub(super) behavior: IssuerBehavior,
    /// Replies that the token endpoint gives instead of tokens.
    pub(super) queued_replies: VecDeque<HttpReply>,
}

/// The rights of a token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Authorization {
    pub(super) client: String,
    pub(super) subject: String,
    pub(super) scopes: Vec<String>,
    pub(super) audience: Vec<String>,
    /// Shared by all tokens of one login or one client credentials request.
    pub(super) family: String,
}

impl Authorization {
    /// Returns the number of bytes of its texts.
    pub(super) fn size(&self) -> usize {
        let texts = [&self.client, &self.subject, &self.family].into_iter();
        texts.chain(&self.scopes).chain(&self.audience).map(String::len).sum()
    }
}

/// An authorization code.
#[derive(Debug)]
pub(super) struct AuthorizationCode {
    pub(super) authorization: Authorization,
    pub(super) redirect: String,
    pub(super) challenge: Secret,
    pub(super) nonce: Option<String>,
    pub(super) until: u64,
    pub(super) used: bool,
}

/// A refresh token.
#[derive(Debug)]
pub(super) struct RefreshToken {
    pub(super) authorization: Authorization,
    pub(super) used: bool,
}

impl AuthorizationServer {
    pub(super) fn new(config: IssuerConfig, shares_listener: bool) -> Self {
        let (key, wrong_key) = (SigningKey::generate(), SigningKey::generate());
        let state = Mutex::new(IssuerState::new(&config, 0));
        let (origin, requests) = (RwLock::default(), RequestLog::default());
        AuthorizationServer {
            public: key.public(),
            key,
            wrong_key,
            config,
            origin,
            shares_listener,
            state,
            requests,
        }
    }

    pub(super) fn state(&self) -> MutexGuard<'_, IssuerState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Restores the initial state and invalidates earlier tokens.
    pub(super) fn reset(&self) {
        let mut state = self.state();
        *state = IssuerState::new(&self.config, state.generation + 1);
        drop(state);
        self.requests.clear();
    }

    pub(super) fn set_origin(&self, origin: String) {
        *self.origin.write().unwrap_or_else(PoisonError::into_inner) = Some(origin);
    }

    pub(super) fn own_origin(&self) -> Option<String> {
        self.origin.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the origin that a request was sent to.
    pub(super) fn request_origin(&self, request: &HttpRequest) -> String {
        let named =
            request.headers.get("host").filter(|host| self.shares_listener && is_host(host));
        let named = named.map(|host| format!("http://{host}"));
        named.or_else(|| self.own_origin()).unwrap_or_else(|| "http://localhost".to_owned())
    }

    /// Returns the issuer identifier at an origin.
    pub(super) fn issuer_at(&self, origin: &str) -> String {
        format!("{origin}{}", self.config.path)
    }

    /// Returns true if an audience is a resource of this issuer at an origin.
    pub(super) fn is_own_resource(&self, audience: &str, origin: &str) -> bool {
        let Some(rest) = audience.strip_prefix(origin) else { return false };
        rest.is_empty() || rest == "/" || self.config.resources.iter().any(|path| path == rest)
    }

    /// Finds a client by its id.
    pub(super) fn client(&self, id: &str) -> Option<Client> {
        let known = self.config.clients.iter().find(|client| client.id == id).cloned();
        known.or_else(|| self.state().clients.get(id).cloned())
    }
}

impl IssuerState {
    fn new(config: &IssuerConfig, generation: u64) -> Self {
        IssuerState {
            clients: BoundedMap::new(MAP_LIMITS),
            codes: BoundedMap::new(MAP_LIMITS),
            refresh_tokens: BoundedMap::new(MAP_LIMITS),
            used_assertions: BoundedMap::new(MAP_LIMITS),
            revoked_families: BoundedMap::new(MAP_LIMITS),
            generation,
            behavior: config.behavior.clone(),
            queued_replies: VecDeque::new(),
        }
    }

    /// Revokes all tokens of a family.
    pub(super) fn revoke_family(&mut self, family: &str) {
        self.refresh_tokens.retain(|refresh_token| refresh_token.authorization.family != family);
        self.revoked_families.insert(family.to_owned(), (), family.len());
    }
}

/// Shows origin and path, but no secrets.
impl fmt::Debug for AuthorizationServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AuthorizationServer")
            .field("origin", &self.own_origin())
            .field("path", &self.config.path)
            .finish_non_exhaustive()
    }
}

/// Generates 192 random bits as text.
pub(super) fn random_token() -> String {
    let mut bytes = [0; 24];
    getrandom::fill(&mut bytes).expect("the system gives random bytes");
    URL_SAFE_NO_PAD.encode(bytes)
}

/// Returns the seconds since 1970.
pub(super) fn unix_seconds() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

fn is_host(host: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-._:[]".contains(&byte);
    !host.is_empty() && host.bytes().all(is_allowed)
}
