//! How a container is, as both engines tell it.

use serde_json::Value;

use super::error::ContainerError;

/// What follows from the state of a container.
#[derive(Debug)]
pub(super) enum State {
    /// A command can be run in it.
    Ready,
    /// It may become ready; what it waits for.
    Starting(String),
    /// It will not become ready by itself.
    Bad(ContainerError),
}

impl State {
    /// Reads the `State` of `inspect`.
    pub(super) fn read(name: &str, json: &[u8]) -> Option<State> {
        let state = sparring_wire::json::tree(json).ok()?;
        let status = state["Status"].as_str()?;
        Some(match status {
            "running" => running(name, &state),
            "created" | "configured" | "initialized" => {
                State::Starting("it has not been started".to_owned())
            }
            "restarting" => State::Starting("it is being restarted".to_owned()),
            "paused" => State::Bad(ContainerError::Paused { name: name.to_owned() }),
            "exited" | "stopped" => not_running(name, exited(&state)),
            "stopping" => not_running(name, "it is being stopped".to_owned()),
            "removing" => not_running(name, "it is being removed".to_owned()),
            other => not_running(name, format!("its state is {other}")),
        })
    }
}

/// A container that runs may have a health check of its own.
fn running(name: &str, state: &Value) -> State {
    // Podman called it so before version 4.
    let health = [&state["Health"]["Status"], &state["Healthcheck"]["Status"]];
    match health.into_iter().find_map(Value::as_str) {
        Some("starting") => State::Starting("its health check has not succeeded yet".to_owned()),
        Some("unhealthy") => State::Bad(ContainerError::Unhealthy { name: name.to_owned() }),
        _ => State::Ready,
    }
}

fn exited(state: &Value) -> String {
    let code = state["ExitCode"].as_i64().unwrap_or_default();
    format!("it exited with status {code}")
}

fn not_running(name: &str, how: String) -> State {
    State::Bad(ContainerError::NotRunning { name: name.to_owned(), how })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(json: &str, expected: &str) {
        let found = match State::read("web", json.as_bytes()) {
            Some(State::Ready) => "ready".to_owned(),
            Some(State::Starting(how)) => format!("starting: {how}"),
            Some(State::Bad(error)) => error.to_string(),
            None => "unreadable".to_owned(),
        };
        assert_eq!(found, expected, "{json}");
    }

    #[test]
    fn every_state_of_both_engines_has_its_words() {
        check(r#"{"Status":"running"}"#, "ready");
        check(r#"{"Status":"running","Health":{"Status":""}}"#, "ready");
        check(r#"{"Status":"running","Health":{"Status":"none"}}"#, "ready");
        check(r#"{"Status":"running","Health":{"Status":"healthy"}}"#, "ready");
        let unchecked = "starting: its health check has not succeeded yet";
        check(r#"{"Status":"running","Health":{"Status":"starting"}}"#, unchecked);
        check(r#"{"Status":"running","Healthcheck":{"Status":"starting"}}"#, unchecked);
        let unhealthy = "container web is unhealthy: its health check fails";
        check(r#"{"Status":"running","Health":{"Status":"unhealthy"}}"#, unhealthy);
        check(r#"{"Status":"created"}"#, "starting: it has not been started");
        check(r#"{"Status":"restarting"}"#, "starting: it is being restarted");
        check(r#"{"Status":"paused"}"#, "container web is paused");
        let exited = "container web is not running: it exited with status 3";
        check(r#"{"Status":"exited","ExitCode":3}"#, exited);
        check(r#"{"Status":"removing"}"#, "container web is not running: it is being removed");
        check(r#"{"Status":"dead"}"#, "container web is not running: its state is dead");
        check("[]", "unreadable");
        check("", "unreadable");
    }
}
