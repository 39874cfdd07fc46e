//! Questions to the client, in the way of each era: up to 2025-11-25 by
//! requests, since then by a result that asks for input and a request that
//! comes back.

use std::sync::Arc;

use futures_util::future::join_all;
use serde_json::{Map, Value, json};
use sparring_peer::client::Question as What;
use sparring_peer::server::{Context, Failure, InputRequired};
use sparring_wire::{ErrorObject, Side};

use super::facts::Facts;
use super::pending::Paused;
use super::perform::{Asked, render};
use super::{Mock, value_of};
use crate::model::{Question, Reply, Round};

/// The answers, or why a question has none.
type Answers = Result<Map<String, Value>, String>;

impl Mock {
    /// The request on hold that the client comes back to, if it does.
    pub(super) fn resume(
        &self,
        asked: &Asked<'_>,
        cx: &Context,
    ) -> Result<Option<Paused>, ErrorObject> {
        let Some(ticket) = cx.request_state().filter(|_| cx.revision().is_modern()) else {
            return Ok(None);
        };
        let paused = self.pending.take(&ticket).filter(|paused| {
            paused.method == cx.method()
                && paused.id == asked.entry.id
                && paused.args == *asked.args()
        });
        match paused {
            Some(paused) => Ok(Some(paused)),
            None => {
                let message = "requestState: not given by this server, altered, used before, \
                               or of another request";
                Err(ErrorObject::invalid_params(message))
            }
        }
    }

    /// Asks what a reply asks, round by round.
    pub(super) async fn ask(
        &self,
        asked: &Asked<'_>,
        (reply, number): (&Arc<Reply>, u64),
        resumed: Option<Paused>,
        cx: &Context,
    ) -> Result<Answers, Failure> {
        let rounds = &reply.ask;
        if rounds.is_empty() {
            return Ok(Ok(Map::new()));
        }
        match cx.revision().is_modern() {
            true => {
                let fresh = || Paused {
                    scene: Arc::clone(asked.scene),
                    method: cx.method().to_owned(),
                    id: asked.entry.id.clone(),
                    args: asked.args().clone(),
                    reply: Arc::clone(reply),
                    number,
                    round: 0,
                    answers: Map::new(),
                };
                self.ask_by_result(rounds, resumed.unwrap_or_else(fresh), asked, cx).map(Ok)
            }
            false => self.ask_by_requests(rounds, asked, number, cx).await,
        }
    }

    async fn ask_by_requests(
        &self,
        rounds: &[Round],
        asked: &Asked<'_>,
        number: u64,
        cx: &Context,
    ) -> Result<Answers, Failure> {
        let mut answers = Map::new();
        for round in rounds {
            let before = Value::Object(answers.clone());
            let facts = Facts { asked, cx, number, answers: &before };
            let mut questions = Vec::new();
            for (name, question) in possible(round, cx) {
                let params = render(&question.params, &facts)?;
                questions.push(async move {
                    (name, question, cx.ask(name, question.what, params).await)
                });
            }
            for (name, question, answer) in join_all(questions).await {
                match answer {
                    Ok(answer) => answers.insert(name.clone(), value_of(answer.view())),
                    Err(failure) => {
                        return Ok(Err(format!(
                            "{} was not answered: {failure}",
                            question.what.method()
                        )));
                    }
                };
            }
        }
        Ok(Ok(answers))
    }

    fn ask_by_result(
        &self,
        rounds: &[Round],
        mut paused: Paused,
        asked: &Asked<'_>,
        cx: &Context,
    ) -> Result<Map<String, Value>, Failure> {
        // Only the round that waits is answered; what is given for a later one
        // is not asked yet.
        let mut given = given(cx)?;
        while let Some(round) = rounds.get(paused.round) {
            let mut missing = Map::new();
            let before = Value::Object(paused.answers.clone());
            let facts = Facts { asked, cx, number: paused.number, answers: &before };
            for (name, question) in possible(round, cx) {
                if paused.answers.contains_key(name) {
                    continue;
                }
                match given.remove(name).filter(|answer| answers(question.what, answer)) {
                    Some(answer) => {
                        paused.answers.insert(name.clone(), answer);
                    }
                    None => {
                        let params = render(&question.params, &facts)?;
                        let request = json!({"method": question.what.method(), "params": params});
                        missing.insert(name.clone(), request);
                    }
                }
            }
            if !missing.is_empty() {
                let state = Some(self.pending.keep(paused));
                return Err(Failure::InputRequired(InputRequired { requests: missing, state }));
            }
            paused.round += 1;
            given.clear();
        }
        Ok(paused.answers)
    }
}

/// The questions that the revision has and that the client says it can answer.
fn possible<'a>(
    round: &'a Round,
    cx: &'a Context,
) -> impl Iterator<Item = (&'a String, &'a Question)> {
    let revision = cx.revision();
    let exists = move |what: What| {
        revision.is_modern() || revision.request(Side::Server, what.method()).is_some()
    };
    let can = |what: What| what.capability().is_none_or(|capability| cx.client_has(capability));
    round
        .iter()
        .filter(move |(_, question)| exists(question.what) && can(question.what))
        .map(|(name, it)| (name, it))
}

/// What the client gives with a request that comes back.
fn given(cx: &Context) -> Result<Map<String, Value>, ErrorObject> {
    match cx.params().and_then(|params| params.get("inputResponses")).map(value_of) {
        None => Ok(Map::new()),
        Some(Value::Object(given)) => Ok(given),
        Some(_) => Err(ErrorObject::invalid_params("inputResponses: expected an object")),
    }
}

/// Whether a value can be the answer to such a question.
fn answers(what: What, answer: &Value) -> bool {
    let text = |key: &str| answer.get(key).and_then(Value::as_str);
    match what {
        What::Elicitation => {
            text("action").is_some_and(|action| ["accept", "decline", "cancel"].contains(&action))
        }
        What::Sampling => text("role").is_some() && answer.get("content").is_some(),
        What::Roots => answer.get("roots").is_some_and(Value::is_array),
        What::Method(_) => answer.is_object(),
    }
}
