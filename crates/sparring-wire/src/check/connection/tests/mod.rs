//! Tests with the frames of a connection, line by line, and the expected violations.

mod legacy;
mod modern;
mod passive;
mod questions;

use super::ConnectionChecker;
use crate::frame::Frame;
use crate::revision::{Revision, Side};

/// Checks lines with their expected violations. A line starts with `>` from the client
/// or `<` from the server. `jsonrpc` is added, and `$META` stands for modern metadata.
pub(super) fn check(opening: &[String], lines: &[(&str, &str)]) -> ConnectionChecker {
    let mut checker = ConnectionChecker::new();
    let opening = opening.iter().map(|line| (line.as_str(), ""));
    for (line, expected) in opening.chain(lines.iter().copied()) {
        let (from, text) = match line.split_at(1) {
            (">", text) => (Side::Client, text),
            (_, text) => (Side::Server, text),
        };
        let text = text.replace("$META", META);
        let text = text.replacen('{', r#"{"jsonrpc":"2.0","#, 1);
        let found = checker.check(from, &Frame::parse(text));
        let rendered = found.iter().map(|it| format!("{} {}", it.rule, it.path));
        let rendered = rendered.collect::<Vec<_>>().join(", ");
        assert_eq!(rendered, expected, "at {line}: {found:?}");
        for violation in &found {
            // A rule is only reported in the revisions that have it.
            let revision = violation.section.split('/').next().unwrap_or_default();
            let revision = Revision::from_name(revision).unwrap();
            assert!(violation.rule.applies_in(revision), "{violation:?}");
        }
    }
    checker
}

const META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;

pub(super) fn handshake(version: &str, client: &str, server: &str) -> Vec<String> {
    let mut lines = half_handshake(version, client, server);
    lines.push(r#">{"method":"notifications/initialized"}"#.to_owned());
    lines
}

fn half_handshake(version: &str, client: &str, server: &str) -> Vec<String> {
    vec![
        format!(
            r#">{{"id":0,"method":"initialize","params":{{"protocolVersion":"{version}","capabilities":{client},"clientInfo":{{"name":"c","version":"1"}}}}}}"#
        ),
        format!(
            r#"<{{"id":0,"result":{{"protocolVersion":"{version}","capabilities":{server},"serverInfo":{{"name":"s","version":"1"}}}}}}"#
        ),
    ]
}

/// A legacy session with all server features.
fn session() -> Vec<String> {
    let server = r#"{"tools":{"listChanged":true},"resources":{"subscribe":true},"prompts":{},"logging":{},"completions":{},"tasks":{"requests":{"tools":{"call":{}}}}}"#;
    let client = r#"{"roots":{},"sampling":{},"elicitation":{}}"#;
    handshake("2025-11-25", client, server)
}

/// The discovery of a modern server.
pub(super) fn discovery() -> Vec<String> {
    [
        r#">{"id":"d","method":"server/discover","params":{$META}}"#,
        r#"<{"id":"d","result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true},"logging":{}},"ttlMs":0,"cacheScope":"public"}}"#,
    ]
    .map(str::to_owned)
    .to_vec()
}

const CALL: &str = r#">{"id":1,"method":"tools/call","params":{"name":"a"}}"#;
const CALLED: &str = r#"<{"id":1,"result":{"content":[]}}"#;
