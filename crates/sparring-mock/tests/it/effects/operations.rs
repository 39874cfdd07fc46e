//! The operations of a case, and the text that describes everything that the client saw.

use std::fmt::Write as _;
use std::future::IntoFuture as _;
use std::net::SocketAddr;
use std::time::Duration;

use regex::Regex;
use serde_json::{Map, Value};
use sparring_mock::{LlmMock, MockServer};
use sparring_peer::{Client, ClientBuilder};
use sparring_transport::http::HttpTransport;
use sparring_wire::{Revision, Side};

use super::walk::Case;
use crate::fixture::{TIMEOUT, answering};

/// The time over HTTP from which an operation counts as slow.
const SLOW: Duration = Duration::from_millis(300);

/// Returns true if the operations of a case use no network.
pub(super) fn is_in_memory(case: &Case) -> bool {
    case.settings.get("via").and_then(Value::as_str).unwrap_or("memory") == "memory"
}

/// Runs the operations of a case on a mock.
pub(super) async fn observe_mock(mock: MockServer, case: &Case) -> String {
    let setting = |name: &str| case.settings.get(name).and_then(Value::as_str);
    let revision = setting("revision").map_or(Revision::LATEST_LEGACY, |name| {
        Revision::from_name(name).unwrap_or_else(|| panic!("no revision {name}"))
    });
    let builder = match setting("client") {
        Some("bare") => Client::builder(),
        _ => answering(),
    };
    let builder = builder.timeout(TIMEOUT).revision(revision);
    let mut process_faults = mock.process_faults();
    let mut seen = String::new();
    match setting("via").unwrap_or("memory") {
        "memory" => {
            let client = builder.connect(mock.connect()).await;
            observe_client(client, case, &mut seen).await;
        }
        way => {
            let address = setting("listen").unwrap_or("127.0.0.1:0").parse().unwrap();
            let serving = mock.listen(address).await.unwrap();
            let address = SocketAddr::from(([127, 0, 0, 1], serving.address().unwrap().port()));
            let urls = mock.urls(address);
            match way {
                "raw" => send_all(&format!("http://{address}"), case, &mut seen).await,
                _ => {
                    let (url, transport) = match way {
                        "sse" => (urls.sse.unwrap(), HttpTransport::Sse),
                        _ => (urls.mcp, HttpTransport::Streamable),
                    };
                    observe_over_http(builder, &url, transport, case, &mut seen).await;
                }
            }
            serving.stop(Duration::ZERO).await;
        }
    }
    while let Some(Ok(fault)) = process_faults.as_mut().map(|faults| faults.try_recv()) {
        let _ = writeln!(seen, "process: {fault:?}");
    }
    seen
}

async fn observe_over_http(
    builder: ClientBuilder,
    url: &str,
    transport: HttpTransport,
    case: &Case,
    seen: &mut String,
) {
    use sparring_transport::http::{HttpLink, HttpTarget};
    let mut target = HttpTarget { transport, ..HttpTarget::new(url.to_owned()) };
    for (name, value) in map(&case.settings, "headers") {
        target.headers.push((name.clone(), value.as_str().unwrap().into()));
    }
    let client = builder.connect(HttpLink::new(&target).unwrap()).await;
    observe_client(client, case, seen).await;
}

/// Runs the operations of a case on an LLM endpoint.
pub(super) async fn observe_llm(llm: LlmMock, case: &Case) -> String {
    let mut seen = String::new();
    let url = llm.url();
    send_all(url.trim_end_matches("/v1"), case, &mut seen).await;
    for turn in llm.unused_turns(false) {
        let _ = writeln!(seen, "unused: {}", turn.message);
    }
    seen
}

/// Returns the operations of a case, which `twice` repeats.
fn operations(case: &Case) -> impl Iterator<Item = &Value> {
    let rounds = if case.settings.contains_key("twice") { 2 } else { 1 };
    std::iter::repeat_n(case.settings["do"].as_array().unwrap(), rounds).flatten()
}

fn map<'a>(
    settings: &'a Map<String, Value>,
    key: &str,
) -> impl Iterator<Item = (&'a String, &'a Value)> {
    settings.get(key).and_then(Value::as_object).into_iter().flatten()
}

/// Sends requests of the protocol. An operation is a method with its params, or `wait`.
async fn observe_client(
    client: Result<Client, sparring_peer::client::Error>,
    case: &Case,
    seen: &mut String,
) {
    let client = match client {
        Ok(client) => client,
        Err(error) => {
            let _ = writeln!(seen, "not connected: {error}");
            return;
        }
    };
    let mut subscriptions = Vec::new();
    for operation in operations(case) {
        let (method, params) = operation.as_object().unwrap().iter().next().unwrap();
        let start = tokio::time::Instant::now();
        match &**method {
            "wait" => {
                let time = sparring_script::parse_duration(params.as_str().unwrap()).unwrap();
                // The clock of the case is paused, so this takes no time.
                tokio::time::advance(time).await;
            }
            "listen" => {
                let filter = sparring_peer::client::SubscriptionFilter {
                    tools_list_changed: true,
                    resources_list_changed: true,
                    prompts_list_changed: true,
                    ..Default::default()
                };
                subscriptions.push(client.listen(filter).await.unwrap());
            }
            "with_progress" => {
                let request = client.call_tool(params.as_str().unwrap(), serde_json::json!({}));
                let _ = request.on_progress(|_| {}).into_future().await;
            }
            _ => {
                let answer =
                    client.request(method.clone(), Some(params.into())).into_future().await;
                if let Err(error) = answer {
                    let _ = writeln!(seen, "error: {error}");
                }
            }
        }
        let took = start.elapsed();
        if is_in_memory(case) {
            let _ = writeln!(seen, "{method} took {:.1}s", took.as_secs_f32());
        } else if took > SLOW {
            seen.push_str("slowly\n");
        }
    }
    client.close().await;
    for entry in client.transcript().entries().iter().filter(|entry| entry.from == Side::Server) {
        let status = entry.status.map(|status| format!("{status} ")).unwrap_or_default();
        let _ = writeln!(seen, "server: {status}{}", String::from_utf8_lossy(entry.frame.bytes()));
    }
    for violation in client.transcript().violations() {
        let _ = writeln!(seen, "violation: {violation:?}");
    }
}

/// Sends requests over HTTP: `POST /path` with a JSON body, `form` or `headers`. `keep` stores a
/// part of the response for later operations, in which `<name>` stands for it.
async fn send_all(url: &str, case: &Case, seen: &mut String) {
    let client = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none());
    let client = client.timeout(Duration::from_secs(2)).build().unwrap();
    let mut kept: Vec<(String, String)> = Vec::new();
    for operation in operations(case) {
        let mut text = operation.to_string().replace("<url>", url);
        for (name, value) in &kept {
            text = text.replace(&format!("<{name}>"), value);
        }
        let operation: Value = serde_json::from_str(&text).unwrap();
        let operation = operation.as_object().unwrap();
        let line = operation.keys().find(|key| key.contains(" /")).unwrap();
        let (method, path) = line.split_once(' ').unwrap();
        let mut request = client.request(method.parse().unwrap(), format!("{url}{path}"));
        for (name, value) in map(operation, "headers") {
            request = request.header(name, value.as_str().unwrap());
        }
        let mut form = form_urlencoded::Serializer::new(String::new());
        map(operation, "form").for_each(|(name, value)| {
            form.append_pair(name, value.as_str().unwrap());
        });
        request = match (&operation[line], operation.contains_key("form")) {
            (_, true) => request
                .header("content-type", "application/x-www-form-urlencoded")
                .body(form.finish()),
            (Value::Null, _) => request,
            (body, _) => request.header("content-type", "application/json").body(body.to_string()),
        };
        let start = std::time::Instant::now();
        let answer = read_response(request).await;
        if start.elapsed() > SLOW {
            seen.push_str("slowly\n");
        }
        for (name, pattern) in map(operation, "keep") {
            let pattern = Regex::new(pattern.as_str().unwrap()).unwrap();
            let found = pattern.captures(&answer).map(|all| all[1].to_owned());
            kept.push((name.clone(), found.unwrap_or_default()));
        }
        let _ = writeln!(seen, "{line}\n{answer}");
    }
}

async fn read_response(request: reqwest::RequestBuilder) -> String {
    let mut response = match request.send().await {
        Ok(response) => response,
        Err(error) if error.is_timeout() => return "no answer in time".to_owned(),
        Err(_) => return "disconnected".to_owned(),
    };
    let mut text = format!("{}\n", response.status().as_u16());
    for (name, value) in response.headers() {
        let _ = writeln!(text, "{name}: {}", value.to_str().unwrap_or_default());
    }
    loop {
        match response.chunk().await {
            Ok(Some(chunk)) => text += &String::from_utf8_lossy(&chunk),
            Ok(None) => return format!("{text}{}", token_claims(&text)),
            Err(_) => return text + "\ndisconnected in the middle",
        }
    }
}

/// Decodes the claims of an access token in a response.
fn token_claims(text: &str) -> String {
    use base64::Engine as _;
    let pattern = Regex::new(r#""access_token":"[^.]+\.([^.]+)\."#).unwrap();
    let Some(found) = pattern.captures(text) else { return String::new() };
    let claims = base64::engine::general_purpose::URL_SAFE_NO_PAD.decode(&found[1]).unwrap();
    format!("\nclaims: {}", String::from_utf8_lossy(&claims))
}
