//! Loads the faults of a reply.

use serde_json::Value;
use sparring_peer::link::{Disconnect, Fault, Replacement};
use sparring_script::{Node, NodeKind};
use sparring_wire::RawJson;

use super::{Loader, text};
use crate::model::{ProcessFault, ReplyFault};

/// The default text of `garbage`.
const GARBAGE: &str = "%% not a frame %%";

/// An id that clients do not use.
const UNUSED_ID: &str = "unknown-request";

impl Loader<'_> {
    pub(super) fn load_fault(&mut self, reply: &Node) -> ReplyFault {
        let node = reply.get("fault");
        let is_true = |key: &str| node.and_then(|it| it.get(key)?.as_bool()) == Some(true);
        let number = |key: &str| node.and_then(|it| it.get(key)?.as_u64());
        let word = |key: &str| node.and_then(|it| text(it, key));
        let span_of = |key: &str| node.and_then(|it| it.get(key)).map_or(reply.span, |it| it.span);
        let exit = number("exit");
        if exit.is_some_and(|status| status > 255) {
            self.problems.add(span_of("exit"), "an exit status is at most 255");
        }
        let cut = match word("disconnect").as_deref() {
            Some("before") => Some(Disconnect::Before),
            Some("middle") => Some(Disconnect::Middle),
            Some("after") => Some(Disconnect::After),
            _ => exit.map(|_| Disconnect::Before),
        };
        let prevents = match cut {
            _ if is_true("silent") => Some("silent"),
            Some(Disconnect::Before) if exit.is_some() => Some("exit"),
            Some(Disconnect::Before) => Some("disconnect: before"),
            _ => None,
        };
        if let (Some(prevents), Some(node)) = (prevents, node) {
            self.check_answer_faults(node, prevents);
        }
        let status = number("status").and_then(|status| u16::try_from(status).ok());
        if number("status").is_some_and(|status| status > 999) {
            self.problems.add(span_of("status"), "an HTTP status is at most 999");
        }
        let link = Fault {
            replacement: self.load_change(reply, node),
            duplicate: is_true("duplicate"),
            noise: word("stdout_noise").map(String::into_bytes),
            disconnect: cut,
            bytes_per_second: number("slow"),
            ignore_cancellation: is_true("late"),
            status,
            content_type: word("bad_content_type"),
            drop_stream: is_true("drop_sse"),
            end_session: is_true("expire_session"),
        };
        let flood_bytes = number("stderr_flood").and_then(|bytes| usize::try_from(bytes).ok());
        let exit = exit.and_then(|status| u8::try_from(status).ok());
        let process = flood_bytes.map(ProcessFault::FloodStderr).into_iter();
        ReplyFault {
            link: link.into(),
            silent: is_true("silent"),
            process: process.chain(exit.map(ProcessFault::Exit)).collect(),
        }
    }

    /// Refuses faults of an answer beside a fault that prevents it.
    fn check_answer_faults(&mut self, fault: &Node, prevents: &str) {
        for key in ["duplicate", "slow", "garbage", "truncate", "wrong_id", "oversized"] {
            let entry = fault.entry(key).filter(|it| it.value.as_bool() != Some(false));
            if let Some(entry) = entry {
                let message = format!("`{key}` has no effect: `{prevents}` prevents any answer");
                self.problems.add(entry.key_span, message);
            }
        }
    }

    /// Loads the fault that replaces the answer; only one can.
    fn load_change(&mut self, reply: &Node, fault: Option<&Node>) -> Option<Replacement> {
        let mut changes: Vec<Replacement> = Vec::new();
        changes.extend(text(reply, "raw").map(|raw| Replacement::Bytes(raw.into_bytes())));
        let get = |key: &str| fault.and_then(|fault| fault.get(key));
        match get("garbage").map(|garbage| &garbage.kind) {
            Some(NodeKind::Bool(true)) => changes.push(Replacement::Bytes(GARBAGE.into())),
            Some(NodeKind::String(garbage)) => {
                changes.push(Replacement::Bytes(garbage.clone().into()))
            }
            _ => {}
        }
        if get("truncate").and_then(Node::as_bool) == Some(true) {
            changes.push(Replacement::Half);
        }
        match get("wrong_id").map(Node::to_json) {
            None | Some(Value::Bool(false)) => {}
            Some(Value::Bool(true)) => changes.push(Replacement::Id(RawJson::string(UNUSED_ID))),
            Some(id) => changes.push(Replacement::Id(id.into())),
        }
        let size = get("oversized").and_then(Node::as_u64);
        changes.extend(size.and_then(|size| usize::try_from(size).ok()).map(Replacement::Size));
        if changes.len() > 1 {
            let message = "give only one of raw, garbage, truncate, wrong_id, oversized";
            self.problems.add(fault.map_or(reply.span, |fault| fault.span), message);
        }
        changes.pop()
    }
}
