//! `spar agent`: a prompt through an LLM endpoint, with the tools of the
//! configured servers.

mod model;
mod settings;
mod telling;

use std::path::PathBuf;

use clap::{Args, ColorChoice};
use serde_json::json;
use sparring_host::agent::{Agent as Loop, End, Ended, Endpoint, Limits};
use sparring_host::artifacts::Store;
use tokio::sync::mpsc;

use crate::args::Look;
use crate::args::given::Given;
use crate::environment::Environment;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::host::{Host, Servers, Sessions, Wiring, terminal};
use crate::output::Printer;
use crate::signals::Signals;
use model::Model;
use settings::Setting;
use telling::Telling;

/// How many events wait to be printed.
const WAITING: usize = 64;

const EXAMPLES: &str = "\
Examples:
  spar agent 'what is in README.md?' --llm https://api.openai.com/v1 --model gpt-5
  spar agent @task.txt --llm https://api.anthropic.com --model claude-sonnet-4-5
  spar agent 'sum up the report' --llm http://127.0.0.1:11434/v1 --model llama3.2 \\
      --server files --allow 'mcp__files__read_*' --artifacts out
  spar agent 'the weather?' --llm http://127.0.0.1:3002/v1 --config mcp.json --json

The key is in OPENAI_API_KEY or ANTHROPIC_API_KEY. Tools that only read run beside
each other, by their servers' word; all others one after the other.

Settings of artifacts, with what they are if nothing else is said:
  enable_intelligent_processing=true  kinds are told apart; false: one raw file a result
  fallback_to_raw_on_error=true       what cannot be read is kept raw; false: it fails
  save_text_above=2048                shorter texts are not saved, the model has them
  model_bytes=16KiB                   how much of a result the model gets
  max_files=1000, max_bytes=256MiB    how much is kept
  keep_arguments=false                whether arguments stand in the metadata

With --json a line an event: turn, retry, delta, text, call, permission, artifact,
result, end.

Exit codes:
  0    the model answered
  1    it did not: no turn or no room was left, it refused, or the endpoint
       answered with an error
  2    bad usage, or a file that cannot be read or written
  3    the endpoint, or every server that was named, could not be reached, or
       what it answers cannot be used
  130  Ctrl+C";

/// Have a model answer a prompt with the tools of the configured servers
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Agent {
    /// What the model is asked; @FILE, or - for stdin
    #[arg(value_name = "PROMPT", value_parser = given)]
    prompt: Given,

    #[command(flatten)]
    model: Model,

    /// How often the model is asked before it must have answered
    #[arg(long, value_name = "N", default_value = "20", help_heading = "Model")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    max_turns: u32,

    /// Save what tools give in this folder, each piece as a file of its type
    #[arg(long, value_name = "DIR", help_heading = "Artifacts")]
    artifacts: Option<PathBuf>,

    /// How results are taken; may be repeated
    #[arg(long = "setting", value_name = "NAME=VALUE", help_heading = "Artifacts")]
    settings: Vec<Setting>,

    #[command(flatten)]
    servers: Servers,

    #[command(flatten)]
    sessions: Sessions,

    /// Print a line of JSON for each event, and at the end the answer or
    /// {"error":{"kind":…,"message":…}}
    #[arg(long, help_heading = "Output")]
    json: bool,

    /// Print no notes; errors are still told
    #[arg(long, short, help_heading = "Output")]
    quiet: bool,

    /// When to use colours; NO_COLOR is respected
    #[arg(long, value_name = "WHEN", default_value = "auto", help_heading = "Output")]
    color: ColorChoice,
}

impl Agent {
    /// How to tell of it.
    pub(crate) fn look(&self) -> Look {
        Look { json: self.json, quiet: self.quiet, color: self.color }
    }

    /// Does it.
    pub(crate) async fn run(
        &self,
        printer: &Printer,
        mut signals: Signals,
        environment: &Environment,
    ) -> Result<Exit, Failure> {
        // What is wrong with what was typed is told before anything is started.
        let streams = self.model.streams(printer);
        let endpoint = self.model.endpoint(environment, streams)?;
        let store = settings::store(self.artifacts.as_deref(), &self.settings);
        let beginning = async {
            let prompt = text(&self.prompt).await?;
            let system = match &self.model.system {
                Some(system) => Some(text(system).await?),
                None => None,
            };
            let wiring = Wiring { asker: terminal(environment, printer), ..Wiring::default() };
            let host = self.servers.host(wiring, environment, printer).await?;
            Ok::<_, Failure>((prompt, system, host))
        };
        let (prompt, system, host) = signals.during(beginning).await??;
        let work = async {
            host.begin(&self.sessions, printer).await?;
            if host.registry.tools().is_empty() {
                printer.note("the model has no tools").await;
            }
            let ended = self.talk(&host, &endpoint, &store, system, &prompt, printer).await?;
            self.end(ended, streams, printer).await
        };
        Ok(host.during(&mut signals, printer, work).await)
    }

    async fn talk(
        &self,
        host: &Host,
        endpoint: &Endpoint,
        store: &Store,
        system: Option<String>,
        prompt: &str,
        printer: &Printer,
    ) -> Result<Ended, Failure> {
        let (events, mut told) = mpsc::channel(WAITING);
        let limits = Limits { max_turns: self.max_turns, max_tokens: self.model.max_tokens };
        let agent = Loop {
            endpoint,
            registry: &host.registry,
            manager: &host.manager,
            store,
            limits,
            model: self.model.model.clone(),
            system,
            events,
        };
        let running = async move {
            // With the agent goes who tells, and with that the events end.
            let agent = agent;
            Ok::<_, Failure>(agent.run(prompt).await)
        };
        let telling = async {
            let mut telling = Telling::new(printer);
            while let Some(event) = told.recv().await {
                telling.tell(event).await?;
            }
            Ok(())
        };
        let (ended, ()) = tokio::try_join!(running, telling)?;
        ended.map_err(Failure::Model)
    }

    /// Tells the answer, or why there is none.
    async fn end(&self, ended: Ended, streams: bool, printer: &Printer) -> Result<Exit, Failure> {
        let Ended { end, text, turns } = ended;
        if printer.json() {
            let line = json!({"event": "end", "end": end.name(), "turns": turns, "text": text});
            printer.print_json(&line).await?;
        } else if !streams && !text.is_empty() {
            let end = if text.ends_with('\n') { "" } else { "\n" };
            printer.print_foreign(format!("{text}{end}").as_bytes()).await?;
        }
        Err(Failure::NoAnswer(match end {
            End::Answered => return Ok(Exit::Good),
            End::OutOfTurns => {
                format!(
                    "the model has not answered after {turns} turn{}; --max-turns allows more",
                    if turns == 1 { "" } else { "s" }
                )
            }
            End::Cut => "the model had no room to say all; --max-tokens gives more".to_owned(),
            End::Refused(words) if words.is_empty() => "the model refuses to answer".to_owned(),
            End::Refused(words) => format!("the model refuses to answer: {words}"),
            end => format!("the model did not answer: {}", end.name()),
        }))
    }
}

fn given(text: &str) -> Result<Given, String> {
    match text.is_empty() {
        true => Err("there is nothing to ask".to_owned()),
        false => Ok(Given::from(text)),
    }
}

async fn text(given: &Given) -> Result<String, Failure> {
    let text = given.read().await?;
    let text = String::from_utf8(text);
    text.map_err(|_| Failure::Usage("what the model is to be told is not UTF-8".to_owned()))
}
