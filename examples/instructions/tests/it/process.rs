//! The program: its environment, its flags, its exit codes.

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;
use std::process::{Command, Stdio};

use instructions::test_support::{ids, initialized_project};
use sparring::{Client, HttpTarget};

use crate::generated::{InstructionsClient, RouteInstructions, SwitchEngine};
use crate::project::{FOLDER, Project};

/// The program in a project whose instructions are in the folder that the variable names.
fn program(project: &Project) -> Command {
    let mut command = program_in(project.root());
    command.env("PONGOGO_KNOWLEDGE_PATH", FOLDER);
    command
}

/// The program in a folder, without settings.
fn program_in(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_instructions-server"));
    for name in ["PONGOGO_KNOWLEDGE_PATH", "PONGOGO_LOG_LEVEL"] {
        command.env_remove(name);
    }
    command.env("PONGOGO_TEST_MODE", "1").current_dir(folder).stdin(Stdio::null());
    command
}

/// Runs the program with an empty stdin, and returns its exit code and its stderr.
fn run(command: &mut Command) -> (Option<i32>, String) {
    let output = command.output().unwrap();
    assert!(output.stdout.is_empty(), "stdout belongs to the protocol");
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn serves_the_project_in_the_working_directory_until_stdin_ends() {
    let project = initialized_project();
    let expected = "INFO serving 9 instructions of .pongogo/instructions\n";
    assert_eq!(run(&mut program_in(project.path())), (Some(0), expected.to_owned()));
}

#[test]
fn the_level_selects_the_logged_lines() {
    let project = Project::with_files(&[("bad.md", b"---\ntitle: [\n---\n")]);
    for (level, serving, warning) in [
        ("debug", true, true),
        ("INFO", true, true),
        ("", true, true),
        ("WARNING", false, true),
        ("error", false, false),
    ] {
        let (code, stderr) = run(program(&project).env("PONGOGO_LOG_LEVEL", level));
        assert_eq!(code, Some(0), "{level}: {stderr}");
        assert_eq!(stderr.contains("INFO serving"), serving, "{level}: {stderr}");
        assert_eq!(
            stderr.contains("WARNING docs/instructions/bad.md:"),
            warning,
            "{level}: {stderr}"
        );
    }
}

#[test]
fn lines_begin_with_the_time_except_in_test_mode() {
    let project = Project::with_samples();
    let (_, timed) = run(program(&project).env_remove("PONGOGO_TEST_MODE"));
    assert!(!timed.starts_with("INFO") && timed.contains("Z INFO serving"), "{timed}");
}

#[test]
fn an_error_about_a_setting_names_its_variable() {
    let project = Project::empty();
    let no_level = "error: PONGOGO_LOG_LEVEL: unknown level `loud`; \
                    expected DEBUG, INFO, WARNING or ERROR\n";
    let wrong = run(program(&project).env("PONGOGO_LOG_LEVEL", "loud"));
    assert_eq!(wrong, (Some(2), no_level.to_owned()));
    let (code, stderr) = run(program(&project).env("PONGOGO_KNOWLEDGE_PATH", "no/where"));
    assert_eq!(code, Some(2));
    let no_folder = "error: set PONGOGO_KNOWLEDGE_PATH or --knowledge to the folder of \
                     instructions: the folder no/where cannot be read: ";
    assert!(stderr.starts_with(no_folder), "{stderr}");
}

#[cfg(unix)]
#[tokio::test]
async fn serves_many_clients_over_http_until_a_signal() {
    let project = Project::with_samples();
    let mut command = program(&project);
    command.args(["--http", "127.0.0.1:0"]).env("PONGOGO_LOG_LEVEL", "ERROR");
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    stderr.read_line(&mut line).unwrap();
    let url = line.trim().strip_prefix("listening on ").unwrap().to_owned();
    let connect = async || {
        let client = Client::connect(HttpTarget::new(&url)).await.unwrap();
        InstructionsClient::new(client)
    };
    let (one, other) = (connect().await, connect().await);
    // All clients share the server's engine.
    one.switch_engine(SwitchEngine::new("durian-0.5")).untyped().await.unwrap().assert_success();
    let routed =
        other.route_instructions(RouteInstructions::new("I'm done")).untyped().await.unwrap();
    assert_eq!(ids(&routed), ["learning/learning-loop"]);
    drop((one, other));
    let ended = Command::new("kill").arg(child.id().to_string()).status().unwrap();
    assert!(ended.success());
    assert_eq!(child.wait().unwrap().code(), Some(0));
    let mut rest = String::new();
    stderr.read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "");
}
