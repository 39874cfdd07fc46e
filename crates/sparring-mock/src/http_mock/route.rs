//! Routes: a matcher of requests, and their replies.

use serde_json::{Value, json};
use sparring_script::{Matcher, Mismatch};

use super::HttpReply;

/// Matching requests and their replies: the first reply as often as it may be given, then the
/// next.
#[derive(Debug)]
#[must_use = "a route does nothing until it is given to a mock"]
pub struct HttpRoute {
    when: Matcher,
    replies: Vec<RouteReply>,
}

#[derive(Debug)]
struct RouteReply {
    reply: HttpReply,
    /// The number of times it may be given (default: no limit).
    times: Option<u64>,
    times_given: u64,
}

impl HttpRoute {
    /// Creates a route for requests whose [`HttpRequest::to_json`] matches.
    ///
    /// [`HttpRequest::to_json`]: super::HttpRequest::to_json
    pub fn when(when: Matcher) -> Self {
        HttpRoute { when, replies: Vec::new() }
    }

    /// Creates a route for one method and path.
    pub(super) fn for_path(method: &str, path: &str) -> Self {
        // Matches the path literally, with any characters.
        let path = json!({"equals": path});
        let when = json!({"method": method.to_uppercase(), "path": path});
        HttpRoute::when(Matcher::from_json(&when).expect("a built-in matcher is valid"))
    }

    /// Adds a reply, which is given up to `times` times (default: no limit).
    pub fn reply(mut self, reply: HttpReply, times: Option<u64>) -> Self {
        self.replies.push(RouteReply { reply, times, times_given: 0 });
        self
    }

    /// Returns the mismatches of a request.
    pub(super) fn mismatches(&self, request: &Value) -> Vec<Mismatch> {
        self.when.check(Some(request))
    }

    /// Returns the next reply, if one is left.
    pub(super) fn next(&mut self) -> Option<HttpReply> {
        let reply = self
            .replies
            .iter_mut()
            .find(|it| it.times.is_none_or(|times| it.times_given < times))?;
        reply.times_given += 1;
        Some(reply.reply.clone())
    }

    /// Resets the counters of its replies.
    pub(super) fn reset(&mut self) {
        self.replies.iter_mut().for_each(|reply| reply.times_given = 0);
    }
}
