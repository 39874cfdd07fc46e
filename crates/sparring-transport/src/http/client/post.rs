//! Posts messages that have no answer: notifications and responses.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use http::StatusCode;
use sparring_peer::{Cause, Incoming, Stream};
use sparring_wire::{Frame, FrameKind, HttpObservation};
use tokio::time::timeout;

use super::exchange::{ExchangeResult, MAX_ERROR_BODY, http_cause, response_envelope};
use super::exchange_recorder::{ExchangeProgress, ExchangeRecorder};
use super::response::HttpResponse;
use super::session::{ClientSession, Message};

/// The maximum time that a message delays the following ones.
const ORDER_TIMEOUT: Duration = Duration::from_secs(1);

/// The timeout of posting a message.
const POST_TIMEOUT: Duration = Duration::from_secs(30);

/// Held while a message must not be overtaken. All clones share it.
#[derive(Debug, Clone, Default)]
pub(super) struct OrderGuard(Arc<AtomicBool>);

impl OrderGuard {
    /// Creates a guard that delays nothing.
    pub(super) fn released() -> OrderGuard {
        OrderGuard(Arc::new(AtomicBool::new(true)))
    }

    pub(super) fn is_released(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    fn release(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Posts a message and reads the response. The guard is released when the server has accepted
/// the message, or after [`ORDER_TIMEOUT`].
pub(super) async fn post_and_read(
    session: &ClientSession,
    message: &Message,
    exchange: &mut ExchangeRecorder,
    order: &OrderGuard,
) -> Result<(Box<HttpResponse>, Vec<u8>), Cause> {
    let progress = exchange.progress.clone();
    let posted = async {
        let mut response = session.post(message, exchange).await?;
        order.release();
        let (body, _) = response.body(MAX_ERROR_BODY, exchange).await?;
        Ok((response, body))
    };
    let mut posted = pin!(posted);
    let sent = match timeout(ORDER_TIMEOUT, posted.as_mut()).await {
        Ok(sent) => sent,
        Err(_) => {
            order.release();
            loop {
                match timeout(POST_TIMEOUT - ORDER_TIMEOUT, posted.as_mut()).await {
                    Ok(sent) => break sent,
                    // Obtaining a token has its own timeouts.
                    Err(_) if session.is_waiting_for_token() => {}
                    Err(_) => {
                        let so_far = progress.describe();
                        let why = format!(
                            "the server did not accept it within {POST_TIMEOUT:?}: {so_far}"
                        );
                        break Err(Cause::Broken(why));
                    }
                }
            }
        }
    };
    order.release();
    sent
}

/// Posts a message over Streamable HTTP.
pub(super) async fn post_message(
    session: Arc<ClientSession>,
    message: Message,
    order: OrderGuard,
) -> ExchangeResult {
    let mut exchange = ExchangeRecorder::new(session.recorder(), ExchangeProgress::default());
    session.record_sent(&message);
    let (response, body) = match post_and_read(&session, &message, &mut exchange, &order).await {
        Ok(sent) => sent,
        Err(cause) => {
            exchange.fail(&cause.to_string());
            session.push(Incoming::StreamEnded { stream: Stream::Connection, cause });
            return ExchangeResult::Posted;
        }
    };
    exchange.complete();
    if response.status == StatusCode::NOT_FOUND && session.has_session() {
        session.forget_session();
        let lost = http_cause(&response, "", &body).to_string();
        session.push(Incoming::Closed(Cause::SessionLost(lost)));
        return ExchangeResult::Posted;
    }
    // A frame that looks like an answer to a message without one does not affect other
    // requests. Raw bytes of the owner are an exception, since their meaning is unknown.
    let has_none = matches!(
        message.frame.kind(),
        FrameKind::Notification | FrameKind::Result | FrameKind::Error
    );
    if has_none {
        let status = response.status.as_u16();
        session.observe(HttpObservation::Posted { status, has_body: !body.is_empty() });
    }
    let frame = (response.has_content_type("application/json") && !body.is_empty())
        .then(|| Frame::parse(&*body));
    let is_meant = |frame: &Frame| {
        !has_none || matches!(frame.kind(), FrameKind::Request | FrameKind::Notification)
    };
    match frame {
        Some(frame) if is_meant(&frame) => {
            let envelope = response_envelope(&response);
            session.deliver(frame, &Stream::Connection, &envelope);
        }
        frame => {
            let status = response.status.as_u16();
            match has_none {
                true => frame.iter().for_each(|frame| session.record_posted(frame, status)),
                false => frame.iter().for_each(|it| session.record_received(it, Some(status))),
            }
            if !response.status.is_success() {
                let cause = http_cause(&response, &message.describe_recipient(), &body);
                session.push(Incoming::StreamEnded { stream: Stream::Connection, cause });
            }
        }
    }
    session.client.release(*response);
    ExchangeResult::Posted
}
