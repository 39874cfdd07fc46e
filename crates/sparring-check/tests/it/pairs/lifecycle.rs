//! The handshake, versions, metadata and capabilities.

use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};
use sparring_wire::{Revision, Rule};

use super::Case;
use crate::support::{Action, AlteredServer, CORRECT};

const V2024_11_05: Revision = Revision::V2024_11_05;
const V2025_03_26: Revision = Revision::V2025_03_26;
const V2025_06_18: Revision = Revision::V2025_06_18;
const V2025_11_25: Revision = Revision::V2025_11_25;
const V2026_07_28: Revision = Revision::V2026_07_28;

const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
pub(super) const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
pub(super) const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";

fn error(request: &Value, code: i64, data: Value) -> Action {
    let error = json!({"code": code, "message": "It failed.", "data": data});
    Action::json(json!({"jsonrpc": "2.0", "id": request["id"], "error": error}))
}

fn result(request: &Value, result: Value) -> Action {
    Action::json(json!({"jsonrpc": "2.0", "id": request["id"], "result": result}))
}

fn handshake(request: &Value, version: &str) -> Action {
    let info = json!({"name": "broken", "version": "1.0.0"});
    let fields = json!({"protocolVersion": version, "capabilities": {}, "serverInfo": info});
    result(request, fields)
}

/// A result of `tools/list`, also valid for other methods.
fn tools(request: &Value) -> Action {
    let info = json!({"io.modelcontextprotocol/serverInfo": {"name": "broken", "version": "1"}});
    result(
        request,
        json!({
            "resultType": "complete", "_meta": info, "tools": [], "ttlMs": 0,
            "cacheScope": "public", "supportedVersions": ["2026-07-28"], "capabilities": {},
        }),
    )
}

fn requests_unknown_version(request: &Value) -> bool {
    let version = request["params"]["protocolVersion"].as_str();
    version.is_some_and(|it| Revision::from_name(it).is_none())
}

/// Answers `initialize` of unknown versions.
fn negotiating(
    server: AlteredServer,
    answer: impl Fn(&Value) -> Action + Send + Sync + 'static,
) -> AlteredServer {
    server.on_method("initialize", move |request| match requests_unknown_version(request) {
        true => answer(request),
        false => Action::Pass,
    })
}

pub(super) fn meta<'a>(request: &'a Value, key: &str) -> Option<&'a Value> {
    request["params"]["_meta"].get(key)
}

/// Answers modern requests of a kind.
fn answering(
    server: AlteredServer,
    fits: impl Fn(&Value) -> bool + Send + Sync + 'static,
    answer: impl Fn(&Value) -> Action + Send + Sync + 'static,
) -> AlteredServer {
    server.on_request(move |request| {
        let is_request = request["method"].is_string() && request.get("id").is_some();
        let is_tested = ["server/discover", "tools/list"].iter().any(|it| request["method"] == *it);
        // Params of another type belong to another rule.
        let is_tested = is_tested && !request["params"].is_string();
        match is_request && is_tested && fits(request) {
            true => answer(request),
            false => Action::Pass,
        }
    })
}

pub(super) fn has_unknown_version(request: &Value) -> bool {
    let version = meta(request, VERSION).and_then(Value::as_str);
    version.is_some_and(|it| Revision::from_name(it).is_none())
}

/// Returns true for a call of the tool that asks, by a client that cannot answer.
fn lacks_elicitation(request: &Value) -> bool {
    request["params"]["name"] == "ask"
        && meta(request, CAPABILITIES).is_some_and(|it| it.get("elicitation").is_none())
}

const ONLY_TOOLS: &str = "server: {name: correct, version: 1.0.0}\n\
    tools:\n  - {name: ping, description: Says pong., annotations: {read_only_hint: true}, text: pong}\n";

pub(super) fn only_modern() -> AlteredServer {
    AlteredServer::new(&format!("{CORRECT}\nprotocol: \"2026-07-28\"\n"))
}

fn only_2025_03_26() -> AlteredServer {
    AlteredServer::new(&format!("{ONLY_TOOLS}protocol: \"2025-03-26\"\n"))
}

fn only_tools() -> AlteredServer {
    AlteredServer::new(ONLY_TOOLS)
}

pub(super) const CASES: &[Case] = &[
    Case::lines(Rule::Handshake, V2025_06_18, |server| {
        server.on_method("initialize", |request| match &request["params"]["protocolVersion"] {
            version if *version == "2025-06-18" => error(request, -32603, Value::Null),
            _ => Action::Pass,
        })
    }),
    Case::lines(Rule::Handshake, V2025_11_25, |server| {
        server.on_method("initialize", |_| Action::Answer(Vec::new()))
    })
    .with_options(|options| options.connect_timeout = std::time::Duration::from_secs(2)),
    Case::lines(Rule::Handshake, V2024_11_05, |server| {
        server.on_result("initialize", |result| {
            result.as_object_mut().unwrap().remove("protocolVersion");
        })
    })
    .also(&[Rule::MissingField]),
    Case::lines(Rule::Handshake, V2026_07_28, |server| {
        server.on_result("server/discover", |result| {
            result.as_object_mut().unwrap().remove("supportedVersions");
        })
    })
    .also(&[Rule::MissingField]),
    Case::lines(Rule::MissingDiscover, V2026_07_28, |server| {
        server.on_method("server/discover", |request| error(request, -32601, Value::Null))
    }),
    Case::lines(Rule::VersionNegotiation, V2025_11_25, |server| {
        negotiating(server, |request| {
            let versions = json!({"supported": ["2025-11-25"], "requested": "1.0.0"});
            error(request, -32602, versions)
        })
    }),
    Case::lines(Rule::VersionNegotiation, V2024_11_05, |server| {
        negotiating(server, |request| {
            handshake(request, request["params"]["protocolVersion"].as_str().unwrap())
        })
    }),
    Case::lines(Rule::VersionNegotiation, V2025_06_18, |server| {
        negotiating(server, |request| handshake(request, "2023-01-01"))
    }),
    Case::lines(Rule::VersionNegotiation, V2025_03_26, |server| {
        negotiating(server, |request| handshake(request, "2025-11-25"))
    })
    .of(only_2025_03_26),
    Case::lines(Rule::OlderVersion, V2025_11_25, |server| {
        negotiating(server, |request| handshake(request, "2025-03-26"))
    }),
    Case::lines(Rule::OlderVersion, V2024_11_05, |server| {
        negotiating(server, |request| handshake(request, "2024-11-05"))
    }),
    Case::lines(Rule::UnsupportedVersion, V2026_07_28, |server| {
        answering(server, has_unknown_version, tools)
    }),
    Case::lines(Rule::UnsupportedVersion, V2026_07_28, |server| {
        answering(server, has_unknown_version, |it| error(it, -32602, Value::Null))
    }),
    Case::lines(Rule::UnsupportedVersion, V2026_07_28, |server| {
        answering(server, has_unknown_version, |it| {
            let requested = meta(it, VERSION).unwrap();
            error(it, -32022, json!({"supported": [], "requested": requested}))
        })
    }),
    Case::lines(Rule::UnsupportedVersion, V2026_07_28, |server| {
        let fits = |it: &Value| has_unknown_version(it) && it["method"] == "tools/list";
        answering(server, fits, tools)
    }),
    Case::lines(Rule::InitializeRefusal, V2026_07_28, |server| {
        server.on_method("initialize", |request| error(request, -32601, Value::Null))
    })
    .of(only_modern),
    Case::lines(Rule::Stateful, V2026_07_28, |server| {
        server.on_connect(|server| {
            let discovered = AtomicBool::new(false);
            server.on_request(move |request| {
                discovered.fetch_or(request["method"] == "server/discover", Ordering::SeqCst);
                match request["method"] == "tools/list" && !discovered.load(Ordering::SeqCst) {
                    true => error(request, -32600, Value::Null),
                    false => Action::Pass,
                }
            })
        })
    }),
    Case::lines(Rule::Stateful, V2026_07_28, |server| {
        server.on_connect(|server| {
            let last = std::sync::Mutex::new(Value::Null);
            let has_changed = move |request: &Value| {
                let client = meta(request, CLIENT_INFO).map(|it| it["name"].clone());
                let Some(client) = client else { return false };
                let mut last = last.lock().unwrap();
                let before = std::mem::replace(&mut *last, client.clone());
                !before.is_null() && before != client
            };
            answering(server, has_changed, |request| error(request, -32600, Value::Null))
        })
    }),
    Case::lines(Rule::UnspokenVersion, V2026_07_28, |server| {
        server.on_result("server/discover", |result| {
            result["supportedVersions"].as_array_mut().unwrap().push(json!("2099-01-01"));
        })
    }),
    Case::lines(Rule::UnspokenVersion, V2026_07_28, |server| {
        server.on_method("initialize", |request| match &request["params"]["protocolVersion"] {
            version if *version == "2024-11-05" => handshake(request, "2025-11-25"),
            _ => Action::Pass,
        })
    }),
    Case::lines(Rule::MissingMeta, V2026_07_28, |server| {
        answering(server, |it| meta(it, CAPABILITIES).is_none(), tools)
    }),
    Case::lines(Rule::MissingMeta, V2026_07_28, |server| {
        answering(
            server,
            |it| meta(it, CAPABILITIES).is_none(),
            |it| error(it, -32600, Value::Null),
        )
    }),
    Case::lines(Rule::MissingMeta, V2026_07_28, |server| {
        answering(server, |it| meta(it, VERSION).is_none(), |it| error(it, -32603, Value::Null))
    })
    .of(only_modern),
    Case::lines(Rule::MissingMeta, V2026_07_28, |server| {
        answering(server, |it| it["params"].get("_meta").is_none(), tools)
    }),
    Case::lines(Rule::RequiredClientInfo, V2026_07_28, |server| {
        answering(
            server,
            |it| {
                meta(it, VERSION).is_some()
                    && meta(it, CAPABILITIES).is_some()
                    && meta(it, CLIENT_INFO).is_none()
            },
            |it| error(it, -32602, Value::Null),
        )
    }),
    Case::lines(Rule::MissingServerInfo, V2026_07_28, |server| {
        server.on_result("tools/list", |result| {
            result.as_object_mut().unwrap().remove("_meta");
        })
    }),
    Case::lines(Rule::ReservedMetaKey, V2025_06_18, |server| {
        server.on_result("tools/list", |result| result["_meta"] = json!({"mcp.dev/own": 1}))
    }),
    Case::lines(Rule::ReservedMetaKey, V2026_07_28, |server| {
        server.on_result("tools/list", |result| {
            result["_meta"]["dev.mcp/own"] = json!(1);
        })
    }),
    Case::lines(Rule::OutOfOrder, V2025_06_18, |server| {
        server.on_line(|request, line| match request {
            Some(request) if request["method"] == "initialize" => {
                let roots = json!({"jsonrpc": "2.0", "id": "roots", "method": "roots/list"});
                vec![format!("{line}\n{roots}")]
            }
            _ => vec![line],
        })
    })
    .also(&[Rule::Undeclared]),
    Case::lines(Rule::WrongVersion, V2025_06_18, |server| {
        server.on_result("initialize", |result| result["protocolVersion"] = json!("2099-01-01"))
    })
    .also(&[Rule::Handshake]),
    Case::lines(Rule::WrongVersion, V2026_07_28, |server| {
        server.on_result("server/discover", |result| {
            result["supportedVersions"] = json!(["2025-11-25"]);
        })
    })
    .also(&[Rule::Handshake]),
    Case::lines(Rule::WrongVersion, V2026_07_28, |server| {
        server.on_method("server/discover", |request| {
            let version = meta(request, VERSION);
            error(request, -32022, json!({"supported": ["2026-07-28"], "requested": version}))
        })
    })
    .also(&[Rule::Handshake]),
    Case::lines(Rule::EarlyMessage, V2025_11_25, |server| {
        server.on_method("initialize", |_| {
            let changed = json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"});
            Action::AnswerAndPass(vec![changed.to_string()])
        })
    }),
    Case::lines(Rule::Crash, V2025_11_25, |server| {
        server.on_method("notifications/sparring-unknown", |_| Action::Close)
    })
    .also(&[Rule::AnsweredNotification]),
    Case::lines(Rule::Crash, V2026_07_28, |server| {
        server.on_method("server/discover", |_| Action::Close)
    })
    .also(&[Rule::Handshake]),
    Case::lines(Rule::UndeclaredMethod, V2025_11_25, |server| {
        server.on_method("prompts/list", |request| error(request, -32603, Value::Null))
    })
    .of(only_tools),
    Case::lines(Rule::UndeclaredMethod, V2026_07_28, |server| {
        server.on_method("resources/list", |request| error(request, -32600, Value::Null))
    })
    .of(only_tools),
    Case::lines(Rule::Undeclared, V2025_06_18, |server| {
        server.on_result("initialize", |result| {
            result["capabilities"].as_object_mut().unwrap().remove("prompts");
        })
    }),
    Case::lines(Rule::Undeclared, V2025_11_25, asking_again),
    Case::lines(Rule::NotNegotiated, V2025_03_26, asking_again),
    Case::lines(Rule::RequiredCapability, V2026_07_28, |server| {
        server.on_method("tools/call", |request| match lacks_elicitation(request) {
            true => error(request, -32603, Value::Null),
            false => Action::Pass,
        })
    }),
    Case::lines(Rule::RequiredCapability, V2026_07_28, |server| {
        server.on_method("tools/call", |request| match lacks_elicitation(request) {
            true => error(request, -32021, json!({"requiredCapabilities": ["elicitation"]})),
            false => Action::Pass,
        })
    })
    .also(&[Rule::WrongType]),
    Case::lines(Rule::InvalidExtension, V2026_07_28, |server| {
        server.on_result("server/discover", |result| {
            result["capabilities"]["extensions"] = json!({"noPrefix": {}});
        })
    }),
];

/// A server that asks for the roots after each handshake, whatever the client declares.
fn asking_again(server: AlteredServer) -> AlteredServer {
    server.on_method("notifications/initialized", |_| {
        let roots = json!({"jsonrpc": "2.0", "id": "roots", "method": "roots/list"});
        Action::AnswerAndPass(vec![roots.to_string()])
    })
}
