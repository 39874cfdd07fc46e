//! Loads programs of replies.

use std::time::Duration;

use serde_json::Value;
use sparring_script::{Node, TemplateTree, parse_duration};

use super::{Loader, TextOrigin, text};
use crate::program::{OutputFormat, Program};

/// The default timeout.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);

impl Loader<'_> {
    pub(super) fn load_program(&mut self, node: &Node) -> Program {
        match self.origin {
            TextOrigin::Owner { allow_exec: true } => {}
            TextOrigin::Owner { allow_exec: false } => self.problems.add_with_help(
                node.span,
                "the script may not run programs",
                Some("allow it with --allow-exec, or with `allow_exec` in Rust".to_owned()),
            ),
            #[cfg(feature = "http")]
            TextOrigin::HttpClient(_) => {
                self.problems
                    .add(node.span, "only a script can run programs, not a change over HTTP");
            }
        }
        let Some(line) = node.as_str() else { return self.load_program_map(node) };
        let words = shlex::split(line).unwrap_or_else(|| {
            self.problems.add(node.span, "unclosed quote in the command");
            vec![line.to_owned()]
        });
        let words: Vec<TemplateTree> = words
            .into_iter()
            .map(|word| self.load_text(&Node::from((node.span, Value::String(word)))))
            .collect();
        let mut words = words.into_iter();
        let command = words.next().unwrap_or_else(|| self.report_empty_command(node));
        let (args, env) = (words.collect(), Vec::new());
        Program { command, args, env, timeout: DEFAULT_TIMEOUT, format: OutputFormat::Text }
    }

    fn load_program_map(&mut self, node: &Node) -> Program {
        let command = match node.get("command") {
            Some(command) if command.as_str() == Some("") => self.report_empty_command(command),
            Some(command) => self.load_text(command),
            None => TemplateTree::Literal(Value::Null),
        };
        let args = node.get("args").map(Node::items).unwrap_or_default();
        let env = node.get("env").map(Node::entries).unwrap_or_default();
        let timeout =
            node.get("timeout").and_then(Node::as_str).and_then(|it| parse_duration(it).ok());
        Program {
            command,
            args: args.iter().map(|arg| self.load_text(arg)).collect(),
            env: env.iter().map(|it| (it.key.clone(), self.load_text(&it.value))).collect(),
            timeout: timeout.unwrap_or(DEFAULT_TIMEOUT),
            format: match text(node, "as").as_deref() {
                Some("structured") => OutputFormat::Structured,
                Some("result") => OutputFormat::Result,
                _ => OutputFormat::Text,
            },
        }
    }

    fn report_empty_command(&mut self, node: &Node) -> TemplateTree {
        self.problems.add(node.span, "the command is empty");
        TemplateTree::Literal(Value::Null)
    }
}
