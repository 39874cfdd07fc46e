//! Detection of the server's era, with a clock driven by hand.

use serde_json::{Value, json};
use sparring_peer::client::{ClientOptions, Error};
use sparring_peer::{Incoming, LinkKind, Protocol};
use sparring_wire::types::{Implementation, LogLevel};
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
        assert!(fixture.connection().is_none(), "server/discover may still be answered");
        fixture.pass(ms(200));
        assert_eq!(fixture.connection().unwrap().unwrap(), Revision::V2024_11_05);
    }
}

/// Returns the ids of `server/discover` and of the `initialize` that follows because
/// the server needs long to start.
fn slow_start(fixture: &mut CoreFixture) -> (Id, Id) {
    let probe = probe(fixture);
    fixture.pass(ms(2_500));
    (probe, handshake(fixture))
}

#[test]
fn a_late_discovery_gets_a_fresh_process_that_sees_no_handshake() {
    let mut fixture = CoreFixture::new(Protocol::Auto);
    let (first, initialize) = slow_start(&mut fixture);
    fixture.receive(&discovery(&first, &["2026-07-28", "2025-11-25"]));
    fixture.expect_restart();
    fixture.receive_event(Incoming::Restarted);
    let second = probe(&mut fixture);
    // The fresh process has the whole timeout, and is not asked for a handshake.
    fixture.pass(ms(29_000));
    assert!(fixture.sent().is_empty());
    fixture.receive(&discovery(&second, &["2026-07-28", "2025-11-25"]));
    assert_eq!(fixture.connection().unwrap().unwrap(), Revision::V2026_07_28);
    fixture.receive(&refused(&initialize, -32601));
    assert!(fixture.event().is_none(), "the handshake is superseded");
}

#[test]
fn a_late_discovery_after_an_answered_handshake_gets_a_fresh_process_too() {
    let mut fixture = CoreFixture::new(Protocol::Auto);
    let (first, initialize) = slow_start(&mut fixture);
    fixture.receive(&initialized(&initialize, "2025-11-25"));
    fixture.pass(ms(100));
    assert!(fixture.connection().is_none(), "server/discover may still be answered");
    fixture.receive(&discovery(&first, &["2026-07-28", "2025-11-25"]));
    fixture.expect_restart();
    fixture.pass(ms(5_000));
    assert!(fixture.connection().is_none(), "the process may need long to end");
    fixture.receive_event(Incoming::Restarted);
    let second = probe(&mut fixture);
    fixture.receive(&discovery(&second, &["2026-07-28"]));
    assert_eq!(fixture.connection().unwrap().unwrap(), Revision::V2026_07_28);
}

#[test]
fn a_refused_discovery_ends_the_wait_after_an_answered_handshake() {
    let mut fixture = CoreFixture::new(Protocol::Auto);
    let (first, initialize) = slow_start(&mut fixture);
    fixture.receive(&initialized(&initialize, "2025-11-25"));
    fixture.receive(&refused(&first, -32601));
    assert_eq!(fixture.connection().unwrap().unwrap(), Revision::V2025_11_25);
    assert_eq!(fixture.sent_one().method(), Some("notifications/initialized"));
}

#[test]
fn without_a_process_to_restart_an_accepted_handshake_selects_the_legacy_era() {
    let mut fixture = CoreFixture::new(Protocol::Auto);
    let (first, initialize) = slow_start(&mut fixture);
    fixture.receive(&discovery(&first, &["2026-07-28", "2025-11-25"]));
    fixture.expect_restart();
    fixture.receive_event(Incoming::NotRestarted);
    assert!(fixture.connection().is_none());
    fixture.receive(&initialized(&initialize, "2025-11-25"));
    assert_eq!(fixture.connection().unwrap().unwrap(), Revision::V2025_11_25);

    let mut fixture = CoreFixture::new(Protocol::Auto);
    let (first, initialize) = slow_start(&mut fixture);
    fixture.receive(&discovery(&first, &["2026-07-28"]));
    fixture.expect_restart();
    fixture.receive_event(Incoming::NotRestarted);
    fixture.receive(&refused(&initialize, -32601));
    assert_eq!(fixture.connection().unwrap().unwrap(), Revision::V2026_07_28);
}

#[test]
fn a_process_that_does_not_end_fails_at_the_deadline() {
    let mut fixture = CoreFixture::new(Protocol::Auto);
    let (first, _) = slow_start(&mut fixture);
    fixture.receive(&discovery(&first, &["2026-07-28"]));
    fixture.expect_restart();
    fixture.pass(ms(30_000));
    let message = fixture.connection().unwrap().unwrap_err().to_string();
    assert_eq!(message, "no answer to server/discover within 30s");
}

#[test]
fn with_streams_a_late_discovery_wins() {
    let mut fixture = CoreFixture::with(ClientOptions::default(), LinkKind::Streams);
    let (first, _) = slow_start(&mut fixture);
    fixture.receive(&discovery(&first, &["2026-07-28"]));
    assert_eq!(fixture.connection().unwrap().unwrap(), Revision::V2026_07_28);
}

#[test]
fn declares_the_capabilities_of_its_handlers_only_where_the_revision_has_them() {
    for revision in Revision::ALL {
        let options = ClientOptions {
            protocol: Protocol::Only(revision),
            optional_capabilities: json!({"elicitation": {}, "roots": {}})
                .as_object()
                .cloned()
                .unwrap(),
            capabilities: json!({"experimental": {}}).as_object().cloned().unwrap(),
            ..ClientOptions::default()
        };
        let params = CoreFixture::with(options, LinkKind::Shared).sent_one();
        let params: Value = params.params().unwrap().deserialize().unwrap();
        let declared = match revision.is_modern() {
            true => &params["_meta"]["io.modelcontextprotocol/clientCapabilities"],
            false => &params["capabilities"],
        };
        let mut expected = json!({"experimental": {}, "roots": {}});
        if revision >= Revision::V2025_06_18 {
            expected["elicitation"] = json!({});
        }
        assert_eq!(*declared, expected, "{revision}");
    }
}

#[test]
fn only_a_server_that_declares_logging_gets_a_log_level() {
    for (capabilities, expected) in [("{}", None), (r#"{"logging":{}}"#, Some("warning"))] {
        let mut fixture = CoreFixture::new(Protocol::Only(Revision::V2026_07_28));
        let probe = probe(&mut fixture);
        let response = discovery(&probe, &["2026-07-28"])
            .replace(r#""capabilities":{}"#, &format!(r#""capabilities":{capabilities}"#));
        fixture.receive(&response);
        fixture.core.set_log_level(Some(LogLevel::Warning));
        let sent = fixture.request_with("tools/call", r#"{"name":"a"}"#);
        let meta: Value = sent.params().unwrap().get("_meta").unwrap().deserialize().unwrap();
        assert_eq!(meta["io.modelcontextprotocol/logLevel"].as_str(), expected);
    }
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
    assert_eq!(
        message,
        "no answer to server/discover and initialize; the server printed a line that \
         is not JSON-RPC: `panic: no such file` (log to stderr, not to stdout) \
         (wire/not-json)"
    );
}
