//! Which requests get which replies.

use serde_json::{Value, json};
use sparring_script::{Matcher, Mismatch};

use super::HttpReply;

/// Requests of one kind, and what they get: the first reply until it was given
/// as often as it may be, then the next.
#[derive(Debug)]
#[must_use = "a route does nothing until it is given to a mock"]
pub struct HttpRoute {
    when: Matcher,
    turns: Vec<Turn>,
}

#[derive(Debug)]
struct Turn {
    reply: HttpReply,
    /// How often it may be given; for ever where nothing is said.
    times: Option<u64>,
    given: u64,
}

impl HttpRoute {
    /// A route for the requests that fit, as [`HttpRequest::to_json`] gives
    /// them.
    ///
    /// [`HttpRequest::to_json`]: super::HttpRequest::to_json
    pub fn when(when: Matcher) -> Self {
        HttpRoute { when, turns: Vec::new() }
    }

    /// A route for one method and path.
    pub(super) fn of(method: &str, path: &str) -> Self {
        // Literally, whatever characters are in it.
        let path = json!({"equals": path});
        let when = json!({"method": method.to_uppercase(), "path": path});
        HttpRoute::when(Matcher::of(&when).expect("a matcher of our own"))
    }

    /// Gives this reply, so often, or for ever where nothing is said; then the
    /// next that is added.
    pub fn reply(mut self, reply: HttpReply, times: Option<u64>) -> Self {
        self.turns.push(Turn { reply, times, given: 0 });
        self
    }

    /// What keeps a request from fitting.
    pub(super) fn mismatches(&self, request: &Value) -> Vec<Mismatch> {
        self.when.check(Some(request))
    }

    /// The next reply; none where all were given.
    pub(super) fn next(&mut self) -> Option<HttpReply> {
        let turn =
            self.turns.iter_mut().find(|it| it.times.is_none_or(|times| it.given < times))?;
        turn.given += 1;
        Some(turn.reply.clone())
    }

    /// Forgets what was given.
    pub(super) fn reset(&mut self) {
        self.turns.iter_mut().for_each(|turn| turn.given = 0);
    }
}
