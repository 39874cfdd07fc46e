//! Renders a turn as an HTTP reply in the form of the API, with its faults.

use serde_json::Value;
use sparring_script::template::RenderError;
use sparring_script::{TemplateTree, did_you_mean};

use super::chat_request::ChatRequest;
use super::model_answer::{EventStream, ModelAnswer, ToolCall};
use super::script::{Arguments, Fault, Turn};
use super::{Api, TurnScope, anthropic, openai};
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
    pub(super) api: Api,
    pub(super) chat: &'a ChatRequest,
    pub(super) turn: &'a Turn,
    pub(super) scope: &'a TurnScope<'a>,
}

impl TurnRenderer<'_> {
    /// Renders the reply to a request of this many bytes.
    ///
    /// # Errors
    /// If a template uses an unknown value, or the agent did not declare a called tool.
    pub(super) fn render(
        &self,
        counters: &mut AnswerCounters,
        request_bytes: usize,
    ) -> Result<HttpReply, String> {
        let turn = self.turn;
        let has_answer = turn.text.is_some() || !turn.calls.is_empty();
        let answer = self.render_answer(counters, request_bytes)?;
        let reply = match &turn.error {
            Some(error) if !self.chat.stream || !has_answer => {
                let reply = self.api.error_reply(error);
                match &turn.fault {
                    Some(Fault::Connection(fault)) => reply.fault(*fault),
                    _ => reply,
                }
            }
            _ if self.chat.stream => self.render_stream(&answer),
            _ => self.render_complete(&answer),
        };
        Ok(reply.delay(turn.delay))
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
            let tool = self.render_text(&call.tool)?;
            if !call.undeclared {
                self.check_declared(&tool)?;
            }
            let (with, arguments) = match &call.with {
                Arguments::Value(with) => {
                    let with = self.render_value(with)?;
                    let arguments = with.to_string();
                    (with, arguments)
                }
                Arguments::Text(text) => (Value::Null, self.render_text(text)?),
            };
            let prefix = if self.api == Api::OpenAi { "call" } else { "toolu" };
            let default_id = || format!("{prefix}_{}", counters.calls + 1 + calls.len() as u64);
            let id = call.id.as_ref().map(|id| self.render_text(id)).transpose()?;
            calls.push(ToolCall { id: id.unwrap_or_else(default_id), tool, with, arguments });
        }
        counters.answers += 1;
        counters.calls += calls.len() as u64;
        let written = text.as_ref().map_or(0, String::len)
            + calls.iter().map(|call| call.tool.len() + call.arguments.len()).sum::<usize>();
        let tokens = |bytes: usize| bytes.div_ceil(BYTES_PER_TOKEN) as u64;
        Ok(ModelAnswer {
            number: counters.answers,
            model: self.chat.model.clone(),
            text,
            calls,
            stop: turn.stop.clone(),
            input_tokens: turn.input_tokens.unwrap_or_else(|| tokens(request_bytes)),
            output_tokens: turn.output_tokens.unwrap_or_else(|| tokens(written)),
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

    /// Renders a complete reply.
    fn render_complete(&self, answer: &ModelAnswer) -> HttpReply {
        let body = match self.api {
            Api::OpenAi => openai::render_complete(answer),
            Api::Anthropic => anthropic::render_complete(answer),
        };
        let body = body.to_string();
        let body = match &self.turn.fault {
            Some(Fault::Truncate) => first_half(body),
            Some(Fault::Garbage(garbage)) => garbage.clone(),
            _ => body,
        };
        self.reply_with_type("application/json", body)
    }

    /// Renders a reply as server-sent events.
    fn render_stream(&self, answer: &ModelAnswer) -> HttpReply {
        let EventStream { mut events, ending } = match self.api {
            Api::OpenAi => openai::render_stream(answer, self.chat.with_usage),
            Api::Anthropic => anthropic::render_stream(answer),
        };
        match &self.turn.error {
            None => events.extend(ending),
            Some(error) => {
                let body = self.api.error_body(error);
                let name = if self.api == Api::OpenAi { "" } else { "event: error\n" };
                events.push(format!("{name}data: {body}\n\n"));
            }
        }
        if let Some(Fault::Garbage(garbage)) = &self.turn.fault {
            let lines: Vec<String> = garbage.lines().map(|it| format!("data: {it}\n")).collect();
            // The events of Anthropic have names, so this one has one too.
            let name = if self.api == Api::OpenAi { "" } else { "event: content_block_delta\n" };
            events.insert(events.len() / 2, format!("{name}{}\n", lines.concat()));
        }
        let body = events.concat();
        let body = match &self.turn.fault {
            Some(Fault::Truncate) => first_half(body),
            _ => body,
        };
        let reply = self.reply_with_type("text/event-stream; charset=utf-8", body);
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

/// Returns the first half of a text.
fn first_half(mut text: String) -> String {
    let mut middle = text.len() / 2;
    while !text.is_char_boundary(middle) {
        middle -= 1;
    }
    text.truncate(middle);
    text
}
