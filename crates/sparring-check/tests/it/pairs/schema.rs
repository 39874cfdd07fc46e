//! The types of a revision, the syntax of strings, and the metadata of items.

use serde_json::{Value, json};
use sparring_wire::{Revision, Rule};

use super::Case;
use super::definitions::set;
use crate::support::{AlteredHttp, AlteredServer};

const V2024_11_05: Revision = Revision::V2024_11_05;
const V2025_03_26: Revision = Revision::V2025_03_26;
const V2025_06_18: Revision = Revision::V2025_06_18;
const V2025_11_25: Revision = Revision::V2025_11_25;
const V2026_07_28: Revision = Revision::V2026_07_28;

/// Adds an item to a list.
fn add(
    server: AlteredServer,
    method: &'static str,
    list: &'static str,
    item: Value,
) -> AlteredServer {
    server.on_result(method, move |result| {
        if let Some(items) = result[list].as_array_mut() {
            items.push(item.clone());
        }
    })
}

/// Adds a template of resources to the list.
fn add_template(server: AlteredServer, uri_template: &'static str) -> AlteredServer {
    let template = json!({
        "uriTemplate": uri_template,
        "name": "other",
        "description": "Another template.",
    });
    add(server, "resources/templates/list", "resourceTemplates", template)
}

/// Alters the first content block of each successful call of a tool.
fn on_block(
    server: AlteredServer,
    tool: &'static str,
    alter: impl Fn(&mut Value) + Send + Sync + 'static,
) -> AlteredServer {
    server.on_response("tools/call", move |request, response| {
        let is_call = request["params"]["name"] == tool;
        if let Some(block) = response.pointer_mut("/result/content/0").filter(|_| is_call) {
            alter(block);
        }
    })
}

/// Sets a field of the image that the tool `picture` returns.
fn set_picture(server: AlteredServer, key: &'static str, value: Value) -> AlteredServer {
    on_block(server, "picture", move |block| block[key] = value.clone())
}

/// Sets the icons of the first prompt.
fn set_icon(server: AlteredServer, icon: Value) -> AlteredServer {
    set(server, "prompts/list", "/prompts/0/icons", json!([icon]))
}

/// Replaces a text in the body of each response to this method.
fn replace_body(
    server: AlteredHttp,
    method: &'static str,
    old: &'static str,
    new: &'static str,
) -> AlteredHttp {
    server.on_body(move |_, request, body| {
        let request: Value = serde_json::from_slice(request).unwrap_or_default();
        if request["method"] == method { body.replacen(old, new, 1) } else { body }
    })
}

pub(super) const SHAPES: &[Case] = &[
    Case::lines(Rule::MissingField, V2024_11_05, |server| {
        set(server, "initialize", "/serverInfo/version", Value::Null)
    })
    .also(&[Rule::Handshake]),
    Case::lines(Rule::MissingField, V2025_03_26, |server| {
        set(server, "resources/templates/list", "/resourceTemplates/0/name", Value::Null)
    }),
    Case::lines(Rule::MissingField, V2025_11_25, |server| {
        on_block(server, "picture", |block| {
            block.as_object_mut().unwrap().remove("mimeType");
        })
    }),
    Case::lines(Rule::MissingField, V2026_07_28, |server| {
        set(server, "prompts/list", "/cacheScope", Value::Null)
    }),
    Case::lines(Rule::MissingField, V2026_07_28, |server| {
        set(server, "resources/read", "/resultType", Value::Null)
    }),
    Case::http(Rule::MissingField, V2026_07_28, |server| {
        replace_body(server, "server/discover", r#""ttlMs""#, r#""ttl""#)
    })
    .also(&[Rule::Handshake]),
    Case::lines(Rule::WrongType, V2024_11_05, |server| {
        set(server, "resources/read", "/contents/0/mimeType", json!(["text/plain"]))
    }),
    Case::lines(Rule::WrongType, V2025_06_18, |server| {
        set(server, "prompts/list", "/prompts/0/arguments/0/required", json!("yes"))
    }),
    Case::lines(Rule::WrongType, V2026_07_28, |server| {
        set(server, "prompts/list", "/ttlMs", json!("300000"))
    }),
    Case::http(Rule::WrongType, V2025_11_25, |server| {
        replace_body(server, "resources/list", r#""name":"text""#, r#""name":"text","size":"9""#)
    }),
    Case::lines(Rule::WrongValue, V2025_03_26, |server| {
        set(server, "resources/list", "/resources/0/annotations", json!({"priority": 2}))
    }),
    Case::lines(Rule::WrongValue, V2025_11_25, |server| {
        set(server, "prompts/get", "/messages/0/role", json!("system"))
    }),
    Case::lines(Rule::WrongValue, V2026_07_28, |server| {
        set(server, "prompts/list", "/ttlMs", json!(-1))
    }),
    Case::lines(Rule::WrongResultType, V2026_07_28, |server| {
        set(server, "resources/templates/list", "/resultType", json!("done"))
    }),
    Case::lines(Rule::WrongErrorCode, V2026_07_28, |server| {
        server.on_response("sparring/unknown", |_, response| {
            response["error"]["code"] = json!(-32050);
        })
    })
    .also(&[Rule::UnknownMethod]),
];

pub(super) const FORMATS: &[Case] = &[
    Case::lines(Rule::InvalidBase64, V2024_11_05, |server| {
        set_picture(server, "data", json!("an image"))
    }),
    Case::lines(Rule::InvalidBase64, V2026_07_28, |server| {
        server.on_result("resources/read", |result| {
            if let Some(blob) = result["contents"][0].get_mut("blob") {
                *blob = json!("iVBORw0KGgo");
            }
        })
    }),
    Case::lines(Rule::InvalidUri, V2025_11_25, |server| {
        set_icon(server, json!({"src": "icons/prompt.png"}))
    }),
    Case::lines(Rule::InvalidUri, V2025_03_26, |server| {
        on_block(server, "document", |block| block["resource"]["uri"] = json!("document"))
    }),
    Case::lines(Rule::InvalidUriTemplate, V2025_06_18, |server| {
        add_template(server, "test://others/{id")
    }),
    Case::lines(Rule::InvalidMediaType, V2025_11_25, |server| {
        set_picture(server, "mimeType", json!("png"))
    }),
    Case::lines(Rule::InvalidResourceMediaType, V2025_06_18, |server| {
        set(server, "resources/list", "/resources/0/mimeType", json!("text"))
    }),
    Case::lines(Rule::InvalidTimestamp, V2025_11_25, |server| {
        let params = json!({
            "taskId": "1",
            "status": "working",
            "createdAt": "yesterday",
            "lastUpdatedAt": "2025-11-25T10:30:00Z",
            "ttl": null,
        });
        let method = "notifications/tasks/status";
        let status = json!({"jsonrpc": "2.0", "method": method, "params": params});
        server.after_response("prompts/list", move || vec![status.to_string()])
    }),
    Case::lines(Rule::InvalidTraceContext, V2026_07_28, |server| {
        set(server, "prompts/list", "/_meta", json!({"traceparent": "trace 1"}))
    })
    .also(&[Rule::MissingServerInfo]),
    Case::lines(Rule::InvalidMetaKey, V2025_06_18, |server| {
        set(server, "prompts/list", "/_meta", json!({"the key": 1}))
    }),
    Case::lines(Rule::InvalidMetaKey, V2026_07_28, |server| {
        set(server, "prompts/list", "/prompts/0/_meta", json!({"1.example/key": 1}))
    }),
    Case::lines(Rule::InvalidJsonSchema, V2025_11_25, |server| {
        let schema = json!({"type": "object", "properties": {"size": {"type": "real"}}});
        set(server, "tools/list", "/tools/2/inputSchema", schema)
    })
    .also(&[Rule::MissingParameterDescription]),
    Case::lines(Rule::InvalidJsonSchema, V2026_07_28, |server| {
        let schema = json!({"type": "object", "required": "size"});
        set(server, "tools/list", "/tools/2/outputSchema", schema)
    })
    .also(&[Rule::OutputSchema]),
];

pub(super) const CONTENT: &[Case] = &[
    Case::lines(Rule::InvalidLastModified, V2025_06_18, |server| {
        let annotations = json!({"lastModified": "last week"});
        set(server, "resources/list", "/resources/0/annotations", annotations)
    }),
    Case::lines(Rule::InvalidIconSource, V2025_11_25, |server| {
        set_icon(server, json!({"src": "file:///icons/prompt.png"}))
    }),
    Case::lines(Rule::InvalidIconSize, V2026_07_28, |server| {
        set_icon(server, json!({"src": "https://example.com/icon.png", "sizes": ["large"]}))
    }),
];
