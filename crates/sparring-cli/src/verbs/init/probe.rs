//! Tries the requests of a future suite on the server: sends them, answers the server's
//! requests, and records the outcomes.

use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Map, Value, json};
use sparring_peer::client::{Error, ListKind, ServerRequest};
use sparring_peer::{Client, ClientBuilder, Response};
use sparring_suite::scaffold::{ListedItems, RequestKind, Trial, TrialOutcome, sample_answer};
use sparring_transport::{Container, Secrets, Target};
use sparring_wire::{RawJson, Revision, code};

use crate::args::TargetFlags;
use crate::command_error::CommandError;
use crate::connection;

/// The capabilities that the client declares during trials. Roots are missing: many
/// servers replace their own folders by the client's roots.
const CAPABILITIES: [&str; 2] = ["elicitation", "sampling"];

/// The kinds of requests that the client answers.
pub(super) const QUESTIONS: [ServerRequest; 3] =
    [ServerRequest::Elicitation, ServerRequest::Sampling, ServerRequest::Roots];

/// The answers that the client gave to the server. Clones share them.
#[derive(Clone, Default)]
pub(super) struct GivenAnswers(Arc<Mutex<Vec<(ServerRequest, Value)>>>);

impl GivenAnswers {
    /// Makes a client answer every kind of request that the requested revision has, and
    /// declare these capabilities only.
    pub(super) fn register(
        &self,
        builder: ClientBuilder,
        declared: Map<String, Value>,
        revision: Option<Revision>,
    ) -> ClientBuilder {
        let is_known =
            |it: &ServerRequest| it.capability().is_some_and(|name| has_capability(revision, name));
        let questions = QUESTIONS.into_iter().filter(is_known);
        let builder = questions.fold(builder, |builder, question| {
            let answers = self.clone();
            builder.answer(question, move |params| {
                std::future::ready(Ok(answers.give(question, &params)))
            })
        });
        builder.capabilities(Value::Object(declared))
    }

    fn give(&self, question: ServerRequest, params: &RawJson) -> Value {
        let params: Value = params.view().deserialize().unwrap_or_default();
        let answer = sample_answer(question, &params);
        let mut given = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        given.push((question, answer.clone()));
        answer
    }

    /// Returns the answers since the last call.
    fn take(&self) -> Vec<(ServerRequest, Value)> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Returns the capabilities to declare during trials, if a revision is requested those
/// that it has.
pub(super) fn declared_capabilities(revision: Option<Revision>) -> Map<String, Value> {
    capabilities(CAPABILITIES.into_iter().filter(|name| has_capability(revision, name)))
}

/// Returns the capabilities of these names.
pub(super) fn capabilities<'a>(names: impl Iterator<Item = &'a str>) -> Map<String, Value> {
    names.map(|name| (name.to_owned(), json!({}))).collect()
}

/// Adds capabilities with their parts.
pub(super) fn add_capabilities(all: &mut Map<String, Value>, more: &Map<String, Value>) {
    for (name, value) in more {
        match (all.get_mut(name), value) {
            (Some(Value::Object(known)), Value::Object(more)) => add_capabilities(known, more),
            _ => drop(all.insert(name.clone(), value.clone())),
        }
    }
}

/// Returns true if clients can declare the capability in the requested revision.
fn has_capability(revision: Option<Revision>, name: &str) -> bool {
    revision.is_none_or(|it| it.definition().client_capabilities.contains(&name))
}

/// Sends trials to a server, which it starts again when necessary.
pub(super) struct Probe<'a> {
    pub(super) target: &'a Target,
    pub(super) flags: &'a TargetFlags,
    pub(super) answers: &'a GivenAnswers,
    /// Values that must not appear in the suite.
    pub(super) secrets: Secrets,
    pub(super) client: Client,
    /// The container of a server that the probe started.
    pub(super) container: Option<Container>,
    /// The capabilities that the server required with an error.
    pub(super) required: Map<String, Value>,
}

impl Probe<'_> {
    /// Tries a request with its arguments, then with the alternatives if the server
    /// refuses them. Keeps the first arguments if the server refuses all.
    ///
    /// # Errors
    /// When the server cannot be started again after a failure.
    pub(super) async fn run(&mut self, trial: &mut Trial) -> Result<(), CommandError> {
        if trial.outcome != TrialOutcome::Untried {
            return Ok(());
        }
        let alternatives = std::mem::take(&mut trial.alternatives);
        let arguments = std::iter::once(trial.arguments.clone()).chain(alternatives);
        for tried in arguments {
            self.answers.take();
            let mut response = self.send(trial, &tried).await;
            if self.add_required_capabilities(&response) {
                self.reopen_for_trials().await?;
                self.answers.take();
                response = self.send(trial, &tried).await;
            }
            let answers = self.answers.take();
            let is_lost = response.is_err();
            let outcome = self.outcome(response);
            let is_better = outcome == TrialOutcome::Answered;
            if is_better || trial.outcome == TrialOutcome::Untried {
                (trial.arguments, trial.outcome, trial.answers) = (tried, outcome, answers);
            }
            if is_lost {
                self.reopen_for_trials().await?;
            }
            if is_lost || is_better {
                break;
            }
        }
        Ok(())
    }

    async fn send(&self, trial: &Trial, arguments: &Value) -> Result<Response, Error> {
        let name = &trial.name;
        match trial.kind {
            RequestKind::Call => self.client.call_tool(name, arguments.clone()).await,
            RequestKind::Read => {
                let params = RawJson::from(json!({"uri": name}));
                self.client.request("resources/read", Some(params)).await
            }
            RequestKind::Prompt => {
                let params = RawJson::from(json!({"name": name, "arguments": arguments}));
                self.client.request("prompts/get", Some(params)).await
            }
        }
    }

    /// Adds the capabilities that an error response requires. Returns true if they are new.
    fn add_required_capabilities(&mut self, response: &Result<Response, Error>) -> bool {
        let error = response.as_ref().ok().and_then(Response::error);
        let error = error.filter(|it| it.code == code::MISSING_REQUIRED_CLIENT_CAPABILITY);
        let Some(data) = error.and_then(|error| error.data) else { return false };
        let Some(required) = data["requiredCapabilities"].as_object() else { return false };
        let before = self.required.clone();
        add_capabilities(&mut self.required, required);
        self.required != before
    }

    /// Opens another connection for trials.
    async fn reopen_for_trials(&mut self) -> Result<(), CommandError> {
        self.reopen(declared_capabilities(self.flags.revision())).await
    }

    fn outcome(&self, response: Result<Response, Error>) -> TrialOutcome {
        let masked = |text: String| self.secrets.mask(&text).into_owned();
        match response {
            Ok(response) => match response.error() {
                Some(error) => {
                    TrialOutcome::ErrorResponse { code: error.code, message: masked(error.message) }
                }
                None if response.is_error() => TrialOutcome::ToolError(masked(response.content())),
                None => TrialOutcome::Answered,
            },
            // A correct tool may wait for something that does not happen.
            Err(error @ (Error::Timeout { .. } | Error::Stalled { .. })) => {
                let reason = format!("{error}; raise the timeout or change the arguments");
                TrialOutcome::Skipped(masked(reason))
            }
            Err(error) => TrialOutcome::Broken(masked(error.to_string())),
        }
    }

    /// Ends the connection and opens another, whose client declares these capabilities and
    /// those that the server required.
    ///
    /// # Errors
    /// When the server cannot be started or reached.
    pub(super) async fn reopen(
        &mut self,
        mut declared: Map<String, Value>,
    ) -> Result<(), CommandError> {
        add_capabilities(&mut declared, &self.required);
        self.client.close().await;
        let opened = connection::open(self.target, self.flags.connection.timeout()).await?;
        let builder = ClientBuilder::with_options(self.flags.client_options());
        let builder = self.answers.register(builder, declared, self.flags.revision());
        self.client = builder.start(opened.link);
        self.container = opened.container;
        self.client.ready().await.map_err(CommandError::Connect)
    }

    /// Returns the lists that the server declares.
    ///
    /// # Errors
    /// When it cannot list its tools. A test of the suite reports other lists that fail.
    pub(super) async fn lists(&self) -> Result<Vec<ListedItems>, CommandError> {
        let kinds = [
            ("tools", ListKind::Tools),
            ("resources", ListKind::Resources),
            ("templates", ListKind::ResourceTemplates),
            ("prompts", ListKind::Prompts),
        ];
        let capabilities = self.client.capabilities();
        let mut lists = Vec::new();
        for (list, kind) in kinds {
            if !capabilities.has(kind.capability()) {
                continue;
            }
            let items = match self.client.list(kind).await {
                Ok(items) => items,
                Err(error) if kind == ListKind::Tools => return Err(CommandError::Request(error)),
                Err(_) => Vec::new(),
            };
            let items: Vec<Value> =
                items.iter().filter_map(|item| item.view().deserialize().ok()).collect();
            // A server with resources need not have templates.
            if kind != ListKind::ResourceTemplates || !items.is_empty() {
                lists.push(ListedItems { list, items });
            }
        }
        Ok(lists)
    }
}
