//! Streamable HTTP in both eras.

use axum::body::{Body, Bytes};
use axum::http::request::Parts;
use axum::http::{HeaderValue, Method, StatusCode};
use axum::response::Response;
use serde_json::json;

use super::*;
use crate::support::CORRECT;

fn parse(body: &[u8]) -> Value {
    serde_json::from_slice(body).unwrap_or_default()
}

fn respond(status: u16, content_type: &str, body: impl Into<String>) -> Option<Response> {
    let mut builder = Response::builder().status(status);
    if !content_type.is_empty() {
        builder = builder.header("content-type", content_type);
    }
    Some(builder.body(Body::from(body.into())).unwrap())
}

fn respond_json(status: u16, body: &Value) -> Option<Response> {
    respond(status, "application/json", body.to_string())
}

fn header<'a>(parts: &'a Parts, name: &str) -> &'a str {
    parts.headers.get(name).and_then(|it| it.to_str().ok()).unwrap_or_default()
}

fn is_method(body: &[u8], method: &str) -> bool {
    parse(body)["method"] == method
}

fn is_notification(body: &[u8]) -> bool {
    let message = parse(body);
    message["method"].is_string() && message.get("id").is_none()
}

/// Alters the JSON message in the responses to requests with this method.
fn on_message(server: AlteredHttp, method: &'static str, alter: fn(&mut Value)) -> AlteredHttp {
    server.on_body(move |_, request, body| {
        if !is_method(request, method) {
            return body;
        }
        let (before, data) = match body.find("data: {") {
            Some(at) => (body[..at + 6].to_owned(), body[at + 6..].to_owned()),
            None => (String::new(), body.clone()),
        };
        let Ok(mut message) = serde_json::from_str::<Value>(data.trim()) else { return body };
        alter(&mut message);
        let after = if before.is_empty() { "" } else { "\n\n" };
        format!("{before}{message}{after}")
    })
}

/// Removes a header of each request, so that the correct server does not see it.
fn answer_as_if(server: AlteredHttp, fits: fn(&Parts, &Bytes) -> bool) -> AlteredHttp {
    server.on_request(move |parts, body| {
        if !fits(parts, body) {
            return None;
        }
        let message = parse(body);
        let result = json!({
            "resultType": "complete", "tools": [], "prompts": [], "resources": [],
            "resourceTemplates": [], "content": [], "ttlMs": 0, "cacheScope": "public",
            "supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}},
        });
        match message.get("id") {
            Some(id) => respond_json(200, &json!({"jsonrpc": "2.0", "id": id, "result": result})),
            None => respond(202, "", ""),
        }
    })
}

fn mirrored_name(body: &Value) -> &Value {
    match body["method"].as_str() {
        Some("resources/read") => &body["params"]["uri"],
        Some("tools/call" | "prompts/get") => &body["params"]["name"],
        _ => &Value::Null,
    }
}

fn is_modern(body: &Value) -> bool {
    body["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] == "2026-07-28"
}

pub(super) const ALL: &[Must] = &[
    over_http("an id keeps its type", V2025_11_25, |server| {
        on_message(server, "prompts/get", |message| {
            message["id"] = json!(message["id"].to_string())
        })
    }),
    over_http("an error has a message", V2025_06_18, |server| {
        server.on_body(|_, _, body| {
            let mut message = parse(body.as_bytes());
            match message.get_mut("error") {
                Some(error) => {
                    error.as_object_mut().unwrap().remove("message");
                    message.to_string()
                }
                None => body,
            }
        })
    }),
    over_http("a foreign Origin is refused", V2025_06_18, |server| {
        answer_as_if(server, |parts, _| {
            let origin = header(parts, "origin");
            !origin.is_empty() && !origin.contains("127.0.0.1") && !origin.contains("localhost")
        })
    }),
    over_http("a foreign Origin gets the status 403", V2025_11_25, |server| {
        server.on_request(|parts, _| {
            let origin = header(parts, "origin");
            match !origin.is_empty() && !origin.contains("127.0.0.1") {
                true => respond(400, "text/plain", "Bad origin"),
                false => None,
            }
        })
    }),
    over_http("a foreign Origin is refused since 2026", V2026_07_28, |server| {
        answer_as_if(server, |parts, _| {
            let origin = header(parts, "origin");
            !origin.is_empty() && !origin.contains("127.0.0.1") && !origin.contains("localhost")
        })
    }),
    over_http("an accepted notification gets the status 202", V2025_03_26, |server| {
        server.on_response(|_, request, response| {
            if is_notification(request) && response.status() == StatusCode::ACCEPTED {
                *response.status_mut() = StatusCode::OK;
            }
        })
    }),
    over_http("an accepted notification gets the status 202, not 204", V2026_07_28, |server| {
        server.on_response(|_, request, response| {
            if is_notification(request) && response.status() == StatusCode::ACCEPTED {
                *response.status_mut() = StatusCode::NO_CONTENT;
            }
        })
    }),
    over_http("an accepted notification gets no body", V2025_11_25, |server| {
        server.on_request(|_, request| match is_method(request, "notifications/initialized") {
            true => respond_json(202, &json!({"jsonrpc": "2.0", "id": null, "result": {}})),
            false => None,
        })
    }),
    over_http("a response is JSON or an event stream", V2025_06_18, |server| {
        server.on_response(|_, request, response| {
            if is_method(request, "prompts/list") {
                response
                    .headers_mut()
                    .insert("content-type", HeaderValue::from_static("text/plain"));
            }
        })
    }),
    over_http("a response has a content type", V2025_03_26, |server| {
        server.on_response(|_, request, response| {
            if is_method(request, "prompts/list") {
                response.headers_mut().remove("content-type");
            }
        })
    }),
    over_http("a result does not have an error status", V2025_11_25, |server| {
        server.on_response(|_, request, response| {
            if is_method(request, "prompts/get") {
                *response.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
            }
        })
    }),
    over_http("GET gives an event stream or 405", V2025_06_18, |server| {
        server.on_request(|parts, _| match parts.method == Method::GET {
            true => respond_json(200, &json!({"status": "ok"})),
            false => None,
        })
    }),
    over_http("GET without a stream gives 405", V2025_11_25, |server| {
        server.on_request(|parts, _| match parts.method == Method::GET {
            true => respond(404, "text/plain", "Not found"),
            false => None,
        })
    }),
    over_http("a session id is visible ASCII", V2025_11_25, |server| {
        server
            .on_response(|_, _, response| {
                if response.headers().contains_key("mcp-session-id") {
                    let id = HeaderValue::from_static("session one");
                    response.headers_mut().insert("mcp-session-id", id);
                }
            })
            .on_request(|parts, _| match header(parts, "mcp-session-id") {
                "session one" => respond(404, "text/plain", "No session"),
                _ => None,
            })
    }),
    over_http("an ended session is gone", V2025_06_18, |server| {
        let ended = std::sync::Mutex::new(Vec::<String>::new());
        server.on_request(move |parts, body| {
            let mut ended = ended.lock().unwrap();
            let id = header(parts, "mcp-session-id").to_owned();
            if parts.method == Method::DELETE {
                ended.push(id);
                return None;
            }
            let message = parse(body);
            match ended.contains(&id) && message.get("id").is_some() {
                true => respond_json(
                    200,
                    &json!({"jsonrpc": "2.0", "id": message["id"], "result": {"tools": []}}),
                ),
                false => None,
            }
        })
    }),
    over_http("an ended session gets the status 404", V2025_11_25, |server| {
        server.on_response(|parts, _, response| {
            if response.status() == StatusCode::NOT_FOUND
                && !header(parts, "mcp-session-id").is_empty()
            {
                *response.status_mut() = StatusCode::BAD_REQUEST;
            }
        })
    }),
    over_http("an unsupported version header is refused", V2025_06_18, |server| {
        answer_as_if(server, |parts, _| {
            let version = header(parts, "mcp-protocol-version");
            !version.is_empty() && Revision::from_name(version).is_none()
        })
    }),
    over_http("an unsupported version header gets the status 400", V2025_11_25, |server| {
        server.on_request(|parts, _| {
            let version = header(parts, "mcp-protocol-version");
            match !version.is_empty() && Revision::from_name(version).is_none() {
                true => respond(404, "text/plain", "Unknown version"),
                false => None,
            }
        })
    }),
    over_http("a body that is not JSON is refused", V2025_06_18, |server| {
        server.on_request(|parts, body| {
            let is_json = serde_json::from_slice::<Value>(body).is_ok();
            match parts.method == Method::POST && !is_json {
                true => respond(202, "", ""),
                false => None,
            }
        })
    }),
    over_http("a batch gets all responses", V2025_03_26, |server| {
        server.on_request(|_, body| match parse(body).as_array() {
            Some(batch) => {
                let id = batch.iter().find_map(|it| it.get("id")).cloned();
                respond_json(200, &json!({"jsonrpc": "2.0", "id": id, "result": {}}))
            }
            None => None,
        })
    }),
    over_http("a batch is accepted", V2025_03_26, |server| {
        server.on_request(|_, body| match parse(body).is_array() {
            true => respond(400, "text/plain", "No batches"),
            false => None,
        })
    }),
    over_http("declared tools are implemented", V2025_06_18, |server| {
        on_message(server, "tools/list", |message| {
            message.as_object_mut().unwrap().remove("result");
            message["error"] = json!({"code": -32601, "message": "Method not found"});
        })
    }),
    over_http("a ping is answered by an empty result", V2025_03_26, |server| {
        on_message(server, "ping", |message| message["result"] = json!({"pong": true}))
    }),
    over_http("messages on a stream are JSON-RPC", V2025_06_18, |server| {
        server.on_body(|_, _, body| match body.contains("data: {") {
            true => format!("data: working\n\n{body}"),
            false => body,
        })
    }),
    over_http("ids of events are unique", V2025_11_25, |server| {
        server.on_body(|_, _, body| {
            let lines = body.lines().map(|line| match line.starts_with("id:") {
                true => "id: 1",
                false => line,
            });
            let ends = if body.ends_with('\n') { "\n" } else { "" };
            lines.collect::<Vec<_>>().join("\n") + ends
        })
    }),
    over_http("an unknown method gets the status 404", V2026_07_28, |server| {
        server.on_response(|_, _, response| {
            if response.status() == StatusCode::NOT_FOUND {
                *response.status_mut() = StatusCode::OK;
            }
        })
    }),
    over_http("an unsupported version gets the status 400", V2026_07_28, |server| {
        server.on_response(|_, request, response| {
            let version =
                parse(request)["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"]
                    .as_str()
                    .map(Revision::from_name);
            if version == Some(None) && response.status() == StatusCode::BAD_REQUEST {
                *response.status_mut() = StatusCode::OK;
            }
        })
    }),
    over_http("a request without metadata gets the status 400", V2026_07_28, |server| {
        server.on_response(|_, request, response| {
            let meta = &parse(request)["params"]["_meta"];
            if meta.get("io.modelcontextprotocol/clientCapabilities").is_none() {
                *response.status_mut() = StatusCode::OK;
            }
        })
    }),
    over_http("a request without metadata is refused", V2026_07_28, |server| {
        answer_as_if(server, |_, body| {
            let message = parse(body);
            let meta = &message["params"]["_meta"];
            message.get("id").is_some()
                && message["method"] != "initialize"
                && meta.get("io.modelcontextprotocol/clientCapabilities").is_none()
        })
    }),
    over_http("Mcp-Method equals the method", V2026_07_28, |server| {
        answer_as_if(server, |parts, body| {
            let message = parse(body);
            let method = header(parts, "mcp-method");
            is_modern(&message) && !method.is_empty() && message["method"] != method
        })
    }),
    over_http("Mcp-Name equals the name", V2026_07_28, |server| {
        answer_as_if(server, |parts, body| {
            let message = parse(body);
            let name = header(parts, "mcp-name");
            let is_plain = !name.is_empty() && !name.starts_with("=?");
            is_modern(&message) && is_plain && *mirrored_name(&message) != name
        })
    }),
    over_http("MCP-Protocol-Version equals the metadata", V2026_07_28, |server| {
        answer_as_if(server, |parts, body| {
            let message = parse(body);
            let version = header(parts, "mcp-protocol-version");
            is_modern(&message) && !version.is_empty() && version != "2026-07-28"
        })
    }),
    over_http("Mcp-Method is required", V2026_07_28, |server| {
        answer_as_if(server, |parts, body| {
            is_modern(&parse(body)) && header(parts, "mcp-method").is_empty()
        })
    }),
    over_http("Mcp-Name is required", V2026_07_28, |server| {
        answer_as_if(server, |parts, body| {
            let message = parse(body);
            is_modern(&message)
                && mirrored_name(&message).is_string()
                && header(parts, "mcp-name").is_empty()
        })
    }),
    over_http("MCP-Protocol-Version is required", V2026_07_28, |server| {
        let script = format!("{CORRECT}\nprotocol: ['2026-07-28']\n");
        answer_as_if(server.script(&script), |parts, body| {
            is_modern(&parse(body)) && header(parts, "mcp-protocol-version").is_empty()
        })
    }),
    over_http("a wrong header gets the error -32020", V2026_07_28, |server| {
        server.on_body(|_, _, body| body.replace("\"code\":-32020", "\"code\":-32600"))
    }),
    over_http("a wrong header gets the status 400", V2026_07_28, |server| {
        server.on_request(|parts, body| {
            let message = parse(body);
            let method = header(parts, "mcp-method");
            match is_modern(&message) && message["method"] != method {
                true => respond_json(
                    200,
                    &json!({
                        "jsonrpc": "2.0", "id": message["id"],
                        "error": {"code": -32020, "message": "Header mismatch"},
                    }),
                ),
                false => None,
            }
        })
    }),
    over_http("an encoded header is decoded", V2026_07_28, |server| {
        server.on_request(|parts, body| {
            let message = parse(body);
            match header(parts, "mcp-name").starts_with("=?base64?") {
                true => respond_json(
                    400,
                    &json!({
                        "jsonrpc": "2.0", "id": message["id"],
                        "error": {"code": -32020, "message": "Header mismatch"},
                    }),
                ),
                false => None,
            }
        })
    }),
    over_http("no requests on the stream of a request", V2026_07_28, |server| {
        server.on_body(|_, request, body| match is_method(request, "tools/call") {
            true if body.contains("data: ") => {
                let question =
                    json!({"jsonrpc": "2.0", "id": "asked", "method": "roots/list", "params": {}});
                format!("data: {question}\n\n{body}")
            }
            _ => body,
        })
    }),
    over_http("a subscription is acknowledged", V2026_07_28, |server| {
        server.on_body(|_, _, body| {
            match body.contains("notifications/subscriptions/acknowledged") {
                true => ": nothing\n\n".to_owned(),
                false => body,
            }
        })
    }),
    over_http("a result has a resultType", V2026_07_28, |server| {
        on_message(server, "prompts/get", |message| {
            if let Some(result) = message["result"].as_object_mut() {
                result.remove("resultType");
            }
        })
    }),
    over_http("cacheable results have a scope", V2026_07_28, |server| {
        on_message(server, "resources/read", |message| {
            if let Some(result) = message["result"].as_object_mut() {
                result.remove("cacheScope");
            }
        })
    }),
    over_http("an image is base64", V2025_11_25, |server| {
        server.on_body(|_, request, body| {
            match is_method(request, "tools/call") && parse(request)["params"]["name"] == "picture"
            {
                true => body.replace("iVBORw0KGgo", "iVBORw0KGg\u{2026}"),
                false => body,
            }
        })
    }),
    over_http("structured content fits the output schema", V2025_06_18, |server| {
        on_message(server, "tools/call", |message| {
            if let Some(content) = message["result"].get_mut("structuredContent") {
                content["a"] = json!("one");
            }
        })
    }),
    over_http("an unknown tool is refused", V2025_06_18, |server| {
        on_message(server, "tools/call", |message| {
            if message.get("error").is_some() {
                message.as_object_mut().unwrap().remove("error");
                message["result"] = json!({"content": []});
            }
        })
    }),
    over_http("more: a message without a method is refused", V2025_11_25, |server| {
        server.on_request(|parts, body| {
            let message = parse(body);
            let is_garbage = message.is_object()
                && ["method", "result", "error"].iter().all(|it| message.get(it).is_none());
            match parts.method == Method::POST && is_garbage {
                true => respond(202, "", ""),
                false => None,
            }
        })
    }),
    over_http("more: the response has the type of JSON, also for errors", V2025_06_18, |server| {
        server.on_response(|_, request, response| {
            if is_method(request, "sparring/unknown") {
                let html = HeaderValue::from_static("text/html");
                response.headers_mut().insert("content-type", html);
            }
        })
    }),
    over_http("more: a result does not have the status 202", V2025_06_18, |server| {
        server.on_response(|_, request, response| {
            if is_method(request, "tools/list") {
                *response.status_mut() = StatusCode::ACCEPTED;
                *response.body_mut() = Body::empty();
            }
        })
    }),
    over_http("more: a capability that is missing gets the status 400", V2026_07_28, |server| {
        server.on_response(|_, request, response| {
            if is_method(request, "tools/call") && response.status() == StatusCode::BAD_REQUEST {
                *response.status_mut() = StatusCode::OK;
            }
        })
    }),
    over_http("more: names of headers have no case", V2026_07_28, |server| {
        server.on_head(
            |head| head.contains("MCP-METHOD") || head.contains("Mcp-Method"),
            "HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n",
        )
    }),
    over_http("more: a stream of a request has no foreign notifications", V2025_06_18, |server| {
        server.on_body(|_, request, body| match is_method(request, "tools/call") {
            true if body.contains("data: {") => {
                let params = json!({"progressToken": "never", "progress": 1});
                let message = notification("notifications/progress", params);
                format!("data: {message}\n\n{body}")
            }
            _ => body,
        })
    }),
];
