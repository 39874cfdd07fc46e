//! The agent with scripted endpoints of both APIs, whole and streamed, and with
//! servers in memory.

mod endpoints;
mod mishaps;
mod tools;

use std::time::Duration;

use serde_json::Value;
use sparring_host::agent::{
    Address, Agent, AgentError, AgentResult, Api, EndReason, Endpoint, Event, Limits, RequestPolicy,
};
use sparring_host::artifacts::{Settings, Store};
use sparring_host::config::{Rules, ServerConfig};
use sparring_host::manager::Manager;
use sparring_host::permissions::{PermissionGate, PermissionGateOptions, Permissions, Policy};
use sparring_host::registry::Registry;
use sparring_mock::{LlmBuilder, LlmMock, LlmTurn, MockBuilder};
use sparring_transport::http::HttpTarget;
use tokio::sync::mpsc;

use crate::manager::fixture::{TestConnector, entry, within};
use crate::permissions::rules;

/// Both APIs, whole and streamed.
const API_MODES: [(Api, bool); 4] =
    [(Api::OpenAi, false), (Api::OpenAi, true), (Api::Anthropic, false), (Api::Anthropic, true)];

/// Servers in memory, and an agent with their tools.
struct AgentFixture {
    manager: Manager,
    registry: Registry,
    store: Store,
    limits: Limits,
    request_policy: RequestPolicy,
}

/// The result of a run.
struct AgentRun {
    ended: Result<AgentResult, AgentError>,
    events: Vec<Event>,
}

impl AgentFixture {
    /// One server of that name; all tools are allowed except by these rules.
    async fn of(name: &str, mock: MockBuilder, deny: &[&str]) -> AgentFixture {
        let all = format!("mcp__{name}");
        AgentFixture::with(name, mock, rules(deny, &[], &[&all])).await
    }

    async fn with(name: &str, mock: MockBuilder, session: Rules) -> AgentFixture {
        let connector = TestConnector::default();
        connector.mock(name, mock);
        AgentFixture::on(connector.manager([entry(name)]), &[entry(name)], session).await
    }

    async fn on(manager: Manager, servers: &[ServerConfig], session: Rules) -> AgentFixture {
        for (name, outcome) in within(manager.connect_all()).await {
            outcome.unwrap_or_else(|error| panic!("{name}: {error}"));
        }
        let policy = Policy { session, ..Policy::default() };
        let (permissions, _) = Permissions::new(&policy, servers);
        let registry =
            Registry::new(PermissionGate::new(permissions, PermissionGateOptions::default()));
        registry.sync(&manager);
        let store = Store::without_folder(Settings::default());
        let request_policy =
            RequestPolicy { request: Duration::from_secs(20), ..RequestPolicy::default() };
        AgentFixture { manager, registry, store, limits: Limits::default(), request_policy }
    }

    /// Runs a prompt on an endpoint.
    async fn run(&self, llm: &LlmMock, stream: bool, prompt: &str) -> AgentRun {
        let api = match llm.api().name() {
            "openai" => Api::OpenAi,
            _ => Api::Anthropic,
        };
        self.run_at(&llm.url(), api, stream, prompt).await
    }

    async fn run_at(&self, url: &str, api: Api, stream: bool, prompt: &str) -> AgentRun {
        let address = Address::from_url(url, Some(api)).unwrap();
        let target = HttpTarget::new("");
        let endpoint =
            Endpoint::new(&address, Some("hunter2"), target, self.request_policy).unwrap();
        let endpoint = endpoint.streaming(stream);
        let (events, mut message) = mpsc::channel(10_000);
        let agent = Agent {
            endpoint: &endpoint,
            registry: &self.registry,
            manager: &self.manager,
            store: &self.store,
            limits: self.limits,
            model: "scripted".to_owned(),
            system: Some("be short".to_owned()),
            questions: None,
            events,
        };
        let ended = within(agent.run(prompt)).await;
        drop(agent);
        let mut events = Vec::new();
        while let Some(event) = message.recv().await {
            events.push(event);
        }
        AgentRun { ended, events }
    }
}

impl AgentRun {
    /// The text of the model's answer.
    fn answer(&self) -> &str {
        match &self.ended {
            Ok(AgentResult { end: EndReason::Answered, text, .. }) => text,
            ended => panic!("{ended:?}"),
        }
    }

    fn error(&self) -> String {
        self.ended.as_ref().expect_err("it fails").to_string()
    }

    /// The results that the model got: the text, and true for a failure.
    fn results(&self) -> Vec<(&str, bool)> {
        let results = self.events.iter().filter_map(|event| match event {
            Event::Result { text, is_error, .. } => Some((&**text, *is_error)),
            _ => None,
        });
        results.collect()
    }
}

fn llm(api: Api) -> LlmBuilder {
    match api {
        Api::OpenAi => LlmMock::openai(),
        Api::Anthropic => LlmMock::anthropic(),
    }
}

/// A model that calls a tool, checks the result, and answers with it.
fn calls(api: Api, tool: &str, with: Value, result: Value) -> LlmBuilder {
    llm(api).turn(LlmTurn::call(tool, with)).turn(
        LlmTurn::text("it said: ${last.tool_result}")
            .expect(serde_json::json!({"results": [result]})),
    )
}
