//! An MCP server from its description: over HTTP it is served here, over stdio
//! it is what somebody else has to start.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Value, json};
use sparring_mock::{MockServer, Settings};

use super::super::mock;
use super::super::open::absolute;
use super::{Journal, Mocked, Refusal, Starting};
use crate::model::{Script, StandInKind, Transport};

impl Starting<'_> {
    pub(super) async fn over_http(
        &self,
        server: &Arc<MockServer>,
        served: Transport,
    ) -> Result<(Mocked, Value), Refusal> {
        let transport = mock::http_transport(Some(served)).unwrap_or_default();
        let listening = mock::over_http(Arc::clone(server), transport).await;
        let (target, serving) = listening.map_err(|why| self.refusal(&why))?;
        let kind = if served == Transport::Sse { "sse" } else { "http" };
        let config = self.config(&json!({"type": kind, "url": target.url}))?;
        Ok((serving, json!({"url": target.url, "config": config})))
    }

    pub(super) fn over_stdio(&self) -> Result<(Journal, Value), Refusal> {
        let journal = self.folder.join(format!("{}.jsonl", self.file_name()));
        let program = self.world.program.display().to_string();
        let (script, settings) = match &self.stand_in.kind {
            StandInKind::Script(script) => self.script(script)?,
            StandInKind::Interactions(_) | StandInKind::Http(_) | StandInKind::Llm(_) => {
                let path = self.folder.join(format!("{}.mock.yaml", self.file_name()));
                self.write(&path, &self.interactions())?;
                (path, Settings::default())
            }
        };
        let target = mock::child(program, &script, &settings, Some(&journal));
        let (command, args) = (target.program, target.args);
        let config = self.config(&json!({"type": "stdio", "command": command, "args": args}))?;
        let words = std::iter::once(&*command).chain(args.iter().map(String::as_str));
        let shell = shlex::try_join(words).map_err(|error| self.refusal(&error))?;
        let facts = json!({
            "command": command, "args": args, "shell": shell, "config": config, "journal": journal,
        });
        Ok((Journal::File(journal), facts))
    }

    /// The path of its script, and what is said beside it.
    pub(super) fn script(&self, script: &Script) -> Result<(PathBuf, Settings), Refusal> {
        let folder = absolute(self.suite.folder_of(self.stand_in.span));
        let path = folder.join(self.text(&script.path)?);
        let vars = script.vars.iter().map(|(name, tree)| Ok((name.clone(), self.value(tree)?)));
        let vars = vars.collect::<Result<_, Refusal>>()?;
        Ok((path, Settings { vars, ..Settings::default() }))
    }

    /// A script that answers turn by turn.
    pub(super) fn interactions(&self) -> Value {
        let responses = match &self.stand_in.kind {
            StandInKind::Interactions(responses) => responses.clone(),
            _ => json!([]),
        };
        json!({"server": {"name": self.stand_in.name}, "mcp_interactions": responses})
    }

    /// A file that tells hosts how to get to it, as they all read one.
    fn config(&self, server: &Value) -> Result<PathBuf, Refusal> {
        let path = self.folder.join(format!("{}.json", self.file_name()));
        self.write(&path, &json!({"mcpServers": {&self.stand_in.name: server}}))?;
        Ok(path)
    }

    fn write(&self, path: &Path, value: &Value) -> Result<(), Refusal> {
        std::fs::write(path, format!("{value:#}\n"))
            .map_err(|error| self.refusal(&format!("cannot write {}: {error}", path.display())))
    }

    /// Its name as far as a path can have it, and its place, which no other has.
    fn file_name(&self) -> String {
        let stand_ins = self.suite.stand_ins.iter();
        let place = stand_ins.take_while(|it| it.name != self.stand_in.name).count();
        let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
        let name: String = self.stand_in.name.chars().take(40).map(plain).collect();
        format!("{place}-{name}")
    }
}
