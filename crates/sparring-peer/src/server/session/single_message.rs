//! Serves a session one message at a time.

use std::future::poll_fn;
use std::task::Poll;
use std::time::Duration;

use sparring_wire::{Frame, FrameKind, Id};

use super::{Connection, MAX_ITERATIONS_PER_POLL};
use crate::link::{Incoming, Outgoing};
use crate::server::NoLink;
use crate::server::incoming_queue::ReceiveMode;

impl Connection {
    pub(super) async fn process_request(&mut self, frame: Frame) -> Option<Frame> {
        let request = (frame.id().cloned(), frame.kind());
        let expects_no_response = frame.method().is_some()
            && frame.kind() == FrameKind::Notification
            || frame.result().is_some()
            || frame.error().is_some();
        self.core.receive(Incoming::from_shared_channel(frame));
        poll_fn(|cx| {
            for _ in 0..MAX_ITERATIONS_PER_POLL {
                self.timer.refresh();
                let worked = self.make_progress(cx);
                while let Some(action) = self.poll_action() {
                    match action {
                        Outgoing::Send { frame, .. } if is_response_to(&frame, &request) => {
                            return Poll::Ready(Some(frame));
                        }
                        other => self.send_to_link(other),
                    }
                }
                let _ = self.poll_flush(cx);
                let read = self.receive_available(cx, ReceiveMode::NoRequests);
                if (self.core.is_idle() || expects_no_response) && !worked && !read {
                    return Poll::Ready(None);
                }
                if !worked && !read {
                    return Poll::Pending;
                }
            }
            cx.waker().wake_by_ref();
            Poll::Pending
        })
        .await
    }

    pub(super) async fn process_one_message(&mut self, within: Duration) -> Result<bool, NoLink> {
        let (link, incoming) = (self.link.as_mut().ok_or(NoLink)?, &mut self.incoming);
        let message = poll_fn(|cx| incoming.poll_receive(&mut **link, ReceiveMode::All, cx));
        let Ok(incoming) = tokio::time::timeout(within, message).await else { return Ok(false) };
        if let Incoming::Closed(cause) = &incoming {
            self.close_cause = Some(cause.clone());
            return Ok(false);
        }
        self.core.receive(incoming);
        poll_fn(|cx| {
            for _ in 0..MAX_ITERATIONS_PER_POLL {
                self.timer.refresh();
                let worked = self.make_progress(cx);
                self.send_actions();
                let flushed = self.poll_flush(cx).is_ready();
                if self.core.is_idle() && flushed {
                    return Poll::Ready(());
                }
                if !self.receive_available(cx, ReceiveMode::NoRequests) && !worked {
                    return Poll::Pending;
                }
            }
            cx.waker().wake_by_ref();
            Poll::Pending
        })
        .await;
        Ok(true)
    }
}

/// Returns true if a frame is the response to a request: it has the request's id,
/// or none if that could not be read.
fn is_response_to(frame: &Frame, request: &(Option<Id>, FrameKind)) -> bool {
    let (id, kind) = request;
    match kind {
        FrameKind::Batch => frame.kind() == FrameKind::Batch || frame.id().is_none(),
        FrameKind::Notification | FrameKind::Result | FrameKind::Error => false,
        _ => frame.method().is_none() && (frame.id() == id.as_ref() || frame.id().is_none()),
    }
}
