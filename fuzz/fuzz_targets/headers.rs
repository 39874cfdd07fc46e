//! Fuzzes the parsers of HTTP headers: challenges, `Accept`, `Content-Type`, `Host`, `Origin`
//! and mirrored headers. Each line is the value of a header.

#![no_main]

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use http::header::{
    ACCEPT, CONTENT_ENCODING, CONTENT_TYPE, HOST, HeaderMap, HeaderValue, ORIGIN,
};
use http::{Request, Uri, Version};
use libfuzzer_sys::fuzz_target;
use sparring_wire::mirrored_headers::{
    METHOD_HEADER, MirroredArguments, NAME_HEADER, PROTOCOL_VERSION_HEADER, check_headers,
    decode_value, encode_value, name_header_value,
};
use sparring_wire::www_authenticate::parse_challenges;
use sparring_wire::{Frame, Headers};

#[path = "../../crates/sparring-transport/src/http/server/negotiation.rs"]
mod negotiation;
#[path = "../../crates/sparring-transport/src/http/server/rebinding_guard.rs"]
mod rebinding_guard;

/// A refusal without its response.
mod reply {
    #[derive(Debug)]
    pub(super) struct Refusal;

    impl Refusal {
        pub(super) fn new(_: http::StatusCode, _: &str) -> Self {
            Refusal
        }

        pub(super) fn bad_request(_: &str) -> Self {
            Refusal
        }

        pub(super) fn forbidden(_: &str) -> Self {
            Refusal
        }
    }
}

/// The options that the guard reads.
mod options {
    #[derive(Default)]
    pub(super) struct HttpOptions {
        pub(super) allowed_hosts: Option<Vec<String>>,
        pub(super) allowed_origins: Option<Vec<String>>,
    }
}

fuzz_target!(|bytes: &[u8]| {
    let values: Vec<_> = bytes
        .split(|byte| *byte == b'\n')
        .filter_map(|line| HeaderValue::from_bytes(line).ok())
        .collect();
    check_challenges(&values, bytes.len());
    check_negotiation(&values);
    check_guard(&values);
    if let Ok(text) = std::str::from_utf8(bytes) {
        check_mirrored(text);
    }
});

fn check_challenges(values: &[HeaderValue], length: usize) {
    let texts = values.iter().filter_map(|value| value.to_str().ok());
    for challenge in texts.flat_map(parse_challenges) {
        let parts = challenge.parameters.iter().flat_map(|(name, value)| [name, value]);
        assert!(parts.chain([&challenge.scheme]).all(|part| part.len() <= length));
    }
}

fn check_negotiation(values: &[HeaderValue]) {
    let names = [ACCEPT, CONTENT_TYPE, CONTENT_ENCODING];
    let headers: HeaderMap = names.into_iter().zip(values.iter().cloned()).collect();
    let both = negotiation::check_accepts_both(&headers);
    assert!(both.is_err() || negotiation::check_accepts_events(&headers).is_ok());
    let _ = negotiation::check_sends_json(&headers);
}

/// Checks that the guard of a server on this machine allows only names of this machine.
fn check_guard(values: &[HeaderValue]) {
    let [host, rest @ ..] = values else { return };
    let request = Request::builder().version(Version::HTTP_11).header(HOST, host);
    let request = match rest.first() {
        Some(origin) => request.header(ORIGIN, origin),
        None => request,
    };
    let target = rest.get(1).and_then(|target| Uri::try_from(target.as_bytes()).ok());
    let Ok(request) = request.uri(target.unwrap_or_default()).body(()) else { return };
    let (parts, ()) = request.into_parts();
    let server = SocketAddr::from((Ipv4Addr::LOCALHOST, 1));
    if rebinding_guard::check_host_and_origin(&parts, server).is_err() {
        return;
    }
    let host = format!("http://{}/", host.to_str().unwrap_or_default());
    let origin = rest.first().map(|origin| origin.to_str().unwrap_or_default().to_owned());
    for url in [Some(host), origin, Some(parts.uri.to_string())].into_iter().flatten() {
        if let Ok(url) = url.parse::<Uri>() {
            assert!(url.host().is_none_or(is_loopback), "allowed: {url}");
        }
    }
}

fn is_loopback(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost")
        || bare.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

fn check_mirrored(text: &str) {
    let encoded = encode_value(text);
    assert!(HeaderValue::from_str(&encoded).is_ok(), "not valid in a header: {encoded}");
    assert_eq!(decode_value(&encoded).as_deref(), Some(text));
    let _ = decode_value(text);
    // The first line is a request, whose params are its tool's schema too.
    let (request, name) = text.split_once('\n').unwrap_or((text, ""));
    let frame = Frame::parse(request);
    let Some(params) = frame.params() else { return };
    let Ok(mirrored) = MirroredArguments::from_schema(params) else { return };
    let mut headers = Headers::new();
    let arguments = params.get("arguments").unwrap_or(params);
    for (name, value) in mirrored.headers(arguments) {
        assert!(HeaderValue::from_str(&value).is_ok(), "not valid in a header: {value}");
        headers.push(name, &value);
    }
    headers.push(NAME_HEADER, name);
    let _ = check_headers(&headers, &frame, &mirrored);
    check_own_headers(&frame, &mirrored);
}

/// Checks that a server accepts the headers that a client derives from a request.
fn check_own_headers(frame: &Frame, mirrored: &MirroredArguments) {
    let method = frame.method().unwrap_or_default();
    let version = frame
        .params()
        .and_then(|params| params.get_path(&["_meta", "io.modelcontextprotocol/protocolVersion"]));
    let version = version.and_then(|version| version.as_str()).unwrap_or_default();
    if [method, &version].iter().any(|text| text.contains(['\r', '\n'])) {
        return;
    }
    let mut headers = Headers::new();
    headers.push(PROTOCOL_VERSION_HEADER, &version);
    headers.push(METHOD_HEADER, method);
    if let Some(name) = name_header_value(method, frame.params()) {
        headers.push(NAME_HEADER, &encode_value(&name));
    }
    if let Some(arguments) = frame.params().and_then(|params| params.get("arguments")) {
        mirrored.headers(arguments).for_each(|(name, value)| headers.push(name, &value));
    }
    assert_eq!(check_headers(&headers, frame, mirrored), Ok(()), "{frame:?}");
}
