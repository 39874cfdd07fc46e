//! Builds the recorded frames of a test.

use serde_json::{Value, json};
use sparring_report::{Frame, Sender, Test, Timing, Violation};

/// The minimum time between frames.
const STEP: f64 = 0.2;

/// Builds a test with frames and a simulated clock.
pub(crate) struct TrafficBuilder<'a> {
    test: &'a mut Test,
    now: f64,
    id: u64,
    status: Option<u16>,
}

impl<'a> TrafficBuilder<'a> {
    pub(crate) fn new(test: &'a mut Test) -> Self {
        let status = (test.transport.as_deref() == Some("http")).then_some(200);
        TrafficBuilder { test, now: 0.3, id: 0, status }
    }

    /// Adds the handshake of revisions up to 2025-11-25.
    pub(crate) fn initialize(&mut self, took: f64) -> &mut Self {
        let revision = self.test.protocol.clone().unwrap_or_else(|| "2025-11-25".to_owned());
        if revision == "2026-07-28" {
            return self.ask(
                "server/discover",
                json!({}),
                took,
                json!({
                    "supportedVersions": [revision],
                    "serverInfo": {"name": "weather", "version": "2.3.0"},
                    "capabilities": {"tools": {}},
                }),
            );
        }
        let client = json!({"name": "spar", "version": "0.1.0"});
        self.ask(
            "initialize",
            json!({"protocolVersion": revision, "capabilities": {}, "clientInfo": client}),
            took,
            json!({
                "protocolVersion": revision,
                "capabilities": {"tools": {"listChanged": true}, "resources": {}},
                "serverInfo": {"name": "weather", "version": "2.3.0"},
            }),
        );
        self.notify(Sender::Client, "notifications/initialized", json!({}))
    }

    /// Adds a request with its result.
    pub(crate) fn ask(
        &mut self,
        method: &str,
        params: Value,
        took: f64,
        result: Value,
    ) -> &mut Self {
        self.id += 1;
        let request = describe_request(method, &params);
        self.send(
            Sender::Client,
            json!({"jsonrpc": "2.0", "id": self.id, "method": method, "params": params}),
        );
        self.now += took - STEP;
        self.test.timings.push(Timing { request, took_ms: took });
        self.send(Sender::Server, json!({"jsonrpc": "2.0", "id": self.id, "result": result}))
    }

    pub(crate) fn call(
        &mut self,
        tool: &str,
        arguments: Value,
        took: f64,
        text: &str,
    ) -> &mut Self {
        let result = json!({"content": [{"type": "text", "text": text}]});
        self.ask("tools/call", json!({"name": tool, "arguments": arguments}), took, result)
    }

    /// Adds a request without a response.
    pub(crate) fn ask_without_response(&mut self, method: &str, params: Value) -> &mut Self {
        self.id += 1;
        self.send(
            Sender::Client,
            json!({"jsonrpc": "2.0", "id": self.id, "method": method, "params": params}),
        )
    }

    pub(crate) fn notify(&mut self, from: Sender, method: &str, params: Value) -> &mut Self {
        self.send(from, json!({"jsonrpc": "2.0", "method": method, "params": params}))
    }

    pub(crate) fn send(&mut self, from: Sender, message: Value) -> &mut Self {
        self.raw(from, &message.to_string())
    }

    /// Adds an arbitrary text.
    pub(crate) fn raw(&mut self, from: Sender, text: &str) -> &mut Self {
        self.test.frames.push(Frame {
            at_ms: self.now,
            from,
            text: text.to_owned(),
            bytes: text.len(),
            status: self.status.filter(|_| from == Sender::Server),
            violations: Vec::new(),
        });
        self.now += STEP;
        self.test.took_ms = self.now + 0.5;
        self
    }

    /// Adds a violation to the last frame.
    pub(crate) fn add_violation(
        &mut self,
        rule: &str,
        path: &str,
        message: &str,
        section: &str,
    ) -> &mut Self {
        let [rule, path, message, section] = [rule, path, message, section].map(str::to_owned);
        let last = self.test.frames.last_mut().expect("a frame was added");
        let level = "must".to_owned();
        last.violations.push(Violation { rule, level, path, message, section });
        self
    }

    pub(crate) fn pass_time(&mut self, ms: f64) -> &mut Self {
        self.now += ms;
        self
    }
}

fn describe_request(method: &str, params: &Value) -> String {
    match method {
        "tools/call" => format!("call {}", params["name"].as_str().unwrap_or_default()),
        "tools/list" => "list tools".to_owned(),
        "resources/read" => "read".to_owned(),
        other => other.to_owned(),
    }
}
