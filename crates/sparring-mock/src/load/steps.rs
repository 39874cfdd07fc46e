//! Loads steps and timers.

use std::time::Duration;

use serde_json::Value;
use sparring_script::{MapEntry, Node, Span, TemplateTree, parse_duration};
use sparring_wire::types::LogLevel;

use super::{Loader, text};
use crate::model::{EntryKind, Step, Timer};

impl Loader<'_> {
    /// Loads a list of steps.
    pub(super) fn load_steps(&mut self, list: Option<&Node>) -> Vec<Step> {
        let mut steps = Vec::new();
        for node in list.map(Node::items).unwrap_or_default() {
            match node.as_str() {
                Some(_) => steps.push(Step::BreakOff),
                None => steps.extend(node.entries().iter().filter_map(|it| self.load_step(it))),
            }
        }
        steps
    }

    /// Loads the timers.
    pub(super) fn load_timers(&mut self, script: &Node) -> Vec<Timer> {
        let mut timers = Vec::new();
        for node in script.get("timers").map(Node::items).unwrap_or_default() {
            let (every, after) = (read_duration(node, "every"), read_duration(node, "after"));
            if every.is_some() == after.is_some() {
                self.problems.add(node.span, "give either `every` or `after`");
            }
            if every == Some(Duration::ZERO) {
                self.problems.add(node.span, "`every` must be longer than 0");
            }
            // Timers have no request, so templates can use only variables.
            let rendered = self.render_vars(node);
            let steps: Vec<Step> = rendered
                .entries()
                .iter()
                .filter(|entry| !["every", "after"].contains(&&*entry.key))
                .filter_map(|entry| self.load_step(entry))
                .collect();
            if steps.is_empty() {
                self.problems.add(node.span, "the timer has no steps: give notify, show or hide");
            }
            let repeat = every.is_some();
            timers.push(Timer { after: every.or(after).unwrap_or_default(), repeat, steps });
        }
        timers
    }

    fn load_step(&mut self, entry: &MapEntry) -> Option<Step> {
        let node = &entry.value;
        Some(match &*entry.key {
            "progress" => self.load_progress(node),
            "log" => self.load_log(node),
            "notify" => self.load_notify(node),
            "delay" => Step::Delay(parse_duration(node.as_str()?).ok()?),
            "show" => self.load_visibility(node, true)?,
            "hide" => self.load_visibility(node, false)?,
            // The grammar has reported it.
            _ => return None,
        })
    }

    fn load_progress(&mut self, node: &Node) -> Step {
        let number = |key: &str| node.get(key).and_then(|it| it.to_json().as_f64());
        let progress = node.to_json().as_f64().or_else(|| number("progress"));
        Step::Progress {
            progress: progress.unwrap_or_default(),
            total: number("total"),
            message: node.get("message").map(|message| self.load_text(message)),
        }
    }

    fn load_log(&mut self, node: &Node) -> Step {
        self.logs = true;
        let level = text(node, "level").and_then(|name| LogLevel::from_name(&name));
        let data = if node.as_str().is_some() { Some(node) } else { node.get("data") };
        Step::Log {
            level: level.unwrap_or(LogLevel::Info),
            logger: text(node, "logger"),
            data: data.map_or(TemplateTree::Literal(Value::Null), |data| self.load_tree(data)),
        }
    }

    fn load_notify(&mut self, node: &Node) -> Step {
        let method = node.as_str().map(str::to_owned).or_else(|| text(node, "method"));
        let method = method.unwrap_or_default();
        let method = match method.strip_prefix("notifications/") {
            Some(_) => method,
            None => format!("notifications/{method}"),
        };
        Step::Notify { method, params: node.get("params").map(|params| self.load_tree(params)) }
    }

    fn load_visibility(&mut self, node: &Node, visible: bool) -> Option<Step> {
        let kinds = [EntryKind::Tool, EntryKind::Resource, EntryKind::Template, EntryKind::Prompt];
        let named: Vec<(EntryKind, String, Span)> = kinds
            .into_iter()
            .filter_map(|kind| {
                let id = node.get(kind.name())?;
                Some((kind, id.as_str()?.to_owned(), id.span))
            })
            .collect();
        match &named[..] {
            [(kind, id, _)] => Some(Step::SetVisible { kind: *kind, id: id.clone(), visible }),
            _ => {
                self.problems
                    .add(node.span, "give exactly one of tool, resource, template, prompt");
                None
            }
        }
    }
}

fn read_duration(node: &Node, key: &str) -> Option<Duration> {
    parse_duration(node.get(key)?.as_str()?).ok()
}
