//! Starts an MCP server. Over HTTP this process serves it. Over stdio the agent or the
//! server under test starts it, with the command `${mocks.NAME.command}`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Value, json};
use sparring_mock::{MockServer, Settings};

use super::super::connect::absolute;
use super::serve::{self, RestartableMock};
use super::{Journal, MockStarter, StartError};
use crate::model::{MockKind, Script, Transport};

impl MockStarter<'_> {
    pub(super) async fn over_http(
        &self,
        server: &Arc<MockServer>,
        served: Transport,
    ) -> Result<(RestartableMock, Value), StartError> {
        let transport = serve::http_transport(Some(served)).unwrap_or_default();
        let listening = RestartableMock::start(Arc::clone(server), transport).await;
        let (target, mock) = listening.map_err(|why| self.error(&why))?;
        let kind = if served == Transport::Sse { "sse" } else { "http" };
        let config = self.write_config(&json!({"type": kind, "url": target.url}))?;
        Ok((mock, json!({"url": target.url, "config": config})))
    }

    pub(super) fn over_stdio(&self) -> Result<(Journal, Value), StartError> {
        let journal = self.folder.join(format!("{}.jsonl", self.file_name()));
        let program = self.context.program.display().to_string();
        let (script, settings) = match &self.mock.kind {
            MockKind::Script(script) => self.script(script)?,
            MockKind::Interactions(_) | MockKind::Http(_) | MockKind::Llm(_) => {
                let path = self.folder.join(format!("{}.mock.yaml", self.file_name()));
                self.write(&path, &self.interactions())?;
                (path, Settings::default())
            }
        };
        let target = serve::child(program, &script, &settings, Some(&journal));
        let (command, args) = (target.program, target.args);
        let config =
            self.write_config(&json!({"type": "stdio", "command": command, "args": args}))?;
        let words = std::iter::once(&*command).chain(args.iter().map(String::as_str));
        let shell = shlex::try_join(words).map_err(|error| self.error(&error))?;
        let values = json!({
            "command": command, "args": args, "shell": shell, "config": config, "journal": journal,
        });
        Ok((Journal::File(journal), values))
    }

    /// The path of the script, and its variables.
    pub(super) fn script(&self, script: &Script) -> Result<(PathBuf, Settings), StartError> {
        let folder = absolute(self.suite.folder_of(self.mock.span));
        let path = folder.join(self.text(&script.path)?);
        let vars = script.vars.iter().map(|(name, tree)| Ok((name.clone(), self.value(tree)?)));
        let vars = vars.collect::<Result<_, StartError>>()?;
        Ok((path, Settings { vars, ..Settings::default() }))
    }

    /// A script that answers by recorded interactions.
    pub(super) fn interactions(&self) -> Value {
        let responses = match &self.mock.kind {
            MockKind::Interactions(responses) => responses.clone(),
            _ => json!([]),
        };
        json!({"server": {"name": self.mock.name}, "mcp_interactions": responses})
    }

    /// Writes a configuration file by which hosts connect to the mock.
    fn write_config(&self, server: &Value) -> Result<PathBuf, StartError> {
        let path = self.folder.join(format!("{}.json", self.file_name()));
        self.write(&path, &json!({"mcpServers": {&self.mock.name: server}}))?;
        Ok(path)
    }

    fn write(&self, path: &Path, value: &Value) -> Result<(), StartError> {
        std::fs::write(path, format!("{value:#}\n"))
            .map_err(|error| self.error(&format!("cannot write {}: {error}", path.display())))
    }

    /// A unique file name: the position of the mock and its name, as far as a path can
    /// contain it.
    fn file_name(&self) -> String {
        let mocks = self.suite.mocks.iter();
        let position = mocks.take_while(|it| it.name != self.mock.name).count();
        let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
        let name: String = self.mock.name.chars().take(40).map(plain).collect();
        format!("{position}-{name}")
    }
}
