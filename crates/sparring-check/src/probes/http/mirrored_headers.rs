//! The headers that mirror a request: different, missing, encoded, and in another case.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;
use sparring_transport::http::RawRequest;
use sparring_wire::mirrored_headers::{METHOD_HEADER, NAME_HEADER, PROTOCOL_VERSION_HEADER};
use sparring_wire::{Revision, Rule, code};

use super::leave_out;
use super::named_requests::{NamedRequest, all_requests, named_requests};
use crate::context::{Context, ProbeResult};
use crate::http::{
    HttpServer, Refusal, RequestExt, initialize, modern, report_same, require_refusal,
    require_same, streamable,
};

/// The beginning of each expectation.
const WANTED: &str = "the status 400 and the error -32020";

/// The refusal of a request whose headers do not mirror its body.
pub(super) const MISMATCH: Refusal<'static> =
    Refusal { statuses: &[400], codes: &[code::HEADER_MISMATCH] };

fn discover(context: &Context, server: &HttpServer) -> RawRequest {
    modern(context.revision, server.next_id(), "server/discover", json!({}))
}

pub(super) async fn mismatch(context: &Context) -> ProbeResult {
    let rule = Rule::HeaderMismatch;
    let Some(server) = streamable(context, &[rule]).await else { return Ok(()) };
    let request = discover(context, server).with(METHOD_HEADER, "SERVER/DISCOVER");
    let expected = format!("{WANTED} for an `Mcp-Method` in upper case");
    require_refusal(context, server, rule, &request, MISMATCH, expected).await;
    for named in all_requests(context) {
        let of = named.of_method();
        let other = if named.method == "tools/list" { "prompts/list" } else { "tools/list" };
        let expected = format!("{WANTED} for a different `Mcp-Method`{of}");
        let request = named.build(context, server).with(METHOD_HEADER, other);
        require_refusal(context, server, rule, &request, MISMATCH, expected).await;
        // A server without this revision may find that before it compares the versions. One that
        // also speaks earlier revisions may miss the session of other requests.
        let codes = &[code::HEADER_MISMATCH, code::UNSUPPORTED_PROTOCOL_VERSION][..];
        let codes = if named.method == "server/discover" { codes } else { &[] };
        let refusal = Refusal { statuses: &[400], codes };
        let expected = format!("{WANTED} for a different `MCP-Protocol-Version`{of}");
        let request = named.build(context, server).with(PROTOCOL_VERSION_HEADER, "2025-11-25");
        require_refusal(context, server, rule, &request, refusal, expected).await;
        if !named.name.is_empty() {
            different_names(context, server, &named).await;
        }
    }
    Ok(())
}

/// Sends values of `Mcp-Name` that differ from the body.
async fn different_names(context: &Context, server: &HttpServer, named: &NamedRequest) {
    let other = format!("{}-other", ascii(&named.name));
    let mut names = vec![
        ("a different `Mcp-Name`", other.clone()),
        ("an `Mcp-Name` with invalid Base64", "=?base64?!?=".to_owned()),
        ("an encoded `Mcp-Name` with another value", encoded(&other)),
    ];
    // A part of a URI has no case.
    let swapped = swap_case(&named.name).filter(|_| named.method != "resources/read");
    names.extend(swapped.map(|it| ("an `Mcp-Name` in another case", it)));
    for (what, name) in names {
        let expected = format!("{WANTED} for {what} of {}", named.method);
        let request = named.build(context, server).with(NAME_HEADER, &name);
        require_refusal(context, server, Rule::HeaderMismatch, &request, MISMATCH, expected).await;
    }
}

/// Returns the value with upper and lower case swapped, if it is a plain header with letters.
pub(super) fn swap_case(value: &str) -> Option<String> {
    let swap = |letter: char| match letter.is_ascii_lowercase() {
        true => letter.to_ascii_uppercase(),
        false => letter.to_ascii_lowercase(),
    };
    let swapped: String = value.chars().map(swap).collect();
    let is_plain = value.bytes().all(|it| it.is_ascii_graphic()) && !value.starts_with("=?");
    (is_plain && swapped != value).then_some(swapped)
}

pub(super) async fn missing(context: &Context) -> ProbeResult {
    let rule = Rule::MissingHeader;
    let Some(server) = streamable(context, &[rule]).await else { return Ok(()) };
    let requests = all_requests(context);
    for named in &requests {
        let request = named.build(context, server).without(METHOD_HEADER);
        let of = named.of_method();
        let expected = format!("{WANTED} for a request without `Mcp-Method`{of}");
        require_refusal(context, server, rule, &request, MISMATCH, expected).await;
    }
    let request = discover(context, server).without(PROTOCOL_VERSION_HEADER);
    let expected = format!("{WANTED} for a request without `MCP-Protocol-Version`");
    // A server for clients before 2025-06-18 may take such a request for one of theirs
    // (basic/transports/streamable-http#protocol-version-header). These have no such method.
    let serves_older = server.oldest_version().await.is_some_and(|it| it < "2025-06-18");
    match serves_older {
        false => require_refusal(context, server, rule, &request, MISMATCH, expected).await,
        true => {
            let exchange = server.send(&request).await?;
            match exchange.has_result() {
                true => context.fail(rule, exchange.finding(format!("expected {expected}"))),
                false => context.pass(rule),
            }
        }
    }
    if server.oldest_version().await.is_none() {
        let request = initialize(Revision::V2025_11_25);
        let expected = "the status 400 for `initialize` without the headers of this revision";
        require_refusal(context, server, rule, &request, Refusal::status(&[400]), expected).await;
    }
    for named in requests.iter().filter(|it| !it.name.is_empty()) {
        let request = named.build(context, server).without(NAME_HEADER);
        let expected = format!("{WANTED} for a request without `Mcp-Name` ({})", named.method);
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
