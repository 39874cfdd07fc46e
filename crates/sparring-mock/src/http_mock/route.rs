//! Routes: which requests get which replies.

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
    /// How often it may be given (default: always).
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
        // Matches literally, whatever characters it contains.
        let path = json!({"equals": path});
        let when = json!({"method": method.to_uppercase(), "path": path});
        HttpRoute::when(Matcher::of(&when).expect("a built-in matcher is valid"))
    }

    /// Adds a reply, given this often (default: always).
    pub fn reply(mut self, reply: HttpReply, times: Option<u64>) -> Self {
        self.replies.push(RouteReply { reply, times, times_given: 0 });
        self
    }

    /// Returns why a request does not match.
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

    /// Resets how often replies were given.
    pub(super) fn reset(&mut self) {
        self.replies.iter_mut().for_each(|reply| reply.times_given = 0);
    }
}
