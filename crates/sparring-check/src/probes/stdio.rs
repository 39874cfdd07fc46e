//! Rules of stdio and other streams of lines.

use serde_json::json;
use sparring_wire::{RawJson, Rule};

use super::{Probe, probe};
use crate::context::{Context, ProbeResult};
use crate::verdict::Finding;

pub(super) const PROBES: &[Probe] = &[probe!([LongLine], long_line)];

/// The length of a long message, in bytes. Readers of lines with a fixed limit often have one
/// of 64 KiB.
const LONG_LINE: usize = 1024 * 1024;

async fn long_line(context: &Context) -> ProbeResult {
    if context.http().is_some() {
        context.not_applicable(Rule::LongLine, "the server is reached over HTTP, not over lines");
        return Ok(());
    }
    let connection = context.take_unjudged().await?;
    let method = if context.revision.is_modern() { "server/discover" } else { "ping" };
    let padding = "x".repeat(LONG_LINE);
    let params = RawJson::from(json!({"_meta": {"com.example/padding": padding}}));
    let start = connection.recording().len();
    let request = connection.client().request(method, Some(params));
    match request.timeout(connection.request_timeout()).await {
        Ok(response) if response.success() => {
            context.pass(Rule::LongLine);
            context.give_back_unjudged(connection);
            return Ok(());
        }
        outcome => {
            let found = match outcome {
                Ok(response) => match response.error_code() {
                    Some(code) => format!("the server answered with the error {code}"),
                    None => "the server answered with a result that is an error".to_owned(),
                },
                Err(error) => error.to_string(),
            };
            let message = format!("expected a result for a message of 1 MiB; {found}");
            let frames = connection.recording().entries_from(start);
            context.fail(Rule::LongLine, Finding::new(message).with_frames(&frames));
        }
    }
    connection.close().await;
    Ok(())
}
