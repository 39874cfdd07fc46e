//! In which order things were said.

use std::fmt;

use serde_json::Value;
use sparring_wire::Side;

use super::Snapshot;
use super::message::{Message, arrow};
use crate::diff::{self, Extent};
use sparring_wire::json::tree;

/// One thing that is to be said.
///
/// ```
/// # use sparring::Step;
/// let progress = Step::received("notifications/progress").with(serde_json::json!({"progress": 1}));
/// assert_eq!(progress.to_string(), "← notifications/progress with {\"progress\":1}");
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    from: Side,
    kind: Kind,
    method: String,
    with: Option<Value>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A request or a notification.
    Said,
    Answer,
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
        Step::new(Side::Client, Kind::Said, method)
    }

    /// The server sends a notification, or a request of its own.
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
    /// let told = Step::received("notifications/progress");
    /// client.snapshot().received().notifications().assert_exactly([told.clone(), told]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn received(method: &str) -> Step {
        Step::new(Side::Server, Kind::Said, method)
    }

    /// The server answers a request with a result.
    ///
    /// ```
    /// # use sparring::{blocking::Wait as _, Client, MockServer, Step};
    /// # use serde_json::json;
    /// # let mock = MockServer::from_yaml("tools: [{name: now, text: noon}]", ".")?;
    /// # let client = Client::in_memory(mock).wait()?;
    /// client.call_tool("now", json!({})).wait()?.assert_success();
    /// client.snapshot().assert_order([Step::sent("tools/call"), Step::answer("tools/call")]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn answer(method: &str) -> Step {
        Step::new(Side::Server, Kind::Answer, method)
    }

    /// The server answers a request with an error.
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
        Step::new(Side::Server, Kind::Error, method)
    }

    /// The client answers a request of the server with a result.
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
    /// let steps = [Step::received("roots/list"), Step::answered("roots/list")];
    /// client.snapshot().assert_order(steps);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn answered(method: &str) -> Step {
        Step::new(Side::Client, Kind::Answer, method)
    }

    /// The client answers a request of the server with an error.
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
    /// let steps = [Step::received("roots/list"), Step::refused("roots/list")];
    /// client.snapshot().assert_order(steps);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn refused(method: &str) -> Step {
        Step::new(Side::Client, Kind::Error, method)
    }

    /// The same, carrying this: its params, result or error have it, in objects
    /// whatever else they have.
    ///
    /// ```
    /// # use sparring::{blocking::Wait as _, Client, MockServer, Step};
    /// # use serde_json::json;
    /// # let mock = MockServer::from_yaml("tools: [{name: now, text: noon}]", ".")?;
    /// # let client = Client::in_memory(mock).wait()?;
    /// client.call_tool("now", json!({})).wait()?.assert_success();
    /// let noon = Step::answer("tools/call").with(json!({"content": [{"text": "noon"}]}));
    /// client.snapshot().assert_order([noon]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn with(self, body: Value) -> Step {
        Step { with: Some(body), ..self }
    }

    fn new(from: Side, kind: Kind, method: &str) -> Step {
        Step { from, kind, method: method.to_owned(), with: None }
    }

    fn fits(&self, message: &Message) -> bool {
        let kind = match (message.frame.method(), message.is_error()) {
            (Some(_), _) => Kind::Said,
            (None, true) => Kind::Error,
            (None, false) => Kind::Answer,
        };
        (self.from, self.kind) == (message.from, kind)
            && message.method() == Some(&self.method)
            && self.with.as_ref().is_none_or(|with| {
                let body = message.body().and_then(|body| tree(body.bytes()).ok());
                body.is_some_and(|body| diff::values(with, &body, Extent::Subset).is_none())
            })
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            Kind::Said => "",
            Kind::Answer => "answer to ",
            Kind::Error => "error of ",
        };
        write!(f, "{} {kind}{}", arrow(self.from), self.method)?;
        self.with.as_ref().map_or(Ok(()), |with| write!(f, " with {}", diff::short(with)))
    }
}

impl Snapshot {
    /// Checks that these things were said in this order, whatever else was said
    /// between them.
    ///
    /// ```
    /// # use sparring::{blocking::Wait as _, Client, MockServer, Step};
    /// # use serde_json::json;
    /// # let mock = MockServer::from_yaml("tools: [{name: now, text: noon}]", ".")?;
    /// # let client = Client::in_memory(mock).wait()?;
    /// client.list_tools().wait()?.assert_tool("now");
    /// client.call_tool("now", json!({})).wait()?.assert_success();
    /// client.snapshot().assert_order([Step::answer("tools/list"), Step::sent("tools/call")]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// When one of them was not said after the one before it, and when there are
    /// no steps.
    #[track_caller]
    pub fn assert_order(&self, steps: impl IntoIterator<Item = Step>) -> &Self {
        let steps: Vec<Step> = steps.into_iter().collect();
        if steps.is_empty() {
            self.fail("no steps: nothing would be checked");
        }
        let mut next = 0;
        for (index, step) in steps.iter().enumerate() {
            match self[next..].iter().position(|message| step.fits(message)) {
                Some(found) => next += found + 1,
                None => self.misordered(&steps, index, next),
            }
        }
        self
    }

    /// Checks that these things were said in this order, and nothing else.
    ///
    /// ```
    /// # use sparring::{blocking::Wait as _, Client, MockServer, Step};
    /// # use serde_json::json;
    /// # let mock = MockServer::from_yaml("tools: [{name: now, text: noon}]", ".")?;
    /// # let client = Client::in_memory(mock).wait()?;
    /// client.call_tool("now", json!({})).wait()?.assert_success();
    /// client.snapshot().without_lifecycle().assert_exactly([
    ///     Step::sent("tools/call"),
    ///     Step::answer("tools/call"),
    /// ]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// When something else was said, or something not; the message shows both
    /// beside each other.
    #[track_caller]
    pub fn assert_exactly(&self, steps: impl IntoIterator<Item = Step>) -> &Self {
        let steps: Vec<Step> = steps.into_iter().collect();
        let fits = |(step, message): (&Step, &Message)| step.fits(message);
        if steps.len() != self.len() || !steps.iter().zip(self.iter()).all(fits) {
            let expected: String = steps.iter().map(|step| format!("{step}\n")).collect();
            // A message that fits its step is written as the step is.
            let found = self.iter().map(|message| {
                let step = steps.iter().find(|step| step.fits(message));
                let label = step.map_or_else(|| message.label(), ToString::to_string);
                format!("{label}\n")
            });
            let found: String = found.collect();
            let both = diff::lines(&expected, &found);
            self.scene
                .fail(format_args!("something else was said\nexpected (-) and found (+):\n{both}"));
        }
        self
    }

    #[track_caller]
    fn misordered(&self, steps: &[Step], missed: usize, next: usize) -> ! {
        let step = &steps[missed];
        let before = self[..next].iter().any(|message| step.fits(message));
        let after = match missed.checked_sub(1) {
            None => "was never said".to_owned(),
            Some(last) if before => format!("was said, but not after {}", steps[last]),
            Some(last) => format!("was not said after {}", steps[last]),
        };
        let told = steps.iter().enumerate().map(|(index, step)| match index.cmp(&missed) {
            std::cmp::Ordering::Less => format!("\n  ✓ {step}"),
            std::cmp::Ordering::Equal => format!("\n  ✗ {step}"),
            std::cmp::Ordering::Greater => format!("\n    {step}"),
        });
        let told: String = told.collect();
        self.fail(format_args!("{step} {after}\nexpected:{told}"))
    }
}
