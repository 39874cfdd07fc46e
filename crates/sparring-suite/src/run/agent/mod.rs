//! Runs an agent to its end, and gathers what came of it.

mod case;
mod files;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value;
use sparring_script::template::Missing;
use sparring_script::{Path as Name, Scope, Span, Tree, Undefined};
use sparring_transport::{ChildTarget, Job, JobEnd};
use tokio::time::timeout;

pub(super) use case::Case;
pub(crate) use files::{Found, Look};

use super::open::{absolute, at};
use super::scope::{OfServer, OfTest};
use super::settle::{PATIENCE as SETTLING, settle};
use super::stand_ins::{Listening, Marks};
use super::walk::end_of;
use super::{Answer, Heard, World};
use crate::event::{Failure, Story};
use crate::hide;
use crate::model::{Agent, Facet, Step, Suite, Verb};

/// How much is kept of what an agent writes to its stdout, and to its stderr.
const OUTPUT: usize = 1024 * 1024;

/// How long an agent may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// A program that ran to its end.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) ended: JobEnd,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    /// What was found of the files that are expected, in the order in which
    /// they are.
    pub(crate) files: Vec<Look>,
}

impl Ran {
    /// Its exit status, or the name of the signal that ended it.
    pub(crate) fn exit(&self) -> Value {
        let JobEnd { status, signal, .. } = &self.ended;
        status.map(Value::from).or(signal.as_deref().map(Value::from)).unwrap_or_default()
    }
}

/// What an agent is run in.
pub(super) struct Around<'a> {
    pub(super) suite: &'a Suite,
    pub(super) case: &'a Case,
    pub(super) marks: &'a Marks,
}

/// Runs the agent of a step, and waits for what is expected of it.
///
/// # Errors
/// When it could not be run to its end.
pub(super) async fn perform(
    around: &Around<'_>,
    step: &Step,
    scope: &mut OfTest<'_>,
) -> Result<Heard, Story> {
    let Verb::Agent { own, input } = &step.verb else { return Err(nobody(step.span)) };
    let suite = around.suite;
    let agent = own.as_ref().or(suite.agent.as_ref()).ok_or_else(|| nobody(step.span))?;
    scope.input = None;
    let input = input.as_ref().map(|input| text(input, scope)).transpose().map_err(missing)?;
    scope.input = around.case.input(input);
    let (target, stdin) = match own {
        Some(own) => prepare(suite, own, scope.world, scope),
        // What stands at the top is described as servers are.
        None => prepare(suite, agent, scope.world, &OfSuite(scope)),
    }
    .map_err(missing)?;
    let stand_ins = Arc::clone(&scope.stand_ins);
    let mut listening = Listening::begin(&step.expect, &stand_ins, None, around.marks);
    let begun = Instant::now();
    let mut ran = run(&target, stdin, agent, step.span).await?;
    let mut heard = Heard {
        unchecked: None,
        asked: None,
        answer: Answer::Nothing,
        took: begun.elapsed(),
        violations: Vec::new(),
        notifications: Vec::new(),
        requests: Vec::new(),
        frames: Vec::new(),
        response: None,
        over_http: false,
        stderr: ran.stderr.clone(),
        journals: HashMap::new(),
    };
    let mut listen = |heard: &mut Heard| {
        listening.renew(&mut heard.journals);
        heard.violations.extend(listening.misses());
    };
    listen(&mut heard);
    // What it wrote itself is all there already.
    if step.expect.0.iter().any(|(_, facet)| matches!(facet, Facet::Journal { .. })) {
        settle(&step.expect, SETTLING, scope, &mut heard, listen).await;
    }
    ran.files = looked(step, scope);
    heard.answer = Answer::Ran(Box::new(ran));
    Ok(heard)
}

/// The story of an agent of which something does not hold.
pub(super) fn story(failures: Vec<Failure>, heard: &Heard) -> Story {
    let ends = heard.answer.ran().map(|ran| (end_of(&ran.stdout), end_of(&ran.stderr)));
    let (stdout, stderr) = ends.unwrap_or_default();
    Story { failures, stdout, stderr, ..Story::default() }
}

/// The agent's command and what it reads, with all holes filled.
fn prepare(
    suite: &Suite,
    agent: &Agent,
    world: &World,
    scope: &dyn Scope,
) -> Result<(ChildTarget, String), Missing> {
    let folder = absolute(suite.folder_of(agent.span));
    let command = &agent.command;
    let program = at(&folder, text(&command.program, scope)?);
    let args = command.args.iter().map(|arg| text(arg, scope)).collect::<Result<Vec<_>, _>>()?;
    let mut target = ChildTarget::new(program).args(args);
    for (name, tree) in &command.env {
        let value = text(tree, scope)?;
        hide::entry(world, name, tree, &value);
        target.env.insert(name.clone(), value);
    }
    let cwd = command.cwd.as_ref().map(|cwd| text(cwd, scope)).transpose()?.map(PathBuf::from);
    target.cwd = Some(cwd.map_or(folder.clone(), |cwd| folder.join(cwd)));
    let stdin = agent.stdin.as_ref().map(|stdin| text(stdin, scope)).transpose()?;
    Ok((target, stdin.unwrap_or_default()))
}

/// Runs it within its time.
async fn run(target: &ChildTarget, stdin: String, agent: &Agent, span: Span) -> Result<Ran, Story> {
    let within = agent.timeout.unwrap_or(PATIENCE);
    let mut job = Job::start(target, stdin.into_bytes(), OUTPUT).map_err(|error| {
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
struct OfSuite<'a>(&'a OfTest<'a>);

impl Scope for OfSuite<'_> {
    fn get(&self, path: &Name) -> Result<Value, Undefined> {
        let OfTest { world, folder, stand_ins, .. } = self.0;
        match path.root() {
            "input" => self.0.get(path),
            _ => OfServer { world, folder, mocks: stand_ins.facts() }.get(path),
        }
    }
}

fn text(tree: &Tree, scope: &dyn Scope) -> Result<String, Missing> {
    Ok(match tree.render(scope)? {
        Value::String(text) => text,
        other => other.to_string(),
    })
}

fn missing(missing: Missing) -> Story {
    Story::of(Failure::new(missing.span, missing.undefined.to_string()))
}

fn nobody(span: Span) -> Story {
    Story::of(Failure::new(span, "there is no agent to run"))
}
