//! Frames as events of a stream.

use std::time::Duration;

use sparring_peer::link::{Cut, Faults};
use sparring_wire::Frame;

use crate::http::sse::Event;

/// Writes a frame as an event.
pub(super) fn write(frame: &Frame, name: Option<&str>, id: Option<String>, out: &mut Vec<u8>) {
    let name = name.map(str::to_owned);
    Event { name, id, data: Some(frame.bytes().to_vec()), retry: None }.write(out);
}

/// Writes a frame as an event, or what is to come in its place. Where the
/// connection ends in the middle of it, so does the event.
pub(super) fn write_with(
    frame: &Frame,
    faults: &Faults,
    (name, id): (Option<&str>, Option<String>),
    out: &mut Vec<u8>,
) {
    let Some(fault) = faults.get() else { return write(frame, name, id, out) };
    if fault.drop_stream {
        return;
    }
    for frame in faults.applied_to(frame) {
        write(&frame, name, id.clone(), out);
    }
    if fault.cut == Some(Cut::Middle) {
        // Without the empty line that ends it.
        out.truncate(out.len().saturating_sub(2));
    }
}

/// Writes an event that says nothing but where the stream is, so that a client
/// can come back there (2025-11-25, basic/transports#sending-messages-to-the-server).
pub(super) fn write_priming(id: String, retry: Duration, out: &mut Vec<u8>) {
    Event { name: None, id: Some(id), data: Some(Vec::new()), retry: Some(retry) }.write(out);
}
