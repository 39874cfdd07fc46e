//! HTTP+SSE of 2024-11-05: the `endpoint` event, and the types of the events with messages.

use serde_json::{Value, json};
use sparring_transport::http::RawRequest;
use sparring_transport::http::sse::Event;
use sparring_wire::Rule;
use sparring_wire::json::parse_value;
use tokio::time::{Instant, timeout_at};

use super::leave_out;
use super::named_requests::callable_tools;
use super::streams::{ENOUGH, GIVE_UP, MAX_TOOLS, is_request};
use crate::context::{Context, ProbeResult, Stopped};
use crate::http::{HttpServer, OpenStream, RequestExt, initialize, initialized, post, request};
use crate::verdict::Finding;

const RULES: [Rule; 2] = [Rule::MissingEndpointEvent, Rule::WrongEventType];

/// The event stream of one session.
pub(super) struct EventStream {
    open: OpenStream,
    endpoint: Option<String>,
}

impl EventStream {
    /// Opens a stream.
    pub(super) async fn open(server: &HttpServer) -> Result<Self, Stopped> {
        let get = RawRequest::new("GET", "").with("accept", "text/event-stream");
        let open = server.start(&get).await?;
        match open.exchange().is_stream() && open.exchange().is_success() {
            true => Ok(EventStream { open, endpoint: None }),
            false => Err(Stopped(open.exchange().describe())),
        }
    }

    /// Reads until the event that names the URL for messages.
    pub(super) async fn read_endpoint(&mut self, server: &HttpServer) -> Option<String> {
        let deadline = Instant::now() + server.timeout();
        let is_endpoint = |event: &Event| event.name.as_deref() == Some("endpoint");
        self.open.read_until(deadline, is_endpoint).await;
        let event = self.open.exchange().events().iter().find(|it| is_endpoint(it))?;
        let url = String::from_utf8_lossy(event.data.as_deref()?).trim().to_owned();
        self.endpoint = Some(url).filter(|url| !url.is_empty());
        self.endpoint.clone()
    }

    /// Posts a message, and reads the stream up to the response, if it is an accepted request.
    /// Returns the status.
    async fn send(&mut self, server: &HttpServer, message: &Value) -> Result<u16, Stopped> {
        let Some(endpoint) = &self.endpoint else { return Ok(0) };
        let posted = server.send(&post(message.to_string()).to(endpoint)).await?;
        let id = message.get("id").filter(|_| posted.is_success());
        let Some(id) = id else { return Ok(posted.status) };
        let deadline = Instant::now() + server.timeout();
        loop {
            let exchange = self.open.exchange();
            // A request of the server has no answer here, so its call would not end.
            let is_over = exchange.response_to(id).is_some()
                || exchange.messages().last().is_some_and(is_request);
            if is_over || !self.open.read_event(deadline).await {
                return Ok(posted.status);
            }
        }
    }
}

pub(super) async fn event_stream(context: &Context) -> ProbeResult {
    let Some(server) = context.http() else {
        leave_out(context, &RULES, "the server is not reached over HTTP");
        return Ok(());
    };
    if server.speaks_streamable_http().await {
        leave_out(context, &RULES, "the server speaks Streamable HTTP");
        return Ok(());
    }
    let facts = context.facts();
    let lists =
        [("tools", "tools/list"), ("resources", "resources/list"), ("prompts", "prompts/list")];
    let declared = lists.into_iter().filter(|(capability, _)| facts.declares(capability));
    let mut requests: Vec<Value> =
        declared.map(|(_, method)| request(server.next_id(), method, Some(json!({})))).collect();
    for tool in callable_tools(context).into_iter().take(MAX_TOOLS) {
        let id = server.next_id();
        let meta = json!({"progressToken": id});
        let params = json!({"name": tool.name, "arguments": tool.arguments, "_meta": meta});
        requests.push(request(id, "tools/call", Some(params)));
    }
    let found = findings(server, &requests).await?;
    for rule in RULES {
        if !found.iter().any(|(it, _)| *it == rule) {
            context.pass(rule);
        }
    }
    found.into_iter().for_each(|(rule, finding)| context.fail(rule, finding));
    Ok(())
}

/// Opens a session, sends these requests, and returns what is wrong with the events.
pub(super) async fn findings(
    server: &HttpServer,
    requests: &[Value],
) -> Result<Vec<(Rule, Finding)>, Stopped> {
    let mut stream = EventStream::open(server).await?;
    let mut found = Vec::new();
    let endpoint = stream.read_endpoint(server).await;
    let events = stream.open.exchange().events();
    let is_endpoint = |event: &&Event| event.name.as_deref() == Some("endpoint");
    let mut earlier = events.iter().take_while(|it| !is_endpoint(it));
    // Events of other types are no part of the protocol, so they may come at any time.
    let has_early_message = earlier.any(|it| it.name.as_deref().is_none_or(|it| it == "message"));
    let has_type = events.iter().any(|it| it.name.is_some());
    let mut problem = match &endpoint {
        None if !has_type => Some("the server sent no event with a type".to_owned()),
        None => Some("the server sent no such event".to_owned()),
        Some(url) if !is_reference(url) => Some(format!("the server sent {url:?}")),
        Some(_) if has_early_message => Some("the server sent a message first".to_owned()),
        Some(_) => None,
    };
    let is_usable = endpoint.is_some_and(|url| is_reference(&url));
    if is_usable {
        let status = stream.send(server, &initialize_message(server)?).await?;
        if matches!(status, 404 | 405) {
            problem = Some(format!("the URI answers messages with status {status}"));
        }
    }
    if let Some(problem) = problem {
        let expected = "expected an `endpoint` event with a URI at the start of the event stream";
        let finding = Finding::new(format!("{expected}; {problem}"));
        let shown = stream.open.exchange().shown();
        found.push((Rule::MissingEndpointEvent, finding.with_frames(shown)));
    }
    if !is_usable {
        return Ok(found);
    }
    stream.send(server, &initialized()).await?;
    let start = Instant::now();
    for request in requests {
        if start.elapsed() > ENOUGH {
            break;
        }
        match timeout_at(start + GIVE_UP, stream.send(server, request)).await {
            Ok(sent) => drop(sent?),
            Err(_) => break,
        }
    }
    let exchange = stream.open.exchange();
    if let Some(event) = exchange.events().iter().find(|it| is_wrong_message(it)) {
        let name = event.name.as_deref().unwrap_or_default();
        let message = format!(
            "expected each message as the data of a `message` event; \
             the server sent one in an event of the type `{name}`"
        );
        let mut bytes = Vec::new();
        event.write(&mut bytes);
        let frame = crate::verdict::ShownFrame::new(sparring_wire::Side::Server, &bytes);
        found.push((Rule::WrongEventType, Finding::new(message).with_frames([frame])));
    }
    Ok(found)
}

/// Returns true if a text has only characters of URIs.
fn is_reference(text: &str) -> bool {
    let is_excluded = |byte: u8| !byte.is_ascii_graphic() || b"\"<>\\^`{|}".contains(&byte);
    !text.is_empty() && !text.bytes().any(is_excluded)
}

fn initialize_message(server: &HttpServer) -> Result<Value, Stopped> {
    parse_value(&initialize(server.revision).body).map_err(|error| Stopped(error.to_string()))
}

/// Returns true if an event of another type has a JSON-RPC message.
fn is_wrong_message(event: &Event) -> bool {
    let is_other = event.name.as_deref().is_some_and(|name| name != "message");
    let message = event.data.as_deref().and_then(|data| parse_value(data).ok());
    is_other && message.is_some_and(|it| it.get("jsonrpc").is_some())
}
