//! The headers that mirror a request: different, missing, encoded, and in another case.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;
use sparring_transport::http::RawRequest;
use sparring_wire::mirrored_headers::{METHOD_HEADER, NAME_HEADER, PROTOCOL_VERSION_HEADER};
use sparring_wire::{Revision, Rule, code};

use super::leave_out;
use super::named_requests::{NamedRequest, named_requests};
use crate::context::{Context, ProbeResult};
use crate::http::{
    HttpServer, Refusal, RequestExt, initialize, modern, report_same, require_refusal,
    require_same, streamable,
};

/// The refusal of a request whose headers do not mirror its body.
pub(super) const MISMATCH: Refusal<'static> =
    Refusal { statuses: &[400], codes: &[code::HEADER_MISMATCH] };

impl NamedRequest {
    fn build(&self, context: &Context, server: &HttpServer) -> RawRequest {
        let id = server.next_id();
        let request = modern(context.revision, id, self.method, self.params.clone());
        self.headers.iter().fold(request, |request, (name, value)| request.with(name, value))
    }
}

fn discover(context: &Context, server: &HttpServer) -> RawRequest {
    modern(context.revision, server.next_id(), "server/discover", json!({}))
}

pub(super) async fn mismatch(context: &Context) -> ProbeResult {
    let rule = Rule::HeaderMismatch;
    let Some(server) = streamable(context, &[rule]).await else { return Ok(()) };
    let wanted = "the status 400 and the error -32020 for";
    for (value, what) in [
        ("tools/list", "a different `Mcp-Method`"),
        ("SERVER/DISCOVER", "an `Mcp-Method` in upper case"),
    ] {
        let request = discover(context, server).with(METHOD_HEADER, value);
        let expected = format!("{wanted} {what}");
        require_refusal(context, server, rule, &request, MISMATCH, expected).await;
    }
    let request = discover(context, server).with(PROTOCOL_VERSION_HEADER, "2025-11-25");
    // A server without this revision may find that before it compares the versions.
    let codes = &[code::HEADER_MISMATCH, code::UNSUPPORTED_PROTOCOL_VERSION];
    let refusal = Refusal { statuses: &[400], codes };
    let expected = format!("{wanted} a different `MCP-Protocol-Version`");
    require_refusal(context, server, rule, &request, refusal, expected).await;
    for named in named_requests(context) {
        let expected = format!("{wanted} a different `Mcp-Method` of {}", named.method);
        let request = named.build(context, server).with(METHOD_HEADER, "tools/list");
        require_refusal(context, server, rule, &request, MISMATCH, expected).await;
        let expected = format!("{wanted} a different `Mcp-Name` of {}", named.method);
        let other = format!("{}-other", ascii(&named.name));
        let request = named.build(context, server).with(NAME_HEADER, &other);
        require_refusal(context, server, rule, &request, MISMATCH, expected).await;
        let expected = format!("{wanted} an `Mcp-Name` with invalid Base64 of {}", named.method);
        let request = named.build(context, server).with(NAME_HEADER, "=?base64?!?=");
        require_refusal(context, server, rule, &request, MISMATCH, expected).await;
        let expected =
            format!("{wanted} an encoded `Mcp-Name` with another value of {}", named.method);
        let request = named.build(context, server).with(NAME_HEADER, encoded(&other));
        require_refusal(context, server, rule, &request, MISMATCH, expected).await;
    }
    Ok(())
}

pub(super) async fn missing(context: &Context) -> ProbeResult {
    let rule = Rule::MissingHeader;
    let Some(server) = streamable(context, &[rule]).await else { return Ok(()) };
    let wanted = "the status 400 and the error -32020 for a request without";
    let request = discover(context, server).without(METHOD_HEADER);
    let expected = format!("{wanted} `Mcp-Method`");
    require_refusal(context, server, rule, &request, MISMATCH, expected).await;
    // A server for clients before 2025-06-18 may take such a request for one of theirs
    // (basic/transports/streamable-http#protocol-version-header).
    let serves_older = server.oldest_version().await.is_some_and(|it| it < "2025-06-18");
    if !serves_older {
        let request = discover(context, server).without(PROTOCOL_VERSION_HEADER);
        let expected = format!("{wanted} `MCP-Protocol-Version`");
        require_refusal(context, server, rule, &request, MISMATCH, expected).await;
    }
    if server.oldest_version().await.is_none() {
        let request = initialize(Revision::V2025_11_25);
        let expected = "the status 400 for `initialize` without the headers of this revision";
        require_refusal(context, server, rule, &request, Refusal::status(&[400]), expected).await;
    }
    for named in named_requests(context) {
        let request = named.build(context, server).without(NAME_HEADER);
        let expected = format!("{wanted} `Mcp-Name` ({})", named.method);
        require_refusal(context, server, rule, &request, MISMATCH, expected).await;
    }
    Ok(())
}

/// Header values in Base64, and header names in another case.
pub(super) async fn other_forms(context: &Context) -> ProbeResult {
    let rules = [Rule::EncodedHeader, Rule::HeaderNameCase];
    let Some(server) = streamable(context, &rules).await else { return Ok(()) };
    let plain = server.send(&discover(context, server)).await?;
    let request = RawRequest { title_case: true, ..discover(context, server) };
    let in_title_case = server.send(&request).await?;
    // Such a request is sent without the tokens of an authorization server.
    let is_authorized = in_title_case.status != 401 || plain.status == 401;
    let expected = "expected header names in title case to be accepted";
    match is_authorized {
        true => report_same(context, Rule::HeaderNameCase, &plain, &in_title_case, expected),
        false => leave_out(context, &[Rule::HeaderNameCase], "the server requires authorization"),
    }
    let named = named_requests(context);
    if named.is_empty() {
        let reason = "the server has no resource, no prompt and no tool that may be called";
        leave_out(context, &[Rule::EncodedHeader], reason);
    }
    for named in named {
        let plain = server.send(&named.build(context, server)).await?;
        let request = named.build(context, server).with(NAME_HEADER, encoded(&named.name));
        let expected = format!("an `Mcp-Name` in Base64 to be accepted ({})", named.method);
        require_same(context, server, Rule::EncodedHeader, &plain, &request, expected).await;
        if is_authorized {
            let request = RawRequest { title_case: true, ..named.build(context, server) };
            let expected = "header names in title case to be accepted";
            require_same(context, server, Rule::HeaderNameCase, &plain, &request, expected).await;
        }
    }
    Ok(())
}

/// Returns the Base64 form of a value.
pub(super) fn encoded(value: &str) -> String {
    format!("=?base64?{}?=", STANDARD.encode(value))
}

/// Returns the ASCII characters of a value.
fn ascii(value: &str) -> String {
    value.chars().filter(char::is_ascii_graphic).collect()
}
