//! From the description of a server to a client of it.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;
use sparring_mock::{MockServer, Settings};
use sparring_peer::client::Error;
use sparring_peer::{Cause, ClientBuilder, ClientOptions, Link, Protocol};
use sparring_script::{Span, Tree};
use sparring_transport::http::{Credentials, HttpLink, HttpTarget};
use sparring_transport::{ChildTarget, ContainerTarget, Opened, Stderr, Target};
use sparring_wire::Transcript;
use sparring_wire::types::Implementation;
use tokio::time::timeout;

use super::desk::Desk;
use super::listen::listen;
use super::mock;
use super::running::{Mocked, Running};
use super::scope::OfServer;
use super::seat::{Refusal, Seat};
use super::stand_ins::Journal;
use super::watch::Watch;
use crate::hide;
use crate::model::{Address, Command, Container, Script, Transport, Way};

/// How long connecting may take, and then each request.
const PATIENCE: Duration = Duration::from_secs(30);

/// How long a stray line or a foreign reply may be followed by the right one.
const GRACE: Duration = Duration::from_secs(1);

/// How much of a conversation is kept: what is told of it is kept apart.
const TRANSCRIPT: usize = 64 * 1024;

/// Starts or reaches the server of a seat.
///
/// # Errors
/// When it does not come to a conversation.
pub(super) async fn open(seat: &Seat<'_>) -> Result<Running, Refusal> {
    let opening = Opening { seat, within: seat.server.timeout.unwrap_or(PATIENCE) };
    match &seat.server.way {
        Way::Mock(script) => opening.mock(script).await,
        Way::Nobody => Err(opening.refusal("there is none")),
        Way::Child(command) => {
            let target = Target::Child(opening.child(command, true)?);
            opening.target(&target).await
        }
        Way::Container(container) => {
            let target = Target::Container(opening.container(container)?);
            opening.target(&target).await
        }
        Way::Http(address) => {
            let target = Target::Http(opening.address(address)?);
            opening.target(&target).await
        }
    }
}

struct Opening<'a> {
    seat: &'a Seat<'a>,
    within: Duration,
}

impl Opening<'_> {
    async fn target(&self, target: &Target) -> Result<Running, Refusal> {
        let opened = timeout(self.within, target.open()).await;
        let opened = opened
            .map_err(|_| self.refusal(format!("no connection within {:?}", self.within)))?
            .map_err(|error| self.refusal(error.to_string()))?;
        let Opened { link, stderr, .. } = opened;
        self.connect(link, stderr, None).await
    }

    async fn mock(&self, script: &Script) -> Result<Running, Refusal> {
        let path = self.folder().join(self.text(&script.path)?);
        let vars = script.vars.iter().map(|(name, tree)| Ok((name.clone(), self.value(tree)?)));
        let settings =
            Settings { vars: vars.collect::<Result<_, Refusal>>()?, ..Settings::default() };
        if self.seat.variant.transport == Some(Transport::Stdio) {
            let program = self.seat.world.program.display().to_string();
            let journal = self.seat.journal_file();
            let child = mock::child(program, &path, &settings, journal.as_deref());
            let running = self.target(&Target::Child(child)).await?;
            return Ok(Running { journal: journal.map(Journal::File), ..running });
        }
        let server = MockServer::from_file(path, &settings)
            .map_err(|error| self.refusal(error.to_string()))?;
        let server = Arc::new(server);
        let journal = Some(Journal::Live(Arc::clone(&server)));
        match mock::http_transport(self.seat.variant.transport) {
            None => {
                let (here, mocked) = mock::in_memory(server);
                let running = self.connect(here, None, Some(mocked)).await?;
                Ok(Running { journal, ..running })
            }
            Some(transport) => {
                let listening = mock::over_http(server, transport).await;
                let (target, mocked) = listening.map_err(|message| self.refusal(message))?;
                let link = HttpLink::new(&target).map_err(|it| self.refusal(it.to_string()))?;
                let running = self.connect(link, None, Some(mocked)).await?;
                Ok(Running { journal, ..running })
            }
        }
    }

    async fn connect(
        &self,
        link: impl Link,
        stderr: Option<Stderr>,
        mock: Option<Mocked>,
    ) -> Result<Running, Refusal> {
        let transcript = Transcript::bounded(TRANSCRIPT);
        let crowded = self.seat.server.concurrency > 1;
        let (secrets, tape) = (&self.seat.world.secrets, self.seat.tape.clone());
        let watch = Watch::of(&transcript, crowded, secrets, tape);
        let desk = Desk::default();
        let options = ClientOptions {
            info: Implementation::new("spar", env!("CARGO_PKG_VERSION")),
            protocol: self.seat.variant.protocol.map_or(Protocol::Auto, Protocol::Only),
            timeout: self.within,
            // One that outlasts the timeout would never be over.
            grace: GRACE.min(self.within / 2),
            ..ClientOptions::default()
        };
        let builder = ClientBuilder::with_options(options).transcript(transcript);
        let builder = desk.give_to(builder, self.seat.suite, self.seat.index);
        let builder = match &self.seat.server.capabilities {
            Some(declared) => builder.capabilities(self.value(declared)?),
            None => builder,
        };
        let client = builder.start(link);
        let ready = async {
            client.ready().await?;
            listen(&client, self.seat.suite, self.seat.index).await
        };
        match ready.await {
            Ok(subscription) => Ok(Running {
                client,
                watch,
                desk,
                stderr,
                tools: Mutex::default(),
                questioned: AtomicU64::default(),
                used: AtomicBool::default(),
                met_end: AtomicBool::default(),
                shaken: AtomicBool::default(),
                hangs: AtomicBool::default(),
                over_http: self.is_over_http(),
                journal: None,
                mock,
                _subscription: subscription,
            }),
            Err(error) => {
                client.close().await;
                let stderr = stderr.map(|stderr| stderr.tail()).unwrap_or_default();
                Err(Refusal { stderr, ..self.refusal(told(&error)) })
            }
        }
    }

    fn is_over_http(&self) -> bool {
        match self.seat.server.way {
            Way::Http(_) => true,
            Way::Mock(_) => mock::http_transport(self.seat.variant.transport).is_some(),
            Way::Child(_) | Way::Container(..) | Way::Nobody => false,
        }
    }

    fn child(&self, command: &Command, here: bool) -> Result<ChildTarget, Refusal> {
        let folder = self.folder();
        let folder = absolute(folder);
        let program = self.text(&command.program)?;
        let args = command.args.iter().map(|arg| self.text(arg)).collect::<Result<Vec<_>, _>>()?;
        let mut target =
            ChildTarget::new(if here { at(&folder, program) } else { program }).args(args);
        for (name, tree) in &command.env {
            let value = self.text(tree)?;
            hide::entry(self.seat.world, name, tree, &value);
            target.env.insert(name.clone(), value);
        }
        let cwd = command.cwd.as_ref().map(|cwd| self.text(cwd)).transpose()?.map(PathBuf::from);
        target.cwd = match here {
            true => Some(cwd.map_or(folder.clone(), |cwd| folder.join(cwd))),
            false => cwd,
        };
        Ok(target)
    }

    fn container(&self, container: &Container) -> Result<ContainerTarget, Refusal> {
        let command = self.child(&container.command, false)?;
        let mut target = ContainerTarget::new(self.text(&container.name)?, command);
        target.ready_within = self.within;
        if let Some(engine) = &container.engine {
            let line = self.text(engine)?;
            let words = shlex::split(&line).filter(|words| !words.is_empty());
            let none = || self.refusal(format!("`engine` is no command line: {line}"));
            target.engine = words.ok_or_else(none)?;
        }
        Ok(target)
    }

    fn address(&self, address: &Address) -> Result<HttpTarget, Refusal> {
        let mut target = HttpTarget::new(self.text(&address.url)?);
        target.proxies = self.seat.world.proxies.clone();
        for (name, tree) in &address.headers {
            let value = self.text(tree)?;
            hide::header(self.seat.world, name, tree, &value);
            target.headers.push((name.clone(), value));
        }
        let bearer = address.bearer.as_ref().map(|tree| Ok((tree, self.text(tree)?)));
        let bearer = bearer.transpose()?.map(|(tree, value)| {
            hide::token(self.seat.world, tree, &value);
            value
        });
        target.credentials = bearer.map(Credentials::Bearer);
        Ok(target)
    }

    /// The folder of the file that the server is described in.
    fn folder(&self) -> &Path {
        self.seat.suite.folder_of(self.seat.server.span)
    }

    fn text(&self, tree: &Tree) -> Result<String, Refusal> {
        Ok(match self.value(tree)? {
            Value::String(text) => text,
            other => other.to_string(),
        })
    }

    fn value(&self, tree: &Tree) -> Result<Value, Refusal> {
        let (world, folder) = (self.seat.world, &self.seat.folder);
        let scope = OfServer { world, folder, mocks: self.seat.mocks() };
        tree.render(&scope)
            .map_err(|missing| self.refusal_at(missing.span, missing.undefined.to_string()))
    }

    fn refusal(&self, message: impl Into<String>) -> Refusal {
        self.refusal_at(self.seat.server.span, message)
    }

    fn refusal_at(&self, span: Span, message: impl Into<String>) -> Refusal {
        let (name, message) = (&self.seat.server.name, message.into());
        let message = format!("the server `{name}` cannot be used: {message}");
        Refusal { span, message, stderr: String::new() }
    }
}

/// A folder from the root on; the empty path is this one.
pub(super) fn absolute(folder: &Path) -> PathBuf {
    std::path::absolute(folder.join(".")).unwrap_or_else(|_| folder.to_owned())
}

/// A program that is named by a path is looked for from the suite on.
pub(super) fn at(folder: &Path, program: String) -> String {
    match program.contains('/') {
        true => folder.join(program).display().to_string(),
        false => program,
    }
}

/// What kept the two sides from coming together; last words are told apart.
fn told(error: &Error) -> String {
    match error {
        Error::Closed { method, cause: Cause::Gone { how, .. } } => {
            format!("{method} has no answer: {how}")
        }
        error => error.to_string(),
    }
}
