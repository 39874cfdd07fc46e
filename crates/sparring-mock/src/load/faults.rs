//! What goes wrong with an answer, on purpose.

use serde_json::Value;
use sparring_peer::link::{Change, Cut, Fault};
use sparring_script::{Kind, Node};
use sparring_wire::RawJson;

use super::{Loader, text};
use crate::model::{ProcessFault, ReplyFault};

/// What is no frame, where the script does not say what.
const GARBAGE: &str = "%% this is no frame %%";

/// An id that no client gives.
const NOBODYS: &str = "nobody-asked-this";

impl Loader<'_> {
    pub(super) fn fault(&mut self, reply: &Node) -> ReplyFault {
        let node = reply.get("fault");
        let yes = |key: &str| node.and_then(|it| it.get(key)?.as_bool()) == Some(true);
        let number = |key: &str| node.and_then(|it| it.get(key)?.as_u64());
        let word = |key: &str| node.and_then(|it| text(it, key));
        let place = |key: &str| node.and_then(|it| it.get(key)).map_or(reply.span, |it| it.span);
        let exit = number("exit");
        if exit.is_some_and(|status| status > 255) {
            self.problems.add(place("exit"), "an exit status is at most 255");
        }
        let cut = match word("disconnect").as_deref() {
            Some("before") => Some(Cut::Before),
            Some("middle") => Some(Cut::Middle),
            Some("after") => Some(Cut::After),
            _ => exit.map(|_| Cut::Before),
        };
        let status = number("status").and_then(|status| u16::try_from(status).ok());
        if number("status").is_some_and(|status| status > 999) {
            self.problems.add(place("status"), "an HTTP status is at most 999");
        }
        let link = Fault {
            change: self.change(reply, node),
            twice: yes("duplicate"),
            noise: word("stdout_noise").map(String::into_bytes),
            cut,
            slow: number("slow"),
            late: yes("late"),
            status,
            content_type: word("bad_content_type"),
            drop_stream: yes("drop_sse"),
            end_session: yes("expire_session"),
        };
        let flood = number("stderr_flood").and_then(|bytes| usize::try_from(bytes).ok());
        let exit = exit.and_then(|status| u8::try_from(status).ok());
        let process = flood.map(ProcessFault::FloodStderr).into_iter();
        ReplyFault {
            link: link.into(),
            silent: yes("silent"),
            process: process.chain(exit.map(ProcessFault::Exit)).collect(),
        }
    }

    /// What comes instead of the answer; only one thing can.
    fn change(&mut self, reply: &Node, fault: Option<&Node>) -> Option<Change> {
        let mut changes: Vec<Change> = Vec::new();
        changes.extend(text(reply, "raw").map(|raw| Change::Bytes(raw.into_bytes())));
        let get = |key: &str| fault.and_then(|fault| fault.get(key));
        match get("garbage").map(|garbage| &garbage.kind) {
            Some(Kind::Bool(true)) => changes.push(Change::Bytes(GARBAGE.into())),
            Some(Kind::String(garbage)) => changes.push(Change::Bytes(garbage.clone().into())),
            _ => {}
        }
        if get("truncate").and_then(Node::as_bool) == Some(true) {
            changes.push(Change::Half);
        }
        match get("wrong_id").map(Node::to_json) {
            None | Some(Value::Bool(false)) => {}
            Some(Value::Bool(true)) => changes.push(Change::Id(RawJson::string(NOBODYS))),
            Some(id) => changes.push(Change::Id(id.into())),
        }
        let size = get("oversized").and_then(Node::as_u64);
        changes.extend(size.and_then(|size| usize::try_from(size).ok()).map(Change::Size));
        if changes.len() > 1 {
            let message = "only one of raw, garbage, truncate, wrong_id, oversized can come instead of the answer";
            self.problems.add(fault.map_or(reply.span, |fault| fault.span), message);
        }
        changes.pop()
    }
}
