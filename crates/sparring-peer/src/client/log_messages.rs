//! Passes log messages to a callback, in order with the responses that follow
//! them.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use sparring_wire::types::LogLevel;
use sparring_wire::{Frame, Json, RawJson};

use super::Client;

type LogCallbackFn = dyn Fn(LogMessage) + Send + Sync;

/// A log message of a server (server/utilities/logging).
#[derive(Debug, Clone, PartialEq)]
pub struct LogMessage {
    /// The severity.
    pub level: LogLevel,
    /// The part of the server that logged it.
    pub logger: Option<String>,
    /// The content.
    pub data: RawJson,
}

impl LogMessage {
    /// Parses `notifications/message`. Returns none for other frames and unknown
    /// levels.
    pub fn parse(frame: &Frame) -> Option<LogMessage> {
        let params = frame.params().filter(|_| frame.method() == Some("notifications/message"))?;
        let level = params.get("level").and_then(Json::as_str)?;
        Some(LogMessage {
            level: LogLevel::from_name(&level)?,
            logger: params.get("logger").and_then(Json::as_str).map(Into::into),
            data: params
                .get("data")
                .map_or_else(|| RawJson::from(serde_json::Value::Null), Into::into),
        })
    }
}

/// The callback for log messages, if one is set.
#[derive(Default)]
pub(super) struct LogCallback(Mutex<Option<Arc<LogCallbackFn>>>);

impl LogCallback {
    pub(super) fn call(&self, frame: &Frame) {
        let callback = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(callback) = callback
            && let Some(message) = LogMessage::parse(frame)
        {
            callback(message);
        }
    }
}

impl fmt::Debug for LogCallback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LogCallback")
    }
}

impl Client {
    /// Sets the callback for log messages, in place of an earlier one. It runs
    /// before any response that arrives after the message, so it must be fast.
    pub fn on_log(&self, callback: impl Fn(LogMessage) + Send + Sync + 'static) {
        let slot = &self.handle.shared.log_callback.0;
        *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(callback));
    }
}
