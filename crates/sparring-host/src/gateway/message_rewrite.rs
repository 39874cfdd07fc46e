//! Rewrites params and responses for forwarding, without changing anything else
//! in them.

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::json;
use sparring_peer::client::{Error, Response};
use sparring_peer::server::{Context, HandlerResult, Reply};
use sparring_wire::json::ObjectBuilder;
use sparring_wire::types::LogLevel;
use sparring_wire::{ErrorObject, Json, RawJson};

use crate::manager::Connection;

/// Members that belong to one hop and are not forwarded.
const HOP_MEMBERS: [&str; 2] = ["inputResponses", "requestState"];

/// The metadata of a result that names the server, since 2026-07-28.
const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";

/// The forwarded params of a request, with these members replaced.
pub(super) fn request_params(cx: &Context, replaced: &[(&str, Json<'_>)]) -> RawJson {
    let mut members: Vec<(Cow<'_, str>, Json<'_>)> = Vec::new();
    let meta = cx.params().and_then(|params| params.get("_meta")).and_then(forwarded_meta);
    for (key, value) in cx.params().into_iter().flat_map(Json::members) {
        let name = key.name();
        let kept = name != "_meta" && !HOP_MEMBERS.contains(&&*name);
        let is_replaced = replaced.iter().any(|(replaced, _)| *replaced == name);
        if kept && !is_replaced {
            members.push((name, value));
        }
    }
    members.extend(replaced.iter().map(|(name, value)| ((*name).into(), *value)));
    members.extend(meta.as_ref().map(|meta| ("_meta".into(), meta.view())));
    build_object(&members)
}

/// The params of a tool call, with the server's name of the tool.
pub(super) fn tool_params(cx: &Context, tool: &str, arguments: Json<'_>) -> RawJson {
    let params = ObjectBuilder::with_capacity(tool.len() + arguments.bytes().len() + 24);
    let params = params.string("name", tool).json("arguments", arguments);
    match cx.params().and_then(|params| params.get("_meta")).and_then(forwarded_meta) {
        Some(meta) => params.json("_meta", meta.view()).build(),
        None => params.build(),
    }
}

/// Adds the log level of the client to the params, for servers that declare
/// `logging` and get the level with each request.
pub(super) fn with_log_level(connection: &Connection, params: RawJson, level: LogLevel) -> RawJson {
    if !connection.is_modern() || !connection.capabilities().has("logging") {
        return params;
    }
    let level = RawJson::string(level.name());
    with_meta_member(&params, "io.modelcontextprotocol/logLevel", level.view())
}

/// Adds the capabilities of the client to the params, for servers that get them
/// with each request (2026-07-28, basic#_meta). Only requests that the gateway
/// forwards are declared: sampling, elicitation and roots. `has_roots` is true if the gateway
/// answers for clients without roots.
pub(super) fn with_client_capabilities(
    connection: &Connection,
    params: RawJson,
    cx: &Context,
    has_roots: bool,
) -> RawJson {
    if !connection.is_modern() {
        return params;
    }
    let declared = |name| cx.client_capabilities().and_then(|declared| declared.get(name));
    let mut members: Vec<(Cow<'_, str>, Json<'_>)> = Vec::new();
    for name in ["sampling", "elicitation"] {
        let value = declared(name).filter(|value| value.is_object());
        members.extend(value.map(|value| (name.into(), value)));
    }
    // The members of `roots` are about notifications, which are not forwarded.
    if has_roots || declared("roots").is_some() {
        members.push(("roots".into(), Json::EMPTY_OBJECT));
    }
    let capabilities = build_object(&members);
    let name = "io.modelcontextprotocol/clientCapabilities";
    with_meta_member(&params, name, capabilities.view())
}

fn with_meta_member(params: &RawJson, name: &str, value: Json<'_>) -> RawJson {
    let meta = params.view().get("_meta").filter(|meta| meta.is_object());
    let meta = meta.map_or_else(RawJson::empty_object, RawJson::from);
    params.with_member("_meta", meta.with_member(name, value).view())
}

/// Converts a server's response, or the reason why there is none.
pub(super) fn to_answer(
    server: &Arc<str>,
    answer: Result<Response, Error>,
    cx: &Context,
) -> HandlerResult {
    match answer {
        Ok(response) => match Reply::from_response(response) {
            Ok(reply) if cx.revision().is_modern() => Ok(reply),
            Ok(reply) => Ok(without_server_info(reply)),
            Err(response) => {
                let empty = || ErrorObject::internal(with_server(server, "empty response"));
                Err(response.error().unwrap_or_else(empty).into())
            }
        },
        // An error of the client itself goes back to it unchanged.
        Err(Error::InputNotProvided { error, .. }) => Err((*error).into()),
        Err(error) => {
            let data = json!({"server": **server, "kind": error.kind()});
            Err(ErrorObject::internal(with_server(server, &error.to_string()))
                .with_data(data)
                .into())
        }
    }
}

/// The result without the server's own name in its metadata. Clients of earlier
/// revisions do not know it and would pass it on to a model.
fn without_server_info(reply: Reply) -> Reply {
    let Some(meta) = reply.json().get("_meta").filter(|meta| meta.get(SERVER_INFO).is_some())
    else {
        return reply;
    };
    let mut kept = named_members(meta);
    kept.retain(|(name, _)| name != SERVER_INFO);
    let kept_meta = build_object(&kept);
    let mut members = named_members(reply.json());
    match kept.is_empty() {
        true => members.retain(|(name, _)| name != "_meta"),
        false => members
            .iter_mut()
            .filter(|(name, _)| name == "_meta")
            .for_each(|(_, value)| *value = kept_meta.view()),
    }
    build_object(&members).into()
}

/// The metadata that does not belong to one hop; `None` if there is none.
fn forwarded_meta(meta: Json<'_>) -> Option<RawJson> {
    let named = meta.members().map(|(key, value)| (key.name(), value));
    let kept = named.filter(|(name, _)| {
        name != "progressToken" && !name.starts_with("io.modelcontextprotocol/")
    });
    let members: Vec<(Cow<'_, str>, Json<'_>)> = kept.collect();
    (!members.is_empty()).then(|| build_object(&members))
}

fn named_members<'a>(object: Json<'a>) -> Vec<(Cow<'a, str>, Json<'a>)> {
    object.members().map(|(key, value)| (key.name(), value)).collect()
}

fn build_object(members: &[(Cow<'_, str>, Json<'_>)]) -> RawJson {
    let object = ObjectBuilder::with_capacity(0);
    members.iter().fold(object, |object, (name, value)| object.json(name, *value)).build()
}

fn with_server(server: &str, what: &str) -> String {
    format!("server `{server}`: {what}")
}
