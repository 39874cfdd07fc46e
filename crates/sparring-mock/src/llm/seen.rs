//! A request as both APIs have it in common, so that one script reads the same
//! for either: what is expected of it, kept of it, and put into templates.

use serde_json::{Map, Value, json};
use sparring_wire::json::tree;

use super::{Api, anthropic, openai};

/// What an agent asks a model.
#[derive(Debug, Clone, Default)]
pub(crate) struct Seen {
    pub(crate) model: String,
    pub(crate) system: String,
    pub(crate) messages: Vec<Message>,
    pub(crate) tools: Vec<Value>,
    /// Whether the answer shall come event by event.
    pub(crate) stream: bool,
    /// Whether a stream shall end with what it took.
    pub(crate) with_usage: bool,
}

/// One message.
#[derive(Debug, Clone, Default)]
pub(crate) struct Message {
    pub(crate) role: String,
    pub(crate) text: String,
    pub(crate) calls: Vec<Called>,
    pub(crate) results: Vec<Outcome>,
}

/// A tool that the model called before, as the agent repeats it.
#[derive(Debug, Clone)]
pub(crate) struct Called {
    pub(crate) id: String,
    pub(crate) tool: String,
    pub(crate) with: Value,
}

/// What came of a call.
#[derive(Debug, Clone)]
pub(crate) struct Outcome {
    pub(crate) id: String,
    pub(crate) text: String,
    pub(crate) is_error: Option<bool>,
}

/// What is wrong with a request, as the API would say it.
pub(super) type Unreadable = String;

impl Seen {
    /// Reads the body of a request.
    pub(super) fn read(api: Api, body: &Value) -> Result<Seen, Unreadable> {
        let text = |key: &str| match body.get(key) {
            Some(Value::String(text)) => Ok(text.clone()),
            Some(_) => Err(format!("`{key}` must be a text")),
            None => Err(format!("`{key}` is missing")),
        };
        if !body.is_object() {
            return Err("the body must be an object".to_owned());
        }
        let seen = Seen {
            model: text("model")?,
            stream: match body.get("stream") {
                None | Some(Value::Null) => false,
                Some(Value::Bool(stream)) => *stream,
                Some(_) => return Err("`stream` must be true or false".to_owned()),
            },
            tools: list(body, "tools", true)?
                .iter()
                .enumerate()
                .map(|(at, tool)| declared(api, at, tool))
                .collect::<Result<_, _>>()?,
            ..Seen::default()
        };
        let messages = list(body, "messages", false)?;
        if messages.is_empty() {
            return Err("`messages` must have at least one message".to_owned());
        }
        let seen = match api {
            Api::OpenAi => openai::read(body, messages, seen)?,
            Api::Anthropic => anthropic::read(body, messages, seen)?,
        };
        seen.check_pairs()?;
        Ok(seen)
    }

    /// Each call must have been answered before anything else is said, and
    /// nothing answered that was not called: both APIs insist on it.
    fn check_pairs(&self) -> Result<(), Unreadable> {
        let mut open: Vec<&Called> = Vec::new();
        let unanswered = |open: &[&Called]| match open {
            [] => Ok(()),
            [call, ..] => {
                Err(format!("the call `{}` of `{}` has no result behind it", call.id, call.tool))
            }
        };
        for message in &self.messages {
            if message.results.is_empty() {
                unanswered(&open)?;
            }
            for result in &message.results {
                let Some(at) = open.iter().position(|call| call.id == result.id) else {
                    return Err(format!("the result `{}` belongs to no call before it", result.id));
                };
                open.remove(at);
            }
            open.extend(&message.calls);
        }
        unanswered(&open)
    }

    /// What the user said last.
    pub(super) fn user(&self) -> &str {
        let mut said = self.users();
        said.next().unwrap_or_default()
    }

    /// What the user said, the last first.
    pub(super) fn users(&self) -> impl Iterator<Item = &str> {
        let users = self.messages.iter().rev().filter(|it| it.role == "user");
        users.map(|it| &*it.text).filter(|text| !text.is_empty())
    }

    /// What came of the tools that were called last.
    pub(super) fn results(&self) -> Vec<Value> {
        let after = self.messages.iter().rposition(|it| !it.calls.is_empty());
        let since = after.map_or(&[][..], |at| &self.messages[at..]);
        since.iter().flat_map(|it| &it.results).map(|it| self.result(it)).collect()
    }

    fn result(&self, outcome: &Outcome) -> Value {
        let calls = self.messages.iter().rev().flat_map(|it| &it.calls);
        let tool = calls.clone().find(|call| call.id == outcome.id).map(|call| &*call.tool);
        let mut value = json!({"tool": tool, "id": outcome.id, "text": outcome.text});
        if let Some(is_error) = outcome.is_error {
            value["is_error"] = is_error.into();
        }
        if let Ok(json) = tree(outcome.text.as_bytes()) {
            value["json"] = json;
        }
        value
    }

    /// All of it as a value.
    pub(super) fn to_json(&self) -> Value {
        let messages: Vec<Value> = self.messages.iter().map(|it| self.message(it)).collect();
        json!({
            "model": self.model, "system": self.system, "user": self.user(),
            "messages": messages, "tools": self.tools, "results": self.results(),
        })
    }

    fn message(&self, message: &Message) -> Value {
        let mut value = Map::new();
        value.insert("role".to_owned(), message.role.clone().into());
        value.insert("text".to_owned(), message.text.clone().into());
        if !message.calls.is_empty() {
            let call = |it: &Called| json!({"tool": it.tool, "with": it.with, "id": it.id});
            value.insert("calls".to_owned(), message.calls.iter().map(call).collect());
        }
        if !message.results.is_empty() {
            let results = message.results.iter().map(|it| self.result(it));
            value.insert("results".to_owned(), results.collect());
        }
        value.into()
    }

    /// The names of the tools that are declared.
    pub(super) fn tool_names(&self) -> impl Iterator<Item = &str> {
        self.tools.iter().filter_map(|tool| tool["name"].as_str())
    }
}

/// A tool that is declared, in our words. Those that run at the API's own side
/// may have no name but their type.
fn declared(api: Api, at: usize, tool: &Value) -> Result<Value, Unreadable> {
    let (of, schema) = match api {
        Api::OpenAi if tool.get("custom").is_some() => (&tool["custom"], "format"),
        Api::OpenAi => (&tool["function"], "parameters"),
        Api::Anthropic => (tool, "input_schema"),
    };
    let Some(name) = of["name"].as_str().or(of["type"].as_str()) else {
        let place = if api == Api::OpenAi { ".function" } else { "" };
        return Err(format!("`tools[{at}]{place}.name` must be a text"));
    };
    let mut value = json!({"name": name});
    for (ours, theirs) in [("description", "description"), ("input_schema", schema)] {
        if let Some(said) = of.get(theirs).filter(|said| !said.is_null()) {
            value[ours] = said.clone();
        }
    }
    Ok(value)
}

/// A list below a key.
fn list<'a>(body: &'a Value, key: &str, optional: bool) -> Result<&'a [Value], Unreadable> {
    match body.get(key) {
        Some(Value::Array(items)) => Ok(items),
        None | Some(Value::Null) if optional => Ok(&[]),
        Some(_) => Err(format!("`{key}` must be a list")),
        None => Err(format!("`{key}` is missing")),
    }
}

/// The texts of a content, which is one or a list of parts; parts of other
/// kinds are passed over.
pub(super) fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        _ => String::new(),
    }
}

/// The role of a message, or what is wrong with it.
pub(super) fn role(at: usize, message: &Value, roles: &[&str]) -> Result<String, Unreadable> {
    match message["role"].as_str() {
        Some(role) if roles.contains(&role) => Ok(role.to_owned()),
        _ => Err(format!("`messages[{at}].role` must be one of {}", roles.join(", "))),
    }
}
