//! Asks the client questions: up to 2025-11-25 by requests, since then by a result that asks for
//! input, after which the client repeats its request.

use std::sync::Arc;

use futures_util::future::join_all;
use serde_json::{Map, Value, json};
use sparring_peer::client::ServerRequest as QuestionKind;
use sparring_peer::server::{Context, HandlerError, InputRequired};
use sparring_wire::{ErrorObject, Side};

use super::answer::{EntryRequest, render};
use super::paused_requests::PausedRequest;
use super::template_scope::RequestScope;
use super::{MockHandler, to_value};
use crate::model::{Question, Reply, Round};

/// The answers, or the reason why a question has none.
type Answers = Result<Map<String, Value>, String>;

impl MockHandler {
    /// Returns the paused request that the client continues, if it does.
    pub(super) fn resume(
        &self,
        request: &EntryRequest<'_>,
        cx: &Context,
    ) -> Result<Option<PausedRequest>, ErrorObject> {
        let Some(request_state) = cx.request_state().filter(|_| cx.revision().is_modern()) else {
            return Ok(None);
        };
        let paused = self.paused.take(&request_state).filter(|paused| {
            paused.method == cx.method()
                && paused.id == request.entry.id
                && paused.args == self.paused.hash(request.args())
        });
        match paused {
            Some(paused) => Ok(Some(paused)),
            None => {
                let message = "requestState: unknown, altered, used before, \
                               or of another request";
                Err(ErrorObject::invalid_params(message))
            }
        }
    }

    /// Asks the questions of a reply, round by round.
    pub(super) async fn ask(
        &self,
        request: &EntryRequest<'_>,
        (reply, number): (&Arc<Reply>, u64),
        resumed: Option<PausedRequest>,
        cx: &Context,
    ) -> Result<Answers, HandlerError> {
        if reply.ask.is_empty() {
            return Ok(Ok(Map::new()));
        }
        match cx.revision().is_modern() {
            true => {
                let new_request = || PausedRequest {
                    script: Arc::clone(request.script),
                    method: cx.method().to_owned(),
                    id: request.entry.id.clone(),
                    args: self.paused.hash(request.args()),
                    reply: Arc::clone(reply),
                    number,
                    round: 0,
                    answers: Map::new(),
                };
                self.ask_by_result(resumed.unwrap_or_else(new_request), request, cx).map(Ok)
            }
            false => self.ask_by_requests(reply, request, number, cx).await,
        }
    }

    async fn ask_by_requests(
        &self,
        reply: &Reply,
        request: &EntryRequest<'_>,
        number: u64,
        cx: &Context,
    ) -> Result<Answers, HandlerError> {
        let mut answers = Map::new();
        for round in &reply.ask {
            let earlier = Value::Object(answers.clone());
            let scope = RequestScope { request, cx, number, answers: &earlier, reply };
            let mut questions = Vec::new();
            for (name, question) in answerable_questions(round, cx) {
                let params = render(&question.params, &scope)?;
                if !client_shows(question.kind, &params, cx) {
                    continue;
                }
                questions.push(async move {
                    (name, question, cx.ask(name, question.kind, params).await)
                });
            }
            for (name, question, answer) in join_all(questions).await {
                match answer {
                    Ok(answer) => answers.insert(name.clone(), to_value(answer.view())),
                    Err(failure) => {
                        return Ok(Err(format!(
                            "{} was not answered: {failure}",
                            question.kind.method()
                        )));
                    }
                };
            }
        }
        Ok(Ok(answers))
    }

    fn ask_by_result(
        &self,
        mut paused: PausedRequest,
        request: &EntryRequest<'_>,
        cx: &Context,
    ) -> Result<Map<String, Value>, HandlerError> {
        // Only the current round can be answered; later rounds were not asked yet.
        let mut given = input_responses(cx)?;
        let reply = Arc::clone(&paused.reply);
        while let Some(round) = reply.ask.get(paused.round) {
            let mut missing = Map::new();
            let earlier = Value::Object(paused.answers.clone());
            let scope = RequestScope {
                request,
                cx,
                number: paused.number,
                answers: &earlier,
                reply: &reply,
            };
            for (name, question) in answerable_questions(round, cx) {
                if paused.answers.contains_key(name) {
                    continue;
                }
                match given.remove(name).filter(|answer| is_valid_answer(question.kind, answer)) {
                    Some(answer) => {
                        paused.answers.insert(name.clone(), answer);
                    }
                    None => {
                        let params = render(&question.params, &scope)?;
                        if !client_shows(question.kind, &params, cx) {
                            continue;
                        }
                        let request = json!({"method": question.kind.method(), "params": params});
                        missing.insert(name.clone(), request);
                    }
                }
            }
            if !missing.is_empty() {
                let state = Some(self.paused.insert(paused));
                return Err(HandlerError::InputRequired(InputRequired {
                    requests: missing,
                    state,
                }));
            }
            paused.round += 1;
            given.clear();
        }
        Ok(paused.answers)
    }
}

/// Returns true unless it is a form, and the client shows only pages (2025-11-25 and later,
/// client/elicitation#capabilities).
fn client_shows(kind: QuestionKind, params: &Value, cx: &Context) -> bool {
    let is_form = kind == QuestionKind::Elicitation && params["mode"] != "url";
    let declared = cx.client_capabilities().and_then(|it| it.get("elicitation"));
    let only_pages = declared.is_some_and(|it| it.get("url").is_some() && it.get("form").is_none());
    !(is_form && only_pages)
}

/// Returns the questions that the revision has and that the client can answer.
fn answerable_questions<'a>(
    round: &'a Round,
    cx: &'a Context,
) -> impl Iterator<Item = (&'a String, &'a Question)> {
    let revision = cx.revision();
    let revision_has = move |kind: QuestionKind| {
        revision.is_modern() || revision.request(Side::Server, kind.method()).is_some()
    };
    let client_can =
        |kind: QuestionKind| kind.capability().is_none_or(|capability| cx.client_has(capability));
    round
        .iter()
        .filter(move |(_, question)| revision_has(question.kind) && client_can(question.kind))
        .map(|(name, it)| (name, it))
}

/// Returns the input responses of a continued request.
fn input_responses(cx: &Context) -> Result<Map<String, Value>, ErrorObject> {
    match cx.params().and_then(|params| params.get("inputResponses")).map(to_value) {
        None => Ok(Map::new()),
        Some(Value::Object(given)) => Ok(given),
        Some(_) => Err(ErrorObject::invalid_params("inputResponses: expected an object")),
    }
}

/// Returns true if a value can answer a question of this kind.
fn is_valid_answer(kind: QuestionKind, answer: &Value) -> bool {
    let text = |key: &str| answer.get(key).and_then(Value::as_str);
    match kind {
        QuestionKind::Elicitation => {
            text("action").is_some_and(|action| ["accept", "decline", "cancel"].contains(&action))
        }
        QuestionKind::Sampling => text("role").is_some() && answer.get("content").is_some(),
        QuestionKind::Roots => answer.get("roots").is_some_and(Value::is_array),
        QuestionKind::Method(_) => answer.is_object(),
    }
}
