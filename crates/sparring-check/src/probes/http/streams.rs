//! The event streams that answer requests: their beginning, their end and their headers.

use std::collections::HashSet;
use std::time::Duration;

use serde_json::{Value, json};
use sparring_transport::http::RawRequest;
use sparring_wire::{Revision, Rule};
use tokio::time::{Instant, timeout_at};

use super::bodies::end;
use super::named_requests::{CallableTool, callable_tools};
use super::{harmless_method, leave_out};
use crate::context::{Context, ProbeResult, Stopped};
use crate::http::{
    Body, Exchange, HttpServer, RequestExt, Session, modern_body, request, streamable,
    with_metadata,
};
use crate::verdict::Finding;

const RULES: [Rule; 6] = [
    Rule::OpenStream,
    Rule::StreamWithoutResponse,
    Rule::MissingPriming,
    Rule::BufferedStream,
    Rule::WrongContentType,
    Rule::DuplicateEventId,
];

/// The wait for the end of a stream after the response.
const END_OF_STREAM: Duration = Duration::from_secs(2);
/// The same wait, after one stream was found open.
const SHORT_WAIT: Duration = Duration::from_millis(50);
/// The time after which no more tools are called.
pub(super) const ENOUGH: Duration = Duration::from_millis(600);
/// The time after which the last call is given up.
pub(super) const GIVE_UP: Duration = Duration::from_millis(1_200);
pub(super) const MAX_TOOLS: usize = 12;

/// The response to one request, as far as it was read.
pub(super) struct Answer {
    pub(super) id: Value,
    pub(super) exchange: Exchange,
    /// True if the server asked the client something, which has no answer here.
    asked: bool,
}

/// Reads the responses to requests.
struct Reader<'a> {
    server: &'a HttpServer,
    /// The wait for the end of a stream after the response.
    patience: Duration,
    answers: Vec<Answer>,
}

pub(super) async fn streams(context: &Context) -> ProbeResult {
    let Some(server) = streamable(context, &RULES).await else { return Ok(()) };
    let session = match context.revision.is_modern() {
        true => None,
        false => Some(server.another_session().await?),
    };
    let mut reader = Reader { server, patience: END_OF_STREAM, answers: Vec::new() };
    for (method, params) in ordinary_requests(context) {
        let id = server.next_id();
        let request = message(context.revision, session.as_ref(), id.clone(), method, params);
        reader.send(&request, id, Instant::now() + server.timeout()).await?;
    }
    let start = Instant::now();
    for tool in callable_tools(context).into_iter().take(MAX_TOOLS) {
        if start.elapsed() > ENOUGH {
            break;
        }
        let (id, request) = call(context, server, session.as_ref(), &tool);
        if !reader.send(&request, id, start + GIVE_UP).await? {
            break;
        }
    }
    if let Some(listening) = listen(context, server).await {
        check_buffering(context, &listening);
    }
    judge_all(context, server, session.as_ref(), &reader.answers).await;
    end(server, session.as_ref()).await;
    Ok(())
}

async fn judge_all(
    context: &Context,
    server: &HttpServer,
    session: Option<&Session>,
    answers: &[Answer],
) {
    for answer in answers {
        check_content_type(context, &answer.exchange);
        if answer.exchange.is_stream() {
            check_end(context, server, session, answer).await;
            check_priming(context, &answer.exchange);
            check_buffering(context, &answer.exchange);
        }
    }
    check_event_ids(context, answers.iter().map(|it| &it.exchange));
    let reason = "no response came as an event stream";
    let open = RULES.into_iter().filter(|rule| !context.outcomes().has(*rule));
    let open: Vec<Rule> = open.collect();
    match answers.iter().any(|it| it.exchange.is_stream()) {
        true => leave_out(context, &open, "the event streams have no ids, or no end to judge"),
        false => leave_out(context, &open, reason),
    }
}

/// Returns requests that every server with the declared capabilities answers.
fn ordinary_requests(context: &Context) -> Vec<(&'static str, Value)> {
    let facts = context.facts();
    let mut requests = vec![(harmless_method(context.revision), json!({}))];
    let lists =
        [("tools", "tools/list"), ("resources", "resources/list"), ("prompts", "prompts/list")];
    let declared = lists.into_iter().filter(|(capability, _)| facts.declares(capability));
    requests.extend(declared.map(|(_, method)| (method, json!({}))));
    let uri = facts.resources.first().map(|it| &it["uri"]);
    requests.extend(uri.map(|uri| ("resources/read", json!({"uri": uri}))));
    requests
}

/// Returns a request of the session, or one without a session.
pub(super) fn message(
    revision: Revision,
    session: Option<&Session>,
    id: Value,
    method: &str,
    params: Value,
) -> RawRequest {
    match session {
        Some(session) => session.post(&request(id, method, Some(params))),
        None => modern_body(request(id, method, Some(with_metadata(params, revision)))),
    }
}

/// Returns the call of a tool with a progress token, which is the id of the request.
pub(super) fn call(
    context: &Context,
    server: &HttpServer,
    session: Option<&Session>,
    tool: &CallableTool,
) -> (Value, RawRequest) {
    let id = server.next_id();
    let mut params = json!({"name": tool.name, "arguments": tool.arguments});
    match session {
        Some(session) => {
            params["_meta"] = json!({"progressToken": id});
            (id.clone(), session.post(&request(id, "tools/call", Some(params))))
        }
        None => {
            let mut params = with_metadata(params, context.revision);
            params["_meta"]["progressToken"] = id.clone();
            params["_meta"]["io.modelcontextprotocol/logLevel"] = json!("debug");
            let mut sent = modern_body(request(id.clone(), "tools/call", Some(params)));
            for (name, value) in &tool.headers {
                sent = sent.with(name, value);
            }
            (id, sent)
        }
    }
}

impl Reader<'_> {
    /// Returns false if there is no response until the deadline.
    async fn send(
        &mut self,
        request: &RawRequest,
        id: Value,
        deadline: Instant,
    ) -> Result<bool, Stopped> {
        let answer = answer(self.server, request, id, deadline, self.patience).await?;
        let Some(answer) = answer else { return Ok(false) };
        if answer.stays_open() {
            self.patience = SHORT_WAIT;
        }
        self.answers.push(answer);
        Ok(true)
    }
}

impl Answer {
    fn has_response(&self) -> bool {
        self.exchange.response_to(&self.id).is_some()
    }

    /// Returns true if the stream has the response, but did not end after it.
    fn stays_open(&self) -> bool {
        let Body::Stream { ended, .. } = self.exchange.body else { return false };
        self.has_response() && !ended && self.exchange.broken.is_none()
    }
}

/// Sends a request and reads its response. Then waits some time for the end of the stream.
/// Returns `None` if there is no response until the deadline.
pub(super) async fn answer(
    server: &HttpServer,
    request: &RawRequest,
    id: Value,
    deadline: Instant,
    patience: Duration,
) -> Result<Option<Answer>, Stopped> {
    let Ok(started) = timeout_at(deadline, server.start(request)).await else { return Ok(None) };
    let mut open = started?;
    if !open.exchange().is_stream() {
        let exchange = open.read_body(deadline).await?;
        return Ok(Some(Answer { id, exchange, asked: false }));
    }
    loop {
        let exchange = open.exchange();
        if exchange.messages().iter().any(is_request) {
            return Ok(Some(Answer { id, exchange: exchange.clone(), asked: true }));
        }
        if exchange.response_to(&id).is_some() {
            let soon = Instant::now() + patience;
            while open.read_event(soon).await {}
            break;
        }
        if !open.read_event(deadline).await {
            break;
        }
    }
    Ok(Some(Answer { id, exchange: open.exchange().clone(), asked: false }))
}

/// Returns true if a message of the server asks the client something.
pub(super) fn is_request(message: &Value) -> bool {
    message.get("id").is_some() && message.get("method").is_some()
}

/// Opens a subscription, whose response is always a stream. Returns its beginning.
async fn listen(context: &Context, server: &HttpServer) -> Option<Exchange> {
    if !context.revision.is_modern() {
        return None;
    }
    let filter = json!({
        "toolsListChanged": true, "promptsListChanged": true, "resourcesListChanged": true,
    });
    let params = json!({"notifications": filter});
    let method = "subscriptions/listen";
    let request = message(context.revision, None, server.next_id(), method, params);
    let open = server.start(&request).await.ok()?;
    open.exchange().is_stream().then(|| open.exchange().clone())
}

fn check_content_type(context: &Context, exchange: &Exchange) {
    let rule = Rule::WrongContentType;
    let is_json = exchange.content_type().eq_ignore_ascii_case("application/json");
    if !exchange.is_success() || exchange.is_stream() || is_json {
        return context.pass(rule);
    }
    context.fail(rule, wrong_content_type(exchange));
}

/// Describes a response to a request that is neither JSON nor an event stream.
pub(super) fn wrong_content_type(exchange: &Exchange) -> Finding {
    let found = match exchange.content_type() {
        _ if exchange.is_empty() => "has no body".to_owned(),
        "" => "has no `Content-Type`".to_owned(),
        found => format!("is `{found}`"),
    };
    let expected = "expected a response to a request as `application/json` or `text/event-stream`";
    Finding::new(format!("{expected}; the server's {found}")).with_frames(exchange.shown())
}

async fn check_end(
    context: &Context,
    server: &HttpServer,
    session: Option<&Session>,
    answer: &Answer,
) {
    let Answer { exchange, asked, .. } = answer;
    let Body::Stream { ended, .. } = exchange.body else { return };
    if *asked {
        return;
    }
    if answer.has_response() {
        context.pass(Rule::StreamWithoutResponse);
    }
    if answer.stays_open() {
        let message = "expected the end of the event stream after the response; \
                       the server keeps it open";
        context.fail(Rule::OpenStream, Finding::new(message).with_frames(exchange.shown()));
    } else if answer.has_response() {
        context.pass(Rule::OpenStream);
    }
    if answer.has_response() || !ended && exchange.broken.is_none() {
        return;
    }
    // Since 2025-11-25 a server may close the connection, and continue the stream when the
    // client resumes it (basic/transports#sending-messages-to-the-server).
    if context.revision == Revision::V2025_11_25
        && let Some(session) = session
        && continues(server, session, answer).await
    {
        return context.pass(Rule::StreamWithoutResponse);
    }
    let message = "expected the response on the event stream of its request; \
                   the server ended the stream without it";
    context.fail(Rule::StreamWithoutResponse, Finding::new(message).with_frames(exchange.shown()));
}

/// Returns true if the response comes when the stream is resumed.
async fn continues(server: &HttpServer, session: &Session, answer: &Answer) -> bool {
    let deadline = Instant::now() + server.timeout();
    let mut events = answer.exchange.events().to_vec();
    loop {
        let last_id = events.iter().rev().find_map(|it| it.id.clone()).filter(|it| !it.is_empty());
        let Some(last_id) = last_id else { return false };
        let retry = events.iter().rev().find_map(|it| it.retry);
        let pause = retry.unwrap_or(Duration::from_millis(100)).max(Duration::from_millis(10));
        if Instant::now() + pause >= deadline {
            return false;
        }
        tokio::time::sleep(pause).await;
        let request = session.get().with("last-event-id", &last_id);
        let Ok(mut open) = server.start(&request).await else { return false };
        if !open.exchange().is_stream() {
            return false;
        }
        while open.exchange().response_to(&answer.id).is_none() && open.read_event(deadline).await {
        }
        if open.exchange().response_to(&answer.id).is_some() {
            return true;
        }
        events.extend_from_slice(open.exchange().events());
    }
}

/// A stream with ids begins with an event that has an id and no data.
fn check_priming(context: &Context, exchange: &Exchange) {
    let events = exchange.events();
    let has_ids = events.iter().any(|it| it.id.as_ref().is_some_and(|id| !id.is_empty()));
    let Some(first) = events.first().filter(|_| has_ids) else { return };
    let has_id = first.id.as_ref().is_some_and(|id| !id.is_empty());
    if has_id && first.data.as_ref().is_none_or(Vec::is_empty) {
        return context.pass(Rule::MissingPriming);
    }
    let message = "expected an event with an id and empty data at the start of a stream with ids; \
                   the stream starts with another event";
    context.fail(Rule::MissingPriming, Finding::new(message).with_frames(exchange.shown()));
}

/// The ids of events are unique in a session, over all streams.
pub(super) fn check_event_ids<'a>(context: &Context, streams: impl Iterator<Item = &'a Exchange>) {
    let mut seen = HashSet::new();
    for stream in streams {
        let ids = stream.events().iter().filter_map(|it| it.id.as_deref());
        for id in ids.filter(|id| !id.is_empty()) {
            if seen.insert(id) {
                continue;
            }
            let message = format!("an earlier event of the session has the id {id:?}");
            let finding = Finding::new(message).with_frames(stream.shown());
            return context.fail(Rule::DuplicateEventId, finding);
        }
    }
    if !seen.is_empty() {
        context.pass(Rule::DuplicateEventId);
    }
}

fn check_buffering(context: &Context, exchange: &Exchange) {
    let found = exchange.header("x-accel-buffering");
    if found.is_some_and(|it| it.trim().eq_ignore_ascii_case("no")) {
        return context.pass(Rule::BufferedStream);
    }
    let message = "expected the header `X-Accel-Buffering: no` on an event stream";
    let message = match found {
        Some(found) => format!("{message}; the server sent `{found}`"),
        None => format!("{message}; the server sent none"),
    };
    context.fail(Rule::BufferedStream, Finding::new(message).with_frames(exchange.shown()));
}
