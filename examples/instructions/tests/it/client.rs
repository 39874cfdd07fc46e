//! A client with a method for each of the server's tools.

use std::ops::Deref;

use serde_json::{Map, Value, json};
use sparring::client::Call;
use sparring::{Client, Response};

/// A connection to the server.
pub(crate) struct InstructionsClient(Client);

impl InstructionsClient {
    pub(crate) fn on(client: Client) -> Self {
        InstructionsClient(client)
    }

    /// Asks which instructions a message calls for; what is not given is left out.
    #[track_caller]
    pub(crate) fn route_instructions(
        &self,
        message: &str,
        context: Option<Value>,
        limit: Option<u64>,
    ) -> Call {
        let message = Some(json!(message));
        let limit = limit.map(Value::from);
        self.call(
            "route_instructions",
            [("message", message), ("context", context), ("limit", limit)],
        )
    }

    /// Asks for instructions by topic and category; what is not given is left out.
    #[track_caller]
    pub(crate) fn get_instructions(
        &self,
        topic: Option<&str>,
        category: Option<&str>,
        exact_match: Option<bool>,
    ) -> Call {
        let (topic, category) = (topic.map(Value::from), category.map(Value::from));
        let exact_match = exact_match.map(Value::from);
        let arguments = [("topic", topic), ("category", category), ("exact_match", exact_match)];
        self.call("get_instructions", arguments)
    }

    /// Searches all instructions; what is not given is left out.
    #[track_caller]
    pub(crate) fn search_instructions(&self, query: &str, limit: Option<u64>) -> Call {
        let arguments = [("query", Some(json!(query))), ("limit", limit.map(Value::from))];
        self.call("search_instructions", arguments)
    }

    /// Chooses the engine that routes from now on.
    #[track_caller]
    pub(crate) fn switch_engine(&self, engine_version: &str) -> Call {
        self.call("switch_engine", [("engine_version", Some(json!(engine_version)))])
    }

    #[track_caller]
    fn call<const N: usize>(&self, tool: &str, arguments: [(&str, Option<Value>); N]) -> Call {
        let given =
            arguments.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
        self.call_tool(tool, Value::Object(given.collect::<Map<_, _>>()))
    }
}

impl Deref for InstructionsClient {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.0
    }
}

/// The structured content of an answer that succeeded.
#[track_caller]
pub(crate) fn structured(response: &Response) -> Value {
    response.assert_success();
    let content = response.structured().expect("there is structured content");
    content.to().expect("it is JSON")
}

/// The ids of the instructions in an answer.
#[track_caller]
pub(crate) fn ids(response: &Response) -> Vec<String> {
    let answer = structured(response);
    let instructions = answer["instructions"].as_array().expect("there is a list").iter();
    instructions.map(|it| it["id"].as_str().expect("each has an id").to_owned()).collect()
}
