//! What all who speak with an issuer share: its keys, where it is, and what it
//! remembers.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock};
use std::time::{SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sparring_transport::http::jwt::{PublicKey, SigningKey};

use super::client::Client;
use super::plan::{Plan, Ways};
use super::shelf::Shelf;
use crate::http_mock::{HttpReply, HttpRequest, Requests};

pub(crate) struct Core {
    pub(super) plan: Plan,
    pub(super) key: SigningKey,
    pub(super) public: PublicKey,
    /// A key that nobody knows.
    pub(super) stranger: SigningKey,
    /// The origin that it listens at, once it does.
    home: RwLock<Option<String>>,
    /// Whether it is wherever it is asked, since it shares its listener.
    shares: bool,
    state: Mutex<State>,
    pub(super) requests: Requests,
}

/// What it remembers.
#[derive(Debug)]
pub(super) struct State {
    /// Those that registered themselves.
    pub(super) clients: Shelf<Client>,
    pub(super) codes: Shelf<Code>,
    pub(super) renewals: Shelf<Renewal>,
    /// Statements of clients that were used.
    pub(super) statements: Shelf<()>,
    /// Families of tokens that are good no more.
    pub(super) ended: Shelf<()>,
    /// How often all tokens were let expire.
    pub(super) generation: u64,
    pub(super) ways: Ways,
    /// What the token endpoint replies instead.
    pub(super) replies: VecDeque<HttpReply>,
}

/// What a token is good for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Purpose {
    pub(super) client: String,
    pub(super) subject: String,
    pub(super) scopes: Vec<String>,
    pub(super) audience: Vec<String>,
    /// What all tokens of one login, or of one client's asking, have in common.
    pub(super) family: String,
}

/// A code that a browser was given.
#[derive(Debug)]
pub(super) struct Code {
    pub(super) purpose: Purpose,
    pub(super) redirect: String,
    pub(super) challenge: String,
    pub(super) nonce: Option<String>,
    pub(super) until: u64,
    pub(super) used: bool,
}

/// A refresh token.
#[derive(Debug)]
pub(super) struct Renewal {
    pub(super) purpose: Purpose,
    pub(super) used: bool,
}

impl Core {
    pub(super) fn new(plan: Plan, shares: bool) -> Self {
        let (key, stranger) = (SigningKey::generate(), SigningKey::generate());
        let state = Mutex::new(State::new(&plan, 0));
        let (home, requests) = (RwLock::default(), Requests::default());
        Core { public: key.public(), key, stranger, plan, home, shares, state, requests }
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes everything as it was at first; tokens of before are good no more.
    pub(super) fn reset(&self) {
        let mut state = self.state();
        *state = State::new(&self.plan, state.generation + 1);
        drop(state);
        self.requests.clear();
    }

    pub(super) fn lives_at(&self, origin: String) {
        *self.home.write().unwrap_or_else(PoisonError::into_inner) = Some(origin);
    }

    pub(super) fn home(&self) -> Option<String> {
        self.home.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The origin at which it was asked.
    pub(super) fn origin(&self, request: &HttpRequest) -> String {
        let named = request.headers.get("host").filter(|host| self.shares && is_host(host));
        let named = named.map(|host| format!("http://{host}"));
        named.or_else(|| self.home()).unwrap_or_else(|| "http://localhost".to_owned())
    }

    /// Its name, at an origin.
    pub(super) fn name_at(&self, origin: &str) -> String {
        format!("{origin}{}", self.plan.path)
    }

    /// Whether a token may be for that, at an origin.
    pub(super) fn is_for(&self, audience: &str, origin: &str) -> bool {
        let Some(rest) = audience.strip_prefix(origin) else { return false };
        rest.is_empty() || rest == "/" || self.plan.resources.iter().any(|path| path == rest)
    }

    /// The client of that id.
    pub(super) fn client(&self, id: &str) -> Option<Client> {
        let known = self.plan.clients.iter().find(|client| client.id == id).cloned();
        known.or_else(|| self.state().clients.get(id).cloned())
    }
}

impl State {
    fn new(plan: &Plan, generation: u64) -> Self {
        State {
            clients: Shelf::default(),
            codes: Shelf::default(),
            renewals: Shelf::default(),
            statements: Shelf::default(),
            ended: Shelf::default(),
            generation,
            ways: plan.ways.clone(),
            replies: VecDeque::new(),
        }
    }

    /// Ends all tokens of a family.
    pub(super) fn end(&mut self, family: &str) {
        self.renewals.retain(|renewal| renewal.purpose.family != family);
        self.ended.put(family.to_owned(), ());
    }
}

/// Says where it is, and nothing that is secret.
impl fmt::Debug for Core {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Core")
            .field("home", &self.home())
            .field("path", &self.plan.path)
            .finish_non_exhaustive()
    }
}

/// Something that nobody can guess.
pub(super) fn random() -> String {
    let mut bytes = [0; 24];
    getrandom::fill(&mut bytes).expect("the system gives random bytes");
    URL_SAFE_NO_PAD.encode(bytes)
}

/// Seconds since 1970.
pub(super) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

fn is_host(host: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._:[]".contains(&byte);
    !host.is_empty() && host.bytes().all(plain)
}
