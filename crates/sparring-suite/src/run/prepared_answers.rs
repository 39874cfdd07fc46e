//! The answers of the current step to requests of the server.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use sparring_peer::ClientBuilder;
use sparring_peer::client::ServerRequest;
use sparring_wire::{ErrorObject, Revision, Side};

use crate::model::{AnswerOrder, Suite};

/// The answers of the current step. Cheap to clone; clones share the answers.
#[derive(Debug, Clone, Default)]
pub(super) struct PreparedAnswers(Arc<Mutex<Vec<PreparedAnswer>>>);

#[derive(Debug)]
struct PreparedAnswer {
    question: ServerRequest,
    answers: Value,
    turns: AnswerOrder,
    asked: usize,
}

impl PreparedAnswer {
    fn describe_unused(&self) -> Option<String> {
        let method = self.question.method();
        let prepared = match self.turns {
            AnswerOrder::Always => 1,
            AnswerOrder::Each => self.answers.as_array().map_or(1, Vec::len),
        };
        let times = match self.asked {
            0 => return Some(format!("the server did not send {method}, which has an `answer`")),
            asked if asked >= prepared => return None,
            1 => "once".to_owned(),
            asked => format!("{asked} times"),
        };
        Some(format!("the server sent {method} {times}, and `answer` has {prepared} answers"))
    }
}

impl PreparedAnswers {
    /// Replaces the answers by those of another step.
    pub(super) fn set(&self, answers: Vec<(ServerRequest, Value, AnswerOrder)>) {
        let prepared = answers.into_iter().map(|(question, answers, turns)| PreparedAnswer {
            question,
            answers,
            turns,
            asked: 0,
        });
        *self.lock() = prepared.collect();
    }

    /// Makes a client answer every kind of request that some test of the suite answers
    /// on this server, and declare the capability for it.
    pub(super) fn register(
        &self,
        builder: ClientBuilder,
        suite: &Suite,
        server: usize,
    ) -> ClientBuilder {
        let mut questions: Vec<ServerRequest> = Vec::new();
        for (question, _, _) in suite.steps_on(server).flat_map(|it| &it.answers.0) {
            if !questions.contains(question) {
                questions.push(*question);
            }
        }
        questions.into_iter().fold(builder, |builder, question| {
            let answers = self.clone();
            builder.answer(question, move |_| std::future::ready(answers.next(question)))
        })
    }

    /// Describes the answers for which the server has not asked, although it can ask in the
    /// revision.
    pub(super) fn describe_unused(&self, revision: Option<Revision>) -> Vec<String> {
        let can_ask = |it: &&PreparedAnswer| match (revision, it.question.capability()) {
            (Some(revision), Some(name)) => {
                revision.definition().capabilities(Side::Client).contains(&name)
            }
            _ => true,
        };
        let prepared = self.lock();
        prepared.iter().filter(can_ask).filter_map(PreparedAnswer::describe_unused).collect()
    }

    fn next(&self, question: ServerRequest) -> Result<Value, ErrorObject> {
        let mut prepared = self.lock();
        let found = prepared.iter_mut().find(|prepared| prepared.question == question);
        let answer = found.and_then(|prepared| {
            prepared.asked += 1;
            prepared.turns.pick(&prepared.answers, prepared.asked - 1)
        });
        answer.cloned().ok_or_else(|| ErrorObject::method_not_found(question.method()))
    }

    fn lock(&self) -> MutexGuard<'_, Vec<PreparedAnswer>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
