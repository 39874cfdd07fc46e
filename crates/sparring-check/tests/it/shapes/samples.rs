//! Correct values whose fields a test breaks.

use serde_json::{Value, json};

use super::fields;

/// A list in a result: its method, its name, a correct item, and the fields of the item.
type Items = (&'static str, &'static str, Value, &'static str);

/// Returns the lists of all results.
pub(super) fn items() -> Vec<Items> {
    let mut all = vec![
        ("tools/list", "tools", tool(), fields::TOOL),
        ("resources/list", "resources", resource(), fields::RESOURCE),
        ("resources/templates/list", "resourceTemplates", template(), fields::TEMPLATE),
        ("prompts/list", "prompts", prompt(), fields::PROMPT),
        ("resources/read", "contents", contents("text"), fields::TEXT_CONTENTS),
        ("resources/read", "contents", contents("blob"), fields::BLOB_CONTENTS),
        ("prompts/get", "messages", message("text"), fields::MESSAGE),
    ];
    for (kind, table) in fields::BLOCKS {
        all.push(("tools/call", "content", block(kind), table));
    }
    all
}

/// Returns the correct params of a message of the server.
pub(super) fn params_of(method: &str) -> Value {
    match method {
        "notifications/message" => json!({"level": "error", "logger": "test", "data": "text"}),
        "notifications/progress" => {
            json!({"progressToken": "sparring-token", "progress": 1, "total": 2})
        }
        "notifications/cancelled" => json!({"requestId": "sparring-id", "reason": "test"}),
        "notifications/resources/updated" => json!({"uri": "test://text"}),
        "notifications/tasks/status" => json!({
            "taskId": "1",
            "status": "working",
            "createdAt": "2025-11-25T10:30:00Z",
            "lastUpdatedAt": "2025-11-25T10:30:00Z",
            "ttl": null,
        }),
        "sampling/createMessage" => json!({
            "messages": [{"role": "user", "content": {"type": "text", "text": "Hello"}}],
            "maxTokens": 10,
        }),
        "elicitation/create" => json!({
            "message": "What is your name?",
            "requestedSchema": {
                "type": "object",
                "properties": {"name": {"type": "string", "title": "Name"}},
                "required": ["name"],
            },
        }),
        "notifications/elicitation/complete" => json!({"elicitationId": "1"}),
        "notifications/subscriptions/acknowledged" => json!({"notifications": {}}),
        _ => json!({}),
    }
}

const DATA: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";

fn icons() -> Value {
    json!([{
        "src": "https://example.com/icon.png",
        "mimeType": "image/png",
        "sizes": ["48x48"],
        "theme": "light",
    }])
}

fn annotations() -> Value {
    json!({"audience": ["user"], "priority": 1, "lastModified": "2025-01-12T15:00:58Z"})
}

fn tool() -> Value {
    json!({
        "name": "sample",
        "title": "Sample",
        "description": "A sample.",
        "inputSchema": {
            "type": "object",
            "properties": {"text": {"type": "string", "description": "A text."}},
            "required": ["text"],
        },
        "outputSchema": {"type": "object"},
        "annotations": {"title": "Sample", "readOnlyHint": true},
        "icons": icons(),
        "execution": {"taskSupport": "forbidden"},
        "_meta": {},
    })
}

fn resource() -> Value {
    json!({
        "uri": "test://text",
        "name": "sample",
        "title": "Sample",
        "description": "A sample.",
        "mimeType": "text/plain",
        "size": 1,
        "annotations": annotations(),
        "icons": icons(),
    })
}

fn template() -> Value {
    json!({
        "uriTemplate": "test://items/{id}",
        "name": "sample",
        "title": "Sample",
        "description": "A sample.",
        "mimeType": "application/json",
        "annotations": annotations(),
        "icons": icons(),
    })
}

fn prompt() -> Value {
    json!({
        "name": "plain",
        "title": "Sample",
        "description": "A sample.",
        "arguments": [{"name": "text", "title": "Text", "description": "A text."}],
        "icons": icons(),
    })
}

fn contents(kind: &str) -> Value {
    match kind {
        "blob" => json!({"uri": "test://binary", "mimeType": "image/png", "blob": DATA}),
        _ => json!({"uri": "test://text", "mimeType": "text/plain", "text": "A text."}),
    }
}

fn block(kind: &str) -> Value {
    let mut block = match kind {
        "image" | "audio" => {
            json!({"type": kind, "data": DATA, "mimeType": format!("{kind}/png")})
        }
        "resource_link" => {
            let mut link = resource();
            link["type"] = json!(kind);
            link
        }
        "resource" => json!({"type": kind, "resource": contents("text")}),
        "blob" => json!({"type": "resource", "resource": contents("blob")}),
        _ => json!({"type": kind, "text": "A text."}),
    };
    block["annotations"] = annotations();
    block
}

fn message(kind: &str) -> Value {
    json!({"role": "user", "content": block(kind)})
}
