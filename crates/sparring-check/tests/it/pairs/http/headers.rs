//! The headers that mirror a request, and the requests of the modern era.

use axum::http::HeaderMap;
use serde_json::Value;
use sparring_wire::Rule;
use sparring_wire::mirrored_headers::encode_value;

use super::{
    SESSION_HEADER, V2026_07_28, empty_response, header, header_mismatch, is, message, modern_only,
    set_status,
};
use crate::pairs::Case;
use crate::support::AlteredHttp;

const VERSION_FIELD: &str = "io.modelcontextprotocol/protocolVersion";

/// Sets headers to the values in the body, so that nothing compares them.
fn copy(
    server: AlteredHttp,
    copied: &'static [(&'static str, &'static str)],
    applies: fn(&HeaderMap, &str) -> bool,
) -> AlteredHttp {
    server.on_headers(move |parts, body, headers| {
        let message = message(body);
        for (name, pointer) in copied.iter().filter(|_| is(parts, "POST")) {
            let Some(value) = message.pointer(pointer).filter(|it| !it.is_null()) else { continue };
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            if applies(headers, name) {
                headers.insert(*name, value.parse().unwrap());
            }
        }
    })
}

/// A plain value that differs is not compared.
fn is_plain(headers: &HeaderMap, name: &str) -> bool {
    headers.contains_key(name) && !header(headers, name).starts_with("=?base64?")
}

fn is_missing(headers: &HeaderMap, name: &str) -> bool {
    !headers.contains_key(name)
}

const METHOD: &[(&str, &str)] = &[("mcp-method", "/method")];
const NAMES: &[(&str, &str)] = &[("mcp-name", "/params/name"), ("mcp-name", "/params/uri")];
const VERSION: &[(&str, &str)] =
    &[("mcp-protocol-version", "/params/_meta/io.modelcontextprotocol~1protocolVersion")];
const ARGUMENTS: &[(&str, &str)] = &[
    ("mcp-param-region", "/params/arguments/region"),
    ("mcp-param-count", "/params/arguments/count"),
    ("mcp-param-dry", "/params/arguments/dry"),
];

/// Sets a header to a value in the body, except in discovery.
fn copy_after_discovery(
    server: AlteredHttp,
    name: &'static str,
    pointer: &'static str,
    applies: fn(&HeaderMap, &str) -> bool,
) -> AlteredHttp {
    server.on_headers(move |parts, body, headers| {
        let message = message(body);
        let is_later = is(parts, "POST") && message["method"] != "server/discover";
        let value = message.pointer(pointer).and_then(Value::as_str);
        if let Some(value) = value.filter(|_| is_later && applies(headers, name)) {
            headers.insert(name, value.parse().unwrap());
        }
    })
}

/// Sets a header to the value in the body if they differ only in case.
fn ignore_case(server: AlteredHttp, name: &'static str, pointer: &'static str) -> AlteredHttp {
    server.on_headers(move |_, body, headers| {
        let message = message(body);
        let value = message.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
        if !value.is_empty() && header(headers, name).eq_ignore_ascii_case(value) {
            headers.insert(name, value.parse().unwrap());
        }
    })
}

/// Answers as a server that demands a header for an argument that is null.
fn demand_header_for_null(server: AlteredHttp) -> AlteredHttp {
    server.on_request(|parts, body| {
        let message = message(body);
        let is_null = message["params"]["arguments"].get("dry").is_some_and(Value::is_null);
        let is_refused = is_null && !parts.headers.contains_key("mcp-param-dry");
        is_refused.then(|| header_mismatch(&message["id"]))
    })
}

/// Reads the bytes of a header as UTF-8.
fn accept_raw_text(server: AlteredHttp) -> AlteredHttp {
    server.on_headers(|_, _, headers| {
        let value = headers.get("mcp-param-region");
        if value.is_some_and(|it| it.to_str().is_err()) {
            let encoded = encode_value(std::str::from_utf8(value.unwrap().as_bytes()).unwrap());
            headers.insert("mcp-param-region", encoded.parse().unwrap());
        }
    })
}

/// Refuses requests with a header that fits.
fn refuse(server: AlteredHttp, name: &'static str, fits: fn(&str) -> bool) -> AlteredHttp {
    server.on_request(move |parts, body| {
        let refused = is(parts, "POST") && fits(header(&parts.headers, name));
        refused.then(|| header_mismatch(&message(body)["id"]))
    })
}

/// A refusal as bytes.
const REFUSAL: &str = "HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\n\
    content-length: 62\r\nconnection: close\r\n\r\n\
    {\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32020,\"message\":\"mismatch\"}}";

fn lacks(message: &Value, field: &str) -> bool {
    message["params"]["_meta"].get(field).is_none()
}

pub(in crate::pairs) const CASES: &[Case] = &[
    Case::http(Rule::HeaderMismatch, V2026_07_28, |server| copy(server, METHOD, is_plain)),
    Case::http(Rule::HeaderMismatch, V2026_07_28, |server| copy(server, NAMES, is_plain)),
    Case::http(Rule::HeaderMismatch, V2026_07_28, |server| copy(server, VERSION, is_plain)),
    Case::http(Rule::HeaderMismatch, V2026_07_28, |server| {
        // Compares without regard to case.
        server.on_headers(|_, body, headers| {
            let method = message(body)["method"].as_str().unwrap_or_default().to_owned();
            if header(headers, "mcp-method").eq_ignore_ascii_case(&method) && !method.is_empty() {
                headers.insert("mcp-method", method.parse().unwrap());
            }
        })
    }),
    Case::http(Rule::HeaderMismatch, V2026_07_28, |server| {
        server.on_body(|_, _, text| text.replace("\"code\":-32020", "\"code\":-32600"))
    })
    .also(&[Rule::MissingHeader, Rule::ParameterHeader]),
    Case::http(Rule::HeaderMismatch, V2026_07_28, |server| {
        ignore_case(server, "mcp-name", "/params/name")
    }),
    Case::http(Rule::HeaderMismatch, V2026_07_28, |server| {
        copy_after_discovery(server, "mcp-method", "/method", is_plain)
    }),
    Case::http(Rule::HeaderMismatch, V2026_07_28, |server| {
        copy_after_discovery(server, VERSION[0].0, VERSION[0].1, is_plain)
    }),
    Case::http(Rule::MissingHeader, V2026_07_28, |server| copy(server, METHOD, is_missing)),
    Case::http(Rule::MissingHeader, V2026_07_28, |server| {
        copy_after_discovery(server, "mcp-method", "/method", is_missing)
    }),
    // Speaks earlier revisions too.
    Case::http(Rule::MissingHeader, V2026_07_28, |server| copy(server, VERSION, is_missing)),
    Case::http(Rule::MissingHeader, V2026_07_28, |server| copy(server, NAMES, is_missing)),
    Case::http(Rule::MissingHeader, V2026_07_28, |server| copy(server, VERSION, is_missing))
        .on(modern_only),
    Case::http(Rule::MissingHeader, V2026_07_28, |server| {
        server.on_response(|_, body, response| {
            if message(body)["method"] == "initialize" {
                set_status(response, 404);
            }
        })
    })
    .on(modern_only),
    Case::http(Rule::EncodedHeader, V2026_07_28, |server| {
        refuse(server, "mcp-name", |value| value.starts_with("=?base64?"))
    }),
    Case::http(Rule::HeaderNameCase, V2026_07_28, |server| {
        server.on_head(|head| head.contains("Mcp-Method:"), REFUSAL)
    }),
    // No client that writes lower case can connect to this server.
    Case::http(Rule::HeaderNameCase, V2026_07_28, |server| {
        server.on_head(|head| head.contains("mcp-method:"), REFUSAL)
    }),
    Case::http(Rule::ParameterHeader, V2026_07_28, |server| copy(server, ARGUMENTS, is_plain)),
    Case::http(Rule::ParameterHeader, V2026_07_28, |server| copy(server, ARGUMENTS, is_missing)),
    Case::http(Rule::ParameterHeader, V2026_07_28, |server| {
        refuse(server, "mcp-param-region", |value| value.starts_with("=?base64?"))
    }),
    Case::http(Rule::ParameterHeader, V2026_07_28, |server| {
        // Reads Base64 as Latin-1.
        refuse(server, "mcp-param-region", |value| value.starts_with("=?base64?WsO8cmlja"))
    }),
    Case::http(Rule::ParameterHeader, V2026_07_28, demand_header_for_null),
    Case::http(Rule::ParameterHeader, V2026_07_28, accept_raw_text),
    Case::http(Rule::ParameterHeader, V2026_07_28, |server| {
        ignore_case(server, "mcp-param-region", "/params/arguments/region")
    }),
    Case::http(Rule::NumericHeader, V2026_07_28, |server| {
        refuse(server, "mcp-param-count", |value| value.contains('.'))
    }),
    Case::http(Rule::UnsupportedVersionStatus, V2026_07_28, |server| {
        server.on_response(|parts, _, response| {
            if header(&parts.headers, "mcp-protocol-version") == "2099-01-01" {
                set_status(response, 200);
            }
        })
    })
    .also(&[Rule::WrongStatus]),
    Case::http(Rule::UnsupportedVersionStatus, V2026_07_28, |server| {
        server.on_response(|parts, _, response| {
            if header(&parts.headers, "mcp-protocol-version") == "2025-11-25" {
                set_status(response, 404);
            }
        })
    })
    .on(modern_only)
    .also(&[Rule::WrongStatus, Rule::HeaderMismatch]),
    Case::http(Rule::UnsupportedVersionStatus, V2026_07_28, |server| {
        server.on_response(|parts, body, response| {
            let is_list = message(body)["method"] == "tools/list";
            if is_list && header(&parts.headers, "mcp-protocol-version") == "2099-01-01" {
                set_status(response, 404);
            }
        })
    })
    .also(&[Rule::WrongStatus]),
    Case::http(Rule::InvalidMetadataStatus, V2026_07_28, |server| {
        server.on_response(|_, body, response| {
            let message = message(body);
            let is_read = message["method"] == "resources/read" && !lacks(&message, VERSION_FIELD);
            if is_read && lacks(&message, "io.modelcontextprotocol/clientCapabilities") {
                set_status(response, 422);
            }
        })
    }),
    Case::http(Rule::InvalidMetadataStatus, V2026_07_28, |server| {
        server.on_response(|_, body, response| {
            let message = message(body);
            let is_modern = !lacks(&message, VERSION_FIELD);
            if is_modern && lacks(&message, "io.modelcontextprotocol/clientCapabilities") {
                set_status(response, 200);
            }
        })
    }),
    Case::http(Rule::InvalidMetadataStatus, V2026_07_28, |server| {
        server.on_response(|_, body, response| {
            let message = message(body);
            if message["method"] == "server/discover" && lacks(&message, VERSION_FIELD) {
                set_status(response, 422);
            }
        })
    }),
    Case::http(Rule::LegacyMethods, V2026_07_28, |server| {
        server.on_request(|parts, _| is(parts, "GET").then(|| empty_response(404)))
    })
    .on(modern_only),
    Case::http(Rule::LegacyMethods, V2026_07_28, |server| {
        server.on_request(|parts, _| is(parts, "DELETE").then(|| empty_response(200)))
    })
    .on(modern_only),
    Case::http(Rule::LegacyHeaders, V2026_07_28, |server| {
        server.on_response(|parts, _, response| {
            if parts.headers.contains_key(SESSION_HEADER) {
                let id = parts.headers[SESSION_HEADER].clone();
                response.headers_mut().insert(SESSION_HEADER, id);
            }
        })
    })
    .on(modern_only),
    Case::http(Rule::LegacyHeaders, V2026_07_28, |server| {
        refuse(server, SESSION_HEADER, |value| !value.is_empty())
    })
    .on(modern_only),
    Case::http(Rule::LegacyHeaders, V2026_07_28, |server| {
        refuse(server, "last-event-id", |value| !value.is_empty())
    })
    .on(modern_only),
];
