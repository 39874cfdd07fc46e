//! A client's request that is forwarded to a server, with all messages before
//! its response.
//!
//! Up to 2025-11-25 the gateway asks the client while its request waits. Since
//! 2026-07-28 the client's request ends with the question, and the client
//! repeats it with the answer. The request to the server stays open meanwhile
//! and is never made twice.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::Arc;

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use serde_json::{Map, Value, json};
use sparring_peer::client::{
    LogMessage, PendingRequest, RequestBuilder, ServerRequest, ServerRequestHandler,
};
use sparring_peer::server::{Context, HandlerError, HandlerResult, InputRequired};
use sparring_wire::{ErrorObject, Json, RawJson};
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::message_queue::{MAX_QUEUED_BYTES, MessageReceiver, MessageSender, ServerMessage};
use super::message_rewrite;
use super::pending_input::INPUT_TIMEOUT;
use crate::manager::Connection;

type QuestionResult = Result<RawJson, ErrorObject>;

/// A forwarded request. Dropping it cancels it.
pub(super) struct ForwardedRequest {
    connection: Connection,
    call: PendingRequest,
    messages: MessageReceiver,
    /// The questions that the client must answer, by the gateway's keys.
    asked: BTreeMap<String, oneshot::Sender<QuestionResult>>,
    /// The number of questions so far.
    questions: usize,
}

/// The state in which a forwarded request stopped.
pub(super) enum ForwardOutcome {
    /// The server responded.
    Answered(HandlerResult),
    /// The client must answer these requests and repeat its own.
    InputRequired(Map<String, Value>),
}

/// A question of the server to the client.
pub(super) struct PendingQuestion {
    question: ServerRequest,
    pub(super) params: RawJson,
    /// Closed when the server no longer waits for the answer.
    reply: oneshot::Sender<QuestionResult>,
}

impl ForwardedRequest {
    /// Makes the request; messages before its response go through that channel.
    pub(super) fn start(
        connection: Connection,
        request: RequestBuilder,
        requester: u64,
        (sender, messages): (MessageSender, MessageReceiver),
        own_answers: OwnAnswers,
        cx: &Context,
    ) -> ForwardedRequest {
        let request = match cx.wants_progress() {
            false => request,
            true => {
                let sender = sender.clone();
                // Excess progress is dropped.
                request.on_progress(move |progress| {
                    drop(sender.try_send(ServerMessage::Progress(progress)))
                })
            }
        };
        let request = request.with_server_request_handler(
            requester,
            Arc::new(QuestionForwarder { sender, own_answers }),
        );
        let (asked, questions) = (BTreeMap::new(), 0);
        ForwardedRequest { connection, call: request.start(), messages, asked, questions }
    }

    /// Runs until the server responds or the client must answer a question.
    pub(super) async fn run(&mut self, cx: &Context) -> ForwardOutcome {
        let mut asking = FuturesUnordered::new();
        loop {
            let message = tokio::select! {
                biased;
                Some(message) = self.messages.recv() => message,
                Some(()) = asking.next() => continue,
                answer = &mut self.call => {
                    // Messages that arrived on another thread just before the
                    // response. Questions among them are dropped, which the
                    // server sees as an error.
                    while let Some(message) = self.messages.try_recv() {
                        drop(forward_notification(message, cx));
                    }
                    return ForwardOutcome::Answered(message_rewrite::to_answer(self.connection.server(), answer, cx));
                }
            };
            match forward_notification(message, cx) {
                None => {}
                Some(asked) if cx.revision().is_modern() => {
                    if let Some(requests) = self.collect_input_requests(asked, cx) {
                        return ForwardOutcome::InputRequired(requests);
                    }
                }
                Some(asked) => asking.push(ask_client(asked, cx)),
            }
        }
    }

    /// Delivers the answers of the client's repeated request.
    pub(super) fn deliver_answers(&mut self, cx: &Context) {
        let given = cx.params().and_then(|params| params.get("inputResponses"));
        for (key, reply) in std::mem::take(&mut self.asked) {
            let answer = given.and_then(|given| given.get(&key)).map(RawJson::from);
            let none = || ErrorObject::invalid_params(format!("inputResponses has no `{key}`"));
            // The server may no longer wait for the answer.
            let _ = reply.send(answer.ok_or_else(none));
        }
    }

    /// Collects the requests that the client must answer: this one and those that
    /// are queued, as far as their bytes allow.
    fn collect_input_requests(
        &mut self,
        first: PendingQuestion,
        cx: &Context,
    ) -> Option<Map<String, Value>> {
        let mut requests = Map::new();
        let mut bytes = 0;
        let mut next = Some(first);
        while let Some(PendingQuestion { question, params, reply }) = next.take() {
            bytes += params.text().len();
            let allowed = question
                .capability()
                .map_or(Ok(()), |capability| cx.require_capability(capability))
                .map_err(to_error);
            match allowed.and_then(|()| parse_params(question, &params)) {
                Err(error) => drop(reply.send(Err(error))),
                Ok(params) => {
                    self.questions += 1;
                    let key = format!("question-{}", self.questions);
                    let request = json!({"method": question.method(), "params": params});
                    requests.insert(key.clone(), request);
                    self.asked.insert(key, reply);
                }
            }
            // The others wait until the client has answered these.
            if bytes >= MAX_QUEUED_BYTES && !requests.is_empty() {
                break;
            }
            let mut queued = std::iter::from_fn(|| self.messages.try_recv());
            next = queued.find_map(|message| forward_notification(message, cx));
        }
        (!requests.is_empty()).then_some(requests)
    }
}

/// The gateway's own answers for a client that does not declare the capability. A server with
/// a handshake gets the capabilities once for all clients, so it may ask any of them.
pub(super) struct OwnAnswers {
    /// The result of `roots/list`.
    pub(super) roots: Option<RawJson>,
    /// True if forms and pages are cancelled, so that a tool can do without an answer.
    pub(super) cancels_elicitation: bool,
}

impl OwnAnswers {
    fn get(&self, method: &str) -> Option<RawJson> {
        if method == ServerRequest::Roots.method() {
            return self.roots.clone();
        }
        let cancels = self.cancels_elicitation && method == ServerRequest::Elicitation.method();
        cancels.then(|| json!({"action": "cancel"}).into())
    }
}

/// Answers the server's questions by asking the client.
struct QuestionForwarder {
    sender: MessageSender,
    own_answers: OwnAnswers,
}

impl ServerRequestHandler for QuestionForwarder {
    fn answer(
        &self,
        method: &str,
        params: RawJson,
    ) -> Pin<Box<dyn Future<Output = QuestionResult> + Send>> {
        if let Some(answer) = self.own_answers.get(method) {
            return Box::pin(std::future::ready(Ok(answer)));
        }
        let asked = queue_question(&self.sender, method, &params);
        Box::pin(async move {
            let gone = |_| Err(ErrorObject::internal("the client is gone"));
            let late = |_| Err(ErrorObject::internal("the client did not answer in time"));
            // The server's timeout is paused meanwhile, so the wait must be
            // bounded.
            let answer = timeout(INPUT_TIMEOUT, asked?).await;
            answer.map_or_else(late, |answer| answer.unwrap_or_else(gone))
        })
    }
}

/// Forwards a notification; returns a question.
fn forward_notification(message: ServerMessage, cx: &Context) -> Option<PendingQuestion> {
    match message {
        ServerMessage::Progress(it) => cx.progress(it.progress, it.total, it.message.as_deref()),
        ServerMessage::Log(it) => forward_log(&it, cx),
        ServerMessage::Question(asked) => return Some(asked),
    }
    None
}

fn forward_log(message: &LogMessage, cx: &Context) {
    let data: Value = message.data.view().deserialize().unwrap_or_default();
    cx.log_as(message.logger.as_deref(), message.level, &data);
}

/// Queues a question for the client; returns the receiver of the answer.
fn queue_question(
    sender: &MessageSender,
    method: &str,
    params: &RawJson,
) -> Result<oneshot::Receiver<QuestionResult>, ErrorObject> {
    let known = [ServerRequest::Sampling, ServerRequest::Elicitation, ServerRequest::Roots];
    let question = known.into_iter().find(|known| known.method() == method);
    let question = question.ok_or_else(|| ErrorObject::method_not_found(method))?;
    let (reply, answer) = oneshot::channel();
    let asked = PendingQuestion { question, params: params.clone(), reply };
    let full = |_| ErrorObject::internal("too many or too large open questions to the client");
    sender.try_send(ServerMessage::Question(asked)).map_err(full)?;
    Ok(answer)
}

fn parse_params(question: ServerRequest, params: &RawJson) -> Result<Value, ErrorObject> {
    params.view().deserialize().map_err(|why| {
        let method = question.method();
        ErrorObject::invalid_params(format!("cannot read the params of {method}: {why}"))
    })
}

async fn ask_client(asked: PendingQuestion, cx: &Context) {
    let PendingQuestion { question, params, mut reply } = asked;
    let params = match parse_params(question, &params) {
        Ok(params) => params,
        Err(error) => return drop(reply.send(Err(error))),
    };
    let answer = tokio::select! {
        answer = cx.ask(question.method(), question, params) => answer.map_err(to_error),
        () = reply.closed() => return,
    };
    let _ = reply.send(answer);
}

/// Converts a failure to an error. Questions asked here are never answered with
/// `InputRequired`.
fn to_error(failure: HandlerError) -> ErrorObject {
    match failure {
        HandlerError::Error(error) => error,
        HandlerError::InputRequired(InputRequired { .. }) => {
            ErrorObject::internal("the client must repeat its request with an answer")
        }
    }
}

/// The method and the name or URI of a request, to check that a repeated
/// request is the same one.
pub(super) fn request_subject(cx: &Context) -> String {
    let params = cx.params();
    let named = |name| params.and_then(|params| params.get(name)).and_then(Json::as_str);
    let what = named("name").or_else(|| named("uri")).unwrap_or_default();
    format!("{} {what}", cx.method())
}
