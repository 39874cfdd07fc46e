//! Requests of the modern era that a server must refuse, and those of earlier revisions.

use serde_json::json;
use sparring_transport::http::RawRequest;
use sparring_wire::mirrored_headers::PROTOCOL_VERSION_HEADER;
use sparring_wire::{Rule, code};

use super::leave_out;
use super::named_requests::all_requests;
use crate::context::{Context, ProbeResult};
use crate::http::{
    HttpServer, Refusal, RequestExt, modern, post, request, require_refusal, require_same,
    streamable, with_metadata,
};
use crate::verdict::Finding;

const VERSION_FIELD: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES_FIELD: &str = "io.modelcontextprotocol/clientCapabilities";
const SESSION_HEADER: &str = "mcp-session-id";

pub(super) async fn unsupported_version(context: &Context) -> ProbeResult {
    let rule = Rule::UnsupportedVersionStatus;
    let Some(server) = streamable(context, &[rule]).await else { return Ok(()) };
    let mut versions = vec![("an unknown version", "2099-01-01")];
    if server.oldest_version().await.is_none() {
        versions.push(("an earlier version", "2025-11-25"));
    }
    let refusal = Refusal { statuses: &[400], codes: &[code::UNSUPPORTED_PROTOCOL_VERSION] };
    for named in all_requests(context) {
        for (kind, version) in &versions {
            let mut params = with_metadata(named.params.clone(), context.revision);
            params["_meta"][VERSION_FIELD] = json!(version);
            let request = named.build_with(server, params);
            let of = named.of_method();
            let expected = format!("the status 400 and the error -32022 for {kind}{of}");
            require_refusal(context, server, rule, &request, refusal, expected).await;
        }
    }
    Ok(())
}

pub(super) async fn invalid_metadata(context: &Context) -> ProbeResult {
    let rule = Rule::InvalidMetadataStatus;
    let Some(server) = streamable(context, &[rule]).await else { return Ok(()) };
    // A server that also speaks earlier revisions may take other requests without a version for
    // some of theirs.
    let is_modern_only = server.oldest_version().await.is_none();
    for named in all_requests(context) {
        let full = with_metadata(named.params.clone(), context.revision);
        let without = |field: &str| {
            let mut params = full.clone();
            if let Some(meta) = params["_meta"].as_object_mut() {
                meta.remove(field);
            }
            params
        };
        let mut cases =
            vec![(without(CAPABILITIES_FIELD), "without the client's capabilities in `_meta`")];
        if is_modern_only || named.method == "server/discover" {
            cases.push((without(VERSION_FIELD), "without the protocol version in `_meta`"));
            cases.push((named.params.clone(), "without `_meta`"));
        }
        for (params, what) in cases {
            let request = named.build_with(server, params);
            let request = request.with(PROTOCOL_VERSION_HEADER, context.revision.name());
            let of = named.of_method();
            let expected = format!("the status 400 for a request {what}{of}");
            let refusal = Refusal::status(&[400]);
            require_refusal(context, server, rule, &request, refusal, expected).await;
        }
    }
    Ok(())
}

/// Requests of earlier revisions to a server that does not speak them.
pub(super) async fn earlier_revisions(context: &Context) -> ProbeResult {
    let rules = [Rule::LegacyMethods, Rule::LegacyHeaders];
    let Some(server) = streamable(context, &rules).await else { return Ok(()) };
    if server.oldest_version().await.is_some() {
        leave_out(context, &rules, "the server also speaks earlier revisions");
        return Ok(());
    }
    let rule = Rule::LegacyMethods;
    for method in ["GET", "DELETE"] {
        let request = RawRequest::new(method, "")
            .with("accept", "application/json, text/event-stream")
            .with(PROTOCOL_VERSION_HEADER, context.revision.name());
        let expected = format!("the status 405 for a {method} request");
        require_refusal(context, server, rule, &request, Refusal::status(&[405]), expected).await;
    }
    ignored_headers(context, server).await
}

async fn ignored_headers(context: &Context, server: &HttpServer) -> ProbeResult {
    let rule = Rule::LegacyHeaders;
    let discover = || modern(context.revision, server.next_id(), "server/discover", json!({}));
    let plain = server.send(&discover()).await?;
    for (header, value) in
        [(SESSION_HEADER, "00000000-0000-4000-8000-5ba331960000"), ("last-event-id", "1")]
    {
        let request = discover().with(header, value);
        let expected = format!("the header `{header}` of earlier revisions to be ignored");
        require_same(context, server, rule, &plain, &request, expected).await;
    }
    let with_id = discover().with(SESSION_HEADER, "00000000-0000-4000-8000-5ba331960000");
    let echoed = server.send(&with_id).await?;
    // A server that refuses the request can assign a session to it too.
    let initialize = request(server.next_id(), "initialize", Some(json!({})));
    let refused = server.send(&post(initialize.to_string())).await?;
    let assigned = [&plain, &echoed, &refused];
    if let Some(exchange) = assigned.into_iter().find(|it| it.header(SESSION_HEADER).is_some()) {
        let message = "expected no `Mcp-Session-Id` from a server without earlier revisions";
        context.fail(rule, Finding::new(message).with_frames(exchange.shown()));
    }
    Ok(())
}
