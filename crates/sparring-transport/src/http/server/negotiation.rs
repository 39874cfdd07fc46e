//! Checks `Accept` and `Content-Type` of requests.

use http::{HeaderMap, StatusCode, header};

use super::reply::Refusal;

/// The media type of a single frame.
pub(super) const JSON: &str = "application/json";
/// The media type of a stream of frames.
pub(super) const EVENTS: &str = "text/event-stream";

/// Checks that a posting client accepts both kinds of response (2025-11-25,
/// basic/transports#sending-messages-to-the-server).
pub(super) fn check_accepts_both(headers: &HeaderMap) -> Result<(), Refusal> {
    // The form that nearly all clients send.
    let usual = headers.get(header::ACCEPT);
    let usual = usual.is_some_and(|it| it == "application/json, text/event-stream");
    match usual || accepts(headers, JSON) && accepts(headers, EVENTS) {
        true => Ok(()),
        false => Err(Refusal::new(
            StatusCode::NOT_ACCEPTABLE,
            "the header Accept must list application/json and text/event-stream",
        )),
    }
}

/// Checks that a listening client accepts a stream.
pub(super) fn check_accepts_events(headers: &HeaderMap) -> Result<(), Refusal> {
    match accepts(headers, EVENTS) {
        true => Ok(()),
        false => Err(Refusal::new(
            StatusCode::NOT_ACCEPTABLE,
            "the header Accept must list text/event-stream",
        )),
    }
}

/// Checks that the body is JSON without an encoding.
pub(super) fn check_sends_json(headers: &HeaderMap) -> Result<(), Refusal> {
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
            "Content-Encoding is not supported",
        ));
    }
    Ok(())
}

/// Returns true if the most specific range accepts the type (RFC 9110, 12.5.1).
fn accepts(headers: &HeaderMap, wanted: &str) -> bool {
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
        best = best.max((fits, !parts.any(is_zero_weight)));
    }
    best.1
}

/// A weight of zero means "not acceptable" (RFC 9110, 12.4.2).
fn is_zero_weight(parameter: &str) -> bool {
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
    fn accepts_ranges_and_weights() {
        for value in [
            "application/json, text/event-stream",
            "text/event-stream;q=0.5,application/JSON; q=1.0",
            "*/*",
            "application/*, text/*",
            "*/*;q=0, application/json, text/event-stream",
        ] {
            assert!(check_accepts_both(&accepting(value)).is_ok(), "{value}");
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
            assert!(check_accepts_both(&accepting(value)).is_err(), "{value}");
        }
        assert!(check_accepts_both(&HeaderMap::new()).is_err());
        assert!(check_accepts_events(&accepting("text/event-stream")).is_ok());
    }
}
