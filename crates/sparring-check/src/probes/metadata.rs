//! The metadata of each request and result since 2026-07-28, and discovery.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};
use sparring_wire::{Json, Revision, Rule, Side, code};

use super::lifecycle::{UNKNOWN_VERSIONS, agrees_to, speaks_legacy};
use super::messages::LISTS;
use super::{Probe, probe};
use crate::connection::Reply;
use crate::context::{Context, ProbeResult, Stopped};
use crate::http::{request, with_metadata};
use crate::verdict::Finding;

pub(super) const PROBES: &[Probe] = &[
    probe!([UnsupportedVersion], unsupported_version),
    probe!([UnspokenVersion], unspoken_version),
    probe!([Stateful], statelessness),
    probe!([MissingMeta, RequiredClientInfo], request_metadata),
];

/// The probes that look at the traffic of all others.
pub(super) const LAST_PROBES: &[Probe] = &[probe!([MissingServerInfo], server_info)];

const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES_KEY: &str = "io.modelcontextprotocol/clientCapabilities";
const CLIENT_INFO_KEY: &str = "io.modelcontextprotocol/clientInfo";
const SERVER_INFO_KEY: &str = "io.modelcontextprotocol/serverInfo";

/// Returns the method of a list that the server declares.
fn declared_list(context: &Context) -> Option<&'static str> {
    let found = LISTS.into_iter().find(|(capability, _)| context.facts().declares(capability));
    found.map(|(_, method)| method)
}

/// The reason if no request without required params gets a result.
const NOTHING_ANSWERED: &str = "the server answers no suitable request with a result";

/// Returns the methods without required params that the server answers with a result.
async fn answered_methods(context: &Context) -> Vec<&'static str> {
    let mut answered = Vec::new();
    for method in ["server/discover"].into_iter().chain(declared_list(context)) {
        // Another rule reports an error.
        if context.request(method, None).await.is_success() {
            answered.push(method);
        }
    }
    answered
}

async fn unsupported_version(context: &Context) -> ProbeResult {
    let methods = answered_methods(context).await;
    if methods.is_empty() {
        context.undecided(Rule::UnsupportedVersion, NOTHING_ANSWERED);
    }
    for version in UNKNOWN_VERSIONS {
        for method in methods.iter().copied() {
            let params = json!({"_meta": {VERSION_KEY: version}});
            let reply = context.request(method, Some(params)).await;
            judge_unsupported_version(context, version, method, &reply);
        }
    }
    Ok(())
}

fn judge_unsupported_version(context: &Context, version: &str, method: &str, reply: &Reply) {
    let rule = Rule::UnsupportedVersion;
    let expected = "expected the error -32022 for a request of an unknown version";
    let Some(error) = reply.error() else {
        match reply.outcome() {
            Ok(_) => context.fail(rule, reply.finding(expected).about(method)),
            Err(error) => context.undecided(rule, error.to_string()),
        }
        return;
    };
    let data = error.data.unwrap_or_default();
    let supported = data["supported"].as_array().cloned().unwrap_or_default();
    let names = |name: &str| supported.iter().any(|it| it == name);
    let problem = match error.code {
        code::UNSUPPORTED_PROTOCOL_VERSION if supported.is_empty() => {
            "the error has no list `data.supported`"
        }
        code::UNSUPPORTED_PROTOCOL_VERSION if names(version) => {
            "`data.supported` of the error has the rejected version"
        }
        code::UNSUPPORTED_PROTOCOL_VERSION if !names(context.revision.name()) => {
            "`data.supported` of the error lacks the version of other requests"
        }
        code::UNSUPPORTED_PROTOCOL_VERSION if data["requested"] != version => {
            "`data.requested` of the error is not the requested version"
        }
        code::UNSUPPORTED_PROTOCOL_VERSION => return context.pass(rule),
        _ => return context.fail(rule, reply.finding(expected).about(method)),
    };
    let expected = "expected an error that lists the supported versions";
    let finding = Finding::new(format!("{expected}; {problem}")).with_frames(reply.frames());
    context.fail(rule, finding.about(method));
}

async fn unspoken_version(context: &Context) -> ProbeResult {
    let rule = Rule::UnspokenVersion;
    let session = context.main().client().session();
    let frame = session.map(|session| session.frame.clone());
    let result = frame.as_ref().and_then(sparring_wire::Frame::result);
    let listed = result.and_then(|it| it.get("supportedVersions")).unwrap_or(Json::EMPTY_OBJECT);
    let listed: BTreeSet<String> =
        listed.items().filter_map(|it| it.as_str().map(|it| it.into_owned())).collect();
    for version in listed {
        match is_spoken(context, &version).await? {
            true => context.pass(rule),
            false => {
                let message = format!(
                    "expected that the server speaks version {version}, which it lists as \
                     supported; it refuses this version"
                );
                let mut finding = Finding::new(message);
                if let Some(frame) = &frame {
                    let shown = crate::verdict::ShownFrame::new(Side::Server, frame.bytes());
                    finding = finding.with_frames([shown]);
                }
                context.fail(rule, finding);
            }
        }
    }
    Ok(())
}

async fn is_spoken(context: &Context, version: &str) -> Result<bool, Stopped> {
    match Revision::from_name(version) {
        Some(revision) if revision == context.revision => Ok(true),
        Some(revision) if !revision.is_modern() => agrees_to(context, revision).await,
        _ => {
            let params = json!({"_meta": {VERSION_KEY: version}});
            let reply = context.request("server/discover", Some(params)).await;
            Ok(reply.error_code() != Some(code::UNSUPPORTED_PROTOCOL_VERSION))
        }
    }
}

/// Sends the same request as the first of a connection, and after requests with other metadata.
async fn statelessness(context: &Context) -> ProbeResult {
    let rule = Rule::Stateful;
    let method = declared_list(context).unwrap_or("server/discover");
    if !context.request(method, None).await.is_success() {
        context.not_applicable(rule, format!("the server does not answer {method} with a result"));
        return Ok(());
    }
    let connection = context.connect_without_discovery().await?;
    let judge = |reply: Reply, order: &str| match reply.is_success() {
        true => context.pass(rule),
        false => {
            let expected = format!("expected a result for {method} {order}, as at other times");
            context.fail(rule, reply.finding(expected));
        }
    };
    judge(connection.request(method, None).await, "as the first request of a connection");
    let version = json!({"_meta": {VERSION_KEY: UNKNOWN_VERSIONS[0]}});
    connection.request(method, Some(version)).await;
    judge(connection.request(method, None).await, "after a request of another version");
    let capabilities = json!({"_meta": {
        CAPABILITIES_KEY: {}, CLIENT_INFO_KEY: {"name": "another", "version": "0.0.1"},
    }});
    judge(connection.request(method, Some(capabilities)).await, "from another client");
    judge(connection.request(method, None).await, "after a request of another client");
    connection.close().await;
    Ok(())
}

/// Sends requests that lack a part of the metadata, after requests that have all of it. A server
/// that speaks both eras may take a request without a version for the other era, so these come
/// last.
async fn request_metadata(context: &Context) -> ProbeResult {
    let full = with_metadata(json!({}), context.revision)["_meta"].clone();
    let without = |key: &str| {
        let meta: Option<Map<String, Value>> = full.as_object().cloned();
        let mut meta = meta.unwrap_or_default();
        meta.remove(key);
        json!({"_meta": meta})
    };
    let methods = answered_methods(context).await;
    if methods.is_empty() {
        context.undecided(Rule::MissingMeta, NOTHING_ANSWERED);
        context.undecided(Rule::RequiredClientInfo, NOTHING_ANSWERED);
    }
    let params = Some(without(CLIENT_INFO_KEY));
    for (method, reply) in send_to_each(context, &methods, 0, params).await? {
        match (reply.is_success(), reply.outcome()) {
            (true, _) => context.pass(Rule::RequiredClientInfo),
            (false, Ok(_)) => {
                let expected = "expected a result for a request without the client's name";
                context.fail(Rule::RequiredClientInfo, reply.finding(expected).about(method));
            }
            (false, Err(error)) => context.undecided(Rule::RequiredClientInfo, error.to_string()),
        }
    }
    for (number, params, missing, names_version) in [
        (1, Some(without(CAPABILITIES_KEY)), "the client's capabilities in its `_meta`", true),
        (2, Some(without(VERSION_KEY)), "the version in its `_meta`", false),
        (3, Some(json!({"_meta": {}})), "the fields of `_meta`", false),
        (4, None, "`_meta`", false),
    ] {
        for (method, reply) in send_to_each(context, &methods, number, params).await? {
            judge_missing_meta(context, method, missing, names_version, &reply).await?;
        }
    }
    Ok(())
}

/// Sends a request of each method with these params, and returns the replies. The number
/// makes the ids unique.
async fn send_to_each(
    context: &Context,
    methods: &[&'static str],
    number: u8,
    params: Option<Value>,
) -> Result<Vec<(&'static str, Reply)>, Stopped> {
    let connection = context.take_unjudged().await?;
    let mut replies = Vec::new();
    for method in methods.iter().copied() {
        let id = json!(format!("sparring-meta-{number}-{method}"));
        let sent = request(id, method, params.clone()).to_string();
        replies.push((method, connection.request_bytes(sent).await));
    }
    context.give_back_unjudged(connection);
    Ok(replies)
}

async fn judge_missing_meta(
    context: &Context,
    method: &str,
    missing: &str,
    names_version: bool,
    reply: &Reply,
) -> ProbeResult {
    let rule = Rule::MissingMeta;
    // Over HTTP, the version is also in a header, which the body then contradicts.
    let contradicts_header = !names_version && context.http().is_some();
    // Each result of this era has it.
    let is_of_other_era = reply.result().is_none_or(|result| result.get("resultType").is_none());
    match (reply.error_code(), reply.outcome()) {
        (Some(code::INVALID_PARAMS), _) => context.pass(rule),
        (Some(code::HEADER_MISMATCH), _) if contradicts_header => context.pass(rule),
        (None, Err(error)) if !reply.is_answered() => context.undecided(rule, error.to_string()),
        // A request without a version can be one of the other era.
        _ if !names_version && is_of_other_era && speaks_legacy(context).await? => {
            context.pass(rule)
        }
        _ => {
            let expected = format!("expected the error -32602 for a request without {missing}");
            context.fail(rule, reply.finding(expected).about(method));
        }
    }
    Ok(())
}

/// Looks at the results of all connections.
async fn server_info(context: &Context) -> ProbeResult {
    let rule = Rule::MissingServerInfo;
    let mut methods: BTreeSet<String> = BTreeSet::new();
    let mut example = Vec::new();
    let mut results = 0;
    for recording in context.recordings() {
        let entries = recording.entries_from(0);
        for (index, entry) in entries.iter().enumerate() {
            let result = entry.frame.result().filter(|_| entry.from == Side::Server);
            let Some(result) = result else { continue };
            results += 1;
            if result.get_path(&["_meta", SERVER_INFO_KEY]).is_some() {
                continue;
            }
            let answers = |it: &&sparring_wire::Entry| {
                it.from == Side::Client && it.frame.id() == entry.frame.id()
            };
            let request = entries[..index].iter().rev().find(answers);
            let method = request.and_then(|it| it.frame.method()).unwrap_or_default();
            if methods.insert(method.to_owned()) && example.is_empty() {
                example = request.into_iter().chain([entry]).cloned().collect();
            }
        }
    }
    match (methods.is_empty(), results) {
        (true, 0) => context.undecided(rule, "the server answered no request with a result"),
        (true, _) => context.pass(rule),
        (false, _) => {
            let methods = methods.into_iter().collect::<Vec<_>>().join(", ");
            let message = format!(
                "expected the server's name and version in the `_meta` of each result; \
                 missing in the results of {methods}"
            );
            context.fail(rule, Finding::new(message).with_frames(&example));
        }
    }
    Ok(())
}
