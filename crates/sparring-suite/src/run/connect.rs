//! Connects to a server according to its description.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};
use sparring_mock::{MockServer, Settings};
use sparring_peer::client::Error;
use sparring_peer::{Cause, ClientBuilder, ClientOptions, Link, Protocol};
use sparring_script::{Span, TemplateTree};
use sparring_transport::http::{Credentials, HttpLink, HttpTarget};
use sparring_transport::{
    ChildTarget, ContainerTarget, HttpProcessError, HttpProcessLink, HttpProcessTarget,
    OpenedTarget, Stderr, Target, free_port,
};
use sparring_wire::types::Implementation;
use sparring_wire::{Revision, Transcript};
use tokio::time::timeout;

use super::change_notifications;
use super::check_step::CheckedServer;
use super::connection::{MockTask, ServerConnection};
use super::mocks::{Journal, serve};
use super::prepared_answers::PreparedAnswers;
use super::scope::{ServerScope, TempFolder};
use super::server_runner::{StartError, TestedServer};
use super::step_traffic::StepTraffic;
use crate::hide;
use crate::model::{Address, Command, Container, HttpProcess, Script, ServerKind, Transport};

/// The default timeout for connecting, and for each request.
pub(super) const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);

/// The maximum wait for the right reply after a line that is not a frame, or after a reply
/// with another id.
const GRACE_TIME: Duration = Duration::from_secs(1);

/// The size of the transcript in bytes. Failures and reports keep their own frames.
const TRANSCRIPT_BYTES: usize = 64 * 1024;

/// Starts the server if it is a command, a container or a mock, and connects to it.
///
/// # Errors
/// When the server does not start, or does not complete the handshake.
pub(super) async fn connect(
    tested: &TestedServer<'_>,
    folder: &TempFolder,
    mocks: &Value,
) -> Result<ServerConnection, StartError> {
    let timeout = tested.server.timeout.unwrap_or(DEFAULT_TIMEOUT);
    let connector = Connector { tested, folder, mocks, timeout, port: None };
    match &tested.server.kind {
        ServerKind::Mock(script) => connector.connect_mock(script).await,
        ServerKind::NoServer => Err(connector.error("the suite has no server")),
        ServerKind::Child(command) => {
            let target = Target::Child(connector.child_target(command, true)?);
            connector.connect_target(&target).await
        }
        ServerKind::Container(container) => {
            let target = Target::Container(connector.container_target(container)?);
            connector.connect_target(&target).await
        }
        ServerKind::Http(address) => {
            let target = Target::Http(connector.http_target(address)?);
            connector.connect_target(&target).await
        }
        ServerKind::HttpProcess(process) => {
            let port = free_port().map_err(|error| connector.error(error.to_string()))?;
            Connector { port: Some(port), ..connector }.connect_http_process(process).await
        }
    }
}

struct Connector<'a> {
    tested: &'a TestedServer<'a>,
    folder: &'a TempFolder,
    /// The values of the mocks, for templates.
    mocks: &'a Value,
    timeout: Duration,
    /// The value of `${port}`.
    port: Option<u16>,
}

impl Connector<'_> {
    async fn connect_target(&self, target: &Target) -> Result<ServerConnection, StartError> {
        let opened = timeout(self.timeout, target.open()).await;
        let opened = opened
            .map_err(|_| self.error(format!("no connection within {:?}", self.timeout)))?
            .map_err(|error| self.error(error.to_string()))?;
        let OpenedTarget { link, stderr, .. } = opened;
        let connection = self.handshake(link, stderr, None).await?;
        Ok(ServerConnection { checked: Some(CheckedServer::of_target(target)), ..connection })
    }

    async fn connect_http_process(
        &self,
        process: &HttpProcess,
    ) -> Result<ServerConnection, StartError> {
        let command = self.child_target(&process.command, true)?;
        let mut target = HttpProcessTarget::new(command, self.http_target(&process.address)?);
        target.ready_path = process.ready_path.as_ref().map(|path| self.text(path)).transpose()?;
        target.ready_timeout = process.ready_timeout.unwrap_or(self.timeout);
        self.start_http_process(&target).await
    }

    /// Starts a server over HTTP, waits until it is ready, and connects to it.
    async fn start_http_process(
        &self,
        target: &HttpProcessTarget,
    ) -> Result<ServerConnection, StartError> {
        let link = HttpProcessLink::start(target).await;
        let link = link.map_err(|error| self.not_ready(&error))?;
        let stderr = Some(link.output());
        let connection = self.handshake(link, stderr, None).await?;
        let checked = CheckedServer::of_target(&Target::Http(target.http.clone()));
        Ok(ServerConnection { checked: Some(checked), ..connection })
    }

    async fn connect_mock(&self, script: &Script) -> Result<ServerConnection, StartError> {
        let path = self.suite_folder().join(self.text(&script.path)?);
        let vars = script.vars.iter().map(|(name, tree)| Ok((name.clone(), self.value(tree)?)));
        let settings =
            Settings { vars: vars.collect::<Result<_, StartError>>()?, ..Settings::default() };
        if self.tested.variant.transport == Some(Transport::Stdio) {
            let program = self.tested.context.program.display().to_string();
            let journal = self.tested.journal_file(self.folder);
            let child = serve::child(program, &path, &settings, journal.as_deref());
            let connection = self.connect_target(&Target::Child(child)).await?;
            return Ok(ServerConnection { journal: journal.map(Journal::File), ..connection });
        }
        let server = MockServer::from_file(&path, &settings)
            .map_err(|error| self.error(error.to_string()))?;
        let transport = serve::http_transport(self.tested.variant.transport);
        if let (true, Some(transport)) = (script.is_process, transport) {
            let journal = self.tested.journal_file(self.folder);
            let program = self.tested.context.program.display().to_string();
            let command = serve::child(program, &path, &settings, journal.as_deref());
            let target = serve::http_process(command, &server, transport, self.timeout)
                .map_err(|message| self.error(message))?;
            let connection = self.start_http_process(&target).await?;
            return Ok(ServerConnection { journal: journal.map(Journal::File), ..connection });
        }
        let server = Arc::new(server);
        let journal = Some(Journal::Live(Arc::clone(&server)));
        match transport {
            None => {
                let checked = Some(CheckedServer::of_mock(&server));
                let (link, mock) = serve::in_memory(server);
                let connection = self.handshake(link, None, Some(mock)).await?;
                Ok(ServerConnection { journal, checked, ..connection })
            }
            Some(transport) => {
                let listening = serve::over_http(server, transport).await;
                let (target, mock) = listening.map_err(|message| self.error(message))?;
                let link = HttpLink::new(&target).map_err(|it| self.error(it.to_string()))?;
                let connection = self.handshake(link, None, Some(mock)).await?;
                let checked = Some(CheckedServer::of_target(&Target::Http(target)));
                Ok(ServerConnection { journal, checked, ..connection })
            }
        }
    }

    async fn handshake(
        &self,
        link: impl Link,
        stderr: Option<Stderr>,
        mock: Option<MockTask>,
    ) -> Result<ServerConnection, StartError> {
        let transcript = Transcript::with_max_bytes(TRANSCRIPT_BYTES);
        let shared = self.tested.server.concurrency > 1;
        let (secrets, recorder) = (&self.tested.context.secrets, self.tested.recorder.cloned());
        let traffic = StepTraffic::follow(&transcript, shared, secrets, recorder);
        let answers = PreparedAnswers::default();
        let options = ClientOptions {
            info: Implementation::new("spar", env!("CARGO_PKG_VERSION")),
            protocol: self.tested.variant.protocol.map_or(Protocol::Auto, Protocol::Only),
            timeout: self.timeout,
            // A longer grace time would outlast the timeout.
            grace_period: GRACE_TIME.min(self.timeout / 2),
            ..ClientOptions::default()
        };
        let builder = ClientBuilder::with_options(options).transcript(transcript);
        let builder = answers.register(builder, self.tested.suite, self.tested.index);
        let builder = match &self.tested.server.capabilities {
            Some(declared) => with_capabilities(builder, self.value(declared)?),
            None => builder,
        };
        let client = builder.start(link);
        let ready = async {
            client.ready().await?;
            change_notifications::subscribe(&client, self.tested.suite, self.tested.index).await
        };
        match ready.await {
            Ok(subscription) => Ok(ServerConnection {
                stderr,
                mock,
                _subscription: subscription,
                ..ServerConnection::new(client, traffic, answers, self.is_over_http())
            }),
            Err(error) => {
                client.close().await;
                let stderr = stderr.map(|stderr| stderr.tail()).unwrap_or_default();
                let mut failed = StartError { stderr, ..self.start_error(&error) };
                // An error about noise shows the line itself.
                if !matches!(error, Error::Noise { .. })
                    && let Some(printed) = traffic.first_printed_line()
                {
                    failed.message = format!("{}; {printed}", failed.message);
                }
                Err(failed)
            }
        }
    }

    fn is_over_http(&self) -> bool {
        match self.tested.server.kind {
            ServerKind::Http(_) | ServerKind::HttpProcess(_) => true,
            ServerKind::Mock(_) => serve::http_transport(self.tested.variant.transport).is_some(),
            ServerKind::Child(_) | ServerKind::Container(..) | ServerKind::NoServer => false,
        }
    }

    /// If `local` is true, paths start at the suite's folder. In a container they do not.
    fn child_target(&self, command: &Command, local: bool) -> Result<ChildTarget, StartError> {
        let folder = absolute(self.suite_folder());
        let program = self.text(&command.program)?;
        let args = command.args.iter().map(|arg| self.text(arg)).collect::<Result<Vec<_>, _>>()?;
        let mut target =
            ChildTarget::new(if local { resolve_program(&folder, program) } else { program })
                .args(args);
        for (name, tree) in &command.env {
            let value = self.text(tree)?;
            hide::register_env(self.tested.context, name, tree, &value);
            target.env.insert(name.clone(), value);
        }
        let cwd = command.cwd.as_ref().map(|cwd| self.text(cwd)).transpose()?.map(PathBuf::from);
        target.cwd = match local {
            true => Some(cwd.map_or(folder.clone(), |cwd| folder.join(cwd))),
            false => cwd,
        };
        Ok(target)
    }

    fn container_target(&self, container: &Container) -> Result<ContainerTarget, StartError> {
        let command = self.child_target(&container.command, false)?;
        let mut target = ContainerTarget::new(self.text(&container.name)?, command);
        target.ready_timeout = self.timeout;
        if let Some(engine) = &container.engine {
            let line = self.text(engine)?;
            let words = shlex::split(&line).filter(|words| !words.is_empty());
            let none = || self.error(format!("`engine` is not a command line: {line}"));
            target.engine = words.ok_or_else(none)?;
        }
        Ok(target)
    }

    fn http_target(&self, address: &Address) -> Result<HttpTarget, StartError> {
        let mut target = HttpTarget::new(self.text(&address.url)?);
        target.proxies = self.tested.context.proxies.clone();
        target.secrets = self.tested.context.secrets.clone();
        for (name, tree) in &address.headers {
            let value = self.text(tree)?;
            hide::register_header(self.tested.context, name, tree, &value);
            target.headers.push((name.clone(), value));
        }
        let bearer = address.bearer.as_ref().map(|tree| Ok((tree, self.text(tree)?)));
        let bearer = bearer.transpose()?.map(|(tree, value)| {
            hide::register_token(self.tested.context, tree, &value);
            Credentials::Bearer(value.into())
        });
        target.credentials = bearer;
        Ok(target)
    }

    /// The folder of the file that describes the server.
    fn suite_folder(&self) -> &Path {
        self.tested.suite.folder_of(self.tested.server.span)
    }

    fn text(&self, tree: &TemplateTree) -> Result<String, StartError> {
        Ok(match self.value(tree)? {
            Value::String(text) => text,
            other => other.to_string(),
        })
    }

    fn value(&self, tree: &TemplateTree) -> Result<Value, StartError> {
        let context = self.tested.context;
        let Connector { folder, mocks, port, .. } = *self;
        let scope = ServerScope { context, folder, mocks, port };
        tree.render(&scope)
            .map_err(|missing| self.error_at(missing.span, missing.undefined.to_string()))
    }

    /// The error of a server that did not complete the handshake.
    fn start_error(&self, error: &Error) -> StartError {
        match error {
            // The error carries the server's stderr apart from its message.
            Error::Closed { method, cause: Cause::ProcessEnded { reason, .. } } => {
                let (name, span) = (&self.tested.server.name, self.tested.server.span);
                let message = format!("server `{name}` {reason} before it answered {method}");
                StartError { span, message, stderr: String::new() }
            }
            error => self.error(error.to_string()),
        }
    }

    /// The error of a server over HTTP that did not become ready.
    fn not_ready(&self, error: &HttpProcessError) -> StartError {
        let (name, span) = (&self.tested.server.name, self.tested.server.span);
        let message = match error {
            HttpProcessError::Exited { reason, .. } => {
                format!("server `{name}` {reason} before it was ready")
            }
            HttpProcessError::NotReady { timeout, last, .. } => {
                format!("server `{name}` was not ready within {timeout:?}: {last}")
            }
            HttpProcessError::AddressInUse { address, .. } => {
                return self.error(format!(
                    "another program already listens on {address}; `${{port}}` in `url` and in the command is a free port"
                ));
            }
            error => return self.error(error.to_string()),
        };
        StartError { span, message, stderr: error.output().to_owned() }
    }

    fn error(&self, message: impl Into<String>) -> StartError {
        self.error_at(self.tested.server.span, message)
    }

    fn error_at(&self, span: Span, message: impl Into<String>) -> StartError {
        let (name, message) = (&self.tested.server.name, message.into());
        let message = format!("cannot use server `{name}`: {message}");
        StartError { span, message, stderr: String::new() }
    }
}

/// Declares these capabilities: the protocol's own ones in the revisions that have them, and
/// all others always.
fn with_capabilities(builder: ClientBuilder, declared: Value) -> ClientBuilder {
    let Value::Object(declared) = declared else { return builder.capabilities(declared) };
    let is_known = |name: &str| {
        let mut all = Revision::ALL.into_iter();
        all.any(|it| it.definition().client_capabilities.contains(&name))
    };
    let none = builder.capabilities(Value::Object(Map::new()));
    declared.into_iter().fold(none, |builder, (name, value)| match is_known(&name) {
        true => builder.optional_capability(&name, value),
        false => builder.capability(&name, value),
    })
}

/// Makes a folder's path absolute. The empty path is the current folder.
pub(super) fn absolute(folder: &Path) -> PathBuf {
    std::path::absolute(folder.join(".")).unwrap_or_else(|_| folder.to_owned())
}

/// Resolves a program that is a path from the suite's folder; leaves a name as it is.
pub(super) fn resolve_program(folder: &Path, program: String) -> String {
    match program.contains('/') {
        true => folder.join(program).display().to_string(),
        false => program,
    }
}
