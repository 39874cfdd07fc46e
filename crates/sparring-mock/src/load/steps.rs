//! What happens besides an answer.

use std::time::Duration;

use serde_json::Value;
use sparring_script::{Entry, Node, Span, Tree, duration};
use sparring_wire::types::LogLevel;

use super::{Loader, text};
use crate::model::{Kind, Step, Timer};

impl Loader<'_> {
    /// The steps of a list.
    pub(super) fn steps(&mut self, list: Option<&Node>) -> Vec<Step> {
        let mut steps = Vec::new();
        for node in list.map(Node::items).unwrap_or_default() {
            match node.as_str() {
                Some(_) => steps.push(Step::BreakOff),
                None => steps.extend(node.entries().iter().filter_map(|it| self.step(it))),
            }
        }
        steps
    }

    /// What happens by itself.
    pub(super) fn timers(&mut self, script: &Node) -> Vec<Timer> {
        let mut timers = Vec::new();
        for node in script.get("timers").map(Node::items).unwrap_or_default() {
            let (every, after) = (time(node, "every"), time(node, "after"));
            if every.is_some() == after.is_some() {
                self.problems.add(node.span, "give either `every` or `after`");
            }
            if every == Some(Duration::ZERO) {
                self.problems.add(node.span, "`every` must be more than nothing");
            }
            // There is no request whose values could fill anything.
            let known = self.known(node);
            let steps: Vec<Step> = known
                .entries()
                .iter()
                .filter(|entry| !["every", "after"].contains(&&*entry.key))
                .filter_map(|entry| self.step(entry))
                .collect();
            if steps.is_empty() {
                self.problems.add(node.span, "nothing happens here: give notify, show or hide");
            }
            let again = every.is_some();
            timers.push(Timer { after: every.or(after).unwrap_or_default(), again, steps });
        }
        timers
    }

    fn step(&mut self, entry: &Entry) -> Option<Step> {
        let node = &entry.value;
        Some(match &*entry.key {
            "progress" => self.progress(node),
            "log" => self.log(node),
            "notify" => self.notify(node),
            "delay" => Step::Delay(duration(node.as_str()?).ok()?),
            "show" => self.list_step(node, true)?,
            "hide" => self.list_step(node, false)?,
            // The grammar has told it.
            _ => return None,
        })
    }

    fn progress(&mut self, node: &Node) -> Step {
        let number = |key: &str| node.get(key).and_then(|it| it.to_json().as_f64());
        let progress = node.to_json().as_f64().or_else(|| number("progress"));
        Step::Progress {
            progress: progress.unwrap_or_default(),
            total: number("total"),
            message: node.get("message").map(|message| self.text_tree(message)),
        }
    }

    fn log(&mut self, node: &Node) -> Step {
        self.logs = true;
        let level = text(node, "level").and_then(|name| LogLevel::from_name(&name));
        let data = if node.as_str().is_some() { Some(node) } else { node.get("data") };
        Step::Log {
            level: level.unwrap_or(LogLevel::Info),
            logger: text(node, "logger"),
            data: data.map_or(Tree::Plain(Value::Null), |data| self.tree(data)),
        }
    }

    fn notify(&mut self, node: &Node) -> Step {
        let method = node.as_str().map(str::to_owned).or_else(|| text(node, "method"));
        let method = method.unwrap_or_default();
        let method = match method.strip_prefix("notifications/") {
            Some(_) => method,
            None => format!("notifications/{method}"),
        };
        Step::Notify { method, params: node.get("params").map(|params| self.tree(params)) }
    }

    fn list_step(&mut self, node: &Node, shown: bool) -> Option<Step> {
        let kinds = [Kind::Tool, Kind::Resource, Kind::Template, Kind::Prompt];
        let named: Vec<(Kind, String, Span)> = kinds
            .into_iter()
            .filter_map(|kind| {
                let id = node.get(kind.name())?;
                Some((kind, id.as_str()?.to_owned(), id.span))
            })
            .collect();
        match &named[..] {
            [(kind, id, _)] => Some(Step::List { kind: *kind, id: id.clone(), shown }),
            _ => {
                self.problems.add(node.span, "name one of tool, resource, template, prompt");
                None
            }
        }
    }
}

fn time(node: &Node, key: &str) -> Option<Duration> {
    duration(node.get(key)?.as_str()?).ok()
}
