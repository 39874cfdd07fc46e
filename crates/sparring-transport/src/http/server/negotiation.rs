//! What a client takes and what it sends, by its headers: `Accept` and
//! `Content-Type`.

use http::{HeaderMap, StatusCode, header};

use super::reply::Refusal;

/// The type of a single frame.
pub(super) const JSON: &str = "application/json";
/// The type of a stream of frames.
pub(super) const EVENTS: &str = "text/event-stream";

/// A client that posts must take both kinds of answer (2025-11-25,
/// basic/transports#sending-messages-to-the-server).
pub(super) fn takes_both(headers: &HeaderMap) -> Result<(), Refusal> {
    // As nearly all clients have it.
    let usual = headers.get(header::ACCEPT);
    let usual = usual.is_some_and(|it| it == "application/json, text/event-stream");
    match usual || takes(headers, JSON) && takes(headers, EVENTS) {
        true => Ok(()),
        false => Err(Refusal::new(
            StatusCode::NOT_ACCEPTABLE,
            "the header Accept must list application/json and text/event-stream",
        )),
    }
}

/// A client that listens must take a stream.
pub(super) fn takes_events(headers: &HeaderMap) -> Result<(), Refusal> {
    match takes(headers, EVENTS) {
        true => Ok(()),
        false => Err(Refusal::new(
            StatusCode::NOT_ACCEPTABLE,
            "the header Accept must list text/event-stream",
        )),
    }
}

/// What is posted is JSON, and as it is.
pub(super) fn sends_json(headers: &HeaderMap) -> Result<(), Refusal> {
    let found = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let essence = found.map(|value| value.split(';').next().unwrap_or_default().trim());
    if !essence.is_some_and(|essence| essence.eq_ignore_ascii_case(JSON)) {
        return Err(Refusal::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "the Content-Type must be application/json",
        ));
    }
    let encoding = headers.get(header::CONTENT_ENCODING);
    if encoding.is_some_and(|encoding| !encoding.as_bytes().eq_ignore_ascii_case(b"identity")) {
        return Err(Refusal::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "a body with a Content-Encoding is not read",
        ));
    }
    Ok(())
}

/// Whether the range that fits best does not refuse it (RFC 9110, 12.5.1).
fn takes(headers: &HeaderMap, wanted: &str) -> bool {
    let (kind, _) = wanted.split_once('/').unwrap_or((wanted, ""));
    let values = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    let mut best = (0, false);
    for range in values.flat_map(|value| value.split(',')) {
        let mut parts = range.split(';').map(str::trim);
        let range = parts.next().unwrap_or_default();
        let of_kind = |range: &str| range.eq_ignore_ascii_case(kind);
        let fits = match range {
            "*/*" => 1,
            _ if range.strip_suffix("/*").is_some_and(of_kind) => 2,
            _ if range.eq_ignore_ascii_case(wanted) => 3,
            _ => continue,
        };
        best = best.max((fits, !parts.any(is_refusal)));
    }
    best.1
}

/// A weight of nothing says: not this (RFC 9110, 12.4.2).
fn is_refusal(parameter: &str) -> bool {
    let weight =
        parameter.split_once('=').filter(|(name, _)| name.trim().eq_ignore_ascii_case("q"));
    weight.is_some_and(|(_, weight)| weight.trim().parse::<f32>().is_ok_and(|weight| weight == 0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accepting(value: &str) -> HeaderMap {
        HeaderMap::from_iter([(header::ACCEPT, value.parse().expect("a header"))])
    }

    #[test]
    fn ranges_and_weights_are_understood() {
        for value in [
            "application/json, text/event-stream",
            "text/event-stream;q=0.5,application/JSON; q=1.0",
            "*/*",
            "application/*, text/*",
            "*/*;q=0, application/json, text/event-stream",
        ] {
            assert!(takes_both(&accepting(value)).is_ok(), "{value}");
        }
        for value in [
            "application/json",
            "text/event-stream",
            "text/html",
            "application/json, text/event-stream;q=0",
            "*/*, text/event-stream;q=0",
            "application/json;q=0, */*",
            "*/*, text/*;q=0.0",
            "application/jsonp, text/event-stream",
            "",
        ] {
            assert!(takes_both(&accepting(value)).is_err(), "{value}");
        }
        assert!(takes_both(&HeaderMap::new()).is_err());
        assert!(takes_events(&accepting("text/event-stream")).is_ok());
    }
}
