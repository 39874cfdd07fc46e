//! What this side answers when the server asks: sampling, elicitation, roots.

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use serde_json::{Map, Value, json};
use sparring_wire::json::tree;
use sparring_wire::{ErrorObject, Json, RawJson};

/// What a server asks of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Question {
    /// `sampling/createMessage`
    Sampling,
    /// `elicitation/create`
    Elicitation,
    /// `roots/list`
    Roots,
    /// Any other method, as one of 2025-11-25's tasks.
    Method(&'static str),
}

impl Question {
    /// The method it is asked by.
    pub fn method(self) -> &'static str {
        match self {
            Question::Sampling => "sampling/createMessage",
            Question::Elicitation => "elicitation/create",
            Question::Roots => "roots/list",
            Question::Method(method) => method,
        }
    }

    /// The capability that a client declares by answering it, where it is known.
    pub fn capability(self) -> Option<&'static str> {
        match self {
            Question::Sampling => Some("sampling"),
            Question::Elicitation => Some("elicitation"),
            Question::Roots => Some("roots"),
            Question::Method(_) => None,
        }
    }
}

/// Accepts an elicitation with what its schema has for defaults (since
/// 2025-11-25, client/elicitation), and with nothing for other fields.
pub fn accept_with_defaults(params: &RawJson) -> Value {
    let properties = params.view().at(&["requestedSchema", "properties"]);
    let defaults =
        properties.unwrap_or(Json::EMPTY_OBJECT).members().filter_map(|(name, property)| {
            let default = tree(property.get("default")?.bytes()).ok()?;
            Some((name.name().into_owned(), default))
        });
    let content: Map<String, Value> = defaults.collect();
    json!({"action": "accept", "content": content})
}

pub(super) type Answer = Pin<Box<dyn Future<Output = Result<RawJson, ErrorObject>> + Send>>;
type Begin = Arc<dyn Fn(RawJson) -> Answer + Send + Sync>;

/// Answers what a server asks because of one request, whatever it is.
pub trait Answering: Send + Sync {
    /// Begins to answer.
    fn answer(
        &self,
        method: &str,
        params: RawJson,
    ) -> Pin<Box<dyn Future<Output = Result<RawJson, ErrorObject>> + Send>>;
}

/// Who answers which question.
#[derive(Clone, Default)]
pub(super) struct Answers(HashMap<Question, Begin>);

/// Who answers what is asked for one request, whatever it is.
#[derive(Clone)]
pub(super) struct Answerer {
    /// For whom the request was made.
    pub(super) party: u64,
    pub(super) by: Arc<dyn Answering>,
}

impl Answerer {
    pub(super) fn ask(&self, method: &str, params: Option<RawJson>) -> Answer {
        self.by.answer(method, params.unwrap_or_else(RawJson::empty_object))
    }
}

impl Answers {
    pub(super) fn set<F, Fut>(&mut self, question: Question, answerer: F)
    where
        F: Fn(RawJson) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Value, ErrorObject>> + Send + 'static,
    {
        // Called inside of what is awaited, so that a panic in it is met there.
        let answerer = Arc::new(answerer);
        let begin = move |params| -> Answer {
            let answerer = Arc::clone(&answerer);
            Box::pin(async move { answerer(params).await.map(RawJson::from) })
        };
        self.0.insert(question, Arc::new(begin));
    }

    /// Begins to answer, or says that nobody does.
    pub(super) fn ask(&self, method: &str, params: Option<RawJson>) -> Result<Answer, ErrorObject> {
        let mut answerers = self.0.iter();
        let answerer = answerers.find(|(question, _)| question.method() == method);
        let (_, answerer) = answerer.ok_or_else(|| ErrorObject::method_not_found(method))?;
        Ok(answerer(params.unwrap_or_else(RawJson::empty_object)))
    }
}
