//! Replies that a program gives.

use std::sync::OnceLock;

use serde_json::json;
use sparring_peer::server::{Answer, Failure};
use sparring_transport::{ChildTarget, Job, Output};
use tokio::time::timeout;

use super::Mock;
use super::facts::Facts;
use super::perform::text_of;
use crate::program::{MOST, Outcome, Program};

impl Mock {
    /// Runs a program, and gives what it says; whatever goes wrong is a result
    /// that says so. It is killed with the request.
    pub(super) async fn run(&self, program: &Program, facts: &Facts<'_>) -> Answer {
        let named = text_of(&program.command, facts)?;
        let target = target(&named, program, facts)?;
        let stderr = OnceLock::new();
        let running = async {
            // None only once it is closed, which it never is.
            let _turn = self.programs.acquire().await.ok();
            let input = input(facts).to_string().into_bytes();
            let mut job = Job::start(&target, input, MOST).map_err(|error| error.to_string())?;
            let (stdout, errors) = (job.stdout().clone(), job.stderr().clone());
            let _ = stderr.set(errors);
            let ended = tokio::select! {
                ended = job.wait() => Some(ended),
                () = stdout.overflowed() => None,
            };
            let said = stdout.whole();
            match (ended, said) {
                (Some(ended), Some(said)) if ended.status == Some(0) => {
                    Outcome::said(said, program.gives)
                }
                (Some(ended), Some(_)) => Err(ended.told),
                _ => Err(format!("it wrote more than {MOST} bytes")),
            }
        };
        let ran = timeout(program.timeout, running).await;
        let ran =
            ran.unwrap_or_else(|_| Err(format!("it did not end within {:?}", program.timeout)));
        let outcome = ran.unwrap_or_else(|why| {
            let said = stderr.get().map(Output::tail).unwrap_or_default();
            Outcome::failed(&named, &why, &said)
        });
        Ok(outcome.into_reply())
    }
}

fn target(named: &str, program: &Program, facts: &Facts<'_>) -> Result<ChildTarget, Failure> {
    // None is the folder in which we are.
    let folder = std::path::absolute(&facts.scene().model.folder).ok();
    // A path is one from the script's folder on, a name is looked for as always.
    let is_path = named.contains(['/', std::path::MAIN_SEPARATOR]);
    let mut target = ChildTarget::new(match &folder {
        Some(folder) if is_path => folder.join(named).to_string_lossy().into_owned(),
        _ => named.to_owned(),
    });
    target.cwd = folder;
    let args = program.args.iter().map(|arg| text_of(arg, facts));
    target.args = args.collect::<Result<_, Failure>>()?;
    for (name, value) in &program.env {
        target.env.insert(name.clone(), text_of(value, facts)?);
    }
    Ok(target)
}

/// What the program gets to read.
fn input(facts: &Facts<'_>) -> serde_json::Value {
    json!({
        "method": facts.cx.method(),
        "name": facts.asked.entry.id,
        "arguments": facts.asked.args(),
        "answers": facts.answers,
        "call": facts.number,
        "revision": facts.cx.revision().name(),
        "client": facts.client(),
    })
}
