//! From a turn to the reply over HTTP: its texts filled, in the words of the
//! API, with all that shall go wrong with it.

use serde_json::Value;
use sparring_script::template::Missing;
use sparring_script::{Tree, did_you_mean};

use super::said::{Said, SaidCall, Stream};
use super::script::{Arguments, Fault, Turn};
use super::seen::Seen;
use super::{Api, Facts, anthropic, openai};
use crate::http_mock::HttpReply;

/// About how many bytes are a token.
const TOKEN: usize = 4;

/// How many answers and calls there were.
#[derive(Debug, Default)]
pub(super) struct Numbers {
    answers: u64,
    calls: u64,
}

/// A turn that is being taken.
pub(super) struct Speaking<'a> {
    pub(super) api: Api,
    pub(super) seen: &'a Seen,
    pub(super) turn: &'a Turn,
    pub(super) facts: &'a Facts<'a>,
}

impl Speaking<'_> {
    /// The reply to a request of so many bytes.
    ///
    /// # Errors
    /// When a template asks for what is not there, or a tool is called that was
    /// not declared.
    pub(super) fn reply(
        &self,
        numbers: &mut Numbers,
        asked_bytes: usize,
    ) -> Result<HttpReply, String> {
        let turn = self.turn;
        let says = turn.text.is_some() || !turn.calls.is_empty();
        let said = self.said(numbers, asked_bytes)?;
        let reply = match &turn.error {
            Some(error) if !self.seen.stream || !says => {
                let reply = self.api.refuse(error);
                match &turn.fault {
                    Some(Fault::Connection(fault)) => reply.fault(*fault),
                    _ => reply,
                }
            }
            _ if self.seen.stream => self.stream(&said),
            _ => self.whole(&said),
        };
        Ok(reply.delay(turn.delay))
    }

    /// What is said, with everything in it known.
    fn said(&self, numbers: &mut Numbers, asked_bytes: usize) -> Result<Said, String> {
        let turn = self.turn;
        let text = turn.text.as_ref().map(|text| self.text(text)).transpose()?;
        let mut calls = Vec::new();
        for call in &turn.calls {
            let tool = self.text(&call.tool)?;
            if !call.undeclared {
                self.check_declared(&tool)?;
            }
            let (with, arguments) = match &call.with {
                Arguments::Value(with) => {
                    let with = self.value(with)?;
                    let arguments = with.to_string();
                    (with, arguments)
                }
                Arguments::Text(text) => (Value::Null, self.text(text)?),
            };
            let prefix = if self.api == Api::OpenAi { "call" } else { "toolu" };
            let own = || format!("{prefix}_{}", numbers.calls + 1 + calls.len() as u64);
            let id = call.id.as_ref().map(|id| self.text(id)).transpose()?;
            calls.push(SaidCall { id: id.unwrap_or_else(own), tool, with, arguments });
        }
        numbers.answers += 1;
        numbers.calls += calls.len() as u64;
        let written = text.as_ref().map_or(0, String::len)
            + calls.iter().map(|call| call.tool.len() + call.arguments.len()).sum::<usize>();
        let tokens = |bytes: usize| bytes.div_ceil(TOKEN) as u64;
        Ok(Said {
            number: numbers.answers,
            model: self.seen.model.clone(),
            text,
            calls,
            stop: turn.stop.clone(),
            input_tokens: turn.input_tokens.unwrap_or_else(|| tokens(asked_bytes)),
            output_tokens: turn.output_tokens.unwrap_or_else(|| tokens(written)),
        })
    }

    /// A model calls what it was told of.
    fn check_declared(&self, tool: &str) -> Result<(), String> {
        let declared: Vec<&str> = self.seen.tool_names().collect();
        if declared.contains(&tool) {
            return Ok(());
        }
        let help = match (did_you_mean(tool, declared.iter().copied()), &declared[..]) {
            (Some(meant), _) => meant,
            (None, []) => "no tool is declared".to_owned(),
            (None, declared) => format!("declared are {}", declared.join(", ")),
        };
        Err(format!("it calls `{tool}`, which is not declared; {help}"))
    }

    /// All of it at once.
    fn whole(&self, said: &Said) -> HttpReply {
        let body = match self.api {
            Api::OpenAi => openai::whole(said),
            Api::Anthropic => anthropic::whole(said),
        };
        let body = body.to_string();
        let body = match &self.turn.fault {
            Some(Fault::Truncate) => half(body),
            Some(Fault::Garbage(garbage)) => garbage.clone(),
            _ => body,
        };
        self.typed("application/json", body)
    }

    /// Event by event.
    fn stream(&self, said: &Said) -> HttpReply {
        let Stream { mut events, ending } = match self.api {
            Api::OpenAi => openai::chunks(said, self.seen.with_usage),
            Api::Anthropic => anthropic::events(said),
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
            // Where its events have names, so has this one.
            let name = if self.api == Api::OpenAi { "" } else { "event: content_block_delta\n" };
            events.insert(events.len() / 2, format!("{name}{}\n", lines.concat()));
        }
        let body = events.concat();
        let body = match &self.turn.fault {
            Some(Fault::Truncate) => half(body),
            _ => body,
        };
        let reply = self.typed("text/event-stream; charset=utf-8", body);
        reply.header("cache-control", "no-cache").streamed(self.turn.pace)
    }

    fn typed(&self, content_type: &str, body: String) -> HttpReply {
        let content_type = self.turn.content_type.as_deref().unwrap_or(content_type);
        let reply = HttpReply::new(200).header("content-type", content_type).body(body);
        match &self.turn.fault {
            Some(Fault::Connection(fault)) => reply.fault(*fault),
            _ => reply,
        }
    }

    fn value(&self, tree: &Tree) -> Result<Value, String> {
        tree.render(self.facts).map_err(|missing: Missing| missing.undefined.to_string())
    }

    fn text(&self, tree: &Tree) -> Result<String, String> {
        Ok(match self.value(tree)? {
            Value::String(text) => text,
            other => other.to_string(),
        })
    }
}

/// The first half of a text.
fn half(mut text: String) -> String {
    let mut middle = text.len() / 2;
    while !text.is_char_boundary(middle) {
        middle -= 1;
    }
    text.truncate(middle);
    text
}
