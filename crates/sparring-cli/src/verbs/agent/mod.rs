//! `spar agent`: answers a prompt with a model and the tools of the configured servers.

mod artifact_settings;
mod event_output;
mod model_flags;
mod question_answers;

use std::path::PathBuf;
use std::sync::Arc;

use clap::{Args, ColorChoice};
use serde_json::json;
use sparring_host::agent::{Agent as Loop, AgentResult, EndReason, Endpoint, Limits};
use sparring_host::artifacts::Store;
use tokio::sync::mpsc;

use crate::args::OutputFlags;
use crate::args::text_source::TextSource;
use crate::command_error::CommandError;
use crate::environment::Environment;
use crate::exit::Exit;
use crate::host::{Host, HostOptions, ServerFlags, SessionFlags, many_tools_note, terminal_asker};
use crate::output::Printer;
use crate::signals::Signals;
use artifact_settings::Setting;
use event_output::EventOutput;
use model_flags::ModelFlags;
use question_answers::{AgentModel, QuestionAnswers, QuestionContext, QuestionFlags};

/// Maximum events that wait to be printed.
const EVENT_QUEUE_LIMIT: usize = 64;

const EXAMPLES: &str = "\
Examples:
  spar agent 'what is in README.md?' --llm https://api.openai.com/v1 --model gpt-5
  spar agent @task.txt --llm https://api.anthropic.com --model claude-sonnet-4-5
  spar agent 'sum up the report' --llm http://127.0.0.1:11434/v1 --model llama3.2 \\
      --server files --allow 'mcp__files__read_*' --artifacts out
  spar agent 'the weather?' --llm http://127.0.0.1:3002/v1 --config mcp.json --json

The model also gets the instructions of the servers, and tools to list and read their
resources and prompts; the rules name these resources/read and prompts/get, as in
mcp__files__resources/read.

The key is read from OPENAI_API_KEY or ANTHROPIC_API_KEY. Tools with readOnlyHint run
in parallel, all others one after the other.

Settings of artifacts, with their defaults:
  enable_intelligent_processing=true  one file for each content; false: one raw file a result
  fallback_to_raw_on_error=true       unreadable content is saved raw; false: it fails
  save_text_above=2048                shorter texts go only to the model
  model_bytes=16KiB                   limit of a result for the model
  max_files=1000, max_bytes=256MiB    limits of the folder
  keep_arguments=false                true: the metadata contains arguments

With --json, one line for each event: turn, retry, delta, text, call, permission, artifact,
result, end.

Exit codes:
  0    the model answered
  1    no answer: no turns or tokens were left, the model refused, or the endpoint
       returned an error
  2    wrong arguments, or a file that cannot be read or written
  3    the endpoint or all named servers could not be reached, or a response is
       unusable
  130  Ctrl+C";

/// Answer a prompt with a model and the tools of the configured servers
#[derive(Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Agent {
    /// The prompt; @FILE, or - for stdin
    #[arg(value_name = "PROMPT", value_parser = parse_prompt)]
    prompt: TextSource,

    #[command(flatten)]
    model: ModelFlags,

    /// Limit for the number of requests to the model
    #[arg(long, value_name = "N", default_value = "20", help_heading = "Model")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    max_turns: u32,

    /// Save tool results in this folder, one file for each piece of content
    #[arg(long, value_name = "DIR", help_heading = "Artifacts")]
    artifacts: Option<PathBuf>,

    /// A setting for the processing of tool results; may be repeated
    #[arg(long = "setting", value_name = "NAME=VALUE", help_heading = "Artifacts")]
    settings: Vec<Setting>,

    #[command(flatten)]
    servers: ServerFlags,

    #[command(flatten)]
    questions: QuestionFlags,

    #[command(flatten)]
    sessions: SessionFlags,

    /// Print one line of JSON for each event, and at the end the answer or
    /// {"error":{"kind":…,"message":…}}
    #[arg(long, help_heading = "Output")]
    json: bool,

    /// Print errors only, no notes
    #[arg(long, short, help_heading = "Output")]
    quiet: bool,

    /// When to use colours; NO_COLOR turns them off
    #[arg(long, value_name = "WHEN", default_value = "auto", help_heading = "Output")]
    color: ColorChoice,
}

/// The prompts of a run, and the answers to the questions of servers.
struct AgentPrompt<'a> {
    system: Option<String>,
    prompt: &'a str,
    questions: Arc<QuestionAnswers>,
}

impl Agent {
    pub(crate) fn output_flags(&self) -> OutputFlags {
        OutputFlags { json: self.json, quiet: self.quiet, color: self.color }
    }

    /// Runs the verb.
    pub(crate) async fn run(
        &self,
        printer: &Printer,
        mut signals: Signals,
        environment: &Environment,
    ) -> Result<Exit, CommandError> {
        // Wrong arguments are reported before anything is started.
        let streams = self.model.streams(printer);
        let endpoint = Arc::new(self.model.endpoint(environment, printer.secrets(), streams)?);
        let store = artifact_settings::build_store(self.artifacts.as_deref(), &self.settings)
            .masking(printer.secrets().clone());
        let starting = async {
            let prompt = read_text(&self.prompt).await?;
            let system = match &self.model.system {
                Some(system) => Some(read_text(system).await?),
                None => None,
            };
            let client = HostOptions::default().client;
            let client = self.questions.configure(client, environment.can_ask);
            let host_options = HostOptions { asker: terminal_asker(environment, printer), client };
            let host = self.servers.open_host(host_options, environment, printer).await?;
            Ok::<_, CommandError>((prompt, system, host))
        };
        let (prompt, system, host) = signals.interruptible(starting).await??;
        let work = async {
            host.connect_session(&self.sessions, printer).await?;
            if host.registry.tools().is_empty() {
                printer.note("the model has no tools").await;
            }
            if let Some(note) = many_tools_note(host.registry.tools().len()) {
                printer.note(&note).await;
            }
            let model =
                AgentModel { endpoint: Arc::clone(&endpoint), name: self.model.model.clone() };
            let context = QuestionContext {
                roots: host.roots.result(),
                can_ask: environment.can_ask,
                printer: printer.clone(),
            };
            let questions = Arc::new(self.questions.answers(model, context));
            let agent_prompt = AgentPrompt { system, prompt: &prompt, questions };
            let ended = self.run_agent(&host, &endpoint, &store, agent_prompt, printer).await?;
            self.print_answer(ended, streams, printer).await
        };
        let on_signal = |signal| Err(CommandError::Stopped(signal));
        Ok(host.run_until_done(&mut signals, printer, work, on_signal).await)
    }

    async fn run_agent(
        &self,
        host: &Host,
        endpoint: &Endpoint,
        store: &Store,
        agent_prompt: AgentPrompt<'_>,
        printer: &Printer,
    ) -> Result<AgentResult, CommandError> {
        let AgentPrompt { system, prompt, questions } = agent_prompt;
        let (events, mut receiver) = mpsc::channel(EVENT_QUEUE_LIMIT);
        let limits = Limits { max_turns: self.max_turns, max_tokens: self.model.max_tokens };
        let agent = Loop {
            endpoint,
            registry: &host.registry,
            manager: &host.manager,
            store,
            limits,
            model: self.model.model.clone(),
            system,
            questions: Some(questions),
            events,
        };
        let running = async move {
            // Dropping the agent drops the sender, which ends the events.
            let agent = agent;
            Ok::<_, CommandError>(agent.run(prompt).await)
        };
        let output = async {
            let mut output = EventOutput::new(printer);
            while let Some(event) = receiver.recv().await {
                output.print_event(event).await?;
            }
            Ok(())
        };
        let (ended, ()) = tokio::try_join!(running, output)?;
        ended.map_err(CommandError::Model)
    }

    /// Prints the answer, or returns the failure.
    async fn print_answer(
        &self,
        ended: AgentResult,
        streams: bool,
        printer: &Printer,
    ) -> Result<Exit, CommandError> {
        let AgentResult { end, text, turns } = ended;
        if printer.is_json() {
            let line = json!({"event": "end", "end": end.name(), "turns": turns, "text": text});
            printer.print_json(&line).await?;
        } else if !streams && !text.is_empty() {
            let end = if text.ends_with('\n') { "" } else { "\n" };
            printer.print_untrusted(format!("{text}{end}").as_bytes()).await?;
        }
        Err(CommandError::NoAnswer(match end {
            EndReason::Answered => return Ok(Exit::Success),
            EndReason::OutOfTurns => {
                format!(
                    "no answer after {turns} turn{}; raise --max-turns",
                    if turns == 1 { "" } else { "s" }
                )
            }
            EndReason::Truncated => "the model's answer was cut off; raise --max-tokens".to_owned(),
            EndReason::Refused(words) if words.is_empty() => {
                "the model refused to answer".to_owned()
            }
            EndReason::Refused(words) => format!("the model refused to answer: {words}"),
            end => format!("no answer from the model: {}", end.name()),
        }))
    }
}

fn parse_prompt(text: &str) -> Result<TextSource, String> {
    match text.is_empty() {
        true => Err("the prompt is empty".to_owned()),
        false => Ok(TextSource::from(text)),
    }
}

async fn read_text(source: &TextSource) -> Result<String, CommandError> {
    let text = source.read().await?;
    let text = String::from_utf8(text);
    text.map_err(|_| CommandError::Usage("the prompt is not UTF-8".to_owned()))
}
