//! Starts an MCP server. Over HTTP this process serves it, or a separate process. Over stdio
//! the agent or the server under test starts it, with the command `${mocks.NAME.command}`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Value, json};
use sparring_mock::{MockServer, Settings};
use sparring_transport::ChildTarget;

use super::super::connect::absolute;
use super::process::{MockProcess, READY_TIMEOUT};
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
        Ok((mock, self.values_over_http(served, &target.url)?))
    }

    /// Starts the mock over HTTP in a separate process.
    pub(super) async fn process(
        &self,
        served: Transport,
    ) -> Result<(Journal, MockProcess, Value), StartError> {
        let transport = serve::http_transport(Some(served)).unwrap_or_default();
        let server = self.server()?;
        let (command, journal) = self.command()?;
        let target = serve::http_process(command, &server, transport, READY_TIMEOUT);
        let target = target.map_err(|why| self.error(&why))?;
        let url = target.http.url.clone();
        let started = MockProcess::start(target, server.control_token()).await;
        let process = started.map_err(|error| StartError {
            stderr: error.output().to_owned(),
            ..self.error(&error.reason())
        })?;
        Ok((Journal::File(journal), process, self.values_over_http(served, &url)?))
    }

    fn values_over_http(&self, served: Transport, url: &str) -> Result<Value, StartError> {
        let kind = if served == Transport::Sse { "sse" } else { "http" };
        let config = self.write_config(&json!({"type": kind, "url": url}))?;
        Ok(json!({"url": url, "config": config}))
    }

    /// The command line of the mock over stdio, and its journal file.
    fn command(&self) -> Result<(ChildTarget, PathBuf), StartError> {
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
        Ok((serve::child(program, &script, &settings, Some(&journal)), journal))
    }

    pub(super) fn over_stdio(&self) -> Result<(Journal, Value), StartError> {
        let (target, journal) = self.command()?;
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
            MockKind::Interactions(interactions) => interactions.responses.clone(),
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
