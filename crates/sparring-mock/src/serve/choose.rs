//! Which reply a request gets: the first whose `when` fits and whose `times`
//! is not used up.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use serde_json::Value;
use sparring_peer::server::Context;
use sparring_script::{Matcher, Mismatch};

use super::facts::Facts;
use super::perform::Asked;
use crate::model::Reply;

/// The reply: the next that was given at run time, else the first of the
/// script's that fits; else why none does.
pub(super) fn choose(asked: &Asked<'_>, number: u64, cx: &Context) -> Result<Arc<Reply>, String> {
    if let Some(reply) = asked.entry.queued().pop_front() {
        return Ok(reply);
    }
    let replies = &asked.entry.replies;
    for reply in replies {
        if against(reply, asked, number, cx).is_empty() && take(reply) {
            return Ok(Arc::clone(reply));
        }
    }
    let nearest = replies
        .iter()
        .enumerate()
        .map(|(index, reply)| (index, reply, against(reply, asked, number, cx)))
        .min_by_key(|(_, _, mismatches)| mismatches.len());
    let Some((index, reply, mismatches)) = nearest else {
        return Err("there is no reply".to_owned());
    };
    let why = match &mismatches[..] {
        [] => format!("its times ({}) are used up", reply.times.unwrap_or_default()),
        mismatches => mismatches.iter().map(Mismatch::to_string).collect::<Vec<_>>().join("; "),
    };
    let id = &asked.entry.id;
    Err(format!("no reply of '{id}' fits; the nearest is number {}: {why}", index + 1))
}

/// Uses a reply once, if it may be used once more.
fn take(reply: &Reply) -> bool {
    let Some(times) = reply.times else {
        reply.given.fetch_add(1, Ordering::Relaxed);
        return true;
    };
    let more = |given: u64| (given < times).then_some(given + 1);
    reply.given.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).is_ok()
}

/// What keeps a reply from fitting.
fn against(reply: &Reply, asked: &Asked<'_>, number: u64, cx: &Context) -> Vec<Mismatch> {
    let when = &reply.when;
    let mut found = Vec::new();
    let mut hold = |facet: &str, matcher: &Option<Matcher>, value: &dyn Fn() -> Value| {
        let Some(matcher) = matcher else { return };
        found.extend(matcher.check(Some(&value())).into_iter().map(|mismatch| {
            let dot =
                if mismatch.path.is_empty() || mismatch.path.starts_with('[') { "" } else { "." };
            Mismatch { path: format!("{facet}{dot}{}", mismatch.path), ..mismatch }
        }));
    };
    hold("args", &when.args, &|| asked.args().clone());
    hold("headers", &when.headers, &|| Facts::headers(cx));
    hold("revision", &when.revision, &|| cx.revision().name().into());
    hold("calls", &when.calls, &|| number.into());
    found
}
