//! The streams of one session: which messages come on which, and what a resumed one repeats.

use std::time::Duration;

use futures_util::future::join_all;
use serde_json::{Value, json};
use sparring_wire::Rule;
use tokio::time::Instant;

use super::bodies::{HEAD, end};
use super::named_requests::{CallableTool, callable_tools};
use super::streams::{
    Answer, ENOUGH, GIVE_UP, MAX_TOOLS, answer, call, check_event_ids, is_request,
};
use super::{leave_out, ping};
use crate::context::{Context, ProbeResult, Stopped};
use crate::http::{
    Body, Exchange, HttpServer, OpenStream, RequestExt, Session, request, streamable,
};
use crate::verdict::Finding;

const RULES: [Rule; 3] = [Rule::Broadcast, Rule::ForeignReplay, Rule::RelatedOnListening];

/// The shortest and the longest silence after which no more events are expected.
const SILENCE: (Duration, Duration) = (Duration::from_millis(50), Duration::from_millis(500));
/// The number of responses with other messages after which no more tools are called.
const ENOUGH_STREAMS: usize = 3;
/// The longest wait for the events of one stream.
const MAX_WAIT: Duration = Duration::from_secs(1);

pub(super) async fn streams_of_a_session(context: &Context) -> ProbeResult {
    let Some(server) = streamable(context, &RULES).await else { return Ok(()) };
    let session = server.another_session().await?;
    let mut listening = Vec::new();
    for _ in 0..2 {
        match tokio::time::timeout(HEAD, server.start(&session.get())).await {
            Ok(Ok(open)) if open.exchange().is_stream() => listening.push(open),
            _ => break,
        }
    }
    let start = Instant::now();
    prepare(context, server, &session).await?;
    // A distant server needs more time to send an event.
    let silence = (start.elapsed() * 2).clamp(SILENCE.0, SILENCE.1);
    let (answers, streaming) = call_tools(context, server, &session, &mut listening).await?;
    join_all(listening.iter_mut().map(|open| read_until_silence(open, silence))).await;
    let listened: Vec<Exchange> = listening.iter().map(|it| it.exchange().clone()).collect();
    check_related(context, &listened, &answers);
    check_broadcast(context, &listened, &answers);
    // A server can move its only stream to the newest connection, with the ids that it has.
    let is_open = |it: &&Exchange| matches!(it.body, Body::Stream { ended: false, .. });
    let streams = listened.iter().filter(is_open).chain(answers.iter().map(|it| &it.exchange));
    check_event_ids(context, streams);
    let streams = Streams { server, session: &session, listened: &listened, answers: &answers };
    check_replay(context, &streams, streaming, silence).await?;
    end(server, Some(&session)).await;
    Ok(())
}

/// Makes the server send as much as it can.
async fn prepare(context: &Context, server: &HttpServer, session: &Session) -> ProbeResult {
    // Without a session, the level would hold for other connections too.
    if context.facts().declares("logging") && session.id.is_some() {
        let params = json!({"level": "debug"});
        let message = request(server.next_id(), "logging/setLevel", Some(params));
        server.send(&session.post(&message)).await?;
    }
    let changed = json!({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"});
    server.send(&session.post(&changed)).await?;
    Ok(())
}

/// Calls tools while the streams are open. Returns the responses, and a tool whose response is a
/// stream with ids.
async fn call_tools(
    context: &Context,
    server: &HttpServer,
    session: &Session,
    listening: &mut [OpenStream],
) -> Result<(Vec<Answer>, Option<CallableTool>), Stopped> {
    let mut answers = Vec::new();
    let mut streaming = None;
    for _ in 0..2 {
        let body = ping(server);
        let id = body["id"].clone();
        let deadline = Instant::now() + server.timeout();
        answers.extend(answer(server, &session.post(&body), id, deadline, Duration::ZERO).await?);
    }
    let start = Instant::now();
    for tool in callable_tools(context).into_iter().take(MAX_TOOLS) {
        let has_more = |it: &&Answer| it.exchange.messages().len() > 1;
        let is_enough = answers.iter().filter(has_more).count() >= ENOUGH_STREAMS;
        if is_enough || start.elapsed() > ENOUGH {
            break;
        }
        let (id, request) = call(context, server, Some(session), &tool);
        let answered = tokio::select! {
            answered = answer(server, &request, id, start + GIVE_UP, Duration::ZERO) => answered?,
            // The call waits for an answer on another stream, so it would not end.
            () = until_asked(listening) => continue,
        };
        let Some(answered) = answered else { break };
        if first_id(&answered.exchange).is_some() && streaming.is_none() {
            streaming = Some(tool);
        }
        answers.push(answered);
    }
    Ok((answers, streaming))
}

/// Reads the streams until the server asks something that belongs to a call.
async fn until_asked(listening: &mut [OpenStream]) {
    loop {
        for open in listening.iter_mut() {
            while open.read_event(Instant::now() + Duration::from_millis(5)).await {}
        }
        if listening.iter().any(|it| it.exchange().messages().iter().any(asks_for_a_call)) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Returns true for requests that a server only sends while it handles a request.
fn asks_for_a_call(message: &Value) -> bool {
    let method = message["method"].as_str().unwrap_or_default();
    is_request(message) && ["sampling/createMessage", "elicitation/create"].contains(&method)
}

async fn read_until_silence(open: &mut OpenStream, silence: Duration) {
    let deadline = Instant::now() + MAX_WAIT;
    while Instant::now() < deadline && open.read_event(Instant::now() + silence).await {}
}

/// Messages that belong to a request come on its own stream.
fn check_related(context: &Context, listened: &[Exchange], answers: &[Answer]) {
    let rule = Rule::RelatedOnListening;
    if listened.is_empty() {
        return leave_out(context, &[rule], "the server offers no stream for GET requests");
    }
    let belongs = |message: &Value| {
        asks_for_a_call(message) || answers.iter().any(|it| has_token(message, &it.id))
    };
    if let Some(found) = listened.iter().find(|it| it.messages().iter().any(belongs)) {
        let message = "expected messages that belong to a request on the stream of this request; \
                       one came on the stream of a GET request";
        context.fail(rule, Finding::new(message).with_frames(found.shown()));
        return;
    }
    let messages = |it: &Answer| it.exchange.messages().iter().any(|it| it.get("method").is_some());
    match answers.iter().any(messages) {
        true => context.pass(rule),
        false => leave_out(context, &[rule], "no tool call made the server send another message"),
    }
}

/// Each message comes on one stream.
fn check_broadcast(context: &Context, listened: &[Exchange], answers: &[Answer]) {
    let rule = Rule::Broadcast;
    if listened.is_empty() {
        return leave_out(context, &[rule], "the server offers no stream for GET requests");
    }
    for (index, stream) in listened.iter().enumerate() {
        let own = stream.messages();
        let others = listened[index + 1..].iter().chain(answers.iter().map(|it| &it.exchange));
        for other in others.filter(|it| it.is_stream()) {
            if other.messages().iter().any(|message| own.contains(message)) {
                let message = "expected each message on only one stream; \
                               the server sent the same message on two streams";
                let shown = stream.shown().into_iter().chain(other.shown());
                context.fail(rule, Finding::new(message).with_frames(shown));
                return;
            }
        }
    }
    let streams = listened.iter().chain(answers.iter().map(|it| &it.exchange));
    let sent = streams.filter(|it| it.is_stream()).any(|it| !it.messages().is_empty());
    match sent {
        true => context.pass(rule),
        false => leave_out(context, &[rule], "the server sent no message on a stream"),
    }
}

/// Everything that was sent in one session.
struct Streams<'a> {
    server: &'a HttpServer,
    session: &'a Session,
    /// The streams of GET requests.
    listened: &'a [Exchange],
    answers: &'a [Answer],
}

async fn check_replay(
    context: &Context,
    streams: &Streams<'_>,
    streaming: Option<CallableTool>,
    silence: Duration,
) -> ProbeResult {
    let Streams { server, session, listened, answers } = *streams;
    let rule = Rule::ForeignReplay;
    let with_ids = |it: &&Answer| first_id(&it.exchange).is_some();
    let resumed = match &streaming {
        Some(tool) => answers.iter().rev().filter(with_ids).find(|it| {
            // The call of this tool, and not one of a ping.
            it.exchange.sent.contains(&tool.name)
        }),
        None => answers.iter().find(with_ids),
    };
    let Some(resumed) = resumed else {
        leave_out(context, &[rule], "the server's streams have no event ids");
        return Ok(());
    };
    let last_id = first_id(&resumed.exchange).unwrap_or_default();
    // Another stream, of which nothing may be repeated.
    let (id, request) = match &streaming {
        Some(tool) => call(context, server, Some(session), tool),
        None => {
            let body = ping(server);
            (body["id"].clone(), session.post(&body))
        }
    };
    let deadline = Instant::now() + server.timeout();
    let other = answer(server, &request, id, deadline, Duration::ZERO).await?;
    let stranger = match &session.id {
        Some(_) => Some(server.another_session().await?),
        None => None,
    };
    let (repeated, foreign) = tokio::join!(
        replay(server, Some(session), last_id, silence),
        replay(server, stranger.as_ref(), last_id, silence),
    );
    let own = resumed.exchange.messages();
    let elsewhere = listened.iter().flat_map(Exchange::messages);
    let is_own = |message: &Value| own.contains(message) || has_token(message, &resumed.id);
    let elsewhere: Vec<Value> = elsewhere.filter(|it| !is_own(it)).collect();
    let belongs = |message: &Value, to: &Answer| {
        answers_request(message, &to.id) || has_token(message, &to.id)
    };
    let of_session = || answers.iter().chain(&other);
    let is_foreign = |message: &Value| {
        let mut others = of_session().filter(|it| it.id != resumed.id);
        others.any(|it| belongs(message, it)) || elsewhere.contains(message)
    };
    report_replay(context, repeated?, "that belong to its own requests", is_foreign);
    let is_foreign = |message: &Value| of_session().any(|it| belongs(message, it));
    report_replay(context, foreign?, "of its own session", is_foreign);
    end(server, stranger.as_ref()).await;
    Ok(())
}

/// Resumes a stream after this event, and reads what the server sends at once.
async fn replay(
    server: &HttpServer,
    session: Option<&Session>,
    last_id: &str,
    silence: Duration,
) -> Result<Option<Exchange>, Stopped> {
    let Some(session) = session else { return Ok(None) };
    let mut open = server.start(&session.get().with("last-event-id", last_id)).await?;
    read_until_silence(&mut open, silence).await;
    Ok(Some(open.exchange().clone()))
}

fn report_replay(
    context: &Context,
    repeated: Option<Exchange>,
    whose: &str,
    is_foreign: impl Fn(&Value) -> bool,
) {
    let rule = Rule::ForeignReplay;
    let Some(repeated) = repeated else { return };
    if repeated.messages().iter().any(is_foreign) {
        let message =
            format!("expected only messages {whose} on a resumed stream; the server sent others");
        context.fail(rule, Finding::new(message).with_frames(repeated.shown()));
    } else {
        context.pass(rule);
    }
}

/// Returns the first id of an event in a stream.
fn first_id(exchange: &Exchange) -> Option<&str> {
    exchange.events().iter().find_map(|it| it.id.as_deref()).filter(|id| !id.is_empty())
}

fn answers_request(message: &Value, id: &Value) -> bool {
    message["id"] == *id && message.get("method").is_none()
}

fn has_token(message: &Value, id: &Value) -> bool {
    message["method"] == "notifications/progress" && message["params"]["progressToken"] == *id
}
