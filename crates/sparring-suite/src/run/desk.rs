//! Where the answers of the current step lie when the server asks.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use sparring_peer::ClientBuilder;
use sparring_peer::client::Question;
use sparring_wire::ErrorObject;

use crate::model::{Suite, Turns};

/// The answers that lie ready. Cheap to clone; all clones are one.
#[derive(Debug, Clone, Default)]
pub(super) struct Desk(Arc<Mutex<Vec<Ready>>>);

#[derive(Debug)]
struct Ready {
    question: Question,
    answers: Value,
    turns: Turns,
    asked: usize,
}

impl Desk {
    /// Puts the answers of a step there, instead of those of the one before.
    pub(super) fn set(&self, answers: Vec<(Question, Value, Turns)>) {
        let ready = answers.into_iter().map(|(question, answers, turns)| Ready {
            question,
            answers,
            turns,
            asked: 0,
        });
        *self.ready() = ready.collect();
    }

    /// A client that answers from here whatever some test of the suite answers
    /// on this server; to that, it says it is able.
    pub(super) fn give_to(
        &self,
        builder: ClientBuilder,
        suite: &Suite,
        server: usize,
    ) -> ClientBuilder {
        let mut questions: Vec<Question> = Vec::new();
        for (question, _, _) in suite.steps_on(server).flat_map(|it| &it.answers.0) {
            if !questions.contains(question) {
                questions.push(*question);
            }
        }
        questions.into_iter().fold(builder, |builder, question| {
            let desk = self.clone();
            builder.answer(question, move |_| std::future::ready(desk.take(question)))
        })
    }

    fn take(&self, question: Question) -> Result<Value, ErrorObject> {
        let mut ready = self.ready();
        let found = ready.iter_mut().find(|ready| ready.question == question);
        let answer = found.and_then(|ready| {
            ready.asked += 1;
            ready.turns.pick(&ready.answers, ready.asked - 1)
        });
        answer.cloned().ok_or_else(|| ErrorObject::method_not_found(question.method()))
    }

    fn ready(&self) -> MutexGuard<'_, Vec<Ready>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
