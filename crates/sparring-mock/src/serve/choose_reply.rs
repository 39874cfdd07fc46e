//! Chooses the reply to a request: the first whose `when` matches and whose `times` is not used
//! up.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use serde_json::Value;
use sparring_peer::server::Context;
use sparring_script::{Matcher, Mismatch};

use super::answer::EntryRequest;
use super::template_scope::RequestScope;
use crate::model::Reply;

/// Chooses the next enqueued reply, else the first that matches.
///
/// # Errors
/// If none matches, with the mismatches of the nearest.
pub(super) fn choose_reply(
    request: &EntryRequest<'_>,
    number: u64,
    cx: &Context,
) -> Result<Arc<Reply>, String> {
    if let Some(reply) = request.entry.queued().pop_front() {
        return Ok(reply);
    }
    let replies = &request.entry.replies;
    for reply in replies {
        if mismatches(reply, request, number, cx).is_empty() && count_use(reply) {
            return Ok(Arc::clone(reply));
        }
    }
    let nearest = replies
        .iter()
        .enumerate()
        .map(|(index, reply)| (index, reply, mismatches(reply, request, number, cx)))
        .min_by_key(|(_, _, found)| found.len());
    let Some((index, reply, found)) = nearest else {
        return Err("there are no replies".to_owned());
    };
    let why = match &found[..] {
        [] => format!("its `times` ({}) are used up", reply.times.unwrap_or_default()),
        found => found.iter().map(Mismatch::to_string).collect::<Vec<_>>().join("; "),
    };
    let id = &request.entry.id;
    Err(format!("no reply of '{id}' matches; the nearest is number {}: {why}", index + 1))
}

/// Counts a use of a reply, if it may be given again.
fn count_use(reply: &Reply) -> bool {
    let Some(times) = reply.times else {
        reply.times_given.fetch_add(1, Ordering::Relaxed);
        return true;
    };
    let more = |times_given: u64| (times_given < times).then_some(times_given + 1);
    reply.times_given.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).is_ok()
}

/// Returns the mismatches of a reply.
fn mismatches(
    reply: &Reply,
    request: &EntryRequest<'_>,
    number: u64,
    cx: &Context,
) -> Vec<Mismatch> {
    let when = &reply.when;
    let mut found = Vec::new();
    let mut check = |facet: &str, matcher: &Option<Matcher>, value: &dyn Fn() -> Value| {
        let Some(matcher) = matcher else { return };
        found.extend(matcher.check(Some(&value())).into_iter().map(|mismatch| {
            let dot =
                if mismatch.path.is_empty() || mismatch.path.starts_with('[') { "" } else { "." };
            Mismatch { path: format!("{facet}{dot}{}", mismatch.path), ..mismatch }
        }));
    };
    check("args", &when.args, &|| request.args().clone());
    check("headers", &when.headers, &|| RequestScope::headers(cx, reply));
    check("revision", &when.revision, &|| cx.revision().name().into());
    check("calls", &when.calls, &|| number.into());
    found
}
