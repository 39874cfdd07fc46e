//! The answer to a step, as the values that matchers check.

use serde_json::{Map, Value, json};
use sparring_peer::Response;
use sparring_peer::client::Error;
use sparring_wire::RawJson;

use super::agent::AgentResult;
use crate::model::Aspect;

/// The kind of an error that the server sent as an answer.
pub(crate) const REFUSED: &str = "refused";

/// The kinds of errors that a step can get.
pub(crate) const ERROR_KINDS: [&str; 19] = [
    REFUSED,
    "timeout",
    "closed",
    "broken",
    "noise",
    "foreign-id",
    "wrong-answer",
    "unusable",
    "unanswered",
    "unreachable",
    "http",
    "not-authorized",
    "session-lost",
    "version-refused",
    "too-many-rounds",
    "endless-list",
    "not-acknowledged",
    "cancelled",
    "other",
];

/// The answer to a step.
#[derive(Debug)]
pub(crate) enum Answer {
    /// The result of a request.
    Result(Value),
    /// All items of a list.
    List(Vec<Value>),
    /// The error instead of a result.
    Error(Value),
    /// The result of an agent.
    Agent(Box<AgentResult>),
    /// The step sent no request.
    Nothing,
    /// The step cancelled its request as scripted.
    Cancelled,
}

impl Answer {
    /// The answer to a request.
    pub(crate) fn from_response(answered: Result<Response, Error>) -> Answer {
        match answered.and_then(|response| response.to::<Value>()) {
            Ok(result) => Answer::Result(result),
            Err(error) => Answer::from_error(&error),
        }
    }

    /// The answer to a list request.
    pub(crate) fn from_list(listed: Result<Vec<RawJson>, Error>) -> Answer {
        match listed {
            Ok(items) => {
                Answer::List(items.iter().filter_map(|it| it.view().deserialize().ok()).collect())
            }
            Err(error) => Answer::from_error(&error),
        }
    }

    /// The error of a subscription that the server accepted, but not for the requested resource.
    pub(crate) fn not_acknowledged(uri: &str) -> Answer {
        let message = format!("the server did not acknowledge the subscription to {uri}");
        Answer::Error(json!({"kind": "not-acknowledged", "message": message}))
    }

    pub(crate) fn from_error(error: &Error) -> Answer {
        let mut value = json!({"kind": error.kind(), "message": error.to_string()});
        if let Error::ErrorResponse { error, .. } = error {
            value["code"] = error.code.into();
            value["message"] = (&*error.message).into();
            if let Some(data) = &error.data {
                value["data"] = data.clone();
            }
        }
        Answer::Error(value)
    }

    /// The whole answer, for snapshots.
    pub(crate) fn whole(&self) -> Value {
        match self {
            Answer::Result(result) => result.clone(),
            Answer::List(items) => items.clone().into(),
            Answer::Error(error) => json!({"error": error}),
            Answer::Agent(_) | Answer::Nothing | Answer::Cancelled => Value::Null,
        }
    }

    /// The result, if there is one.
    pub(crate) fn result(&self) -> Option<&Value> {
        match self {
            Answer::Result(result) => Some(result),
            _ => None,
        }
    }

    /// The error, if there is one.
    pub(crate) fn error(&self) -> Option<&Value> {
        match self {
            Answer::Error(error) => Some(error),
            _ => None,
        }
    }

    /// Returns true if the error suggests that the server has ended or is about to end.
    pub(crate) fn is_unusable(&self) -> bool {
        let kinds = ["wrong-answer", "noise", "foreign-id", "broken", "closed", "unreachable"];
        self.error().is_some_and(|error| kinds.iter().any(|kind| error["kind"] == *kind))
    }

    /// The result of an agent, if the step ran one.
    pub(crate) fn agent(&self) -> Option<&AgentResult> {
        match self {
            Answer::Agent(agent) => Some(agent),
            _ => None,
        }
    }

    /// Returns true if a tool returned `isError`.
    pub(crate) fn is_error(&self) -> bool {
        self.result().and_then(|result| result.get("isError")) == Some(&Value::Bool(true))
    }

    /// The items of a list, or the values of a completion.
    pub(crate) fn list(&self) -> &[Value] {
        let values = self.result().and_then(|result| result.pointer("/completion/values"));
        match self {
            Answer::List(items) => items,
            _ => values.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default(),
        }
    }

    /// All text items in one string; for an agent, its stdout.
    pub(crate) fn text(&self) -> String {
        if let Some(agent) = self.agent() {
            return agent.stdout.clone();
        }
        let text_of = |item: &Value| -> Option<String> {
            let item = item.get("content").unwrap_or(item);
            Some(item.get("text")?.as_str()?.to_owned())
        };
        self.content().into_iter().flatten().filter_map(text_of).collect()
    }

    /// The items of a result: `content`, `contents` or `messages`.
    fn content(&self) -> Option<&Vec<Value>> {
        let result = self.result()?;
        let mut lists = ["content", "contents", "messages"].iter();
        lists.find_map(|key| result.get(key)?.as_array())
    }

    /// One aspect of the answer.
    ///
    /// # Errors
    /// When the text should be JSON and is not.
    pub(crate) fn aspect(&self, aspect: Aspect) -> Result<Option<Value>, String> {
        Ok(match aspect {
            Aspect::Text => Some(self.text().into()),
            Aspect::Json => {
                let text = self.text();
                let json = serde_json::from_str(&text);
                Some(json.map_err(|error| format!("the text is not JSON: {error}"))?)
            }
            Aspect::Structured => {
                self.result().and_then(|result| result.get("structuredContent")).cloned()
            }
            Aspect::Content => self.content().cloned().map(Value::Array),
            Aspect::IsError => Some(self.is_error().into()),
            Aspect::Error => self.error().cloned(),
            Aspect::Result => self.result().cloned(),
        })
    }

    /// All aspects by name, for `save`.
    pub(crate) fn values(&self) -> Value {
        let aspects = Aspect::ALL.into_iter().filter_map(|aspect| {
            Some((aspect.key().to_owned(), self.aspect(aspect).ok().flatten()?))
        });
        let mut values: Map<String, Value> = aspects.collect();
        values.insert("list".to_owned(), self.list().into());
        if let Some(agent) = self.agent() {
            values.insert("stdout".to_owned(), (&*agent.stdout).into());
            values.insert("stderr".to_owned(), (&*agent.stderr).into());
            values.insert("exit".to_owned(), agent.exit());
        }
        Value::Object(values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joins_the_texts_of_contents_and_messages() {
        let text = |value| Answer::Result(value).text();
        let block = |text| json!({"type": "text", "text": text});
        assert_eq!(text(json!({"content": [block("a"), {"type": "image"}, block("b")]})), "ab");
        assert_eq!(text(json!({"contents": [{"uri": "a:", "text": "c"}]})), "c");
        assert_eq!(text(json!({"messages": [{"role": "user", "content": block("d")}]})), "d");
        assert_eq!(Answer::Nothing.text(), "");
    }

    #[test]
    fn knows_the_kinds_of_all_errors_of_a_client() {
        let source = include_str!("../../../sparring-peer/src/client/error.rs");
        let (_, kinds) = source.split_once("pub fn kind(&self)").unwrap();
        let (kinds, _) = kinds.split_once("\n    }\n").unwrap();
        let kinds: Vec<&str> = kinds.split('"').skip(1).step_by(2).collect();
        assert!(kinds.len() > 10, "{kinds:?}");
        for kind in kinds {
            assert!(ERROR_KINDS.contains(&kind), "{kind}");
        }
    }

    #[test]
    fn treats_completions_as_a_list() {
        let answer = Answer::Result(json!({"completion": {"values": ["a"]}}));
        assert_eq!(answer.list(), [json!("a")]);
        assert_eq!(answer.values()["list"], json!(["a"]));
    }
}
