//! Renders a turn as an HTTP reply in the form of the API, with its faults.

use serde_json::Value;
use sparring_script::template::RenderError;
use sparring_script::{Matcher, TemplateTree, did_you_mean};

use super::TurnScope;
use super::api::WireApi;
use super::chat_request::ChatRequest;
use super::model_answer::{EventStream, ModelAnswer, ToolCall};
use super::script::{Arguments, Fault, ToolName, Turn};
use crate::http_mock::HttpReply;

/// The assumed bytes per token.
const BYTES_PER_TOKEN: usize = 4;

/// Counts answers and calls, for their ids.
#[derive(Debug, Default)]
pub(super) struct AnswerCounters {
    answers: u64,
    calls: u64,
}

/// A turn that is being rendered.
pub(super) struct TurnRenderer<'a> {
    pub(super) api: WireApi,
    /// True if a stream is a list of JSON instead of events.
    pub(super) as_list: bool,
    pub(super) chat: &'a ChatRequest,
    pub(super) turn: &'a Turn,
    pub(super) scope: &'a TurnScope<'a>,
}

impl TurnRenderer<'_> {
    /// Renders the reply to a request of this many bytes, and returns the answer too.
    ///
    /// # Errors
    /// If a template uses an unknown value, or the agent did not declare a called tool.
    pub(super) fn render(
        &self,
        counters: &mut AnswerCounters,
        request_bytes: usize,
    ) -> Result<(HttpReply, ModelAnswer), String> {
        let turn = self.turn;
        let answer = self.render_answer(counters, request_bytes)?;
        let reply = match &turn.error {
            Some(error) if !self.chat.stream || !turn.has_answer() => {
                let reply = self.api.error_reply(error);
                match &turn.fault {
                    Some(Fault::Connection(fault)) => reply.fault(*fault),
                    _ => reply,
                }
            }
            _ if self.chat.stream => self.render_stream(&answer),
            _ => self.render_complete(&answer),
        };
        Ok((reply.delay(turn.delay), answer))
    }

    /// Renders the templates of the answer.
    fn render_answer(
        &self,
        counters: &mut AnswerCounters,
        request_bytes: usize,
    ) -> Result<ModelAnswer, String> {
        let turn = self.turn;
        let text = turn.text.as_ref().map(|text| self.render_text(text)).transpose()?;
        let mut calls = Vec::new();
        for call in &turn.calls {
            let tool = match &call.tool {
                ToolName::Name(name) => self.render_text(name)?,
                ToolName::Matcher(matcher) => self.find_declared(matcher)?,
            };
            if !call.undeclared {
                self.check_declared(&tool)?;
            }
            let (with, arguments, is_text) = match &call.with {
                Arguments::Value(with) => {
                    let with = self.render_value(with)?;
                    let arguments = with.to_string();
                    (with, arguments, false)
                }
                Arguments::Text(text) => (Value::Null, self.render_text(text)?, true),
            };
            let prefix = self.api.call_id_prefix();
            let default_id = || format!("{prefix}_{}", counters.calls + 1 + calls.len() as u64);
            let id = call.id.as_ref().map(|id| self.render_text(id)).transpose()?;
            let id = id.unwrap_or_else(default_id);
            let namespace = self.chat.namespaces.get(&tool).cloned();
            calls.push(ToolCall { id, tool, namespace, with, arguments, is_text });
        }
        counters.answers += 1;
        counters.calls += calls.len() as u64;
        let refusal = turn.refusal.as_ref().map(|text| self.render_text(text)).transpose()?;
        let written = text.as_ref().or(refusal.as_ref()).map_or(0, String::len)
            + calls.iter().map(|call| call.tool.len() + call.arguments.len()).sum::<usize>();
        Ok(ModelAnswer {
            number: counters.answers,
            model: self.chat.model.clone(),
            text,
            refusal,
            calls,
            choices: self.chat.choices.max(1),
            previous_response: self.chat.previous_response.clone(),
            stop: turn.stop.clone(),
            input_tokens: turn.input_tokens.unwrap_or_else(|| estimate_tokens(request_bytes)),
            output_tokens: turn.output_tokens.unwrap_or_else(|| estimate_tokens(written)),
        })
    }

    /// Checks that the agent declared a tool.
    fn check_declared(&self, tool: &str) -> Result<(), String> {
        let declared: Vec<&str> = self.chat.tool_names().collect();
        if declared.contains(&tool) {
            return Ok(());
        }
        let help = match (did_you_mean(tool, declared.iter().copied()), &declared[..]) {
            (Some(suggestion), _) => suggestion,
            (None, []) => "the request declares no tools".to_owned(),
            (None, declared) => format!("declared tools: {}", declared.join(", ")),
        };
        Err(format!("the turn calls `{tool}`, which the request does not declare; {help}"))
    }

    /// Finds the one declared tool that a matcher matches.
    fn find_declared(&self, matcher: &Matcher) -> Result<String, String> {
        let declared: Vec<&str> = self.chat.tool_names().collect();
        let matches = |name: &&str| matcher.check(Some(&Value::from(*name))).is_empty();
        let found: Vec<&str> = declared.iter().copied().filter(matches).collect();
        let message = match (&found[..], &declared[..]) {
            ([tool], _) => return Ok((*tool).to_owned()),
            ([], []) => "the request declares no tools".to_owned(),
            ([], declared) => {
                format!("no declared tool matches; declared tools: {}", declared.join(", "))
            }
            (several, _) => format!("several declared tools match: {}", several.join(", ")),
        };
        Err(format!("the turn calls a tool by a matcher: {message}"))
    }

    /// Renders a complete reply.
    fn render_complete(&self, answer: &ModelAnswer) -> HttpReply {
        let body = self.api.render_complete(answer).to_string();
        let body = match &self.turn.fault {
            Some(Fault::Truncate) => first_half(body),
            Some(Fault::Garbage(garbage)) => garbage.clone(),
            _ => body,
        };
        self.reply_with_type("application/json", body)
    }

    /// Renders a reply as server-sent events.
    fn render_stream(&self, answer: &ModelAnswer) -> HttpReply {
        let EventStream { mut events, ending } = self.api.render_stream(answer, self.chat);
        match &self.turn.error {
            None => events.extend(ending),
            Some(error) => events.push(self.api.error_event(error, answer, events.len())),
        }
        if let Some(Fault::Garbage(garbage)) = &self.turn.fault {
            let lines: Vec<String> = garbage.lines().map(|it| format!("data: {it}\n")).collect();
            let name = self.api.garbage_event_name();
            events.insert(events.len() / 2, format!("{name}{}\n", lines.concat()));
        }
        let body = if self.as_list { render_list(&events) } else { events.concat() };
        let body = match &self.turn.fault {
            Some(Fault::Truncate) => first_half(body),
            _ => body,
        };
        let content_type = match self.as_list {
            true => "application/json; charset=utf-8",
            false => "text/event-stream; charset=utf-8",
        };
        let reply = self.reply_with_type(content_type, body);
        reply.header("cache-control", "no-cache").with_pace(self.turn.pace)
    }

    fn reply_with_type(&self, content_type: &str, body: String) -> HttpReply {
        let content_type = self.turn.content_type.as_deref().unwrap_or(content_type);
        let reply = HttpReply::new(200).header("content-type", content_type).body(body);
        match &self.turn.fault {
            Some(Fault::Connection(fault)) => reply.fault(*fault),
            _ => reply,
        }
    }

    fn render_value(&self, tree: &TemplateTree) -> Result<Value, String> {
        tree.render(self.scope).map_err(|missing: RenderError| missing.undefined.to_string())
    }

    fn render_text(&self, tree: &TemplateTree) -> Result<String, String> {
        Ok(match self.render_value(tree)? {
            Value::String(text) => text,
            other => other.to_string(),
        })
    }
}

/// Renders the data of events as a list of JSON.
fn render_list(events: &[String]) -> String {
    let data = events.iter().map(|event| event.trim_end().trim_start_matches("data: "));
    format!("[{}]", data.collect::<Vec<_>>().join(",\n"))
}

/// Estimates the tokens of a text of this many bytes.
pub(super) fn estimate_tokens(bytes: usize) -> u64 {
    bytes.div_ceil(BYTES_PER_TOKEN) as u64
}

/// Returns the first half of a text.
fn first_half(mut text: String) -> String {
    let mut middle = text.len() / 2;
    while !text.is_char_boundary(middle) {
        middle -= 1;
    }
    text.truncate(middle);
    text
}
