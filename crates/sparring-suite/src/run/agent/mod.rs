//! Runs an agent to its end, and gathers what came of it.

mod case;
mod files;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::Value;
use sparring_script::template::Missing;
use sparring_script::{Path as Name, Scope, Span, Tree, Undefined};
use sparring_transport::{ChildTarget, Ended, Job};
use tokio::time::timeout;

pub(super) use case::Case;
pub(crate) use files::{Found, Look};

use super::scope::{OfServer, OfTest};
use super::settle::settle;
use super::stand_ins::{Listening, StandIns};
use super::test::hold;
use super::{Answer, Heard, World};
use crate::event::{Failure, Story};
use crate::model::{Agent, Facet, Step, Suite, Verb};

/// How long an agent may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// The most lines of what it wrote that a story has.
const LINES: usize = 20;

/// A program that ran to its end.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) ended: Ended,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    /// What was found of the files that are expected, in the order in which
    /// they are.
    pub(crate) files: Vec<Look>,
}

impl Ran {
    /// Its exit status, or the name of the signal that ended it.
    pub(crate) fn exit(&self) -> Value {
        let Ended { status, signal, .. } = &self.ended;
        status.map(Value::from).or(signal.as_deref().map(Value::from)).unwrap_or_default()
    }
}

/// What an agent is run in.
pub(super) struct Around<'a> {
    pub(super) suite: &'a Suite,
    pub(super) world: &'a World,
    pub(super) stand_ins: &'a StandIns,
    pub(super) case: &'a Case,
}

/// Runs the agent of a step, and holds what came of it against what was
/// expected.
///
/// # Errors
/// When it could not be run, or something does not hold.
pub(super) async fn take(
    around: &Around<'_>,
    step: &Step,
    scope: &mut OfTest<'_>,
) -> Result<(), Story> {
    let Verb::Agent { own, input } = &step.verb else { return Err(nobody(step.span)) };
    let agent = own.as_ref().or(around.suite.agent.as_ref()).ok_or_else(|| nobody(step.span))?;
    let input = input.as_ref().map(|input| text(input, scope)).transpose().map_err(missing)?;
    scope.input = around.case.input(input);
    let (target, stdin) = match own {
        Some(own) => prepare(around, own, scope),
        // What stands at the top is described as servers are.
        None => prepare(around, agent, &OfSuite { around, test: scope }),
    }
    .map_err(missing)?;
    let mut listening = Listening::begin(&step.expect, around.stand_ins, None);
    let begun = Instant::now();
    let mut ran = run(&target, stdin, agent, step.span).await?;
    let took = begun.elapsed();
    let mut heard = Heard {
        answer: Answer::Nothing,
        took,
        violations: Vec::new(),
        notifications: Vec::new(),
        requests: Vec::new(),
        stderr: ran.stderr.clone(),
        journals: HashMap::new(),
    };
    let mut listen = |heard: &mut Heard| listening.renew(&mut heard.journals);
    listen(&mut heard);
    // What it wrote itself is all there already.
    if step.expect.0.iter().any(|(_, facet)| matches!(facet, Facet::Journal { .. })) {
        settle(&step.expect, scope, &mut heard, listen).await;
    }
    ran.files = looked(step, scope);
    let ends = (end_of(&ran.stdout), end_of(&ran.stderr));
    heard.answer = Answer::Ran(Box::new(ran));
    let failures = hold(step, &heard, scope);
    match failures.is_empty() {
        true => Ok(()),
        false => Err(Story { failures, stdout: ends.0, stderr: ends.1, ..Story::default() }),
    }
}

/// The agent's command and what it reads, with all holes filled.
fn prepare(
    around: &Around<'_>,
    agent: &Agent,
    scope: &dyn Scope,
) -> Result<(ChildTarget, String), Missing> {
    let folder = &around.suite.folder;
    let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.clone());
    let command = &agent.command;
    let program = at(&folder, text(&command.program, scope)?);
    let args = command.args.iter().map(|arg| text(arg, scope)).collect::<Result<Vec<_>, _>>()?;
    let mut target = ChildTarget::new(program).args(args);
    for (name, value) in &command.env {
        target.env.insert(name.clone(), text(value, scope)?);
    }
    let cwd = command.cwd.as_ref().map(|cwd| text(cwd, scope)).transpose()?.map(PathBuf::from);
    target.cwd = Some(cwd.map_or(folder.clone(), |cwd| folder.join(cwd)));
    let stdin = agent.stdin.as_ref().map(|stdin| text(stdin, scope)).transpose()?;
    Ok((target, stdin.unwrap_or_default()))
}

/// Runs it within its time.
async fn run(target: &ChildTarget, stdin: String, agent: &Agent, span: Span) -> Result<Ran, Story> {
    let within = agent.timeout.unwrap_or(PATIENCE);
    let mut job = Job::start(target, stdin.into_bytes()).map_err(|error| {
        Story::of(Failure::new(span, format!("the agent cannot be run: {error}")))
    })?;
    let ended = match timeout(within, job.wait()).await {
        Ok(ended) => Ok(ended),
        Err(_) => Err(job.stop().await),
    };
    let (stdout, stderr) = (job.stdout().text(), job.stderr().text());
    match ended {
        Ok(ended) => Ok(Ran { ended, stdout, stderr, files: Vec::new() }),
        Err(_) => {
            let message = format!("the agent took longer than {within:?}, and was ended");
            let (stdout, stderr) = (end_of(&stdout), end_of(&stderr));
            Err(Story { stdout, stderr, ..Story::of(Failure::new(span, message)) })
        }
    }
}

/// Looks at the files that are expected.
fn looked(step: &Step, scope: &OfTest<'_>) -> Vec<Look> {
    let folder = scope.folder.path().ok();
    let folder = folder.as_ref().and_then(Value::as_str).map(Path::new);
    let wanted = step.expect.0.iter().filter_map(|(_, facet)| match facet {
        Facet::Files(files) => Some(files),
        _ => None,
    });
    wanted.flatten().map(|files| files::look(folder, files)).collect()
}

/// What stands at the top of a suite, where a name is a variable of the
/// environment, filled for one test.
struct OfSuite<'a> {
    around: &'a Around<'a>,
    test: &'a OfTest<'a>,
}

impl Scope for OfSuite<'_> {
    fn get(&self, path: &Name) -> Result<Value, Undefined> {
        let Around { world, stand_ins, .. } = self.around;
        match path.root() {
            "input" => self.test.get(path),
            _ => OfServer { world, folder: &self.test.folder, mocks: stand_ins.facts() }.get(path),
        }
    }
}

fn text(tree: &Tree, scope: &dyn Scope) -> Result<String, Missing> {
    Ok(match tree.render(scope)? {
        Value::String(text) => text,
        other => other.to_string(),
    })
}

/// A program that is named by a path is looked for from the suite on.
fn at(folder: &Path, program: String) -> String {
    match program.contains('/') {
        true => folder.join(program).display().to_string(),
        false => program,
    }
}

fn missing(missing: Missing) -> Story {
    Story::of(Failure::new(missing.span, missing.undefined.to_string()))
}

fn nobody(span: Span) -> Story {
    Story::of(Failure::new(span, "there is no agent to run"))
}

fn end_of(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(LINES)..].join("\n")
}
