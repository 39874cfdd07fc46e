//! The five protocol revisions, one file each. Code asks a revision for its features and
//! never compares dates.
//!
//! The module `check` compares frames with these definitions.

use std::collections::HashMap;
use std::sync::LazyLock;

use foldhash::fast::RandomState;

/// Declares requests: name, type of the params, type of the result, section, and further
/// properties in brackets.
macro_rules! requests {
    ($($name:literal ($params:ident) -> $result:ident at $section:literal $([$($call:ident $args:tt)*])?;)*) => {
        &[$(RequestDefinition::new($name, stringify!($params), stringify!($result), $section)
            $($(.$call $args)*)?,)*]
    };
}

/// Declares notifications, in the same way as `requests`.
macro_rules! notifications {
    ($($name:literal ($params:ident) at $section:literal $([$($call:ident $args:tt)*])?;)*) => {
        &[$(NotificationDefinition::new($name, stringify!($params), $section)
            $($(.$call $args)*)?,)*]
    };
}

mod definition;
mod v2024_11_05;
mod v2025_03_26;
mod v2025_06_18;
mod v2025_11_25;
mod v2026_07_28;

pub use definition::{
    ErrorCodeDefinition, NotificationDefinition, RequestDefinition, ReservedPrefixes,
    RevisionDefinition,
};

/// The sender of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Side {
    /// The client.
    Client,
    /// The server.
    Server,
}

impl Side {
    /// Returns the other side.
    pub fn other(self) -> Side {
        match self {
            Side::Client => Side::Server,
            Side::Server => Side::Client,
        }
    }

    /// Returns `client` or `server`.
    pub fn name(self) -> &'static str {
        match self {
            Side::Client => "client",
            Side::Server => "server",
        }
    }
}

impl std::fmt::Display for Side {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// A revision of the protocol; older revisions are less than newer ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Revision {
    /// 2024-11-05
    V2024_11_05,
    /// 2025-03-26
    V2025_03_26,
    /// 2025-06-18
    V2025_06_18,
    /// 2025-11-25
    V2025_11_25,
    /// 2026-07-28
    V2026_07_28,
}

impl Revision {
    /// All revisions, oldest first.
    pub const ALL: [Revision; 5] = [
        Revision::V2024_11_05,
        Revision::V2025_03_26,
        Revision::V2025_06_18,
        Revision::V2025_11_25,
        Revision::V2026_07_28,
    ];

    /// The newest revision.
    pub const LATEST: Revision = Revision::V2026_07_28;

    /// The newest revision with a handshake.
    pub const LATEST_LEGACY: Revision = Revision::V2025_11_25;

    /// Returns the definition of the revision.
    pub fn definition(self) -> &'static RevisionDefinition {
        match self {
            Revision::V2024_11_05 => &v2024_11_05::RULES,
            Revision::V2025_03_26 => &v2025_03_26::RULES,
            Revision::V2025_06_18 => &v2025_06_18::RULES,
            Revision::V2025_11_25 => &v2025_11_25::RULES,
            Revision::V2026_07_28 => &v2026_07_28::RULES,
        }
    }

    /// Returns the protocol version, such as `2025-11-25`.
    pub fn name(self) -> &'static str {
        self.definition().name
    }

    /// Returns the revision of that name.
    pub fn from_name(name: &str) -> Option<Revision> {
        Revision::ALL.into_iter().find(|revision| revision.name() == name)
    }

    /// Returns true if each request carries metadata instead of a handshake.
    pub fn is_modern(self) -> bool {
        self.definition().modern
    }

    /// Returns true if one array can hold several frames.
    pub fn has_batches(self) -> bool {
        self.definition().batches
    }

    /// Returns true if the error for an unreadable request omits the id; otherwise the id
    /// is `null`.
    pub fn omits_unknown_error_id(self) -> bool {
        self.definition().error_without_id
    }

    /// Returns true if an HTTP stream starts with an event that has only an id; clients of
    /// other revisions cannot read such an event.
    pub fn starts_streams_with_id_event(self) -> bool {
        self.definition().primed_streams
    }

    /// Returns the error code for an unknown resource.
    pub fn resource_not_found_code(self) -> i64 {
        self.definition().resource_not_found
    }

    /// Returns true if a server reports invalid tool arguments in a result with `isError`
    /// (since 2025-11-25, server/tools#error-handling), not in a JSON-RPC error.
    pub fn reports_invalid_arguments_in_result(self) -> bool {
        self.definition().tools_refuse_arguments
    }

    /// Returns the requests that a side can send.
    pub fn requests(self, from: Side) -> &'static [RequestDefinition] {
        match from {
            Side::Client => self.definition().client_requests,
            Side::Server => self.definition().server_requests,
        }
    }

    /// Returns the notifications that a side can send.
    pub fn notifications(self, from: Side) -> &'static [NotificationDefinition] {
        match from {
            Side::Client => self.definition().client_notifications,
            Side::Server => self.definition().server_notifications,
        }
    }

    /// Returns the request of that method, if the side can send it.
    pub fn request(self, from: Side, method: &str) -> Option<&'static RequestDefinition> {
        let mut rules = self.requests(from).iter();
        rules.find(|rule| rule.name == method)
    }

    /// Returns the notification of that method, if the side can send it.
    pub fn notification(self, from: Side, method: &str) -> Option<&'static NotificationDefinition> {
        let mut rules = self.notifications(from).iter();
        rules.find(|rule| rule.name == method)
    }
}

/// Returns the static name of a method that some revision has.
pub(crate) fn known_method(name: &[u8]) -> Option<&'static str> {
    static KNOWN: LazyLock<HashMap<&'static [u8], &'static str, RandomState>> =
        LazyLock::new(|| {
            let mut known = HashMap::default();
            for revision in Revision::ALL {
                for side in [Side::Client, Side::Server] {
                    let requests = revision.requests(side).iter().map(|rule| rule.name);
                    known.extend(requests.map(|name| (name.as_bytes(), name)));
                    let notifications = revision.notifications(side).iter().map(|rule| rule.name);
                    known.extend(notifications.map(|name| (name.as_bytes(), name)));
                }
            }
            known
        });
    KNOWN.get(name).copied()
}

impl std::fmt::Display for Revision {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// The name of an unknown revision.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown protocol revision {name:?} (known: {})", Revision::ALL.map(Revision::name).join(", "))]
pub struct UnknownRevision {
    /// The unknown name.
    pub name: String,
}

impl std::str::FromStr for Revision {
    type Err = UnknownRevision;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Revision::from_name(name).ok_or_else(|| UnknownRevision { name: name.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_parse_to_their_revision() {
        for revision in Revision::ALL {
            assert_eq!(revision.name().parse(), Ok(revision));
        }
        let error = "2025-01-01".parse::<Revision>().unwrap_err().to_string();
        assert!(error.contains("2025-01-01"), "{error}");
        assert!(error.contains("2024-11-05, 2025-03-26"), "{error}");
    }

    #[test]
    fn only_the_latest_is_modern_and_only_one_has_batches() {
        let modern = Revision::ALL.into_iter().filter(|it| it.is_modern());
        assert_eq!(modern.collect::<Vec<_>>(), [Revision::LATEST]);
        let batches = Revision::ALL.into_iter().filter(|it| it.has_batches());
        assert_eq!(batches.collect::<Vec<_>>(), [Revision::V2025_03_26]);
        assert!(!Revision::LATEST_LEGACY.is_modern());
    }

    #[test]
    fn capabilities_of_methods_are_known_to_the_revision() {
        for revision in Revision::ALL {
            for from in [Side::Client, Side::Server] {
                for rule in revision.requests(from) {
                    let known = revision.definition().capabilities(from.other());
                    let needed = rule.capability.and_then(|it| it.split('.').next());
                    assert!(needed.is_none_or(|it| known.contains(&it)), "{rule:?}");
                }
                for rule in revision.notifications(from) {
                    let known = revision.definition().capabilities(from);
                    let needed = rule.capability.and_then(|it| it.split('.').next());
                    assert!(needed.is_none_or(|it| known.contains(&it)), "{rule:?}");
                }
            }
        }
    }
}
