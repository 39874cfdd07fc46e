//! HTTP+SSE.

use std::time::Duration;

use sparring_wire::Rule;

use super::{V2024_11_05, is, over_http_sse};
use crate::pairs::Case;

pub(in crate::pairs) const CASES: &[Case] = &[
    // No client can connect to the first five servers.
    Case::http(Rule::MissingEndpointEvent, V2024_11_05, |server| {
        server.on_body(|parts, _, text| match is(parts, "GET") {
            true => text.replace("event: endpoint", "event: url"),
            false => text,
        })
    })
    .on(over_http_sse),
    Case::http(Rule::MissingEndpointEvent, V2024_11_05, |server| {
        server.on_body(|_, _, text| match text.contains("event: endpoint") {
            true => format!("event: message\ndata: world\n\n{text}"),
            false => text,
        })
    })
    .on(over_http_sse),
    Case::http(Rule::MissingEndpointEvent, V2024_11_05, |server| {
        server.on_body(|_, _, text| match text.contains("event: endpoint") {
            true => "event: endpoint\ndata: {\"uri\": \"/message\"}\n\n".to_owned(),
            false => text,
        })
    })
    .on(over_http_sse),
    Case::http(Rule::MissingEndpointEvent, V2024_11_05, |server| {
        server.on_body(|_, _, text| match text.contains("event: endpoint") {
            true => "event: endpoint\ndata: /nowhere\n\n".to_owned(),
            false => text,
        })
    })
    .on(over_http_sse),
    Case::http(Rule::WrongEventType, V2024_11_05, |server| {
        server.on_body(|_, _, text| text.replace("event: message", "event: response"))
    })
    .with_options(|options| options.connect_timeout = Duration::from_secs(2))
    .on(over_http_sse),
    Case::http(Rule::WrongEventType, V2024_11_05, |server| {
        server.on_body(|_, _, text| {
            let events = text.split("\n\n").map(|event| match event.contains("\"notifications/") {
                true => event.replace("event: message", "event: notification"),
                false => event.to_owned(),
            });
            events.collect::<Vec<_>>().join("\n\n")
        })
    })
    .on(over_http_sse),
];
