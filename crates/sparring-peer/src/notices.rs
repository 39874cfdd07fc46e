//! Notifications that both ends send.

use sparring_wire::{Frame, Id, RawJson};

/// `notifications/cancelled`: a request of the sender's own is given up.
pub(crate) fn cancelled(id: &Id, reason: Option<&str>) -> Frame {
    let mut params = RawJson::empty_object().with_member("requestId", RawJson::from(id).view());
    if let Some(reason) = reason {
        params = params.with_member("reason", RawJson::string(reason).view());
    }
    Frame::notification("notifications/cancelled", Some(&params))
}
