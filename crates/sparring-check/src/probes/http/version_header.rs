//! The header `MCP-Protocol-Version` in sessions: invalid, unsupported and missing.

use serde_json::json;
use sparring_wire::Rule;
use sparring_wire::mirrored_headers::PROTOCOL_VERSION_HEADER;

use super::bodies::end;
use super::{leave_out, ping};
use crate::context::{Context, ProbeResult};
use crate::http::{Refusal, RequestExt, is_same_outcome, report_same, require_refusal, streamable};

pub(super) async fn invalid_version(context: &Context) -> ProbeResult {
    let rule = Rule::VersionHeader;
    let Some(server) = streamable(context, &[rule]).await else { return Ok(()) };
    let session = server.session().await?;
    let notification = json!({
        "jsonrpc": "2.0",
        "method": "notifications/cancelled",
        "params": {"requestId": "sparring-unknown"},
    });
    for (kind, version) in
        [("unsupported", "1999-01-01"), ("unknown", "2099-01-01"), ("invalid", "sparring")]
    {
        for (method, body) in
            [("a request", ping(server)), ("a notification", notification.clone())]
        {
            let request = session.post(&body).with(PROTOCOL_VERSION_HEADER, version);
            let refusal = Refusal::status(&[400]);
            let expected =
                format!("the status 400 for {method} with an {kind} `MCP-Protocol-Version`");
            require_refusal(context, server, rule, &request, refusal, expected).await;
        }
        let request = session.get().with(PROTOCOL_VERSION_HEADER, version);
        let refusal = Refusal::status(&[400, 405]);
        let expected =
            format!("the status 400 for a GET request with an {kind} `MCP-Protocol-Version`");
        require_refusal(context, server, rule, &request, refusal, expected).await;
    }
    if session.id.is_some() {
        let other = server.another_session().await?;
        let request = other.delete().with(PROTOCOL_VERSION_HEADER, "sparring");
        let exchange = server.send(&request).await?;
        // A server need not let clients end sessions, and refuses that with any status.
        if exchange.is_success() {
            let expected = "expected the status 400 for a DELETE request with an invalid \
                            `MCP-Protocol-Version`";
            context.fail(rule, exchange.finding(expected));
        } else {
            end(server, Some(&other)).await;
        }
    }
    Ok(())
}

pub(super) async fn missing_version(context: &Context) -> ProbeResult {
    let rule = Rule::MissingVersionHeader;
    let Some(server) = streamable(context, &[rule]).await else { return Ok(()) };
    let session = server.session().await?;
    let with_header = server.send(&session.post(&ping(server))).await?;
    let request = session.post(&ping(server)).without(PROTOCOL_VERSION_HEADER);
    let without_header = server.send(&request).await?;
    // Without a session the server must assume 2025-03-26, which it need not support.
    let is_unsupported = session.id.is_none()
        && !is_same_outcome(&with_header, &without_header)
        && server.oldest_version().await != Some("2025-03-26");
    if is_unsupported {
        leave_out(context, &[rule], "the server has neither sessions nor the revision 2025-03-26");
        return Ok(());
    }
    let expected = "expected a request without `MCP-Protocol-Version` to be accepted";
    report_same(context, rule, &with_header, &without_header, expected);
    Ok(())
}
