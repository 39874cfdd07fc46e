//! The metadata of each request and result since 2026-07-28, and discovery.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};
use sparring_wire::{Json, Revision, Rule, Side, code};

use super::lifecycle::{UNKNOWN_VERSIONS, agrees_to, speaks_legacy};
use super::observed::{Observed, observe_calls};
use super::{Probe, probe};
use crate::connection::Reply;
use crate::context::{Context, ProbeResult, Stopped};
use crate::http::{request, with_metadata};
use crate::verdict::Finding;

pub(super) const PROBES: &[Probe] = &[
    probe!([UnsupportedVersion], unsupported_version),
    probe!([UnspokenVersion], unspoken_version),
    probe!([MissingMeta, RequiredClientInfo], request_metadata),
];

/// The probes that look at the traffic of all others.
pub(super) const LAST_PROBES: &[Probe] = &[probe!([MissingServerInfo], server_info)];

pub(super) const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";
pub(super) const CAPABILITIES_KEY: &str = "io.modelcontextprotocol/clientCapabilities";
pub(super) const CLIENT_INFO_KEY: &str = "io.modelcontextprotocol/clientInfo";
const SERVER_INFO_KEY: &str = "io.modelcontextprotocol/serverInfo";

/// The reason if no request gets a result.
const NOTHING_ANSWERED: &str = "the server answers no suitable request with a result";

/// The methods whose requests are repeated.
const METHODS: [&str; 9] = [
    "server/discover",
    "tools/list",
    "resources/list",
    "resources/templates/list",
    "prompts/list",
    "resources/read",
    "prompts/get",
    "completion/complete",
    "tools/call",
];

/// Returns a request of each method that the server has answered with a result: the fastest, and
/// of calls one of a tool that only reads, if there is any. A client that has not seen the tools
/// cannot mirror arguments in HTTP headers, so tools that need them are left out.
pub(super) async fn good_requests(context: &Context) -> Vec<Observed> {
    let mut observed = observe_calls(context).await;
    let tool_of = |it: &Observed| it.params["name"].as_str().unwrap_or_default().to_owned();
    let mirrors = |it: &Observed| {
        let tool = context.facts().tool(&tool_of(it));
        tool.is_some_and(|tool| tool["inputSchema"].to_string().contains("x-mcp-header"))
    };
    observed.retain(|it| {
        let is_plain = it.is_first_round() && it.params.get("cursor").is_none();
        it.is_success() && is_plain && !(it.method == "tools/call" && mirrors(it))
    });
    let only_reads = |it: &Observed| context.read_only_tools().contains(&tool_of(it));
    let good = METHODS.iter().filter_map(|method| {
        let same = observed.iter().filter(|it| it.method == *method);
        same.min_by_key(|it| (!only_reads(it), it.duration)).cloned()
    });
    good.collect()
}

async fn unsupported_version(context: &Context) -> ProbeResult {
    let requests = good_requests(context).await;
    if requests.is_empty() {
        context.undecided(Rule::UnsupportedVersion, NOTHING_ANSWERED);
    }
    for version in UNKNOWN_VERSIONS {
        for good in &requests {
            let mut params = good.params_or_empty();
            params["_meta"] = json!({VERSION_KEY: version});
            let reply = context.request(&good.method, Some(params)).await;
            judge_unsupported_version(context, version, &good.method, &reply);
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

/// Sends requests that lack a part of the metadata, after requests that have all of it. A server
/// that speaks both eras may take a request without a version for the other era, so these come
/// last.
async fn request_metadata(context: &Context) -> ProbeResult {
    let full = with_metadata(json!({}), context.revision)["_meta"].clone();
    let without = |key: &str| {
        let meta: Option<Map<String, Value>> = full.as_object().cloned();
        let mut meta = meta.unwrap_or_default();
        meta.remove(key);
        Value::Object(meta)
    };
    let requests = good_requests(context).await;
    if requests.is_empty() {
        context.undecided(Rule::MissingMeta, NOTHING_ANSWERED);
        context.undecided(Rule::RequiredClientInfo, NOTHING_ANSWERED);
    }
    let meta = Some(without(CLIENT_INFO_KEY));
    for (good, reply) in send_each(context, &requests, 0, meta).await? {
        judge_client_info(context, good, &reply).await;
    }
    for (number, meta, missing, names_version) in [
        (1, Some(without(CAPABILITIES_KEY)), "the client's capabilities in its `_meta`", true),
        (2, Some(without(VERSION_KEY)), "the version in its `_meta`", false),
        (3, Some(json!({})), "the fields of `_meta`", false),
        (4, None, "`_meta`", false),
    ] {
        for (good, reply) in send_each(context, &requests, number, meta).await? {
            judge_missing_meta(context, &good.method, missing, names_version, &reply).await?;
        }
    }
    Ok(())
}

/// Sends each request with this metadata, and returns the replies. The number makes the ids
/// unique.
async fn send_each<'a>(
    context: &Context,
    requests: &'a [Observed],
    number: u8,
    meta: Option<Value>,
) -> Result<Vec<(&'a Observed, Reply)>, Stopped> {
    let connection = context.take_unjudged().await?;
    let mut replies = Vec::new();
    for good in requests {
        let method = &good.method;
        let id = json!(format!("sparring-meta-{number}-{method}"));
        let params = match &meta {
            Some(meta) => {
                let mut params = good.params_or_empty();
                params["_meta"] = meta.clone();
                Some(params)
            }
            None => Some(good.params.clone()).filter(|it| !it.is_null()),
        };
        let sent = request(id, method, params).to_string();
        replies.push((good, connection.request_bytes(sent).await));
    }
    context.give_back_unjudged(connection);
    Ok(replies)
}

async fn judge_client_info(context: &Context, good: &Observed, reply: &Reply) {
    let rule = Rule::RequiredClientInfo;
    match (reply.is_success(), reply.outcome()) {
        (true, _) => context.pass(rule),
        (false, Err(error)) if !reply.is_answered() => {
            context.undecided(rule, error.to_string());
        }
        (false, _) => {
            // The request can have succeeded only once.
            let again = context.request(&good.method, Some(good.params_or_empty())).await;
            if again.is_success() {
                let expected = "expected a result for a request without the client's name";
                context.fail(rule, reply.finding(expected).about(&good.method));
            }
        }
    }
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
