//! Subscriptions of both eras, and announcements of changed lists.

use axum::response::Response;
use serde_json::{Value, json};
use sparring_wire::{Revision, Rule};

use super::Case;
use super::utilities::{error, result, server_info, with_slow_tool};
use crate::support::{Action, AlteredServer, CORRECT};

const V2024_11_05: Revision = Revision::V2024_11_05;
const V2025_06_18: Revision = Revision::V2025_06_18;
const V2025_11_25: Revision = Revision::V2025_11_25;
const V2026_07_28: Revision = Revision::V2026_07_28;

const LISTEN: &str = "subscriptions/listen";
const ACKNOWLEDGED: &str = "notifications/subscriptions/acknowledged";
const SUBSCRIPTION_KEY: &str = "io.modelcontextprotocol/subscriptionId";

/// The correct server with a tool that adds a tool to the list.
fn with_changes(_: AlteredServer) -> AlteredServer {
    let tools = "
  - name: add_extra
    description: Adds the tool extra.
    during: [{show: {tool: extra}}]
    text: added
  - name: extra
    description: Is there after the call of add_extra.
    annotations: {read_only_hint: true}
    hidden: true
    text: extra
resources:
";
    AlteredServer::new(&CORRECT.replacen("\nresources:\n", tools, 1))
}

/// The correct server with a tool that announces changes at each call.
fn with_touch(_: AlteredServer) -> AlteredServer {
    let tools = "
  - name: touch
    description: Changes the text.
    during:
      - {notify: tools/list_changed}
      - {notify: {method: resources/updated, params: {uri: \"test://text\"}}}
    text: touched
resources:
";
    AlteredServer::new(&CORRECT.replacen("\nresources:\n", tools, 1))
}

fn without_announcements(server: AlteredServer) -> AlteredServer {
    with_changes(server).on_line(|_, line| {
        match line.contains("notifications/tools/list_changed") {
            true => Vec::new(),
            false => vec![line],
        }
    })
}

fn notification(method: &str, params: Value) -> String {
    json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string()
}

/// Alters the acknowledgments of subscriptions.
fn on_acknowledgment(
    server: AlteredServer,
    alter: impl Fn(&mut Value) + Send + Sync + 'static,
) -> AlteredServer {
    server.on_line(move |_, line| {
        let mut message: Value = serde_json::from_str(&line).unwrap();
        if message["method"] != ACKNOWLEDGED {
            return vec![line];
        }
        alter(&mut message["params"]["notifications"]);
        vec![message.to_string()]
    })
}

/// Announces only changed tools.
fn only_tools(_: AlteredServer) -> AlteredServer {
    let capabilities = "capabilities: {prompts: {list_changed: false}, resources: {list_changed: false, subscribe: false}}\ntools:\n";
    AlteredServer::new(&CORRECT.replacen("tools:\n", capabilities, 1))
}

/// Announces the change of a resource on each subscription after a call.
fn sends_everything(server: AlteredServer) -> AlteredServer {
    let opened = std::sync::Mutex::new(Vec::new());
    server.on_request(move |message| {
        let mut opened = opened.lock().unwrap();
        if message["method"] == LISTEN && message["params"]["notifications"].is_object() {
            opened.push(message["id"].clone());
        }
        let updated = |id: &Value| {
            let meta = json!({SUBSCRIPTION_KEY: id});
            let params = json!({"uri": "test://binary", "_meta": meta});
            notification("notifications/resources/updated", params)
        };
        match message["params"]["name"] == "touch" {
            true => Action::AnswerAndPass(opened.iter().map(updated).collect()),
            false => Action::Pass,
        }
    })
}

pub(super) const CASES: &[Case] = &[
    Case::lines(Rule::RefusedSubscription, V2024_11_05, |server| {
        server.on_method("resources/subscribe", |request| error(request, -32602))
    }),
    Case::lines(Rule::RefusedSubscription, V2025_11_25, |server| {
        server.on_method("resources/unsubscribe", |request| error(request, -32603))
    }),
    Case::lines(Rule::UnrequestedUpdate, V2025_06_18, |server| {
        server.on_method("tools/call", |_| {
            let params = json!({"uri": "test://text"});
            Action::AnswerAndPass(vec![notification("notifications/resources/updated", params)])
        })
    }),
    Case::lines(Rule::UnrequestedUpdate, V2025_11_25, |server| {
        // The end of a subscription has no effect.
        with_touch(server).on_method("resources/unsubscribe", |request| result(request, json!({})))
    })
    .correct(with_touch),
    Case::lines(Rule::MessageAfterCancellation, V2026_07_28, |server| {
        with_touch(server).on_method("notifications/cancelled", |_| Action::Answer(Vec::new()))
    })
    .correct(with_slow_tool),
    Case::lines(Rule::MissingAcknowledgment, V2026_07_28, |server| {
        server.on_line(|_, line| match line.contains(ACKNOWLEDGED) {
            true => Vec::new(),
            false => vec![line],
        })
    }),
    Case::lines(Rule::MissingAcknowledgment, V2026_07_28, |server| {
        server.on_method(LISTEN, |request| error(request, -32601))
    }),
    Case::lines(Rule::InvalidSubscription, V2026_07_28, |server| {
        server.on_method(LISTEN, |request| {
            let params = json!({"_meta": {SUBSCRIPTION_KEY: request["id"]}});
            let method = "notifications/tools/list_changed";
            Action::AnswerAndPass(vec![notification(method, params)])
        })
    }),
    // Sends every change on every subscription.
    Case::lines(Rule::InvalidSubscription, V2026_07_28, |server| {
        with_touch(server).on_connect(sends_everything)
    })
    .correct(with_touch)
    .also(&[Rule::MessageAfterCancellation]),
    Case::lines(Rule::WrongAcknowledgment, V2026_07_28, |server| {
        on_acknowledgment(server, |granted| {
            granted["toolsListChanged"] = json!(true);
            granted["promptsListChanged"] = json!(true);
            granted["resourcesListChanged"] = json!(true);
        })
    }),
    Case::lines(Rule::UndeclaredSubscription, V2026_07_28, |server| {
        only_tools(server).on_method(LISTEN, |request| {
            let granted = &request["params"]["notifications"];
            if !granted.is_object() {
                return Action::Pass;
            }
            let params =
                json!({"_meta": {SUBSCRIPTION_KEY: request["id"]}, "notifications": granted});
            Action::Answer(vec![notification(ACKNOWLEDGED, params)])
        })
    })
    .correct(only_tools)
    .also(&[Rule::UnsupportedVersion]),
    Case::lines(Rule::IncompleteAcknowledgment, V2026_07_28, |server| {
        on_acknowledgment(server, |granted| *granted = json!({}))
    }),
    Case::lines(Rule::ClosedSubscription, V2026_07_28, |server| {
        server.on_method(LISTEN, |request| {
            let mut meta = server_info();
            meta[SUBSCRIPTION_KEY] = request["id"].clone();
            let granted = &request["params"]["notifications"];
            if !granted.is_object() {
                return Action::Pass;
            }
            let params = json!({"_meta": meta, "notifications": granted});
            let result = json!({"resultType": "complete", "_meta": meta});
            let response = json!({"jsonrpc": "2.0", "id": request["id"], "result": result});
            Action::Answer(vec![notification(ACKNOWLEDGED, params), response.to_string()])
        })
    })
    .also(&[Rule::UnsupportedVersion]),
    Case::http(Rule::ClosedSubscription, V2026_07_28, |server| {
        // The stream ends after the acknowledgment.
        server.on_request(|_, body| {
            let request: Value = serde_json::from_slice(body).ok()?;
            let granted = &request["params"]["notifications"];
            let params =
                json!({"_meta": {SUBSCRIPTION_KEY: request["id"]}, "notifications": granted});
            let event = format!("data: {}\n\n", notification(ACKNOWLEDGED, params));
            let response = Response::builder()
                .header("content-type", "text/event-stream")
                .header("x-accel-buffering", "no");
            (request["method"] == LISTEN && granted.is_object())
                .then(|| response.body(event.into()).unwrap())
        })
    })
    .also(&[Rule::UnsupportedVersion]),
    Case::lines(Rule::MissingListChanged, V2025_06_18, without_announcements)
        .correct(with_changes)
        .also(&[Rule::ChangedDefinition]),
    Case::lines(Rule::MissingListChanged, V2026_07_28, without_announcements)
        .correct(with_changes)
        .also(&[Rule::ChangedDefinition, Rule::VaryingList]),
];
