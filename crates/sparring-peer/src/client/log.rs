//! Who hears of log messages as they come: before the answers that come after
//! them.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use sparring_wire::types::LogLevel;
use sparring_wire::{Frame, Json, RawJson};

use super::Client;

type Tell = dyn Fn(LogMessage) + Send + Sync;

/// A log message of a server (server/utilities/logging).
#[derive(Debug, Clone, PartialEq)]
pub struct LogMessage {
    /// How severe it is.
    pub level: LogLevel,
    /// The part of the server that says it.
    pub logger: Option<String>,
    /// What it says.
    pub data: RawJson,
}

impl LogMessage {
    /// Reads `notifications/message`; none if it is something else, or has no
    /// known level.
    pub fn read(frame: &Frame) -> Option<LogMessage> {
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

/// Who hears, if somebody does.
#[derive(Default)]
pub(super) struct Hearer(Mutex<Option<Arc<Tell>>>);

impl Hearer {
    pub(super) fn tell(&self, frame: &Frame) {
        let tell = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(tell) = tell
            && let Some(message) = LogMessage::read(frame)
        {
            tell(message);
        }
    }
}

impl fmt::Debug for Hearer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Hearer")
    }
}

impl Client {
    /// Tells of every log message from now on, in the place of whoever was told
    /// before. It is told before any answer that comes after it, so it must not
    /// take long.
    pub fn on_log(&self, tell: impl Fn(LogMessage) + Send + Sync + 'static) {
        let mut hearer = self.handle.shared.log.0.lock().unwrap_or_else(PoisonError::into_inner);
        *hearer = Some(Arc::new(tell));
    }
}
