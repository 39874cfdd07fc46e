//! Lists of tools, resources and prompts, and their pages.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use sparring_wire::{Revision, Rule};

use super::Case;
use crate::support::{Action, AlteredServer, CORRECT};

const V2024_11_05: Revision = Revision::V2024_11_05;
const V2025_03_26: Revision = Revision::V2025_03_26;
const V2025_06_18: Revision = Revision::V2025_06_18;
const V2025_11_25: Revision = Revision::V2025_11_25;
const V2026_07_28: Revision = Revision::V2026_07_28;

/// The correct server with two items on each page.
fn paged() -> AlteredServer {
    AlteredServer::new(&format!("page_size: 2\n{CORRECT}"))
}

/// The cursor that no server has sent.
const INVALID_CURSOR: &str = "sparring-invalid-cursor";

/// Answers a request with a result. It has the fields of the newest revision, so that it is
/// correct in each.
pub(super) fn answer(request: &Value, mut result: Value) -> Action {
    result["resultType"] = json!("complete");
    result["_meta"] = json!({
        "io.modelcontextprotocol/serverInfo": {"name": "correct", "version": "1.0.0"},
    });
    Action::json(json!({"jsonrpc": "2.0", "id": request["id"], "result": result}))
}

/// Answers a request for a list or a resource with a result that has caching hints.
pub(super) fn answer_cacheable(request: &Value, mut result: Value) -> Action {
    result["ttlMs"] = json!(1000);
    result["cacheScope"] = json!("public");
    answer(request, result)
}

/// Answers a request with an error.
pub(super) fn refuse(request: &Value, code: i64) -> Action {
    let error = json!({"code": code, "message": "It failed."});
    Action::json(json!({"jsonrpc": "2.0", "id": request["id"], "error": error}))
}

/// One page with a prompt.
fn page(request: &Value, name: &str, next: Option<String>) -> Action {
    let prompt = json!({"name": name, "description": "A prompt."});
    let mut result = json!({"prompts": [prompt]});
    if let Some(next) = next {
        result["nextCursor"] = json!(next);
    }
    answer_cacheable(request, result)
}

/// Answers requests for prompts, except those with the cursor that is invalid anyway.
fn pages(
    server: AlteredServer,
    answer: impl Fn(&Value, Option<&str>) -> Action + Send + Sync + 'static,
) -> AlteredServer {
    server.on_method("prompts/list", move |request| match request["params"]["cursor"].as_str() {
        Some(INVALID_CURSOR) => Action::Pass,
        cursor => answer(request, cursor),
    })
}

/// Prompts whose list the server makes up cannot be requested.
const OTHER_PROMPTS: &[Rule] = &[
    Rule::ItemNotImplemented,
    Rule::ChangedDefinition,
    Rule::UnsupportedVersion,
    Rule::MissingMeta,
];

/// A list that changes has changed definitions, and sends no notification.
const CHANGED: &[Rule] = &[Rule::ChangedDefinition, Rule::MissingListChanged];

/// A page that repeats an item.
fn repeat_tool(server: AlteredServer) -> AlteredServer {
    let first = Mutex::new(Value::Null);
    server.on_response("tools/list", move |request, response| {
        let Some(result) = response.get_mut("result") else { return };
        let tools = result["tools"].as_array_mut().unwrap();
        match request["params"]["cursor"].is_null() {
            true => *first.lock().unwrap() = tools[0].clone(),
            false => tools.insert(0, first.lock().unwrap().clone()),
        }
    })
}

pub(super) const CASES: &[Case] = &[
    Case::lines(Rule::ListFails, V2024_11_05, |server| {
        server.on_method("prompts/list", |request| refuse(request, -32603))
    }),
    Case::lines(Rule::ListFails, V2025_11_25, |server| {
        server.on_method("tools/list", |request| refuse(request, -32601))
    })
    .also(&[Rule::UnknownField]),
    Case::lines(Rule::ListFails, V2025_06_18, |server| {
        server.on_method("resources/templates/list", |request| refuse(request, -32603))
    }),
    Case::lines(Rule::ListFails, V2026_07_28, |server| {
        server.on_method("resources/list", |request| refuse(request, -32000))
    })
    .also(&[Rule::WrongErrorCode]),
    Case::lines(Rule::ListFails, V2026_07_28, |server| {
        server.on_method("tools/list", |request| match &request["params"]["cursor"] {
            cursor if cursor == "4" => refuse(request, -32603),
            _ => Action::Pass,
        })
    })
    .of(paged),
    Case::lines(Rule::ItemNotImplemented, V2024_11_05, |server| {
        server.on_method("tools/call", |request| refuse(request, -32601))
    }),
    Case::lines(Rule::ItemNotImplemented, V2025_11_25, |server| {
        server.on_method("resources/read", |request| refuse(request, -32601))
    })
    .also(&[Rule::ResourceNotFoundCode]),
    Case::lines(Rule::ItemNotImplemented, V2026_07_28, |server| {
        server.on_method("prompts/get", |request| refuse(request, -32601))
    })
    .also(&[Rule::UnknownPrompt, Rule::MissingPromptArgument]),
    // A listed tool that the server does not know.
    Case::lines(Rule::ItemNotImplemented, V2025_06_18, |server| {
        server.on_result("tools/list", |result| {
            let mut tool = result["tools"][2].clone();
            tool["name"] = json!("zzz");
            result["tools"].as_array_mut().unwrap().push(tool);
        })
    }),
    // The list depends on the connection.
    Case::lines(Rule::VaryingList, V2026_07_28, |server| {
        let connections = AtomicUsize::new(0);
        server.on_connect(move |server| {
            let number = connections.fetch_add(1, Ordering::Relaxed);
            server.on_result("prompts/list", move |result| {
                if let Some(prompts) = result["prompts"].as_array_mut() {
                    let name = format!("prompt-{number}");
                    prompts.push(json!({"name": name, "description": "A prompt."}));
                }
            })
        })
    })
    .also(OTHER_PROMPTS),
    // A call adds a resource.
    Case::lines(Rule::VaryingList, V2026_07_28, |server| {
        server.on_connect(|server| {
            let called = Arc::new(AtomicBool::new(false));
            let calls = Arc::clone(&called);
            server
                .on_method("tools/call", move |_| {
                    calls.store(true, Ordering::Relaxed);
                    Action::Pass
                })
                .on_result("resources/list", move |result| {
                    if let Some(resources) = result["resources"].as_array_mut()
                        && called.load(Ordering::Relaxed)
                    {
                        let mut resource = resources[0].clone();
                        resource["uri"] = json!("test://added");
                        resources.push(resource);
                    }
                })
        })
    })
    .also(CHANGED),
    // Every other list lacks a tool.
    Case::lines(Rule::VaryingList, V2026_07_28, |server| {
        let lists = AtomicUsize::new(0);
        server.on_result("tools/list", move |result| {
            if let Some(tools) = result["tools"].as_array_mut()
                && lists.fetch_add(1, Ordering::Relaxed) % 2 == 1
            {
                tools.pop();
            }
        })
    })
    .also(CHANGED),
    Case::lines(Rule::ToolOrder, V2026_07_28, |server| {
        let lists = AtomicUsize::new(0);
        server.on_result("tools/list", move |result| {
            if let Some(tools) = result["tools"].as_array_mut() {
                tools.rotate_left(lists.fetch_add(1, Ordering::Relaxed) % 3);
            }
        })
    })
    .also(CHANGED),
    Case::lines(Rule::EndlessList, V2025_03_26, |server| {
        pages(server, |request, _| page(request, "greeting", Some("again".to_owned())))
    })
    .also(OTHER_PROMPTS),
    Case::lines(Rule::EndlessList, V2026_07_28, |server| {
        pages(server, |request, _| page(request, "greeting", Some("again".to_owned())))
    })
    .also(OTHER_PROMPTS),
    // Every page has a new cursor and the same item.
    Case::lines(Rule::EndlessList, V2025_11_25, |server| {
        let number = AtomicUsize::new(0);
        pages(server, move |request, _| {
            let next = number.fetch_add(1, Ordering::Relaxed).to_string();
            page(request, "greeting", Some(next))
        })
    })
    .also(OTHER_PROMPTS),
    Case::lines(Rule::RepeatedItem, V2025_11_25, repeat_tool).of(paged),
    Case::lines(Rule::RepeatedItem, V2026_07_28, repeat_tool).of(paged),
    // Each cursor can be used once.
    Case::lines(Rule::UnstableCursor, V2025_06_18, |server| {
        let (issued, used) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
        pages(server, move |request, cursor| {
            let Some(cursor) = cursor.map(str::to_owned) else {
                let next = issued.fetch_add(1, Ordering::Relaxed);
                return page(request, "greeting", Some(format!("cursor-{next}")));
            };
            let mut used = used.lock().unwrap();
            if used.contains(&cursor) {
                return refuse(request, -32602);
            }
            used.push(cursor);
            page(request, "plain", None)
        })
    })
    .of(paged)
    .also(OTHER_PROMPTS),
    // A cursor gives another page when it is used again.
    Case::lines(Rule::UnstableCursor, V2026_07_28, |server| {
        let uses = AtomicUsize::new(0);
        pages(server, move |request, cursor| match cursor {
            None => {
                uses.store(0, Ordering::Relaxed);
                page(request, "greeting", Some("next".to_owned()))
            }
            Some(_) => match uses.fetch_add(1, Ordering::Relaxed) {
                0 => page(request, "plain", None),
                _ => page(request, "other", None),
            },
        })
    })
    .of(paged)
    .also(OTHER_PROMPTS),
    Case::lines(Rule::InvalidCursor, V2024_11_05, |server| {
        server.on_method("tools/list", |request| match &request["params"]["cursor"] {
            cursor if cursor == INVALID_CURSOR => answer(request, json!({"tools": []})),
            _ => Action::Pass,
        })
    }),
    Case::lines(Rule::InvalidCursor, V2026_07_28, |server| {
        server.on_response("resources/templates/list", |request, response| {
            if request["params"]["cursor"] == INVALID_CURSOR {
                response["error"]["code"] = json!(-32603);
            }
        })
    }),
    Case::http(Rule::InvalidCursor, V2025_11_25, |server| {
        server.on_body(|_, request, body| {
            let is_invalid = String::from_utf8_lossy(request).contains(INVALID_CURSOR);
            if is_invalid { body.replace("-32602", "-32603") } else { body }
        })
    }),
    Case::lines(Rule::CacheScopeChanged, V2026_07_28, |server| {
        server.on_response("tools/list", |request, response| {
            if !request["params"]["cursor"].is_null() && response.get("result").is_some() {
                response["result"]["cacheScope"] = json!("private");
            }
        })
    })
    .of(paged),
    Case::lines(Rule::InterimCacheHints, V2026_07_28, |server| {
        server.on_result("tools/call", |result| {
            if result["resultType"] == "input_required" {
                result["ttlMs"] = json!(0);
            }
        })
    }),
];
