//! The name, version and capabilities of a peer, and log levels.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value, json};

use super::Rest;

/// The name and version of a client or server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Implementation {
    /// The program's name.
    pub name: String,
    /// The program's version.
    #[serde(default)]
    pub version: String,
    /// The display name; since 2025-06-18.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Icons, description and all other fields.
    #[serde(flatten)]
    pub rest: Rest,
}

impl Implementation {
    /// Creates an implementation with a name and a version.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Implementation {
            name: name.into(),
            version: version.into(),
            title: None,
            rest: Rest::new(),
        }
    }
}

/// The capabilities of a server, as a JSON object.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ServerCapabilities(pub Map<String, Value>);

impl ServerCapabilities {
    /// Returns no capabilities.
    pub fn none() -> Self {
        Self::default()
    }

    /// Declares tools with list-changed notifications.
    #[must_use]
    pub fn tools(self) -> Self {
        self.with("tools", json!({"listChanged": true}))
    }

    /// Declares resources with subscriptions and list-changed notifications.
    #[must_use]
    pub fn resources(self) -> Self {
        self.with("resources", json!({"subscribe": true, "listChanged": true}))
    }

    /// Declares prompts with list-changed notifications.
    #[must_use]
    pub fn prompts(self) -> Self {
        self.with("prompts", json!({"listChanged": true}))
    }

    /// Declares argument completion.
    #[must_use]
    pub fn completions(self) -> Self {
        self.with("completions", json!({}))
    }

    /// Declares log messages.
    #[must_use]
    pub fn logging(self) -> Self {
        self.with("logging", json!({}))
    }

    /// Declares any capability with its value.
    #[must_use]
    pub fn with(mut self, name: &str, value: Value) -> Self {
        self.0.insert(name.to_owned(), value);
        self
    }

    /// Returns true if a capability is declared, by its dotted name, such as
    /// `resources.subscribe`. The value must be `true` or an object.
    pub fn has(&self, path: &str) -> bool {
        let mut names = path.split('.');
        let first = names.next().and_then(|name| self.0.get(name));
        let found = names.fold(first, |value, name| value?.get(name));
        matches!(found, Some(Value::Bool(true) | Value::Object(_)))
    }
}

/// The severity of a log message, lowest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "the names are those of syslog")]
pub enum LogLevel {
    Debug,
    Info,
    Notice,
    Warning,
    Error,
    Critical,
    Alert,
    Emergency,
}

/// All levels with their protocol names, in order.
const LEVELS: [(LogLevel, &str); 8] = [
    (LogLevel::Debug, "debug"),
    (LogLevel::Info, "info"),
    (LogLevel::Notice, "notice"),
    (LogLevel::Warning, "warning"),
    (LogLevel::Error, "error"),
    (LogLevel::Critical, "critical"),
    (LogLevel::Alert, "alert"),
    (LogLevel::Emergency, "emergency"),
];

impl LogLevel {
    /// Returns the protocol name.
    pub fn name(self) -> &'static str {
        LEVELS[self as usize].1
    }

    /// Returns the level of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        LEVELS.iter().find(|(_, known)| *known == name).map(|(level, _)| *level)
    }
}

impl<'de> Deserialize<'de> for LogLevel {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        let unknown = || D::Error::custom(format_args!("unknown log level `{name}`"));
        LogLevel::from_name(&name).ok_or_else(unknown)
    }
}

impl Serialize for LogLevel {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capabilities_are_found_by_dotted_name() {
        let some = ServerCapabilities::none()
            .with("resources", json!({"subscribe": false, "listChanged": true}))
            .with("logging", json!({}));
        assert!(some.has("resources") && some.has("resources.listChanged") && some.has("logging"));
        assert!(!some.has("resources.subscribe") && !some.has("tools") && !some.has("tools.x"));
    }

    #[test]
    fn log_levels_are_ordered_and_named() {
        assert!(LogLevel::Debug < LogLevel::Emergency);
        assert_eq!(LogLevel::from_name("notice"), Some(LogLevel::Notice));
        assert_eq!(LogLevel::from_name("loud"), None);
        for (at, (level, name)) in LEVELS.into_iter().enumerate() {
            assert_eq!((level as usize, level.name()), (at, name));
            assert_eq!(serde_json::from_value::<LogLevel>(json!(level)).unwrap(), level);
        }
    }
}
