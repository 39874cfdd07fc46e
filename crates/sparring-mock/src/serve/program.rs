//! Replies with the output of a program.

use std::sync::OnceLock;

use serde_json::json;
use sparring_peer::server::{HandlerError, HandlerResult};
use sparring_transport::{ChildTarget, Job, Output};
use tokio::time::timeout;

use super::MockHandler;
use super::answer::render_text;
use super::template_scope::RequestScope;
use crate::program::{MAX_OUTPUT_BYTES, Program, ProgramResult};

impl MockHandler {
    /// Runs a program and converts its output; a failure becomes a result with `isError`. The
    /// program is killed if the request is cancelled.
    pub(super) async fn run_program(
        &self,
        program: &Program,
        scope: &RequestScope<'_>,
    ) -> HandlerResult {
        let command = render_text(&program.command, scope)?;
        let target = child_target(&command, program, scope)?;
        let stderr = OnceLock::new();
        let running = async {
            // `None` only if the semaphore is closed, which never happens.
            let _permit = self.programs.acquire().await.ok();
            let input = stdin_json(scope).to_string().into_bytes();
            let mut job =
                Job::start(&target, input, MAX_OUTPUT_BYTES).map_err(|error| error.to_string())?;
            let (stdout, errors) = (job.stdout().clone(), job.stderr().clone());
            let _ = stderr.set(errors);
            let ended = tokio::select! {
                ended = job.wait() => Some(ended),
                () = stdout.wait_for_overflow() => None,
            };
            match (ended, stdout.complete_bytes()) {
                (Some(ended), Some(output)) if ended.status == Some(0) => {
                    ProgramResult::from_output(output, program.format)
                }
                (Some(ended), Some(_)) => Err(ended.description),
                _ => Err(format!("it wrote more than {MAX_OUTPUT_BYTES} bytes")),
            }
        };
        let ran = timeout(program.timeout, running).await;
        let ran =
            ran.unwrap_or_else(|_| Err(format!("it did not exit within {:?}", program.timeout)));
        let outcome = ran.unwrap_or_else(|why| {
            let stderr = stderr.get().map(Output::tail).unwrap_or_default();
            ProgramResult::from_failure(&command, &why, &stderr)
        });
        Ok(outcome.into_reply())
    }
}

fn child_target(
    command: &str,
    program: &Program,
    scope: &RequestScope<'_>,
) -> Result<ChildTarget, HandlerError> {
    // `None` means the current folder.
    let folder = std::path::absolute(&scope.script().model.folder).ok();
    // A path is relative to the folder of the script; a name is looked up in `PATH`.
    let is_path = command.contains(['/', std::path::MAIN_SEPARATOR]);
    let mut target = ChildTarget::new(match &folder {
        Some(folder) if is_path => folder.join(command).to_string_lossy().into_owned(),
        _ => command.to_owned(),
    });
    target.cwd = folder;
    let args = program.args.iter().map(|arg| render_text(arg, scope));
    target.args = args.collect::<Result<_, HandlerError>>()?;
    for (name, value) in &program.env {
        target.env.insert(name.clone(), render_text(value, scope)?);
    }
    Ok(target)
}

/// Returns the JSON that the program gets on stdin.
fn stdin_json(scope: &RequestScope<'_>) -> serde_json::Value {
    json!({
        "method": scope.cx.method(),
        "name": scope.request.entry.id,
        "arguments": scope.request.args(),
        "answers": scope.answers,
        "call": scope.number,
        "revision": scope.cx.revision().name(),
        "client": scope.client(),
    })
}
