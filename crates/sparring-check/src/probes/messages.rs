//! Requests and notifications of JSON-RPC: unknown methods, invalid parameters.

use serde_json::json;
use sparring_wire::{Rule, Side, code};

use super::{Probe, probe};
use crate::context::{Context, ProbeResult};
use crate::verdict::Finding;

pub(super) const PROBES: &[Probe] = &[
    probe!([UnknownMethod], unknown_method),
    probe!([AnsweredNotification], unknown_notification),
];

async fn unknown_method(context: &Context) -> ProbeResult {
    let reply = context.request("sparring/unknown", Some(json!({}))).await;
    context.require_error(Rule::UnknownMethod, &reply, &[code::METHOD_NOT_FOUND]);
    Ok(())
}

/// A server that answers a notification sends a frame before it answers the ping.
async fn unknown_notification(context: &Context) -> ProbeResult {
    let connection = context.connect().await?;
    let start = connection.recording().len();
    connection.client().notify("notifications/sparring-unknown", None);
    let ping = connection.ping().await;
    let frames = connection.recording().entries_from(start);
    let ping_id = ping.outcome().ok().and_then(|response| response.raw().id().cloned());
    let answer = frames.iter().find(|entry| {
        let frame = &entry.frame;
        entry.from == Side::Server && frame.is_response_like() && frame.id() != ping_id.as_ref()
    });
    match answer {
        Some(_) => {
            let finding = Finding::new("the server answered a notification").with_frames(&frames);
            context.fail(Rule::AnsweredNotification, finding);
        }
        None if ping.is_answered() => context.pass(Rule::AnsweredNotification),
        None => context.undecided(Rule::AnsweredNotification, ping.describe()),
    }
    connection.close().await;
    Ok(())
}
