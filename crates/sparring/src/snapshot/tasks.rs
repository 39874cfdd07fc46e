//! Checks the statuses of tasks, in the order in which the server reported them.

use sparring_wire::{Json, Side};

use super::message::Message;
use crate::Snapshot;

/// A task in one of these statuses does not change any more (2025-11-25,
/// basic/utilities/tasks#task-status-lifecycle).
const FINAL_STATUSES: [&str; 3] = ["completed", "failed", "cancelled"];

impl Snapshot {
    /// Returns the ids of the tasks that the server reported, in that order.
    ///
    /// ```
    /// # use sparring::{blocking::Wait as _, Client, MockServer};
    /// # use serde_json::json;
    /// # let mock = MockServer::from_yaml(
    /// #     "tools: [{name: sort, result: {task: {taskId: t1, status: working, \
    /// #      ttl: null, createdAt: '2026-01-01T00:00:00Z', \
    /// #      lastUpdatedAt: '2026-01-01T00:00:00Z'}}}]",
    /// #     ".",
    /// # )?;
    /// # let client = Client::in_memory(mock).wait()?;
    /// client.call_tool("sort", json!({})).wait()?.assert_success();
    /// assert_eq!(client.snapshot().tasks(), ["t1"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn tasks(&self) -> Vec<String> {
        let mut ids: Vec<String> = Vec::new();
        for (id, _) in self.statuses() {
            if !ids.contains(&id) {
                ids.push(id);
            }
        }
        ids
    }

    /// Checks the statuses of a task, in order. A status that is repeated counts once.
    /// The statuses come from the response that created the task, from responses to
    /// `tasks/get` and similar requests, and from notifications.
    ///
    /// ```
    /// # use sparring::{Client, MockServer};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let task = r#"{taskId: t1, status: working, createdAt: "2026-01-01T00:00:00Z", lastUpdatedAt: "2026-01-01T00:00:00Z", ttl: null}"#;
    /// # let script = format!("tools: [{{name: sort, result: {{task: {task}}}, after: [\
    /// #     {{notify: {{method: tasks/status, params: {}}}}}]}}]", task.replace("working", "completed"));
    /// # let mock = MockServer::from_yaml(&script, ".")?;
    /// # let client = Client::builder().revision(sparring::Revision::V2025_11_25).in_memory(mock).await?;
    /// client.call_tool("sort", serde_json::json!({})).await?.assert_success();
    /// client.wait_for_notifications(1).method("notifications/tasks/status").await?;
    /// client.snapshot().assert_task("t1", ["working", "completed"]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Panics
    /// When they differ, or when a status follows a final one.
    #[track_caller]
    pub fn assert_task<'s>(&self, id: &str, expected: impl IntoIterator<Item = &'s str>) -> &Self {
        let expected: Vec<&str> = expected.into_iter().collect();
        let mut statuses: Vec<String> = Vec::new();
        for (_, status) in self.statuses().into_iter().filter(|(task, _)| task == id) {
            if statuses.last() != Some(&status) {
                statuses.push(status);
            }
        }
        if statuses.is_empty() {
            let tasks = self.tasks();
            let tasks = if tasks.is_empty() { "none".to_owned() } else { tasks.join(", ") };
            self.fail(format_args!("no task {id:?}\ntasks: {tasks}"));
        }
        let ended = statuses.iter().position(|status| FINAL_STATUSES.contains(&&**status));
        if let Some(after) = ended.and_then(|ended| statuses.get(ended + 1)) {
            let statuses = statuses.join(", ");
            self.fail(format_args!(
                "task {id:?} became {after} after a final status\nstatuses: {statuses}"
            ));
        }
        if statuses != expected {
            let (expected, found) = (expected.join(", "), statuses.join(", "));
            self.fail(format_args!(
                "the statuses of task {id:?} differ\nexpected: {expected}\n   found: {found}"
            ));
        }
        self
    }

    /// Returns all reported pairs of task id and status.
    fn statuses(&self) -> Vec<(String, String)> {
        let from_server = self.iter().filter(|message| message.from == Side::Server);
        from_server.flat_map(parse_statuses).collect()
    }
}

/// Parses the statuses of a message: of the body itself, of `task`, and of `tasks`.
fn parse_statuses(message: &Message) -> Vec<(String, String)> {
    let parse = |json: Json<'_>| {
        let text = |name| json.get(name).and_then(Json::as_str).map(|it| it.into_owned());
        Some((text("taskId")?, text("status")?))
    };
    let Some(body) = message.body() else { return Vec::new() };
    let listed = body.get("tasks").unwrap_or(Json::EMPTY_OBJECT).items();
    [Some(body), body.get("task")].into_iter().flatten().chain(listed).filter_map(parse).collect()
}
