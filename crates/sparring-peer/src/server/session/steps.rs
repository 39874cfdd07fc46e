//! A session message by message, for whoever wants to hold the reins.

use std::future::poll_fn;
use std::task::Poll;
use std::time::Duration;

use sparring_wire::{Frame, FrameKind, Id};

use super::{Connection, ROUNDS};
use crate::link::{Incoming, Outgoing};
use crate::server::NoLink;
use crate::server::intake::Wanted;

impl Connection {
    pub(super) async fn process_request(&mut self, frame: Frame) -> Option<Frame> {
        let asked = (frame.id().cloned(), frame.kind());
        let unanswered = frame.method().is_some() && frame.kind() == FrameKind::Notification
            || frame.result().is_some()
            || frame.error().is_some();
        self.core.receive(Incoming::on_shared_channel(frame));
        poll_fn(|cx| {
            for _ in 0..ROUNDS {
                self.timer.renew();
                let worked = self.work(cx);
                while let Some(action) = self.core.poll_action() {
                    match action {
                        Outgoing::Send { frame, .. } if answers(&frame, &asked) => {
                            return Poll::Ready(Some(frame));
                        }
                        other => self.forward(other),
                    }
                }
                let _ = self.poll_flush(cx);
                let read = self.read(cx, Wanted::NoRequests);
                if (self.core.is_idle() || unanswered) && !worked && !read {
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
        let (link, intake) = (self.link.as_mut().ok_or(NoLink)?, &mut self.intake);
        let message = poll_fn(|cx| intake.poll(&mut **link, Wanted::All, cx));
        let Ok(incoming) = tokio::time::timeout(within, message).await else { return Ok(false) };
        if let Incoming::Closed(cause) = &incoming {
            self.ended = Some(cause.clone());
            return Ok(false);
        }
        self.core.receive(incoming);
        poll_fn(|cx| {
            for _ in 0..ROUNDS {
                self.timer.renew();
                let worked = self.work(cx);
                self.give_out();
                let flushed = self.poll_flush(cx).is_ready();
                if self.core.is_idle() && flushed {
                    return Poll::Ready(());
                }
                if !self.read(cx, Wanted::NoRequests) && !worked {
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

/// Whether a frame is the response to what was asked: by its id, or where that
/// could not be read, by having none.
fn answers(frame: &Frame, asked: &(Option<Id>, FrameKind)) -> bool {
    let (id, kind) = asked;
    match kind {
        FrameKind::Batch => frame.kind() == FrameKind::Batch || frame.id().is_none(),
        FrameKind::Notification | FrameKind::Result | FrameKind::Error => false,
        _ => frame.method().is_none() && (frame.id() == id.as_ref() || frame.id().is_none()),
    }
}
