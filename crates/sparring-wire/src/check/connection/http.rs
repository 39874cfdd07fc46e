//! Checks what only HTTP shows: statuses, bodies, session ids, event ids and streams.

use super::{ConnectionChecker, can_keep, violation};
use crate::frame::{Frame, FrameKind};
use crate::revision::Revision;
use crate::rule::Rule;
use crate::violation::Violation;

/// The maximum number of event ids that are remembered.
const MAX_EVENT_IDS: usize = 16_384;

/// An observation about the server's side of Streamable HTTP.
#[derive(Debug, Clone, Copy)]
pub enum HttpObservation<'a> {
    /// The session id in the response to `initialize`.
    SessionId(&'a [u8]),
    /// The response to a notification or a response of the client.
    Posted {
        /// The status of the response.
        status: u16,
        /// True if the response has a body.
        has_body: bool,
    },
    /// A response to a request with a success status that is neither JSON nor an event stream.
    Unusable {
        /// The status of the response.
        status: u16,
        /// The media type of the body; empty without a body.
        content_type: &'a str,
    },
    /// The end of an event stream in the middle of an event, which clients must ignore.
    UnfinishedEvent,
    /// The response to a GET request for events.
    Listened {
        /// The status of the response.
        status: u16,
        /// The media type of the body.
        content_type: &'a str,
        /// True if the request had a session id.
        has_session: bool,
    },
    /// The id of an event.
    EventId {
        /// The id.
        id: &'a str,
        /// True if the stream resumes another one, which can repeat events.
        resumed: bool,
    },
    /// A frame on the stream of a GET request that resumes no other stream.
    ListeningFrame(&'a Frame),
}

impl ConnectionChecker {
    /// Checks an observation that is not a frame.
    pub fn check_http(&mut self, observation: HttpObservation<'_>) -> Option<Violation> {
        let revision = match observation {
            // The session id comes before the result with the revision, and perhaps after
            // modern requests that a legacy server has refused.
            HttpObservation::SessionId(_) => match &self.session {
                Some(session) => session.revision,
                None => Revision::LATEST_LEGACY,
            },
            _ => self.revision()?,
        };
        let (rule, path, message) = match observation {
            HttpObservation::SessionId(id) => check_session_id(id)?,
            HttpObservation::Posted { status, has_body } => check_posted(status, has_body)?,
            HttpObservation::Unusable { status, content_type } => {
                let found = match content_type {
                    "" => format!("the status {status} without a body"),
                    kind => format!("{kind} with the status {status}"),
                };
                let message = format!(
                    "the answer to a request must be JSON or an event stream; found {found}"
                );
                (Rule::WrongContentType, "$", message)
            }
            HttpObservation::UnfinishedEvent => {
                let message = "the stream ends in an event without a blank line after it, which \
                               has no effect";
                (Rule::WrongContentType, "$", message.to_owned())
            }
            HttpObservation::Listened { status, content_type, has_session } => {
                check_listened(status, content_type, has_session)?
            }
            HttpObservation::EventId { id, resumed } => self.check_event_id(id, resumed)?,
            HttpObservation::ListeningFrame(frame) => {
                let is_response = matches!(frame.kind(), FrameKind::Result | FrameKind::Error);
                let id = frame.id().filter(|_| is_response)?;
                let message =
                    format!("the response to request {id} came on the stream of a GET request");
                (Rule::ResponseOnListeningStream, "$", message)
            }
        };
        if !rule.entry().revisions.contains(&revision) {
            return None;
        }
        Some(violation(revision, rule, path, message, section(revision, observation, rule)))
    }

    fn check_event_id(&mut self, id: &str, resumed: bool) -> Option<(Rule, &'static str, String)> {
        if id.is_empty() || !can_keep(id) || self.event_ids.len() >= MAX_EVENT_IDS {
            return None;
        }
        let is_new = self.event_ids.insert(id.to_owned());
        let message = format!("an earlier event of the session has the id {id:?}");
        (!is_new && !resumed).then_some((Rule::DuplicateEventId, "$", message))
    }
}

fn check_session_id(id: &[u8]) -> Option<(Rule, &'static str, String)> {
    let at = id.iter().position(|it| !it.is_ascii_graphic())?;
    // A session can be taken over by anyone who knows its id, so the id is not shown.
    let message = format!(
        "character {} of the session id is not a visible ASCII character (byte 0x{:02x})",
        at + 1,
        id[at]
    );
    Some((Rule::InvalidSessionId, "$", message))
}

fn check_posted(status: u16, has_body: bool) -> Option<(Rule, &'static str, String)> {
    match status {
        202 if has_body => {
            Some((Rule::UnexpectedBody, "$", "the response 202 must not have a body".to_owned()))
        }
        200..=299 if status != 202 => {
            let message = format!(
                "a server that accepts a notification or a response must answer 202, not {status}"
            );
            Some((Rule::WrongStatus, "$", message))
        }
        _ => None,
    }
}

/// A server that does not offer the stream must answer 405. Other refusals can be about
/// authorization, the session or the load of the server.
fn check_listened(
    status: u16,
    content_type: &str,
    has_session: bool,
) -> Option<(Rule, &'static str, String)> {
    if (200..=299).contains(&status) {
        let is_stream = content_type.eq_ignore_ascii_case("text/event-stream");
        let message =
            format!("the response to a GET request must be an event stream, not {content_type}");
        return (!is_stream).then_some((Rule::WrongContentType, "$", message));
    }
    let is_wrong = matches!(status, 500 | 501) || status == 404 && !has_session;
    let message =
        format!("a server without a stream for GET requests must answer 405, not {status}");
    is_wrong.then_some((Rule::WrongStatus, "$", message))
}

fn section(revision: Revision, observation: HttpObservation<'_>, rule: Rule) -> &'static str {
    match observation {
        HttpObservation::Posted { .. }
        | HttpObservation::Unusable { .. }
        | HttpObservation::UnfinishedEvent => match revision.is_modern() {
            true => "basic/transports/streamable-http#sending-messages",
            false => "basic/transports#sending-messages-to-the-server",
        },
        HttpObservation::Listened { .. } => {
            "basic/transports#listening-for-messages-from-the-server"
        }
        _ => rule.entry().section,
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{check as open, discovery, handshake};
    use super::*;

    /// Checks an observation in a legacy session, and returns the broken rule.
    fn check(version: &str, observation: HttpObservation<'_>, expected: Option<&str>) {
        let mut checker = open(&handshake(version, "{}", "{}"), &[]);
        let found = checker.check_http(observation);
        assert_eq!(found.as_ref().map(|it| it.rule.id()), expected, "{observation:?} {found:?}");
        if let Some(found) = found {
            assert!(found.section.starts_with(version), "{found:?}");
        }
    }

    #[test]
    fn a_notification_is_accepted_with_202_and_no_body() {
        let posted = |status, has_body| HttpObservation::Posted { status, has_body };
        check("2025-06-18", posted(202, false), None);
        check("2025-06-18", posted(202, true), Some("http/unexpected-body"));
        check("2025-06-18", posted(200, true), Some("http/wrong-status"));
        check("2025-06-18", posted(204, false), Some("http/wrong-status"));
        check("2025-06-18", posted(400, true), None);
        check("2024-11-05", posted(200, true), None);
        let mut checker = open(&discovery(), &[]);
        let found = checker.check_http(posted(200, false)).unwrap();
        assert_eq!(found.section, "2026-07-28/basic/transports/streamable-http#sending-messages");
    }

    #[test]
    fn a_long_event_id_is_not_remembered() {
        let mut checker = open(&handshake("2025-11-25", "{}", "{}"), &[]);
        let mut repeated = |id: &str| {
            let event_id = HttpObservation::EventId { id, resumed: false };
            checker.check_http(event_id);
            checker.check_http(event_id).is_some()
        };
        assert_eq!((repeated("short"), repeated(&"long".repeat(1_000))), (true, false));
    }

    #[test]
    fn a_request_is_answered_with_json_or_events() {
        let unusable = |status, content_type| HttpObservation::Unusable { status, content_type };
        check("2025-06-18", unusable(200, "text/html"), Some("http/wrong-content-type"));
        check("2025-03-26", unusable(202, ""), Some("http/wrong-content-type"));
        check("2024-11-05", unusable(202, ""), None);
        let unfinished = HttpObservation::UnfinishedEvent;
        check("2025-06-18", unfinished, Some("http/wrong-content-type"));
        check("2024-11-05", unfinished, None);
    }

    #[test]
    fn a_get_request_is_answered_with_events_or_405() {
        let get = |status, content_type, has_session| HttpObservation::Listened {
            status,
            content_type,
            has_session,
        };
        check("2025-11-25", get(200, "text/event-stream", true), None);
        check("2025-11-25", get(405, "text/plain", true), None);
        check("2025-11-25", get(200, "text/html", true), Some("http/wrong-content-type"));
        check("2025-11-25", get(501, "text/html", true), Some("http/wrong-status"));
        check("2025-11-25", get(404, "text/html", false), Some("http/wrong-status"));
        // The session can have ended, the client can lack authorization.
        for (status, has_session) in [(404, true), (401, false), (400, true), (503, true)] {
            check("2025-11-25", get(status, "text/html", has_session), None);
        }
    }

    #[test]
    fn a_session_id_has_only_visible_ascii_characters() {
        check("2025-03-26", HttpObservation::SessionId(b"a-b_~!"), None);
        for id in [&b"a b"[..], b"a\tb", b"\xc3\xbc", b"a\x7f"] {
            check("2025-03-26", HttpObservation::SessionId(id), Some("http/invalid-session-id"));
        }
        let probe = r#">{"id":"d","method":"server/discover","params":{$META}}"#;
        let mut unknown = open(&[], &[(probe, "")]);
        let found = unknown.check_http(HttpObservation::SessionId(b"a b")).unwrap();
        assert!(!found.message.contains("a b"), "{found:?}");
    }

    #[test]
    fn event_ids_are_unique_unless_a_stream_is_resumed() {
        let mut checker = open(&handshake("2025-06-18", "{}", "{}"), &[]);
        let mut add = |id, resumed| checker.check_http(HttpObservation::EventId { id, resumed });
        assert_eq!(add("1", false), None);
        assert_eq!(add("2", false), None);
        assert_eq!(add("", false), None);
        assert_eq!(add("", false), None);
        assert_eq!(add("2", true), None);
        assert_eq!(add("2", false).unwrap().rule, Rule::DuplicateEventId);
    }

    #[test]
    fn a_response_does_not_come_on_the_listening_stream() {
        let frame = |text: &str| Frame::parse(text.to_owned());
        let response = frame(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
        let rule = Some("http/response-on-listening-stream");
        check("2025-06-18", HttpObservation::ListeningFrame(&response), rule);
        let request = frame(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#);
        check("2025-06-18", HttpObservation::ListeningFrame(&request), None);
    }
}
