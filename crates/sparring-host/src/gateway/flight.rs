//! A request on its way to a server and back, with all that comes before its
//! answer.
//!
//! Up to 2025-11-25 a client is asked while its request waits. Since 2026-07-28
//! its request ends with the question, and it comes back with the answer; the
//! server's request stays in flight meanwhile, and is never made twice.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::Arc;

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use serde_json::{Map, Value, json};
use sparring_peer::client::{Answering, InFlight, LogMessage, Progress, Question, RequestBuilder};
use sparring_peer::server::{Answer, Context, Failure, InputRequired};
use sparring_wire::{ErrorObject, Json, RawJson};
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

use super::parked::LONG;
use super::passing;
use crate::manager::Connection;

type Outcome = Result<RawJson, ErrorObject>;

/// How much may wait to be passed on for one request.
pub(super) const MOST_SAID: usize = 256;

/// A request in flight. Dropped, it is cancelled.
pub(super) struct Flight {
    connection: Connection,
    call: InFlight,
    said: mpsc::Receiver<Box<Said>>,
    /// What the client was asked and has to come back with, by our names for it.
    asked: BTreeMap<String, oneshot::Sender<Outcome>>,
    /// How much it was asked so far.
    questions: usize,
}

/// Where a request has come to.
pub(super) enum Landed {
    /// To its end.
    Answered(Answer),
    /// To what the client has to answer first, and come back with.
    Asks(Map<String, Value>),
}

/// What comes before the answer. Channels carry it in a box: most requests have
/// none of it, and a channel allocates room for 32 items at once.
pub(super) enum Said {
    Progress(Progress),
    Log(LogMessage),
    Asked(Asked),
}

/// What the server asks.
pub(super) struct Asked {
    question: Question,
    params: Value,
    /// Closed when the server does not want to know any more.
    reply: oneshot::Sender<Outcome>,
}

impl Flight {
    /// Makes the request; what comes before its answer goes through that channel.
    pub(super) fn start(
        connection: Connection,
        request: RequestBuilder,
        party: u64,
        (tell, said): (mpsc::Sender<Box<Said>>, mpsc::Receiver<Box<Said>>),
        cx: &Context,
    ) -> Flight {
        let request = match cx.wants_progress() {
            false => request,
            true => {
                let tell = tell.clone();
                // Progress that is too much is left out.
                request.on_progress(move |progress| {
                    drop(tell.try_send(Said::Progress(progress).into()))
                })
            }
        };
        let request = request.answered_by(party, Arc::new(Asking(tell)));
        let (asked, questions) = (BTreeMap::new(), 0);
        Flight { connection, call: request.start(), said, asked, questions }
    }

    /// Goes on until there is an answer, or until the client has to come back
    /// with one of its own.
    pub(super) async fn go_on(&mut self, cx: &Context) -> Landed {
        let mut asking = FuturesUnordered::new();
        loop {
            let said = tokio::select! {
                biased;
                Some(said) = self.said.recv() => said,
                Some(()) = asking.next() => continue,
                answer = &mut self.call => {
                    // Said on another thread, just before. Who asked something there is
                    // told that nobody answers.
                    while let Ok(said) = self.said.try_recv() {
                        drop(pass_on(said, cx));
                    }
                    return Landed::Answered(passing::answer(self.connection.server(), answer));
                }
            };
            match pass_on(said, cx) {
                None => {}
                Some(asked) if cx.revision().is_modern() => {
                    if let Some(requests) = self.ask_by_result(asked, cx) {
                        return Landed::Asks(requests);
                    }
                }
                Some(asked) => asking.push(ask_by_request(asked, cx)),
            }
        }
    }

    /// Passes on what the client came back with.
    pub(super) fn answered(&mut self, cx: &Context) {
        let given = cx.params().and_then(|params| params.get("inputResponses"));
        for (key, reply) in std::mem::take(&mut self.asked) {
            let answer = given.and_then(|given| given.get(&key)).map(RawJson::from);
            let none = || ErrorObject::invalid_params(format!("inputResponses has no `{key}`"));
            // The server may not want to know any more.
            let _ = reply.send(answer.ok_or_else(none));
        }
    }

    /// What the client has to answer: this, and whatever else is asked by now.
    fn ask_by_result(&mut self, first: Asked, cx: &Context) -> Option<Map<String, Value>> {
        let mut requests = Map::new();
        let mut next = Some(first);
        while let Some(Asked { question, params, reply }) = next.take() {
            match question.capability().map_or(Ok(()), |capability| cx.require(capability)) {
                Err(failure) => drop(reply.send(Err(error(failure)))),
                Ok(()) => {
                    self.questions += 1;
                    let key = format!("question-{}", self.questions);
                    let request = json!({"method": question.method(), "params": params});
                    requests.insert(key.clone(), request);
                    self.asked.insert(key, reply);
                }
            }
            let mut said = std::iter::from_fn(|| self.said.try_recv().ok());
            next = said.find_map(|said| pass_on(said, cx));
        }
        (!requests.is_empty()).then_some(requests)
    }
}

/// Asks the client what the server asks.
struct Asking(mpsc::Sender<Box<Said>>);

impl Answering for Asking {
    fn answer(
        &self,
        method: &str,
        params: RawJson,
    ) -> Pin<Box<dyn Future<Output = Outcome> + Send>> {
        let asked = ask(&self.0, method, &params);
        Box::pin(async move {
            let gone = |_| Err(ErrorObject::internal("the client is gone"));
            let late = |_| Err(ErrorObject::internal("the client did not come back"));
            // The server's time stands still meanwhile, so there must be an end.
            let answer = timeout(LONG, asked?).await;
            answer.map_or_else(late, |answer| answer.unwrap_or_else(gone))
        })
    }
}

/// Passes on what is only to be told; gives back what is to be answered.
fn pass_on(said: Box<Said>, cx: &Context) -> Option<Asked> {
    match *said {
        Said::Progress(it) => cx.progress(it.progress, it.total, it.message.as_deref()),
        Said::Log(it) => tell(&it, cx),
        Said::Asked(asked) => return Some(asked),
    }
    None
}

fn tell(message: &LogMessage, cx: &Context) {
    let data: Value = message.data.view().to().unwrap_or_default();
    cx.log_as(message.logger.as_deref(), message.level, &data);
}

/// Passes a question on; what comes of it is told there.
fn ask(
    tell: &mpsc::Sender<Box<Said>>,
    method: &str,
    params: &RawJson,
) -> Result<oneshot::Receiver<Outcome>, ErrorObject> {
    let known = [Question::Sampling, Question::Elicitation, Question::Roots];
    let question = known.into_iter().find(|known| known.method() == method);
    let question = question.ok_or_else(|| ErrorObject::method_not_found(method))?;
    let params = params.view().to().map_err(|why| {
        ErrorObject::invalid_params(format!("the params of {method} cannot be read: {why}"))
    })?;
    let (reply, answer) = oneshot::channel();
    let asked = Asked { question, params, reply };
    let full = |_| ErrorObject::internal("the client is asked too much at once");
    tell.try_send(Said::Asked(asked).into()).map_err(full)?;
    Ok(answer)
}

async fn ask_by_request(asked: Asked, cx: &Context) {
    let Asked { question, params, mut reply } = asked;
    let answer = tokio::select! {
        answer = cx.ask(question.method(), question, params) => answer.map_err(error),
        () = reply.closed() => return,
    };
    let _ = reply.send(answer);
}

/// The error that a failure is; nothing is asked here that comes back otherwise.
fn error(failure: Failure) -> ErrorObject {
    match failure {
        Failure::Error(error) => error,
        Failure::InputRequired(InputRequired { .. }) => {
            ErrorObject::internal("the client must come back with an answer")
        }
    }
}

/// What a request is about, so that one is not taken for another.
pub(super) fn about(cx: &Context) -> String {
    let params = cx.params();
    let named = |name| params.and_then(|params| params.get(name)).and_then(Json::as_str);
    let what = named("name").or_else(|| named("uri")).unwrap_or_default();
    format!("{} {what}", cx.method())
}
