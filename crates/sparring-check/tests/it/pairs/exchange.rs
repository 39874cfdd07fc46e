//! Requests and their responses.

use serde_json::json;
use sparring_wire::{Revision, Rule};

use super::Case;
use crate::support::Action;

pub(super) const CASES: &[Case] = &[
    Case::lines(Rule::UnknownMethod, Revision::V2025_11_25, |server| {
        server.on_method("sparring/unknown", |request| {
            Action::json(json!({"jsonrpc": "2.0", "id": request["id"], "result": {}}))
        })
    }),
    Case::lines(Rule::AnsweredNotification, Revision::V2025_11_25, |server| {
        server.on_method("notifications/sparring-unknown", |_| {
            let error = json!({"code": -32601, "message": "Method not found"});
            Action::json(json!({"jsonrpc": "2.0", "id": 4711, "error": error}))
        })
    })
    .also(&[Rule::UnknownResponse]),
];
