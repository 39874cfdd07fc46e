//! Answers the questions of servers during an agent's calls: at the terminal, by flags, or
//! with the agent's own model.

use std::pin::Pin;
use std::str::FromStr;
use std::sync::Arc;

use clap::{Args, ValueEnum};
use serde_json::{Map, Value, json};
use sparring_host::agent::{Endpoint, SamplingRequest, ServerQuestions};
use sparring_peer::ClientBuilder;
use sparring_peer::client::{ServerRequest, ServerRequestHandler, accept_with_defaults};
use sparring_wire::{ErrorObject, RawJson};
use tokio::sync::Mutex;

use crate::output::Printer;
use crate::server_questions::{Answer, AnswerResult, QuestionKind, TerminalUser, rejected_error};

/// The flags for the questions of servers.
#[derive(Args)]
#[group(skip)]
pub(super) struct QuestionFlags {
    /// Answer forms of servers (elicitation): ask, decline, defaults (the form's default
    /// values), or a JSON object with fields [default: ask on a terminal]
    #[arg(long, value_name = "ANSWER", help_heading = "Servers")]
    elicit: Option<ElicitFlag>,

    /// Let servers use the model (sampling): ask before each request, allow or deny
    /// [default: ask on a terminal]
    #[arg(long, value_name = "WHEN", help_heading = "Servers")]
    sampling: Option<SamplingFlag>,
}

#[derive(Debug, Clone, PartialEq)]
enum ElicitFlag {
    Ask,
    Decline,
    Defaults,
    Fields(Map<String, Value>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum SamplingFlag {
    Ask,
    Allow,
    Deny,
}

impl FromStr for ElicitFlag {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "ask" => Ok(ElicitFlag::Ask),
            "decline" => Ok(ElicitFlag::Decline),
            "defaults" => Ok(ElicitFlag::Defaults),
            _ => match serde_json::from_str(text) {
                Ok(Value::Object(fields)) => Ok(ElicitFlag::Fields(fields)),
                _ => Err("expected ask, decline, defaults or a JSON object".to_owned()),
            },
        }
    }
}

impl QuestionFlags {
    /// Configures the clients: declares only what can be answered.
    pub(super) fn configure(&self, client: ClientBuilder, can_ask: bool) -> ClientBuilder {
        let mut client = client.pause_timeouts_while_answering();
        let asks = |flag_asks: bool| flag_asks && can_ask;
        let forms = match &self.elicit {
            None | Some(ElicitFlag::Ask) => asks(true),
            Some(_) => true,
        };
        if forms {
            let modes = match asks(matches!(self.elicit, None | Some(ElicitFlag::Ask))) {
                true => json!({"form": {}, "url": {}}),
                false => json!({"form": {}}),
            };
            client = client
                .answer(ServerRequest::Elicitation, |_| async { Ok(json!({"action": "decline"})) })
                .optional_capability("elicitation", modes);
        }
        let samples = match self.sampling {
            None | Some(SamplingFlag::Ask) => can_ask,
            Some(SamplingFlag::Allow) => true,
            Some(SamplingFlag::Deny) => false,
        };
        if samples {
            client = client.answer(ServerRequest::Sampling, |_| async { Err(rejected_error()) });
        }
        client
    }

    /// Returns the answers for the questions of all servers.
    pub(super) fn answers(&self, model: AgentModel, context: QuestionContext) -> QuestionAnswers {
        let QuestionContext { roots, can_ask, printer } = context;
        QuestionAnswers(Arc::new(Shared {
            elicit: self.elicit.clone().unwrap_or(ElicitFlag::Ask),
            sampling: self.sampling.unwrap_or(SamplingFlag::Ask),
            user: can_ask.then(|| Mutex::new(TerminalUser::new())),
            model,
            roots,
            printer,
        }))
    }
}

/// The agent's own model, which answers sampling.
pub(super) struct AgentModel {
    pub(super) endpoint: Arc<Endpoint>,
    pub(super) name: String,
}

/// The surroundings of the questions.
pub(super) struct QuestionContext {
    /// The result of `roots/list`.
    pub(super) roots: Option<RawJson>,
    pub(super) can_ask: bool,
    pub(super) printer: Printer,
}

/// The answers for the questions of all servers.
pub(super) struct QuestionAnswers(Arc<Shared>);

struct Shared {
    elicit: ElicitFlag,
    sampling: SamplingFlag,
    /// The user at the terminal, who answers one question at a time.
    user: Option<Mutex<TerminalUser>>,
    model: AgentModel,
    roots: Option<RawJson>,
    printer: Printer,
}

struct ServerHandler {
    server: Arc<str>,
    shared: Arc<Shared>,
}

impl ServerQuestions for QuestionAnswers {
    fn handler(&self, server: &Arc<str>) -> Arc<dyn ServerRequestHandler> {
        Arc::new(ServerHandler { server: Arc::clone(server), shared: Arc::clone(&self.0) })
    }
}

impl ServerRequestHandler for ServerHandler {
    fn answer(
        &self,
        method: &str,
        params: RawJson,
    ) -> Pin<Box<dyn Future<Output = AnswerResult> + Send>> {
        let (server, shared) = (Arc::clone(&self.server), Arc::clone(&self.shared));
        let method = method.to_owned();
        Box::pin(async move {
            if method == ServerRequest::Roots.method() {
                return shared.roots.clone().ok_or_else(|| ErrorObject::method_not_found(&method));
            }
            let kind = QuestionKind::parse(&method, &params)?;
            match &kind {
                QuestionKind::Model { .. } => shared.sample(&server, &kind).await,
                _ => shared.elicit(&server, &kind, &params).await,
            }
        })
    }
}

impl Shared {
    async fn elicit(&self, server: &str, kind: &QuestionKind, params: &RawJson) -> AnswerResult {
        let answer = match (&self.elicit, kind, &self.user) {
            (ElicitFlag::Defaults, QuestionKind::Form { .. }, _) => {
                return Ok(accept_with_defaults(params).into());
            }
            (ElicitFlag::Fields(fields), QuestionKind::Form { schema, .. }, _) => {
                let has = |name: &String| schema["properties"].get(name).is_some();
                let known = fields.iter().filter(|(name, _)| has(name));
                let known = known.map(|(name, value)| (name.clone(), value.clone()));
                Answer::Accept(Value::Object(known.collect()))
            }
            (ElicitFlag::Ask, kind, Some(user)) => {
                user.lock().await.answer(server, kind, &self.printer).await
            }
            _ => Answer::Decline,
        };
        if answer == Answer::Decline {
            let note = format!("declined a question of `{server}`: {}", kind.message());
            self.printer.note(&note).await;
        }
        kind.outcome(answer)
    }

    async fn sample(&self, server: &str, kind: &QuestionKind) -> AnswerResult {
        let QuestionKind::Model { system, messages, max_tokens } = kind else {
            return Err(rejected_error());
        };
        let consents = match (self.sampling, &self.user) {
            (SamplingFlag::Allow, _) => true,
            (SamplingFlag::Ask, Some(user)) => {
                let question = format!("send this to {}? [y]es, [N]o: ", self.model.name);
                user.lock().await.confirm(server, kind, &question, &self.printer).await
            }
            _ => false,
        };
        if !consents {
            let note = format!("declined a sampling request of `{server}`");
            self.printer.note(&note).await;
            return Err(rejected_error());
        }
        self.printer.note(&format!("`{server}` uses the model")).await;
        let request = SamplingRequest {
            model: self.model.name.clone(),
            system: system.clone(),
            messages: messages.clone(),
            max_tokens: *max_tokens,
        };
        let sampled = self.model.endpoint.sample(&request).await;
        let sampled = sampled.map_err(|error| ErrorObject::internal(error.to_string()))?;
        let stop = if sampled.is_truncated { "maxTokens" } else { "endTurn" };
        Ok(RawJson::from(json!({
            "role": "assistant",
            "content": {"type": "text", "text": sampled.text},
            "model": self.model.name,
            "stopReason": stop,
        })))
    }
}
