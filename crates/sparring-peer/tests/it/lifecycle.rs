//! Detection of the server's era, with a clock driven by hand.

use serde_json::Value;
use sparring_peer::client::{ClientOptions, Error, UnclaimedReason};
use sparring_peer::{LinkKind, Protocol};
use sparring_wire::types::Implementation;
use sparring_wire::{Frame, Id, Revision};

use crate::core_fixture::{CoreFixture, discovery, ms};

fn initialized(id: &Id, version: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"result":{{"protocolVersion":"{version}","capabilities":{{}},"serverInfo":{{"name":"s","version":"1"}}}}}}"#
    )
}

fn refused(id: &Id, code: i64) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{code},"message":"no"}}}}"#)
}

fn id(frame: &Frame) -> Id {
    frame.id().cloned().unwrap()
}

/// Returns the id of the `server/discover` that an automatic client sends at
/// once.
fn probe(fixture: &mut CoreFixture) -> Id {
    let frame = fixture.sent_one();
    assert_eq!(frame.method(), Some("server/discover"));
    id(&frame)
}

fn handshake(fixture: &mut CoreFixture) -> Id {
    let frame = fixture.sent_one();
    assert_eq!(frame.method(), Some("initialize"));
    id(&frame)
}

#[test]
fn sends_name_version_and_protocol_version_then_initialized() {
    for revision in Revision::ALL.into_iter().filter(|revision| !revision.is_modern()) {
        let info = Implementation::new("me", "1.2");
        let options =
            ClientOptions { info, protocol: Protocol::Only(revision), ..ClientOptions::default() };
        let mut fixture = CoreFixture::with(options, LinkKind::Shared);
        let frame = fixture.sent_one();
        let params: Value = frame.params().unwrap().deserialize().unwrap();
        assert_eq!(params["clientInfo"]["name"], "me");
        assert_eq!(params["clientInfo"]["version"], "1.2");
        assert_eq!(params["protocolVersion"], revision.name());
        fixture.receive(&initialized(&id(&frame), revision.name()));
        assert_eq!(fixture.connection().unwrap().unwrap(), revision);
        assert_eq!(fixture.sent_one().method(), Some("notifications/initialized"));
    }
}

#[test]
fn every_modern_request_carries_its_metadata() {
    let mut fixture = CoreFixture::discovered(LinkKind::Shared);
    let plain = fixture.request_with("tools/call", r#"{"name":"a"}"#);
    let meta: Value = plain.params().unwrap().get("_meta").unwrap().deserialize().unwrap();
    assert_eq!(meta["io.modelcontextprotocol/protocolVersion"], "2026-07-28");
    assert_eq!(meta["io.modelcontextprotocol/clientInfo"]["name"], "sparring");
    assert!(meta["io.modelcontextprotocol/clientCapabilities"].is_object());

    // Members that the caller has set stay.
    let own = fixture.request_with(
        "x",
        r#"{"_meta":{"a":1,"io.modelcontextprotocol/protocolVersion":"1900-01-01"}}"#,
    );
    let meta: Value = own.params().unwrap().get("_meta").unwrap().deserialize().unwrap();
    assert_eq!(meta["a"], 1);
    assert_eq!(meta["io.modelcontextprotocol/protocolVersion"], "1900-01-01");
    assert!(meta["io.modelcontextprotocol/clientCapabilities"].is_object());
}

#[test]
fn auto_stays_modern_with_a_modern_server() {
    let mut fixture = CoreFixture::new(Protocol::Auto);
    let probe = probe(&mut fixture);
    fixture.receive(&discovery(&probe, &["2026-07-28", "2025-11-25"]));
    assert_eq!(fixture.connection().unwrap().unwrap(), Revision::V2026_07_28);
    assert!(fixture.sent().is_empty(), "no handshake");
}

#[test]
fn auto_sends_the_handshake_after_any_error_that_is_not_modern() {
    for code in [-32601, -32602, -32600, -32000, 7] {
        let mut fixture = CoreFixture::new(Protocol::Auto);
        let probe = probe(&mut fixture);
        fixture.receive(&refused(&probe, code));
        let handshake = handshake(&mut fixture);
        fixture.receive(&initialized(&handshake, "2025-06-18"));
        assert_eq!(fixture.connection().unwrap().unwrap(), Revision::V2025_06_18, "code {code}");
    }
}

#[test]
fn auto_sends_the_handshake_too_when_the_probe_stays_unanswered() {
    for (timeout, wait) in [(30_000, 2_000), (1_000, 500)] {
        let options = ClientOptions { timeout: ms(timeout), ..ClientOptions::default() };
        let mut fixture = CoreFixture::with(options, LinkKind::Shared);
        probe(&mut fixture);
        fixture.pass(ms(wait - 1));
        assert!(fixture.sent().is_empty());
        fixture.pass(ms(1));
        let handshake = handshake(&mut fixture);
        fixture.receive(&initialized(&handshake, "2024-11-05"));
        assert_eq!(fixture.connection().unwrap().unwrap(), Revision::V2024_11_05);
    }
}

#[test]
fn a_late_discovery_still_wins() {
    let mut fixture = CoreFixture::new(Protocol::Auto);
    let probe = probe(&mut fixture);
    fixture.pass(ms(2_500));
    handshake(&mut fixture);
    fixture.receive(&discovery(&probe, &["2026-07-28"]));
    assert_eq!(fixture.connection().unwrap().unwrap(), Revision::V2026_07_28);
}

#[test]
fn a_late_response_to_a_superseded_handshake_is_ignored() {
    let mut fixture = CoreFixture::new(Protocol::Auto);
    let probe = probe(&mut fixture);
    fixture.pass(ms(2_500));
    let handshake = handshake(&mut fixture);
    fixture.receive(&discovery(&probe, &["2026-07-28"]));
    assert_eq!(fixture.connection().unwrap().unwrap(), Revision::V2026_07_28);
    fixture.receive(&refused(&handshake, -32601));
    assert!(fixture.event().is_none(), "one answer is what was asked for");
    fixture.receive(&refused(&handshake, -32601));
    assert_eq!(fixture.unclaimed(), Some(UnclaimedReason::Duplicate), "two are not");
}

#[test]
fn a_late_discovery_connects_after_a_refused_handshake() {
    let mut fixture = CoreFixture::new(Protocol::Auto);
    let probe = probe(&mut fixture);
    fixture.pass(ms(2_500));
    let handshake = handshake(&mut fixture);
    fixture.receive(&refused(&handshake, -32601));
    assert!(fixture.connection().is_none());
    fixture.pass(ms(900));
    fixture.receive(&discovery(&probe, &["2026-07-28"]));
    assert_eq!(fixture.connection().unwrap().unwrap(), Revision::V2026_07_28);
}

#[test]
fn a_refused_handshake_fails_after_the_grace_period() {
    let mut fixture = CoreFixture::new(Protocol::Auto);
    probe(&mut fixture);
    fixture.pass(ms(2_000));
    let handshake = handshake(&mut fixture);
    fixture.receive(&refused(&handshake, -32601));
    fixture.pass(ms(1_000));
    let error = fixture.connection().unwrap().unwrap_err();
    assert!(
        matches!(error, Error::ErrorResponse { ref method, .. } if method == "initialize"),
        "{error}"
    );
}

#[test]
fn a_server_without_a_common_version_is_refused_by_name() {
    let mut fixture = CoreFixture::new(Protocol::Auto);
    let probe = probe(&mut fixture);
    fixture.receive(&format!(
        r#"{{"jsonrpc":"2.0","id":{probe},"error":{{"code":-32022,"message":"no","data":{{"supported":["2031-01-01"],"requested":"2026-07-28"}}}}}}"#
    ));
    let message = fixture.connection().unwrap().unwrap_err().to_string();
    assert!(
        message.contains("2026-07-28, 2025-11-25") && message.contains("2031-01-01"),
        "{message}"
    );
    assert!(fixture.sent().is_empty(), "a modern error is no reason to shake hands");
}

#[test]
fn a_modern_server_that_names_an_older_version_gets_the_handshake() {
    let mut fixture = CoreFixture::new(Protocol::Auto);
    let probe = probe(&mut fixture);
    fixture.receive(&format!(
        r#"{{"jsonrpc":"2.0","id":{probe},"error":{{"code":-32022,"message":"no","data":{{"supported":["2025-03-26"],"requested":"2026-07-28"}}}}}}"#
    ));
    let frame = fixture.sent_one();
    assert_eq!(
        frame.params().unwrap().get("protocolVersion").unwrap().as_str().unwrap(),
        "2025-03-26"
    );
}

#[test]
fn a_client_with_a_pinned_revision_uses_no_other() {
    let mut fixture = CoreFixture::new(Protocol::Only(Revision::V2025_06_18));
    let handshake = handshake(&mut fixture);
    fixture.receive(&initialized(&handshake, "2025-03-26"));
    let message = fixture.connection().unwrap().unwrap_err().to_string();
    assert!(message.contains("2025-06-18") && message.contains("2025-03-26"), "{message}");

    let mut fixture = CoreFixture::new(Protocol::Only(Revision::V2026_07_28));
    let probe = probe(&mut fixture);
    fixture.receive(&refused(&probe, -32601));
    let error = fixture.connection().unwrap().unwrap_err();
    assert!(matches!(error, Error::NoCommonVersion { .. }), "{error}");
    assert!(
        error.to_string().contains("2026-07-28") && error.to_string().contains("-32601"),
        "{error}"
    );
    assert!(fixture.sent().is_empty());
}

#[test]
fn an_unknown_version_in_the_handshake_is_refused() {
    let mut fixture = CoreFixture::new(Protocol::Only(Revision::V2025_11_25));
    let handshake = handshake(&mut fixture);
    fixture.receive(&initialized(&handshake, "1.0"));
    let error = fixture.connection().unwrap().unwrap_err();
    assert!(matches!(error, Error::NoCommonVersion { .. }), "{error}");
    assert!(fixture.sent().is_empty(), "no initialized after a failed handshake");
}

#[test]
fn connecting_has_one_deadline_for_all_of_it() {
    let options = ClientOptions { timeout: ms(5_000), ..ClientOptions::default() };
    let mut fixture = CoreFixture::with(options, LinkKind::Shared);
    fixture.pass(ms(4_999));
    assert!(fixture.connection().is_none());
    fixture.pass(ms(1));
    let message = fixture.connection().unwrap().unwrap_err().to_string();
    assert_eq!(message, "no answer to server/discover and initialize within 5s");
}

#[test]
fn a_wrong_answer_to_the_probe_leads_to_the_handshake() {
    let mut fixture = CoreFixture::new(Protocol::Auto);
    let probe = probe(&mut fixture);
    fixture.receive(&format!(r#"{{"jsonrpc":"1.0","id":{probe},"result":{{}}}}"#));
    handshake(&mut fixture);
}

#[test]
fn without_a_lifecycle_nothing_is_sent_or_added() {
    let mut fixture = CoreFixture::new(Protocol::Raw);
    assert!(fixture.sent().is_empty());
    let frame = fixture.request_with("anything/at_all", r#"{"a":1.0}"#);
    assert_eq!(frame.params().unwrap().text(), r#"{"a":1.0}"#);
}

#[test]
fn a_late_discovery_restarts_a_refused_handshake_within_its_deadline() {
    let mut fixture = CoreFixture::new(Protocol::Auto);
    let probe = probe(&mut fixture);
    fixture.pass(ms(2_000));
    let first = handshake(&mut fixture);
    fixture.receive(&refused(&first, -32600));
    fixture.receive(&discovery(&probe, &["2025-03-26"]));
    let second = fixture.sent_one();
    assert_eq!(
        second.params().unwrap().get("protocolVersion").unwrap().as_str().unwrap(),
        "2025-03-26"
    );
    fixture.pass(ms(27_999));
    assert!(fixture.connection().is_none());
    fixture.pass(ms(1));
    let message = fixture.connection().unwrap().unwrap_err().to_string();
    assert_eq!(message, "no answer to initialize within 30s");
}

#[test]
fn a_server_that_names_its_versions_in_an_error_is_asked_again() {
    let mut fixture = CoreFixture::new(Protocol::Auto);
    let probe = probe(&mut fixture);
    fixture.receive(&refused(&probe, -32601));
    let asked = handshake(&mut fixture);
    let error = |id: &Id| {
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32602,"message":"no","data":{{"supported":["2024-11-05"],"requested":"2025-11-25"}}}}}}"#
        )
    };
    fixture.receive(&error(&asked));
    let again = handshake(&mut fixture);
    fixture.receive(&error(&again));
    let refused = fixture.connection().unwrap().unwrap_err();
    assert!(matches!(refused, Error::NoCommonVersion { .. }), "once is enough: {refused}");
}

#[test]
fn a_log_line_in_json_before_the_first_frame_is_a_banner() {
    let mut fixture = CoreFixture::new(Protocol::Only(Revision::V2025_11_25));
    let handshake = handshake(&mut fixture);
    fixture.receive(r#"{"level":"info","msg":"starting"}"#);
    fixture.pass(ms(5_000));
    assert!(fixture.connection().is_none());
    fixture.receive(&initialized(&handshake, "2025-11-25"));
    assert!(fixture.connection().unwrap().is_ok());
}

#[test]
fn connecting_to_a_server_that_sends_only_noise_reports_the_noise() {
    let mut fixture = CoreFixture::new(Protocol::Auto);
    fixture.receive("panic: no such file");
    fixture.pass(ms(30_000));
    let message = fixture.connection().unwrap().unwrap_err().to_string();
    assert!(
        message.contains("panic: no such file") && message.contains("wire/not-json"),
        "{message}"
    );
    assert!(message.contains("server/discover and initialize"), "{message}");
}
