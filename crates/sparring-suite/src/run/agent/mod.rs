//! Runs an agent, and collects its result.

mod files;
mod test_case;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value;
use sparring_script::template::RenderError;
use sparring_script::{Path as Name, Scope, Span, TemplateTree, UndefinedPath};
use sparring_transport::{ChildTarget, Job};
use tokio::time::sleep;

pub(super) use test_case::TestCase;

use super::connect::{absolute, resolve_program};
use super::mocks::{JournalPositions, JournalReader, MISFIT_GRACE};
use super::scope::{ServerScope, TestScope};
use super::step_runner::last_lines;
use super::wait_for::{self, WAIT_TIMEOUT};
use crate::context::RunContext;
use crate::event::{FailedTry, Failure};
use crate::hide;
use crate::judge;
use crate::model::{Agent, Collection, Expectation, Step, Suite, Verb};
use crate::step_result::{AgentResult, Answer, FileMatches, StepResult};

/// The maximum number of bytes of an agent's stdout, and of its stderr.
const MAX_OUTPUT_BYTES: usize = 1024 * 1024;

/// The default timeout of an agent.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(60);

/// The suite, the case and the journal positions of an agent step.
pub(super) struct AgentStep<'a> {
    pub(super) suite: &'a Suite,
    pub(super) case: &'a TestCase,
    pub(super) journal_positions: &'a JournalPositions,
}

/// Runs the agent of a step, and waits until the journals meet the expectations.
///
/// # Errors
/// When the agent does not start or does not end in time.
pub(super) async fn run(
    agent_step: &AgentStep<'_>,
    step: &Step,
    scope: &mut TestScope<'_>,
) -> Result<StepResult, FailedTry> {
    let Verb::Agent { own, input } = &step.verb else { return Err(no_agent(step.span)) };
    let suite = agent_step.suite;
    let agent = own.as_ref().or(suite.agent.as_ref()).ok_or_else(|| no_agent(step.span))?;
    scope.input = None;
    let input = input.as_ref().map(|input| text(input, scope)).transpose().map_err(missing)?;
    scope.input = agent_step.case.input(input);
    let (target, stdin) = match own {
        Some(own) => prepare(suite, own, scope.context, scope),
        // In the suite's agent, a name is an environment variable, as in a server's description.
        None => prepare(suite, agent, scope.context, &SuiteAgentScope(scope)),
    }
    .map_err(missing)?;
    let mocks = Arc::clone(&scope.mocks);
    let mut journals = JournalReader::new(&step.expect, &mocks, None, agent_step.journal_positions);
    let begun = Instant::now();
    // A step that expects violations waits for the agent's own end.
    let stuck = async {
        match step.expect.checks_items(Collection::Violations) {
            true => std::future::pending().await,
            false => mocks.stuck().await,
        }
    };
    let ended = run_to_end(&target, stdin, agent, step.span, stuck).await;
    let mut agent_result = ended.map_err(|mut failed| {
        // A misfit is the likely cause, so it comes first.
        let misfits = judge::violation_failures(step.span, journals.take_misfits().iter());
        failed.failures.splice(0..0, misfits);
        failed
    })?;
    let mut result = StepResult {
        stderr: agent_result.stderr.clone(),
        ..StepResult::new(Answer::Nothing, begun.elapsed())
    };
    let mut update = |result: &mut StepResult| {
        journals.update(&mut result.journals);
        result.violations.extend(journals.take_misfits());
    };
    update(&mut result);
    // The agent's own output is complete; only journals may grow.
    if step
        .expect
        .0
        .iter()
        .any(|(_, expectation)| matches!(expectation, Expectation::Journal { .. }))
    {
        wait_for::expected(&step.expect, WAIT_TIMEOUT, scope, &mut result, update).await;
    }
    agent_result.files = find_files(step, scope);
    result.answer = Answer::Agent(Box::new(agent_result));
    Ok(result)
}

/// The details of an agent step that failed.
pub(super) fn failed_try(failures: Vec<Failure>, result: &StepResult) -> FailedTry {
    let agent = result.answer.agent();
    let ends = agent.map(|agent| (last_lines(&agent.stdout), last_lines(&agent.stderr)));
    let (stdout, stderr) = ends.unwrap_or_default();
    FailedTry { failures, stdout, stderr, ..FailedTry::default() }
}

/// Renders the agent's command and its stdin.
fn prepare(
    suite: &Suite,
    agent: &Agent,
    context: &RunContext,
    scope: &dyn Scope,
) -> Result<(ChildTarget, String), RenderError> {
    let folder = absolute(suite.folder_of(agent.span));
    let command = &agent.command;
    let program = resolve_program(&folder, text(&command.program, scope)?);
    let args = command.args.iter().map(|arg| text(arg, scope)).collect::<Result<Vec<_>, _>>()?;
    let mut target = ChildTarget::new(program).args(args);
    for (name, tree) in &command.env {
        let value = text(tree, scope)?;
        hide::register_env(context, name, tree, &value);
        target.env.insert(name.clone(), value);
    }
    let cwd = command.cwd.as_ref().map(|cwd| text(cwd, scope)).transpose()?.map(PathBuf::from);
    target.cwd = Some(cwd.map_or(folder.clone(), |cwd| folder.join(cwd)));
    let stdin = agent.stdin.as_ref().map(|stdin| text(stdin, scope)).transpose()?;
    Ok((target, stdin.unwrap_or_default()))
}

/// Runs the agent within its timeout, and stops it when it is `stuck`.
async fn run_to_end(
    target: &ChildTarget,
    stdin: String,
    agent: &Agent,
    span: Span,
    stuck: impl Future<Output = ()>,
) -> Result<AgentResult, FailedTry> {
    let limit = agent.timeout.unwrap_or(DEFAULT_TIMEOUT);
    let mut job = Job::start(target, stdin.into_bytes(), MAX_OUTPUT_BYTES).map_err(|error| {
        FailedTry::new(Failure::new(span, format!("cannot run the agent: {error}")))
    })?;
    let ended = tokio::select! {
        biased;
        ended = job.wait() => Ok(ended),
        () = stuck => Err(format!(
            "the agent was stopped, because no request fitted the turns for {MISFIT_GRACE:?}"
        )),
        () = sleep(limit) => Err(format!("the agent took longer than {limit:?} and was stopped")),
    };
    let ended = match ended {
        Ok(ended) => Ok(ended),
        Err(message) => Err(match job.stop().await.left {
            Some(left) => format!("{message}; it left {left}"),
            None => message,
        }),
    };
    let (stdout, stderr) = (job.stdout().text(), job.stderr().text());
    match ended {
        Ok(ended) => Ok(AgentResult { ended, stdout, stderr, files: Vec::new() }),
        Err(message) => {
            let (stdout, stderr) = (last_lines(&stdout), last_lines(&stderr));
            Err(FailedTry { stdout, stderr, ..FailedTry::new(Failure::new(span, message)) })
        }
    }
}

/// Finds the files that the step expects.
fn find_files(step: &Step, scope: &TestScope<'_>) -> Vec<FileMatches> {
    let folder = scope.folder.path().ok();
    let folder = folder.as_ref().and_then(Value::as_str).map(Path::new);
    let wanted = step.expect.0.iter().filter_map(|(_, expectation)| match expectation {
        Expectation::Files(files) => Some(files),
        _ => None,
    });
    wanted.flatten().map(|files| files::find(folder, files)).collect()
}

/// The scope of the suite's agent: a name is an environment variable, `${input}` the
/// input of the current step.
struct SuiteAgentScope<'a>(&'a TestScope<'a>);

impl Scope for SuiteAgentScope<'_> {
    fn get(&self, path: &Name) -> Result<Value, UndefinedPath> {
        let TestScope { context, folder, mocks, .. } = self.0;
        match path.root() {
            "input" => self.0.get(path),
            _ => ServerScope { context, folder, mocks: mocks.values(), port: None }.get(path),
        }
    }
}

fn text(tree: &TemplateTree, scope: &dyn Scope) -> Result<String, RenderError> {
    Ok(match tree.render(scope)? {
        Value::String(text) => text,
        other => other.to_string(),
    })
}

fn missing(missing: RenderError) -> FailedTry {
    FailedTry::new(Failure::new(missing.span, missing.undefined.to_string()))
}

fn no_agent(span: Span) -> FailedTry {
    FailedTry::new(Failure::new(span, "the suite has no agent"))
}
