//! All servers of a manager as one: a [`Handler`] whose tools, resources and
//! prompts are theirs.
//!
//! What it lists is spelled as its server spelled it, but for its name. A call
//! goes to the server that the name belongs to, and with it goes all that belongs
//! to the call: its progress and its cancellation, and what the server asks
//! meanwhile, which is asked of the client that made the call and of nobody else.
//! Where the servers come from, and who the clients are, is not its business.

mod completing;
mod flight;
mod following;
mod logs;
mod parked;
mod passing;
mod prompts;
mod resources;
mod template;

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use sparring_peer::client::{ClientBuilder, Question};
use sparring_peer::server::{Answer, Context, Failure, Handler, Reply};
use sparring_wire::types::{Implementation, ServerCapabilities, Tool};
use sparring_wire::{ErrorObject, Json, RawJson};
use tokio::sync::{mpsc, watch};
use tokio::time::timeout;

use crate::manager::{Connection, Manager};
use crate::registry::{Refusal, Registered, Registry};
use crate::text::cut;
use flight::{Flight, Landed, MOST_SAID};
use logs::Logs;
use parked::Parked;

pub use following::follow;

/// How long whoever asks for a list waits for servers that are only now being
/// connected to.
const PATIENCE: Duration = Duration::from_secs(10);

/// The most characters of what a server says of its use.
const LONGEST_TEXT: usize = 10_000;

/// Why nobody answers a server that asks by itself.
const NOT_ALONE: &str = "no request of a client's is in flight that this could be asked for";

/// Many servers as one. What changes is told to clients while [`follow`] runs.
pub struct Gateway {
    manager: Manager,
    registry: Arc<Registry>,
    parked: Parked,
    logs: Arc<Logs>,
    /// Whether all servers are connected that were to be at first, or failed.
    begun: watch::Sender<bool>,
    /// How many requests there were that are nobody's but their own.
    alone: AtomicU64,
}

/// What the clients of a gateway's manager are to be made from: what their servers
/// ask is passed on, so they declare that it is answered, and wait for that. Nobody
/// reads what they would record, so they do not.
pub fn client(client: ClientBuilder) -> ClientBuilder {
    let questions = [Question::Sampling, Question::Elicitation, Question::Roots];
    questions.into_iter().fold(client.recorded(false).patient(), |client, question| {
        // For requests of the gateway's clients it is they who answer.
        client.answer(question, |_| async { Err(ErrorObject::internal(NOT_ALONE)) })
    })
}

impl Gateway {
    /// A gateway to these servers. The manager's clients are to be made from
    /// [`client`].
    pub fn new(manager: Manager, registry: Arc<Registry>) -> Gateway {
        let begun = watch::Sender::new(false);
        let (parked, logs, alone) = Default::default();
        Gateway { manager, registry, parked, logs, begun, alone }
    }

    /// Says that all servers are connected that were to be at first, or could not
    /// be. Before that, whoever asks for a list waits a while.
    pub fn begun(&self) {
        self.registry.sync(&self.manager);
        self.begun.send_replace(true);
    }

    async fn until_begun(&self) {
        if *self.begun.borrow() {
            return;
        }
        let mut begun = self.begun.subscribe();
        // Whoever has waited for long gets what there is.
        let _ = timeout(PATIENCE, begun.wait_for(|begun| *begun)).await;
    }

    /// For whom a request is made: questions of one party may reach any of its
    /// requests.
    fn party(&self, cx: &Context) -> u64 {
        // Sessions are counted from the start, and the others from the end.
        cx.session().unwrap_or_else(|| u64::MAX - self.alone.fetch_add(1, Ordering::Relaxed))
    }

    /// Makes a request of a server, and passes on what comes before its answer.
    async fn pass(
        &self,
        connection: Connection,
        method: &'static str,
        mut params: RawJson,
        cx: &Context,
    ) -> Answer {
        let (tell, said) = mpsc::channel(MOST_SAID);
        if let Some(level) = cx.log_level() {
            self.logs.hear(&connection);
            self.logs.ask_for(&connection, level, true).await;
            if logs::are_for_requests(cx, &connection) {
                self.logs.join(&connection, level, &tell);
                params = passing::with_log_level(&connection, params, level);
            }
        }
        let request = connection.request(method, params);
        let mut flight = Flight::start(connection, request, self.party(cx), (tell, said), cx);
        let landed = flight.go_on(cx).await;
        self.landed(flight, landed, cx)
    }

    /// Goes on with a request whose client comes back with answers.
    async fn resume(&self, state: &str, cx: &Context) -> Answer {
        let mut flight = self.parked.take(state, cx)?;
        let landed = flight.go_on(cx).await;
        self.landed(flight, landed, cx)
    }

    /// What becomes of a request that has come so far.
    fn landed(&self, flight: Flight, landed: Landed, cx: &Context) -> Answer {
        match landed {
            Landed::Answered(answer) => answer,
            Landed::Asks(requests) => Err(self.parked.park(flight, requests, cx)),
        }
    }

    /// Waits where a tool is not there that may only be late.
    async fn until_known(&self, tool: &str) {
        if !*self.begun.borrow() && self.registry.get(tool).is_none() {
            self.until_begun().await;
        }
    }
}

impl Handler for Gateway {
    fn info(&self) -> Implementation {
        Implementation::new("spar-serve", env!("CARGO_PKG_VERSION"))
    }

    /// Servers come and go, and what was declared cannot be taken back; so all is
    /// declared that there could be.
    fn capabilities(&self) -> ServerCapabilities {
        ServerCapabilities::none().tools().resources().prompts().completions().logging()
    }

    fn instructions(&self) -> Option<String> {
        let connections = self.manager.list();
        let each = connections.iter().filter_map(|connection| {
            let words = connection.instructions()?.trim();
            let words = cut(words, LONGEST_TEXT);
            (!words.is_empty()).then(|| format!("# {}\n\n{words}", connection.server()))
        });
        let all: Vec<String> = each.collect();
        (!all.is_empty()).then(|| all.join("\n\n"))
    }

    async fn list_tools(&self, _cursor: Option<&str>, _cx: &Context) -> Answer {
        self.until_begun().await;
        Ok(self.registry.tools().into_iter().map(renamed).collect::<Vec<Tool>>().into())
    }

    async fn call_tool(&self, name: &str, arguments: Json<'_>, cx: &Context) -> Answer {
        if let Some(state) = resumed(cx) {
            return self.resume(&state, cx).await;
        }
        self.until_known(name).await;
        let route = self.registry.permit(name, arguments).await.map_err(refused)?;
        let params = passing::tool_params(cx, &route.tool.name, arguments);
        let connection = self.manager.routed(&route).map_err(not_there)?;
        self.pass(connection, "tools/call", params, cx).await
    }

    fn input_schema(&self, tool: &str) -> Option<RawJson> {
        self.registry.get(tool).map(|tool| RawJson::from(tool.tool.input_schema.clone()))
    }

    async fn list_resources(&self, _cursor: Option<&str>, _cx: &Context) -> Answer {
        self.until_begun().await;
        Ok(resources::listed(&self.manager).into())
    }

    async fn list_resource_templates(&self, _cursor: Option<&str>, _cx: &Context) -> Answer {
        self.until_begun().await;
        Ok(resources::templates(&self.manager).into())
    }

    async fn read_resource(&self, uri: &str, cx: &Context) -> Answer {
        self.until_begun().await;
        let place = resources::find(&self.manager, uri, cx.revision())?;
        let reply = match resumed(cx) {
            Some(state) => self.resume(&state, cx).await?,
            None => {
                let inner = RawJson::string(&place.uri);
                let params = passing::params(cx, &[("uri", inner.view())]);
                self.pass(place.connection, "resources/read", params, cx).await?
            }
        };
        Ok(resources::as_asked(reply, &place.uri, uri))
    }

    async fn subscribe(&self, uri: &str, cx: &Context) -> Answer {
        let place = resources::find(&self.manager, uri, cx.revision())?;
        if place.connection.capabilities().has("resources.subscribe") {
            return Ok(Reply::empty());
        }
        let server = place.connection.server();
        let message = format!("server `{server}` does not tell of changes of its resources");
        Err(ErrorObject::invalid_params(message).into())
    }

    async fn list_prompts(&self, _cursor: Option<&str>, _cx: &Context) -> Answer {
        self.until_begun().await;
        Ok(prompts::listed(&self.manager).into())
    }

    async fn get_prompt(&self, name: &str, _arguments: Json<'_>, cx: &Context) -> Answer {
        if let Some(state) = resumed(cx) {
            return self.resume(&state, cx).await;
        }
        self.until_begun().await;
        let (connection, prompt) = prompts::find(&self.manager, name)?;
        let inner = RawJson::string(&prompt);
        let params = passing::params(cx, &[("name", inner.view())]);
        self.pass(connection, "prompts/get", params, cx).await
    }

    async fn complete(&self, reference: Json<'_>, _argument: Json<'_>, cx: &Context) -> Answer {
        self.until_begun().await;
        let (connection, reference) = completing::find(&self.manager, reference)?;
        let params = passing::params(cx, &[("ref", reference.view())]);
        let answer = connection.request("completion/complete", params).await;
        passing::answer(connection.server(), answer)
    }
}

impl std::fmt::Debug for Gateway {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Gateway").field("manager", &self.manager).finish_non_exhaustive()
    }
}

/// The state that a client comes back with, if it does.
fn resumed(cx: &Context) -> Option<Cow<'_, str>> {
    if cx.revision().is_modern() { cx.request_state() } else { None }
}

/// A tool under its name here.
fn renamed(registered: Registered) -> Tool {
    let mut tool = Arc::unwrap_or_clone(registered.tool);
    tool.name = registered.name.as_ref().to_owned();
    tool
}

/// A call that is not made: it asks for what there is not, or must not be had.
fn refused(refusal: Refusal) -> Failure {
    ErrorObject::invalid_params(refusal.to_string()).into()
}

/// A call that cannot be made.
fn not_there(error: crate::registry::CallError) -> Failure {
    ErrorObject::internal(error.to_string()).into()
}

/// What belongs to one connection of many.
type Of<T> = Result<(Connection, T), ErrorObject>;
