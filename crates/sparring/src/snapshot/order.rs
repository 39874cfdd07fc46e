//! Checks the order of messages.

use std::fmt;

use serde_json::Value;
use sparring_wire::Side;

use sparring_wire::json::parse_value;

use super::message::{Message, arrow};
use crate::Snapshot;
use crate::diff::{self, Comparison};

/// An expected message.
///
/// ```
/// # use sparring::Step;
/// let progress = Step::received("notifications/progress").with(serde_json::json!({"progress": 1}));
/// assert_eq!(progress.to_string(), "← notifications/progress with {\"progress\":1}");
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    from: Side,
    kind: StepKind,
    method: String,
    body: Option<Value>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StepKind {
    /// A request or a notification.
    Method,
    Result,
    Error,
}

impl Step {
    /// The client sends a request or a notification.
    ///
    /// ```
    /// # use sparring::{blocking::Wait as _, Client, MockServer, Step};
    /// # use serde_json::json;
    /// # let mock = MockServer::from_yaml("tools: [{name: now, text: noon}]", ".")?;
    /// # let client = Client::in_memory(mock).wait()?;
    /// client.call_tool("now", json!({})).wait()?.assert_success();
    /// client.snapshot().assert_order([Step::sent("tools/call").with(json!({"name": "now"}))]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn sent(method: &str) -> Step {
        Step::new(Side::Client, StepKind::Method, method)
    }

    /// The server sends a request or a notification.
    ///
    /// ```
    /// # use sparring::{blocking::Wait as _, Client, MockServer, Step};
    /// # use serde_json::json;
    /// # let mock = MockServer::from_yaml(
    /// #     "tools: [{name: copy, text: done, during: [{progress: 1}, {progress: 2}]}]",
    /// #     ".",
    /// # )?;
    /// # let client = Client::in_memory(mock).wait()?;
    /// client.call_tool("copy", json!({})).on_progress(|_| ()).wait()?.assert_success();
    /// let progress = Step::received("notifications/progress");
    /// client.snapshot().received().notifications().assert_exactly([progress.clone(), progress]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn received(method: &str) -> Step {
        Step::new(Side::Server, StepKind::Method, method)
    }

    /// The server responds with a result.
    ///
    /// ```
    /// # use sparring::{blocking::Wait as _, Client, MockServer, Step};
    /// # use serde_json::json;
    /// # let mock = MockServer::from_yaml("tools: [{name: now, text: noon}]", ".")?;
    /// # let client = Client::in_memory(mock).wait()?;
    /// client.call_tool("now", json!({})).wait()?.assert_success();
    /// client.snapshot().assert_order([Step::sent("tools/call"), Step::response("tools/call")]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn response(method: &str) -> Step {
        Step::new(Side::Server, StepKind::Result, method)
    }

    /// The server responds with an error.
    ///
    /// ```
    /// # use sparring::{blocking::Wait as _, Client, MockServer, Step};
    /// # use serde_json::json;
    /// # let mock = MockServer::from_yaml("tools: [{name: now, text: noon}]", ".")?;
    /// # let client = Client::in_memory(mock).wait()?;
    /// client.call_tool("never", json!({})).wait()?.assert_error_code(-32602);
    /// client.snapshot().assert_order([Step::sent("tools/call"), Step::error("tools/call")]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn error(method: &str) -> Step {
        Step::new(Side::Server, StepKind::Error, method)
    }

    /// The client responds to a request of the server with a result.
    ///
    /// ```
    /// # use sparring::{blocking::Wait as _, Client, MockServer, Revision, Step};
    /// # use serde_json::json;
    /// # let mock = MockServer::from_yaml(
    /// #     "tools: [{name: where, ask: {it: {roots: {}}}, text: here}]",
    /// #     ".",
    /// # )?;
    /// // Since 2026-07-28 a server asks in its answers, not by requests.
    /// let old = Client::builder().revision(Revision::V2025_11_25);
    /// let client = old.roots(["file:///home"]).in_memory(mock).wait()?;
    /// client.call_tool("where", json!({})).wait()?.assert_text("here");
    /// let steps = [Step::received("roots/list"), Step::client_response("roots/list")];
    /// client.snapshot().assert_order(steps);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn client_response(method: &str) -> Step {
        Step::new(Side::Client, StepKind::Result, method)
    }

    /// The client responds to a request of the server with an error.
    ///
    /// ```
    /// # use sparring::{blocking::Wait as _, Client, MockServer, Revision, Step};
    /// # use serde_json::json;
    /// # let mock = MockServer::from_yaml(
    /// #     "tools: [{name: where, ask: {it: {roots: {}}}, text: here}]",
    /// #     ".",
    /// # )?;
    /// // Since 2026-07-28 a server asks in its answers, not by requests.
    /// let old = Client::builder().revision(Revision::V2025_11_25);
    /// let client = old.capability("roots", json!({})).in_memory(mock).wait()?;
    /// assert!(!client.call_tool("where", json!({})).wait()?.success());
    /// let steps = [Step::received("roots/list"), Step::client_error("roots/list")];
    /// client.snapshot().assert_order(steps);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn client_error(method: &str) -> Step {
        Step::new(Side::Client, StepKind::Error, method)
    }

    /// Expects also that the params, result or error contain this; objects may have more
    /// members.
    ///
    /// ```
    /// # use sparring::{blocking::Wait as _, Client, MockServer, Step};
    /// # use serde_json::json;
    /// # let mock = MockServer::from_yaml("tools: [{name: now, text: noon}]", ".")?;
    /// # let client = Client::in_memory(mock).wait()?;
    /// client.call_tool("now", json!({})).wait()?.assert_success();
    /// let noon = Step::response("tools/call").with(json!({"content": [{"text": "noon"}]}));
    /// client.snapshot().assert_order([noon]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn with(self, body: Value) -> Step {
        Step { body: Some(body), ..self }
    }

    fn new(from: Side, kind: StepKind, method: &str) -> Step {
        Step { from, kind, method: method.to_owned(), body: None }
    }

    fn matches(&self, message: &Message) -> bool {
        let kind = match (message.frame.method(), message.is_error()) {
            (Some(_), _) => StepKind::Method,
            (None, true) => StepKind::Error,
            (None, false) => StepKind::Result,
        };
        (self.from, self.kind) == (message.from, kind)
            && message.method() == Some(&self.method)
            && self.body.as_ref().is_none_or(|expected| {
                let body = message.body().and_then(|body| parse_value(body.bytes()).ok());
                body.is_some_and(|body| {
                    diff::render_json_diff(expected, &body, Comparison::Subset).is_none()
                })
            })
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            StepKind::Method => "",
            StepKind::Result => "answer to ",
            StepKind::Error => "error of ",
        };
        write!(f, "{} {kind}{}", arrow(self.from), self.method)?;
        self.body.as_ref().map_or(Ok(()), |body| write!(f, " with {}", diff::render_short(body)))
    }
}

impl Snapshot {
    /// Checks that these messages were sent in this order; others may be in between.
    ///
    /// ```
    /// # use sparring::{blocking::Wait as _, Client, MockServer, Step};
    /// # use serde_json::json;
    /// # let mock = MockServer::from_yaml("tools: [{name: now, text: noon}]", ".")?;
    /// # let client = Client::in_memory(mock).wait()?;
    /// client.list_tools().wait()?.assert_tool("now");
    /// client.call_tool("now", json!({})).wait()?.assert_success();
    /// client.snapshot().assert_order([Step::response("tools/list"), Step::sent("tools/call")]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// When a step has no message after the one of the step before it, and when there
    /// are no steps.
    #[track_caller]
    pub fn assert_order(&self, steps: impl IntoIterator<Item = Step>) -> &Self {
        let steps: Vec<Step> = steps.into_iter().collect();
        if steps.is_empty() {
            self.fail("`assert_order` needs at least one step");
        }
        let mut next = 0;
        for (index, step) in steps.iter().enumerate() {
            match self[next..].iter().position(|message| step.matches(message)) {
                Some(found) => next += found + 1,
                None => self.fail_order(&steps, index, next),
            }
        }
        self
    }

    /// Checks that exactly these messages were sent, in this order.
    ///
    /// ```
    /// # use sparring::{blocking::Wait as _, Client, MockServer, Step};
    /// # use serde_json::json;
    /// # let mock = MockServer::from_yaml("tools: [{name: now, text: noon}]", ".")?;
    /// # let client = Client::in_memory(mock).wait()?;
    /// client.call_tool("now", json!({})).wait()?.assert_success();
    /// client.snapshot().without_lifecycle().assert_exactly([
    ///     Step::sent("tools/call"),
    ///     Step::response("tools/call"),
    /// ]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// When a message is missing or unexpected. The panic has a diff.
    #[track_caller]
    pub fn assert_exactly(&self, steps: impl IntoIterator<Item = Step>) -> &Self {
        let steps: Vec<Step> = steps.into_iter().collect();
        let matches = |(step, message): (&Step, &Message)| step.matches(message);
        if steps.len() != self.len() || !steps.iter().zip(self.iter()).all(matches) {
            let expected: String = steps.iter().map(|step| format!("{step}\n")).collect();
            // A message that matches a step is rendered as that step, so that the diff
            // shows them as equal.
            let found = self.iter().map(|message| {
                let step = steps.iter().find(|step| step.matches(message));
                let label = step.map_or_else(|| message.label(), ToString::to_string);
                format!("{label}\n")
            });
            let found: String = found.collect();
            let diff = diff::render_line_diff(&expected, &found);
            self.context
                .fail(format_args!("the messages differ\nexpected (-) and found (+):\n{diff}"));
        }
        self
    }

    #[track_caller]
    fn fail_order(&self, steps: &[Step], missing: usize, next: usize) -> ! {
        let step = &steps[missing];
        let before = self[..next].iter().any(|message| step.matches(message));
        let problem = match missing.checked_sub(1) {
            None => "was not found".to_owned(),
            Some(last) if before => format!("was found, but not after {}", steps[last]),
            Some(last) => format!("was not found after {}", steps[last]),
        };
        let lines = steps.iter().enumerate().map(|(index, step)| match index.cmp(&missing) {
            std::cmp::Ordering::Less => format!("\n  ✓ {step}"),
            std::cmp::Ordering::Equal => format!("\n  ✗ {step}"),
            std::cmp::Ordering::Greater => format!("\n    {step}"),
        });
        let lines: String = lines.collect();
        self.fail(format_args!("{step} {problem}\nexpected:{lines}"))
    }
}
