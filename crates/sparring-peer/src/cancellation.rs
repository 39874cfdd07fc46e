//! Builds the cancellation notification that clients and servers send.

use sparring_wire::{Frame, Id, RawJson};

/// Builds `notifications/cancelled` for a request that the sender made.
pub(crate) fn cancelled_notification(id: &Id, reason: Option<&str>) -> Frame {
    let mut params = RawJson::empty_object().with_member("requestId", RawJson::from(id).view());
    if let Some(reason) = reason {
        params = params.with_member("reason", RawJson::string(reason).view());
    }
    Frame::notification("notifications/cancelled", Some(&params))
}
