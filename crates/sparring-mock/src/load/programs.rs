//! Replies that a program gives.

use std::time::Duration;

use serde_json::Value;
use sparring_script::{Node, Tree, duration};

use super::{Loader, MayRun, text};
use crate::program::{Gives, Program};

/// How long a program may take, where nothing is said.
const TIMEOUT: Duration = Duration::from_secs(30);

impl Loader<'_> {
    pub(super) fn program(&mut self, node: &Node) -> Program {
        match self.may_run {
            MayRun::Yes => {}
            MayRun::No => self.problems.add_with_help(
                node.span,
                "no program is run unless that is allowed",
                Some("allow it by --allow-exec, or by `allow_exec` in Rust".to_owned()),
            ),
            #[cfg(feature = "http")]
            MayRun::OnlyTheScripts => {
                self.problems.add(node.span, "only a script can name programs to run");
            }
        }
        let Some(line) = node.as_str() else { return self.spelled_out(node) };
        let words = shlex::split(line).unwrap_or_else(|| {
            self.problems.add(node.span, "a quote in this command has no end");
            vec![line.to_owned()]
        });
        let words: Vec<Tree> = words
            .into_iter()
            .map(|word| self.text_tree(&Node::from((node.span, Value::String(word)))))
            .collect();
        let mut words = words.into_iter();
        let command = words.next().unwrap_or_else(|| self.no_command(node));
        let (args, env) = (words.collect(), Vec::new());
        Program { command, args, env, timeout: TIMEOUT, gives: Gives::Text }
    }

    fn spelled_out(&mut self, node: &Node) -> Program {
        let command = match node.get("command") {
            Some(command) if command.as_str() == Some("") => self.no_command(command),
            Some(command) => self.text_tree(command),
            None => Tree::Plain(Value::Null),
        };
        let args = node.get("args").map(Node::items).unwrap_or_default();
        let env = node.get("env").map(Node::entries).unwrap_or_default();
        let timeout = node.get("timeout").and_then(Node::as_str).and_then(|it| duration(it).ok());
        Program {
            command,
            args: args.iter().map(|arg| self.text_tree(arg)).collect(),
            env: env.iter().map(|it| (it.key.clone(), self.text_tree(&it.value))).collect(),
            timeout: timeout.unwrap_or(TIMEOUT),
            gives: match text(node, "as").as_deref() {
                Some("structured") => Gives::Structured,
                Some("result") => Gives::Result,
                _ => Gives::Text,
            },
        }
    }

    fn no_command(&mut self, node: &Node) -> Tree {
        self.problems.add(node.span, "there is no command here");
        Tree::Plain(Value::Null)
    }
}
