//! What a verb gave, in the words of the language.

use serde_json::{Map, Value, json};
use sparring_peer::Response;
use sparring_peer::client::Error;
use sparring_wire::RawJson;

use super::agent::Ran;
use crate::model::Aspect;

/// What came back.
#[derive(Debug)]
pub(crate) enum Answer {
    /// A result.
    Result(Value),
    /// All items of a list.
    List(Vec<Value>),
    /// Why there is neither.
    Error(Value),
    /// An agent ran to its end.
    Ran(Box<Ran>),
    /// Nothing, since nothing was asked.
    Nothing,
    /// Nothing, since it was given up as it was to be.
    Cancelled,
}

impl Answer {
    /// What came of a request.
    pub(super) fn of(answered: Result<Response, Error>) -> Answer {
        match answered.and_then(|response| response.to::<Value>()) {
            Ok(result) => Answer::Result(result),
            Err(error) => Answer::failed(&error),
        }
    }

    /// What came of a list.
    pub(super) fn of_list(listed: Result<Vec<RawJson>, Error>) -> Answer {
        match listed {
            Ok(items) => Answer::List(items.iter().filter_map(|it| it.view().to().ok()).collect()),
            Err(error) => Answer::failed(&error),
        }
    }

    /// The server took a subscription without what was asked for.
    pub(super) fn unacknowledged(uri: &str) -> Answer {
        let message = format!("the server did not agree to tell of changes of {uri}");
        Answer::Error(json!({"kind": "not-acknowledged", "message": message}))
    }

    pub(super) fn failed(error: &Error) -> Answer {
        let mut value = json!({"kind": error.kind(), "message": error.to_string()});
        if let Error::Refused { error, .. } = error {
            value["code"] = error.code.into();
            value["message"] = (&*error.message).into();
            if let Some(data) = &error.data {
                value["data"] = data.clone();
            }
        }
        Answer::Error(value)
    }

    /// All of it, for snapshots.
    pub(super) fn whole(&self) -> Value {
        match self {
            Answer::Result(result) => result.clone(),
            Answer::List(items) => items.clone().into(),
            Answer::Error(error) => json!({"error": error}),
            Answer::Ran(_) | Answer::Nothing | Answer::Cancelled => Value::Null,
        }
    }

    /// The result, where there is one.
    pub(crate) fn result(&self) -> Option<&Value> {
        match self {
            Answer::Result(result) => Some(result),
            _ => None,
        }
    }

    /// The error, where there is one.
    pub(crate) fn error(&self) -> Option<&Value> {
        match self {
            Answer::Error(error) => Some(error),
            _ => None,
        }
    }

    /// Whether the server may be gone, by what came instead of an answer.
    pub(super) fn is_unusable(&self) -> bool {
        let kinds = ["wrong-answer", "noise", "foreign-id", "broken", "closed", "unreachable"];
        self.error().is_some_and(|error| kinds.iter().any(|kind| error["kind"] == *kind))
    }

    /// What is known of an agent, where one ran.
    pub(crate) fn ran(&self) -> Option<&Ran> {
        match self {
            Answer::Ran(ran) => Some(ran),
            _ => None,
        }
    }

    /// Whether a tool says that it failed.
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

    /// The text items, joined with nothing; of an agent its stdout.
    pub(crate) fn text(&self) -> String {
        if let Some(ran) = self.ran() {
            return ran.stdout.clone();
        }
        let of_item = |item: &Value| -> Option<String> {
            let item = item.get("content").unwrap_or(item);
            Some(item.get("text")?.as_str()?.to_owned())
        };
        self.content().into_iter().flatten().filter_map(of_item).collect()
    }

    /// The items of a result: `content`, `contents` or `messages`.
    fn content(&self) -> Option<&Vec<Value>> {
        let result = self.result()?;
        let mut lists = ["content", "contents", "messages"].iter();
        lists.find_map(|key| result.get(key)?.as_array())
    }

    /// A part of it.
    ///
    /// # Errors
    /// When it should be JSON and is not.
    pub(crate) fn aspect(&self, aspect: Aspect) -> Result<Option<Value>, String> {
        Ok(match aspect {
            Aspect::Text => Some(self.text().into()),
            Aspect::Json => {
                let text = self.text();
                let json = serde_json::from_str(&text);
                Some(json.map_err(|error| format!("the text is no JSON: {error}"))?)
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

    /// Everything in it by name, for `save`.
    pub(super) fn facts(&self) -> Value {
        let aspects = Aspect::ALL.into_iter().filter_map(|aspect| {
            Some((aspect.key().to_owned(), self.aspect(aspect).ok().flatten()?))
        });
        let mut facts: Map<String, Value> = aspects.collect();
        facts.insert("list".to_owned(), self.list().into());
        if let Some(ran) = self.ran() {
            facts.insert("stdout".to_owned(), (&*ran.stdout).into());
            facts.insert("stderr".to_owned(), (&*ran.stderr).into());
            facts.insert("exit".to_owned(), ran.exit());
        }
        Value::Object(facts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_joined_whatever_they_stand_in() {
        let text = |value| Answer::Result(value).text();
        let block = |text| json!({"type": "text", "text": text});
        assert_eq!(text(json!({"content": [block("a"), {"type": "image"}, block("b")]})), "ab");
        assert_eq!(text(json!({"contents": [{"uri": "a:", "text": "c"}]})), "c");
        assert_eq!(text(json!({"messages": [{"role": "user", "content": block("d")}]})), "d");
        assert_eq!(Answer::Nothing.text(), "");
    }

    #[test]
    fn completions_are_a_list_too() {
        let answer = Answer::Result(json!({"completion": {"values": ["a"]}}));
        assert_eq!(answer.list(), [json!("a")]);
        assert_eq!(answer.facts()["list"], json!(["a"]));
    }
}
