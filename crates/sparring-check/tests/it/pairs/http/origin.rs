//! Origins, hosts and interfaces.

use axum::http::HeaderMap;
use axum::http::request::Parts;
use sparring_wire::Rule;

use super::{
    V2024_11_05, V2025_03_26, V2025_06_18, V2025_11_25, V2026_07_28, header, is, over_http_sse,
    set_status,
};
use crate::pairs::Case;
use crate::support::AlteredHttp;

/// Does not look at `Origin`.
fn trusts_every_origin(server: AlteredHttp) -> AlteredHttp {
    server.on_headers(|_, _, headers| drop(headers.remove("origin")))
}

fn trusts_if(server: AlteredHttp, trusts: fn(&Parts, &HeaderMap) -> bool) -> AlteredHttp {
    server.on_headers(move |parts, _, headers| {
        if trusts(parts, headers) {
            headers.remove("origin");
        }
    })
}

/// Trusts an origin that is the `Host` too.
fn compares_with_host(server: AlteredHttp) -> AlteredHttp {
    trusts_if(server, |parts, headers| {
        header(headers, "origin") == format!("http://{}", header(&parts.headers, "host"))
    })
}

fn refuses_with_400(server: AlteredHttp) -> AlteredHttp {
    server.on_response(|parts, _, response| {
        if parts.headers.contains_key("origin") && response.status() == 403 {
            set_status(response, 400);
        }
    })
}

pub(in crate::pairs) const CASES: &[Case] = &[
    Case::http(Rule::ForeignOrigin, V2025_03_26, trusts_every_origin).also(&[Rule::ReboundHost]),
    Case::http(Rule::ForeignOrigin, V2025_11_25, trusts_every_origin).also(&[Rule::ReboundHost]),
    Case::http(Rule::ForeignOrigin, V2026_07_28, trusts_every_origin).also(&[Rule::ReboundHost]),
    Case::http(Rule::ForeignOrigin, V2024_11_05, trusts_every_origin)
        .on(over_http_sse)
        .also(&[Rule::ReboundHost]),
    Case::http(Rule::ForeignOrigin, V2024_11_05, |server| {
        trusts_if(server, |parts, _| is(parts, "POST"))
    })
    .on(over_http_sse)
    .also(&[Rule::ReboundHost]),
    Case::http(Rule::ForeignOrigin, V2025_11_25, refuses_with_400),
    Case::http(Rule::ForeignOrigin, V2026_07_28, refuses_with_400),
    Case::http(Rule::ForeignOrigin, V2025_11_25, |server| {
        trusts_if(server, |parts, _| is(parts, "GET"))
    }),
    Case::http(Rule::ForeignOrigin, V2025_06_18, |server| {
        trusts_if(server, |_, headers| header(headers, "origin").starts_with("http://127.0.0.1"))
    }),
    Case::http(Rule::ForeignOrigin, V2025_06_18, |server| {
        trusts_if(server, |_, headers| header(headers, "origin").starts_with("http://localhost"))
    }),
    Case::http(Rule::ForeignOrigin, V2025_11_25, |server| {
        trusts_if(server, |parts, _| is(parts, "DELETE"))
    }),
    Case::http(Rule::ForeignOrigin, V2025_06_18, |server| {
        trusts_if(server, |_, headers| header(headers, "origin") == "null")
    }),
    Case::http(Rule::ReboundHost, V2025_06_18, compares_with_host),
    Case::http(Rule::ReboundHost, V2026_07_28, compares_with_host),
    Case::http(Rule::AllInterfaces, V2025_11_25, AlteredHttp::all_interfaces),
    Case::http(Rule::AllInterfaces, V2026_07_28, AlteredHttp::all_interfaces),
    Case::http(Rule::AllInterfaces, V2024_11_05, AlteredHttp::all_interfaces).on(over_http_sse),
];
