//! Finds the violations because of which a handshake failed. A server that does not speak a
//! revision, and says so correctly, has none.

use sparring_peer::client::Error;
use sparring_wire::{Entry, Revision, Rule, Violation};

use crate::connection::Connection;
use crate::verdict::{Finding, Outcome, ShownFrame, Verdict};

/// The fields of the answer to a handshake that select the revision.
const VERSION_FIELDS: [&str; 2] = ["$.result.protocolVersion", "$.result.supportedVersions"];

/// Returns verdicts about the rules that the answer to a handshake breaks; none if the server
/// perhaps does not speak the revision.
pub(crate) fn verdicts_of(
    connection: &Connection,
    error: &Error,
    revision: Revision,
) -> Vec<Verdict> {
    let found = connection.recording().violations();
    let causes = found.iter().filter(|(violation, frames)| {
        !violation.is_warning() && is_cause(violation, frames.last(), error, revision)
    });
    let mut findings: Vec<(Rule, Finding)> = Vec::new();
    for (violation, frames) in causes {
        let frames = frames.iter().map(ShownFrame::from);
        findings.push((violation.rule, Finding::from_violation(violation).with_frames(frames)));
    }
    if let Some((_, first)) = findings.first() {
        let message = format!("the server cannot be used in this revision: {error}");
        let finding = Finding::new(message).with_frames(first.frames.clone());
        findings.push((Rule::Handshake, finding));
    }
    let mut verdicts: Vec<Verdict> = Vec::new();
    for (rule, finding) in findings {
        let known = verdicts.iter_mut().find(|it| it.rule == rule);
        match known.map(|it| &mut it.outcome) {
            Some(Outcome::Broken(findings)) => findings.push(finding),
            _ => verdicts.push(Verdict { rule, revision, outcome: Outcome::Broken(vec![finding]) }),
        }
    }
    verdicts.sort_by_key(|it| it.rule);
    verdicts
}

fn is_cause(
    violation: &Violation,
    frame: Option<&Entry>,
    error: &Error,
    revision: Revision,
) -> bool {
    let has_result = frame.is_some_and(|it| it.frame.result().is_some());
    match error {
        Error::NoCommonVersion { .. } => {
            let path = violation.path.as_str();
            has_result
                && (path == "$.result" || VERSION_FIELDS.iter().any(|it| path.starts_with(it)))
        }
        // A server without the modern era can answer `server/discover` with any error.
        Error::InvalidResponse { .. } | Error::ForeignId { .. } => {
            let is_error = frame.is_some_and(|it| it.frame.error().is_some());
            !revision.is_modern() || has_result || !is_error
        }
        Error::Noise { .. } | Error::Timeout { .. } | Error::Stalled { .. } => has_result,
        _ => false,
    }
}
