//! Serves all servers of a manager as one: a [`Handler`] with the tools,
//! resources and prompts of all of them.
//!
//! Items are passed on byte for byte, except for their names. A call goes to
//! the server that the name belongs to, with its progress and cancellation.
//! Questions of the server during the call go to the client that made the call,
//! and to no other. The gateway neither configures servers nor authenticates
//! clients.

mod change_notifier;
mod forwarded_request;
mod item_check;
mod log_forwarder;
mod message_queue;
mod message_rewrite;
mod pending_input;
mod prompts;
mod resources;
mod startup;
mod uri_template;

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use sparring_peer::ByteBudget;
use sparring_peer::client::{ClientBuilder, ServerRequest};
use sparring_peer::server::{Context, Handler, HandlerError, HandlerResult, Reply};
use sparring_wire::types::{Implementation, ServerCapabilities, Tool};
use sparring_wire::{ErrorObject, Json, RawJson};
use tokio::sync::watch;
use tokio::time::timeout;

use crate::instructions::join_instructions;
use crate::manager::{Connection, Manager};
use crate::registry::{Refusal, RegisteredTool, Registry};
use forwarded_request::{ForwardOutcome, ForwardedRequest, OwnAnswers};
use item_check::CheckedItem as _;
use log_forwarder::LogForwarder;
use message_queue::message_queue;
use pending_input::PendingInputs;

pub use change_notifier::notify_clients;
pub use item_check::unlisted_items;

/// The answer to a server that asks outside of a client's request.
const NO_OPEN_REQUEST: &str = "no client request is open that this question could belong to";

/// Many servers as one. Clients are notified of changes while [`notify_clients`] runs.
pub struct Gateway {
    manager: Manager,
    registry: Arc<Registry>,
    pending_input: PendingInputs,
    logs: Arc<LogForwarder>,
    /// True if connecting to all servers at startup has ended.
    started: watch::Sender<bool>,
    /// The result of `roots/list` for clients without roots.
    roots: Option<RawJson>,
    /// The number of requests without a session.
    sessionless_requests: AtomicU64,
    /// The memory for messages of servers that wait for clients.
    message_bytes: ByteBudget,
}

/// Configures the client builder of a gateway's manager. Its clients declare
/// that they answer questions, which the gateway forwards, and wait for the
/// answers. They record no transcript.
pub fn configure_client(client: ClientBuilder) -> ClientBuilder {
    let questions = [ServerRequest::Sampling, ServerRequest::Elicitation, ServerRequest::Roots];
    questions.into_iter().fold(
        client.record(false).pause_timeouts_while_answering(),
        |client, question| {
            // Within requests of the gateway's clients, those clients answer.
            client.answer(question, |_| async { Err(ErrorObject::internal(NO_OPEN_REQUEST)) })
        },
    )
}

impl Gateway {
    /// Creates a gateway. The manager's clients must be built with [`configure_client`].
    pub fn new(manager: Manager, registry: Arc<Registry>) -> Gateway {
        let started = watch::Sender::new(false);
        let (pending_input, logs, sessionless_requests) = Default::default();
        let message_bytes = ByteBudget::new(message_queue::MAX_TOTAL_BYTES);
        let roots = None;
        Gateway {
            manager,
            registry,
            pending_input,
            logs,
            started,
            roots,
            sessionless_requests,
            message_bytes,
        }
    }

    /// Answers `roots/list` with this result in requests of clients that declare no roots.
    #[must_use]
    pub fn with_roots(self, roots: RawJson) -> Gateway {
        Gateway { roots: Some(roots), ..self }
    }

    /// Waits until all servers are connected or have failed, but at most that long.
    pub async fn wait_for_startup(&self, within: Duration) {
        let mut started = self.started.subscribe();
        let _ = timeout(within, started.wait_for(|started| *started)).await;
    }

    fn current_tools(&self) -> Reply {
        let mut tools = self.registry.tools();
        tools.retain(|tool| tool.tool.problem().is_none());
        tools.into_iter().map(with_registered_name).collect::<Vec<Tool>>().into()
    }

    fn current_resources(&self) -> Reply {
        resources::list_resources(&self.manager).into()
    }

    fn current_templates(&self) -> Reply {
        resources::list_templates(&self.manager).into()
    }

    fn current_prompts(&self) -> Reply {
        prompts::list_prompts(&self.manager).into()
    }

    /// Identifies the requester. A question can reach any request of the same
    /// requester.
    fn requester(&self, cx: &Context) -> u64 {
        // Session numbers count up from 0, the others down from the maximum.
        cx.session()
            .unwrap_or_else(|| u64::MAX - self.sessionless_requests.fetch_add(1, Ordering::Relaxed))
    }

    /// Forwards a request to a server, and all messages before its response.
    async fn forward(
        &self,
        connection: Connection,
        method: &'static str,
        mut params: RawJson,
        cx: &Context,
    ) -> HandlerResult {
        let (sender, messages) = message_queue(&self.message_bytes);
        if let Some(level) = cx.log_level() {
            self.logs.attach(&connection);
            self.logs.set_level(&connection, level, true).await;
            if log_forwarder::go_to_requests(cx, &connection) {
                self.logs.add_request(&connection, level, &sender);
                params = message_rewrite::with_log_level(&connection, params, level);
            }
        }
        let has_roots = self.roots.is_some();
        let params = message_rewrite::with_client_capabilities(&connection, params, cx, has_roots);
        let request = connection.request(method, params);
        let mut forwarded_request = ForwardedRequest::start(
            connection,
            request,
            self.requester(cx),
            (sender, messages),
            OwnAnswers {
                roots: self.roots.clone().filter(|_| !cx.client_has("roots")),
                cancels_elicitation: !cx.client_has("elicitation"),
            },
            cx,
        );
        let outcome = forwarded_request.run(cx).await;
        self.finish(forwarded_request, outcome, cx)
    }

    /// Continues a request that its client repeats with answers.
    async fn resume(&self, state: &str, cx: &Context) -> HandlerResult {
        let mut forwarded_request = self.pending_input.resume(state, cx)?;
        let outcome = forwarded_request.run(cx).await;
        self.finish(forwarded_request, outcome, cx)
    }

    /// Converts the outcome to an answer; a request that needs input is kept.
    fn finish(
        &self,
        forwarded_request: ForwardedRequest,
        outcome: ForwardOutcome,
        cx: &Context,
    ) -> HandlerResult {
        match outcome {
            ForwardOutcome::Answered(answer) => answer,
            ForwardOutcome::InputRequired(requests) => {
                Err(self.pending_input.suspend(forwarded_request, requests, cx))
            }
        }
    }
}

impl Handler for Gateway {
    fn info(&self) -> Implementation {
        Implementation::new("spar-serve", env!("CARGO_PKG_VERSION"))
    }

    /// Declares everything that any server could have, because servers come and
    /// go and a declaration cannot be withdrawn.
    fn capabilities(&self) -> ServerCapabilities {
        ServerCapabilities::none().tools().resources().prompts().completions().logging()
    }

    fn instructions(&self) -> Option<String> {
        join_instructions(&self.manager)
    }

    async fn list_tools(&self, _cursor: Option<&str>, _cx: &Context) -> HandlerResult {
        self.wait_until_started().await;
        Ok(self.current_tools())
    }

    async fn call_tool(&self, name: &str, arguments: Json<'_>, cx: &Context) -> HandlerResult {
        if let Some(state) = repeated_state(cx) {
            return self.resume(&state, cx).await;
        }
        self.wait_for_tool(name).await;
        let route = self.registry.permit(name, arguments).await.map_err(refusal_error)?;
        let params = message_rewrite::tool_params(cx, &route.tool.name, arguments);
        let connection = self.manager.connection_for(&route).map_err(call_error)?;
        self.forward(connection, "tools/call", params, cx).await
    }

    fn input_schema(&self, tool: &str) -> Option<RawJson> {
        self.registry.get(tool).map(|tool| RawJson::from(tool.tool.input_schema.clone()))
    }

    async fn list_resources(&self, _cursor: Option<&str>, _cx: &Context) -> HandlerResult {
        self.wait_until_started().await;
        Ok(self.current_resources())
    }

    async fn list_resource_templates(&self, _cursor: Option<&str>, _cx: &Context) -> HandlerResult {
        self.wait_until_started().await;
        Ok(self.current_templates())
    }

    async fn read_resource(&self, uri: &str, cx: &Context) -> HandlerResult {
        self.wait_for_resource(uri).await;
        let location = resources::find_resource(&self.manager, uri, cx.revision())?;
        let reply = match repeated_state(cx) {
            Some(state) => self.resume(&state, cx).await?,
            None => {
                let inner = RawJson::string(&location.uri);
                let params = message_rewrite::request_params(cx, &[("uri", inner.view())]);
                self.forward(location.connection, "resources/read", params, cx).await?
            }
        };
        Ok(resources::restore_uri(reply, &location.uri, uri))
    }

    async fn subscribe(&self, uri: &str, cx: &Context) -> HandlerResult {
        self.wait_for_resource(uri).await;
        let location = resources::find_resource(&self.manager, uri, cx.revision())?;
        if location.connection.capabilities().has("resources.subscribe") {
            return Ok(Reply::empty());
        }
        let server = location.connection.server();
        let message = format!("server `{server}` does not support resource subscriptions");
        Err(ErrorObject::invalid_params(message).into())
    }

    async fn list_prompts(&self, _cursor: Option<&str>, _cx: &Context) -> HandlerResult {
        self.wait_until_started().await;
        Ok(self.current_prompts())
    }

    async fn get_prompt(&self, name: &str, _arguments: Json<'_>, cx: &Context) -> HandlerResult {
        if let Some(state) = repeated_state(cx) {
            return self.resume(&state, cx).await;
        }
        self.wait_for_prompt(name).await;
        let (connection, prompt) = prompts::find_prompt(&self.manager, name)?;
        let inner = RawJson::string(&prompt);
        let params = message_rewrite::request_params(cx, &[("name", inner.view())]);
        self.forward(connection, "prompts/get", params, cx).await
    }

    async fn complete(
        &self,
        reference: Json<'_>,
        _argument: Json<'_>,
        cx: &Context,
    ) -> HandlerResult {
        self.wait_for_completion(reference).await;
        let (connection, reference) = prompts::find_completion(&self.manager, reference)?;
        let params = message_rewrite::request_params(cx, &[("ref", reference.view())]);
        let params = message_rewrite::with_client_capabilities(&connection, params, cx, false);
        let answer = connection.request("completion/complete", params).await;
        message_rewrite::to_answer(connection.server(), answer, cx)
    }
}

impl std::fmt::Debug for Gateway {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Gateway").field("manager", &self.manager).finish_non_exhaustive()
    }
}

/// The request state of a repeated request.
fn repeated_state(cx: &Context) -> Option<Cow<'_, str>> {
    if cx.revision().is_modern() { cx.request_state() } else { None }
}

/// The tool under its registered name.
fn with_registered_name(registered: RegisteredTool) -> Tool {
    let mut tool = Arc::unwrap_or_clone(registered.tool);
    tool.name = registered.name.as_ref().to_owned();
    tool
}

/// The error of a call that is refused.
fn refusal_error(refusal: Refusal) -> HandlerError {
    ErrorObject::invalid_params(refusal.to_string()).into()
}

/// The error of a call that cannot be made.
fn call_error(error: crate::registry::CallError) -> HandlerError {
    ErrorObject::internal(error.to_string()).into()
}

/// A connection and an item of it.
type Located<T> = Result<(Connection, T), ErrorObject>;
