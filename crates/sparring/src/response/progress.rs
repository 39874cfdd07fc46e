//! How far a request came before its answer, as the server told it: checked in
//! the order it was told.

use std::ops::Deref;

use sparring_peer::client::Progress;
use sparring_wire::{Entry, Frame, Json, RawJson, Side};

use super::Response;
use crate::Content;
use crate::scene::Scene;

/// The progress of one request, in the order the server told it.
///
/// ```
/// # use sparring::{Client, MockServer};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let mock = MockServer::from_yaml(
/// #     "tools: [{name: copy, text: done, during: [\
/// #      {progress: {progress: 1, total: 2, message: half}}, {progress: {progress: 2, total: 2}}]}]",
/// #     ".",
/// # )?;
/// let client = Client::in_memory(mock).await?;
/// let copy = client.call_tool("copy", serde_json::json!({})).on_progress(|_| ()).await?;
/// copy.progress().assert_count(2).assert_in_order().assert_total(2.0);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
#[must_use = "progress says nothing until it is checked"]
pub struct Reports {
    reports: Vec<Progress>,
    /// How many of them came before the answer.
    before: usize,
    asked: String,
    scene: Scene,
}

impl Response {
    /// The progress that the server told of this request. Only a request that
    /// asks for it, by [`on_progress`](crate::client::Call::on_progress), has any.
    ///
    /// ```
    /// # use sparring::{blocking::Wait as _, Client, MockServer};
    /// # use serde_json::json;
    /// # let mock = MockServer::from_yaml(
    /// #     "tools: [{name: copy, text: done, during: [{progress: 1}, {progress: 2}]}]",
    /// #     ".",
    /// # )?;
    /// # let client = Client::in_memory(mock).wait()?;
    /// let copy = client.call_tool("copy", json!({})).on_progress(|_| ()).wait()?;
    /// let told: Vec<f64> = copy.progress().iter().map(|report| report.progress).collect();
    /// assert_eq!(told, [1.0, 2.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn progress(&self) -> Reports {
        let entries = self.scene.transcript().entries();
        let token = self.asking(&entries).and_then(|asking| token(&asking.frame));
        let mut reports = Reports {
            reports: Vec::new(),
            before: 0,
            asked: self.asked.clone(),
            scene: self.scene.clone(),
        };
        let Some(token) = token else { return reports };
        let answer = entries.iter().rposition(|entry| entry.frame == *self.raw());
        for (index, entry) in entries.iter().enumerate() {
            let told = read(&entry.frame, &token).filter(|_| entry.from == Side::Server);
            reports.reports.extend(told);
            if Some(index) == answer {
                reports.before = reports.reports.len();
            }
        }
        reports
    }

    /// The request that this is the answer to, as it was recorded.
    fn asking<'a>(&self, entries: &'a [Entry]) -> Option<&'a Entry> {
        entries.iter().rev().find(|entry| {
            entry.from == Side::Client
                && entry.frame.method() == Some(self.method())
                && entry.frame.id() == self.raw().id()
        })
    }
}

/// The token by which a request asked for progress.
fn token(request: &Frame) -> Option<RawJson> {
    request.params()?.at(&["_meta", "progressToken"]).map(RawJson::from)
}

fn read(frame: &Frame, token: &RawJson) -> Option<Progress> {
    let params = frame.params().filter(|_| frame.method() == Some("notifications/progress"))?;
    params.get("progressToken").filter(|found| *found == token.view())?;
    Some(Progress {
        progress: params.get("progress").and_then(Json::as_f64)?,
        total: params.get("total").and_then(Json::as_f64),
        message: params.get("message").and_then(Json::as_str).map(Into::into),
    })
}

impl Reports {
    /// Checks how often the server told of progress.
    ///
    /// ```
    /// # use sparring::{blocking::Wait as _, Client, MockServer};
    /// # use serde_json::json;
    /// # let mock = MockServer::from_yaml(
    /// #     "tools: [{name: copy, text: done, during: [{progress: 1}, {progress: 2}]}]",
    /// #     ".",
    /// # )?;
    /// # let client = Client::in_memory(mock).wait()?;
    /// let copy = client.call_tool("copy", json!({})).on_progress(|_| ()).wait()?;
    /// copy.progress().assert_count(2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// When it was another number of times.
    #[track_caller]
    pub fn assert_count(&self, count: usize) -> &Self {
        if self.len() != count {
            self.fail(format_args!(
                "expected progress {count} times, it came {} times",
                self.len()
            ));
        }
        self
    }

    /// Checks that there is progress, that each tells of more than the one
    /// before, that none goes beyond its total, and that none came after the
    /// answer.
    ///
    /// ```
    /// # use sparring::{blocking::Wait as _, Client, MockServer};
    /// # use serde_json::json;
    /// # let mock = MockServer::from_yaml(
    /// #     "tools: [{name: copy, text: done, during: [{progress: 1}, {progress: 2}]}]",
    /// #     ".",
    /// # )?;
    /// # let client = Client::in_memory(mock).wait()?;
    /// let copy = client.call_tool("copy", json!({})).on_progress(|_| ()).wait()?;
    /// copy.progress().assert_in_order();
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// When one of these does not hold; the message says which.
    #[track_caller]
    pub fn assert_in_order(&self) -> &Self {
        if self.is_empty() {
            self.fail("expected progress, none came");
        }
        for pair in self.windows(2) {
            let (one, next) = (pair[0].progress, pair[1].progress);
            if next <= one {
                self.fail(format_args!("progress went from {one} to {next}"));
            }
        }
        if let Some((progress, total)) = self
            .iter()
            .find_map(|it| Some((it.progress, it.total.filter(|it_| it.progress > *it_)?)))
        {
            self.fail(format_args!("progress is {progress} of {total}"));
        }
        if self.before < self.len() {
            self.fail(format_args!("{} came after the answer", self.len() - self.before));
        }
        self
    }

    /// Checks that each names this total.
    ///
    /// ```
    /// # use sparring::{blocking::Wait as _, Client, MockServer};
    /// # use serde_json::json;
    /// # let mock = MockServer::from_yaml(
    /// #     "tools: [{name: copy, text: done, during: [{progress: {progress: 1, \
    /// #      total: 2, message: half}}, \
    /// #      {progress: {progress: 2, total: 2, message: all}}]}]",
    /// #     ".",
    /// # )?;
    /// # let client = Client::in_memory(mock).wait()?;
    /// let copy = client.call_tool("copy", json!({})).on_progress(|_| ()).wait()?;
    /// copy.progress().assert_total(2.0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// When one names another, or none, and when there is no progress.
    #[track_caller]
    pub fn assert_total(&self, total: f64) -> &Self {
        if self.is_empty() || self.iter().any(|report| report.total != Some(total)) {
            self.fail(format_args!("expected progress of {total} each time"));
        }
        self
    }

    /// Checks what is said with each, in order; there are no others.
    ///
    /// ```
    /// # use sparring::{blocking::Wait as _, Client, MockServer};
    /// # use serde_json::json;
    /// # let mock = MockServer::from_yaml(
    /// #     "tools: [{name: copy, text: done, during: [{progress: {progress: 1, \
    /// #      total: 2, message: half}}, \
    /// #      {progress: {progress: 2, total: 2, message: all}}]}]",
    /// #     ".",
    /// # )?;
    /// # let client = Client::in_memory(mock).wait()?;
    /// let copy = client.call_tool("copy", json!({})).on_progress(|_| ()).wait()?;
    /// copy.progress().assert_messages(["half", "all"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// When something else is said, or another number of times.
    #[track_caller]
    pub fn assert_messages<C: Into<Content>>(
        &self,
        expected: impl IntoIterator<Item = C>,
    ) -> &Self {
        let expected: Vec<Content> = expected.into_iter().map(Into::into).collect();
        self.assert_count(expected.len());
        for (index, (content, report)) in expected.iter().zip(self.iter()).enumerate() {
            let said = report.message.as_deref().unwrap_or_default();
            if let Err(mismatch) = content.matches(said) {
                self.fail(format_args!("progress {} says something else\n{mismatch}", index + 1));
            }
        }
        self
    }

    #[track_caller]
    fn fail(&self, what: impl std::fmt::Display) -> ! {
        let told = self.iter().enumerate().map(|(index, report)| {
            let Progress { progress, total, message } = report;
            let total = total.map(|total| format!(" of {total}")).unwrap_or_default();
            let message = message.as_ref().map(|it| format!(" {it:?}")).unwrap_or_default();
            let late = if index < self.before { "" } else { ", after the answer" };
            format!("\n  {progress}{total}{message}{late}")
        });
        let told: String = told.collect();
        let told = if told.is_empty() { " none".to_owned() } else { told };
        self.scene.fail(format_args!("{}: {what}\nprogress:{told}", self.asked))
    }
}

impl Deref for Reports {
    type Target = [Progress];

    fn deref(&self) -> &[Progress] {
        &self.reports
    }
}
