//! The traffic of a server of 2026-07-28, with what one connection does not show: that the server
//! speaks no other era, and that the transport has no HTTP headers.

use sparring_wire::{ConnectionChecker, Entry, FrameKind, Json, Rule, Side, Violation, code};

use super::lifecycle::speaks_legacy;
use super::{Probe, probe};
use crate::context::{Context, ProbeResult};
use crate::verdict::Finding;

/// Runs after all other probes.
pub(super) const LAST_PROBES: &[Probe] = &[probe!([Undeclared], modern_traffic)];

async fn modern_traffic(context: &Context) -> ProbeResult {
    context.pass(Rule::Undeclared);
    if !context.revision.is_modern() {
        return Ok(());
    }
    let mut early = Vec::new();
    for recording in context.recordings() {
        let entries = recording.entries_from(0);
        early.extend(early_messages(&entries));
        if context.http().is_none() {
            report_header_error(context, &entries);
        }
    }
    // A server of both eras can mean a legacy client.
    if early.is_empty() || speaks_legacy(context).await? {
        return Ok(());
    }
    for (violation, entry) in early {
        let finding = Finding::from_violation(&violation).with_frames([&entry]);
        context.fail(violation.rule, finding);
    }
    Ok(())
}

/// Checks the messages of the server before its response to discovery, as if they came after it:
/// before it, the era of the server is not known.
fn early_messages(entries: &[Entry]) -> Vec<(Violation, Entry)> {
    let is_response = |it: &Entry| it.from == Side::Server && it.frame.is_response_like();
    let first = entries.iter().position(is_response).unwrap_or_default();
    let is_early = |it: &&Entry| {
        let kind = it.frame.kind();
        it.from == Side::Server && matches!(kind, FrameKind::Request | FrameKind::Notification)
    };
    let (early, others): (Vec<&Entry>, Vec<&Entry>) =
        entries.iter().take(first + 1).partition(is_early);
    let mut checker = ConnectionChecker::new();
    let begins_with_discovery =
        others.first().is_some_and(|it| it.frame.method() == Some("server/discover"));
    if early.is_empty() || !begins_with_discovery {
        return Vec::new();
    }
    for entry in others {
        checker.check(entry.from, &entry.frame);
    }
    let found = early.into_iter().flat_map(|entry| {
        let found = checker.check(entry.from, &entry.frame);
        found.into_iter().map(|violation| (violation, entry.clone())).collect::<Vec<_>>()
    });
    found.collect()
}

/// Reports an error about HTTP headers over another transport.
fn report_header_error(context: &Context, entries: &[Entry]) {
    let is_wrong = |it: &&Entry| {
        let code = it.frame.error().and_then(|error| error.get("code")).and_then(Json::as_i64);
        it.from == Side::Server && code == Some(code::HEADER_MISMATCH)
    };
    if let Some(wrong) = entries.iter().find(is_wrong) {
        let text = "the error -32020 is about HTTP headers, which this transport does not have";
        let request = entries.iter().rfind(|it| {
            it.from == Side::Client && it.frame.id() == wrong.frame.id() && it.at <= wrong.at
        });
        let frames = request.into_iter().chain([wrong]);
        context.fail(Rule::WrongErrorCode, Finding::new(text).with_frames(frames));
    }
}
