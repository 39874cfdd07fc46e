//! The state of a container, as both engines report it.

use serde_json::Value;

use super::error::ContainerError;

/// The meaning of a container's state for commands in it.
#[derive(Debug)]
pub(super) enum ContainerState {
    /// A command can run.
    Ready,
    /// It may become ready; the text describes its state.
    Starting(String),
    /// It will not become ready.
    Unusable(ContainerError),
}

impl ContainerState {
    /// Parses the `State` of `inspect`.
    pub(super) fn parse(name: &str, json: &[u8]) -> Option<ContainerState> {
        let state = sparring_wire::json::parse_value(json).ok()?;
        let status = state["Status"].as_str()?;
        Some(match status {
            "running" => running_state(name, &state),
            "created" | "configured" | "initialized" => {
                ContainerState::Starting("not started yet".to_owned())
            }
            "restarting" => ContainerState::Starting("restarting".to_owned()),
            "paused" => ContainerState::Unusable(ContainerError::Paused { name: name.to_owned() }),
            "exited" | "stopped" => not_running_state(name, describe_exit(&state)),
            "stopping" => not_running_state(name, "stopping".to_owned()),
            "removing" => not_running_state(name, "removing".to_owned()),
            other => not_running_state(name, format!("state {other}")),
        })
    }
}

/// Returns the state of a running container, which may have a health check.
fn running_state(name: &str, state: &Value) -> ContainerState {
    // Podman used this name before version 4.
    let health = [&state["Health"]["Status"], &state["Healthcheck"]["Status"]];
    match health.into_iter().find_map(Value::as_str) {
        Some("starting") => {
            ContainerState::Starting("the health check has not succeeded yet".to_owned())
        }
        Some("unhealthy") => {
            ContainerState::Unusable(ContainerError::Unhealthy { name: name.to_owned() })
        }
        _ => ContainerState::Ready,
    }
}

fn describe_exit(state: &Value) -> String {
    let code = state["ExitCode"].as_i64().unwrap_or_default();
    format!("exited with status {code}")
}

fn not_running_state(name: &str, how: String) -> ContainerState {
    ContainerState::Unusable(ContainerError::NotRunning { name: name.to_owned(), state: how })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(json: &str, expected: &str) {
        let found = match ContainerState::parse("web", json.as_bytes()) {
            Some(ContainerState::Ready) => "ready".to_owned(),
            Some(ContainerState::Starting(how)) => format!("starting: {how}"),
            Some(ContainerState::Unusable(error)) => error.to_string(),
            None => "unreadable".to_owned(),
        };
        assert_eq!(found, expected, "{json}");
    }

    #[test]
    fn describes_every_state_of_both_engines() {
        check(r#"{"Status":"running"}"#, "ready");
        check(r#"{"Status":"running","Health":{"Status":""}}"#, "ready");
        check(r#"{"Status":"running","Health":{"Status":"none"}}"#, "ready");
        check(r#"{"Status":"running","Health":{"Status":"healthy"}}"#, "ready");
        let unchecked = "starting: the health check has not succeeded yet";
        check(r#"{"Status":"running","Health":{"Status":"starting"}}"#, unchecked);
        check(r#"{"Status":"running","Healthcheck":{"Status":"starting"}}"#, unchecked);
        let unhealthy = "container web is unhealthy: its health check fails";
        check(r#"{"Status":"running","Health":{"Status":"unhealthy"}}"#, unhealthy);
        check(r#"{"Status":"created"}"#, "starting: not started yet");
        check(r#"{"Status":"restarting"}"#, "starting: restarting");
        check(r#"{"Status":"paused"}"#, "container web is paused");
        let exited = "container web is not running: exited with status 3";
        check(r#"{"Status":"exited","ExitCode":3}"#, exited);
        check(r#"{"Status":"removing"}"#, "container web is not running: removing");
        check(r#"{"Status":"dead"}"#, "container web is not running: state dead");
        check("[]", "unreadable");
        check("", "unreadable");
    }
}
