//! The progress notifications of a request, and their checks.

use std::ops::Deref;

use sparring_peer::client::Progress;
use sparring_wire::{Entry, Frame, Json, RawJson, Side};

use crate::failure_context::FailureContext;
use crate::{Content, Response};

/// The progress of one request, in the order in which the server reported it.
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
#[must_use = "check the progress"]
pub struct ProgressReports {
    reports: Vec<Progress>,
    /// The number of reports before the response.
    before_response: usize,
    label: String,
    context: FailureContext,
}

impl Response {
    /// Returns the progress that the server reported for this request. Only a request
    /// with [`on_progress`](crate::client::Call::on_progress) has any.
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
    /// let values: Vec<f64> = copy.progress().iter().map(|report| report.progress).collect();
    /// assert_eq!(values, [1.0, 2.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn progress(&self) -> ProgressReports {
        let entries = self.context.transcript().entries();
        let token = self.find_request(&entries).and_then(|entry| progress_token(&entry.frame));
        let mut reports = ProgressReports {
            reports: Vec::new(),
            before_response: 0,
            label: self.label.clone(),
            context: self.context.clone(),
        };
        let Some(token) = token else { return reports };
        let response = entries.iter().rposition(|entry| entry.frame == *self.raw());
        for (index, entry) in entries.iter().enumerate() {
            let report = parse_progress(&entry.frame, &token);
            reports.reports.extend(report.filter(|_| entry.from == Side::Server));
            if Some(index) == response {
                reports.before_response = reports.reports.len();
            }
        }
        reports
    }

    /// Finds the request of this response in the transcript.
    fn find_request<'a>(&self, entries: &'a [Entry]) -> Option<&'a Entry> {
        entries.iter().rev().find(|entry| {
            entry.from == Side::Client
                && entry.frame.method() == Some(self.method())
                && entry.frame.id() == self.raw().id()
        })
    }
}

fn progress_token(request: &Frame) -> Option<RawJson> {
    request.params()?.get_path(&["_meta", "progressToken"]).map(RawJson::from)
}

fn parse_progress(frame: &Frame, token: &RawJson) -> Option<Progress> {
    let params = frame.params().filter(|_| frame.method() == Some("notifications/progress"))?;
    params.get("progressToken").filter(|found| *found == token.view())?;
    Some(Progress {
        progress: params.get("progress").and_then(Json::as_f64)?,
        total: params.get("total").and_then(Json::as_f64),
        message: params.get("message").and_then(Json::as_str).map(Into::into),
    })
}

impl ProgressReports {
    /// Checks the number of progress reports.
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
    /// When the number differs.
    #[track_caller]
    pub fn assert_count(&self, count: usize) -> &Self {
        if self.len() != count {
            self.fail(format_args!("expected {count} progress reports, found {}", self.len()));
        }
        self
    }

    /// Checks that there is progress, that it increases, that it does not exceed the
    /// total, and that none came after the response.
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
    /// When one of these does not hold.
    #[track_caller]
    pub fn assert_in_order(&self) -> &Self {
        if self.is_empty() {
            self.fail("expected progress, found none");
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
            self.fail(format_args!("progress {progress} exceeds the total {total}"));
        }
        if self.before_response < self.len() {
            self.fail(format_args!(
                "{} progress reports came after the response",
                self.len() - self.before_response
            ));
        }
        self
    }

    /// Checks that every report has this total.
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
    /// When a report has another total or none, and when there is no progress.
    #[track_caller]
    pub fn assert_total(&self, total: f64) -> &Self {
        if self.is_empty() || self.iter().any(|report| report.total != Some(total)) {
            self.fail(format_args!("expected total {total} in every progress report"));
        }
        self
    }

    /// Checks the messages of all reports, in order.
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
    /// When a message does not match, or the number of reports differs.
    #[track_caller]
    pub fn assert_messages<C: Into<Content>>(
        &self,
        expected: impl IntoIterator<Item = C>,
    ) -> &Self {
        let expected: Vec<Content> = expected.into_iter().map(Into::into).collect();
        self.assert_count(expected.len());
        for (index, (content, report)) in expected.iter().zip(self.iter()).enumerate() {
            let message = report.message.as_deref().unwrap_or_default();
            if let Err(mismatch) = content.matches(message) {
                let number = index + 1;
                self.fail(format_args!("message of progress report {number} differs\n{mismatch}"));
            }
        }
        self
    }

    #[track_caller]
    fn fail(&self, failure: impl std::fmt::Display) -> ! {
        let lines = self.iter().enumerate().map(|(index, report)| {
            let Progress { progress, total, message } = report;
            let total = total.map(|total| format!(" of {total}")).unwrap_or_default();
            let message = message.as_ref().map(|it| format!(" {it:?}")).unwrap_or_default();
            let late = if index < self.before_response { "" } else { ", after the response" };
            format!("\n  {progress}{total}{message}{late}")
        });
        let lines: String = lines.collect();
        let lines = if lines.is_empty() { " none".to_owned() } else { lines };
        self.context.fail(format_args!("{}: {failure}\nprogress:{lines}", self.label))
    }
}

impl Deref for ProgressReports {
    type Target = [Progress];

    fn deref(&self) -> &[Progress] {
        &self.reports
    }
}
