//! `spar check`: checks a server against all rules of the specification, and reports the
//! verdicts.

mod progress;
mod repeat_command;
mod rule_list;
mod rule_names;
mod rule_verdict;
mod terminal_report;
mod tool_uses;
mod watched_target;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use serde_json::Value;
use sparring_check::{CallPolicy, CheckOptions, CheckReport, check_observed};
use sparring_wire::{Revision, RuleLevel};

use crate::args::{OutputFlags, TargetFlags, values};
use crate::command_error::CommandError;
use crate::environment::Environment;
use crate::exit::Exit;
use crate::output::Printer;
use crate::signals::Signals;
use repeat_command::RepeatCommand;
use rule_names::NamedRules;
use rule_verdict::Counts;
use terminal_report::TerminalReport;
use watched_target::WatchedTarget;

const USAGE: &str =
    "spar check [OPTIONS] (-- <COMMAND>... | --url <URL> | --unix <PATH> | --server <NAME>)
       spar check --list [--json]
       spar check --explain <RULE> [--json]";

const EXAMPLES: &str = "\
Examples:
  spar check -- python server.py
  spar check --call all --strict -- npx -y @modelcontextprotocol/server-everything
  spar check --url http://127.0.0.1:3001/mcp --protocol 2025-11-25
  spar check --only tools/ --with search='{\"query\":\"rain\"}' -- python server.py
  spar check --list
  spar check --explain wire/not-json

Exit codes:
  0    the server keeps all rules of the level must; with --strict, of every level
  1    it breaks one
  2    wrong arguments, or a file that cannot be read or written
  3    the server could not be started or reached, or speaks no revision
  130  Ctrl+C (143 SIGTERM, 129 SIGHUP)";

/// Check a server against all rules of the specification
#[derive(Args)]
#[command(after_long_help = EXAMPLES, override_usage = USAGE)]
pub(crate) struct Check {
    /// Call these tools too: all, or a name in which * matches any text; none calls no
    /// tool; may be repeated [default: tools with readOnlyHint]
    #[arg(long, value_name = "PATTERN", conflicts_with = "no_call")]
    call: Vec<String>,

    /// Call no tool
    #[arg(long)]
    no_call: bool,

    /// Call the tool with these arguments, a JSON object; may be repeated
    #[arg(long = "with", value_name = "TOOL=JSON", value_parser = parse_arguments)]
    arguments: Vec<(String, Value)>,

    /// Check only this rule, or area such as tools/; may be repeated
    #[arg(long, value_name = "RULE")]
    only: Vec<NamedRules>,

    /// Leave out this rule, or area such as tools/; may be repeated
    #[arg(long, value_name = "RULE")]
    skip: Vec<NamedRules>,

    /// The weakest level of rules to check
    #[arg(long, value_name = "LEVEL", default_value = "lint")]
    level: Level,

    /// Fail also for warnings and for rules that could not be decided
    #[arg(long)]
    strict: bool,

    /// List all rules with their levels and revisions, and exit
    #[arg(long, conflicts_with = "explain")]
    list: bool,

    /// Explain a rule, and exit
    #[arg(long, value_name = "RULE")]
    explain: Option<NamedRules>,

    /// Limit for the response to each request
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = values::parse_duration)]
    rule_timeout: Duration,

    /// Seed of the generated arguments
    #[arg(long, value_name = "SEED", default_value_t = 0)]
    seed: u64,

    /// Number of generated arguments for each tool
    #[arg(long, value_name = "N", default_value_t = 20)]
    cases: u32,

    /// Largest number of tokens of all definitions together
    #[arg(long, value_name = "N")]
    max_tokens: Option<usize>,

    /// List also the rules that were kept or do not apply, and all definitions
    #[arg(long, short, help_heading = "Output")]
    verbose: bool,

    #[command(flatten)]
    flags: TargetFlags,

    /// The command line, for the commands of the report.
    #[arg(skip)]
    repeat: RepeatCommand,
}

/// A level of rules.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Level {
    Must,
    Should,
    Lint,
}

/// A finished check.
struct Checked {
    report: CheckReport,
    took: Duration,
}

impl Check {
    pub(crate) fn output_flags(&self) -> OutputFlags {
        self.flags.output_flags.clone()
    }

    /// Keeps the command line for the commands of the report.
    pub(crate) fn set_words(&mut self, words: &[std::ffi::OsString]) {
        self.repeat = RepeatCommand::from_words(words);
    }

    /// Checks the server, and reports the verdicts.
    pub(crate) async fn run(
        mut self,
        printer: &Printer,
        environment: &Environment,
        mut signals: Signals,
    ) -> Result<Exit, CommandError> {
        if self.list {
            return rule_list::print_list(printer).await;
        }
        if let Some(named) = &self.explain {
            return rule_list::explain(named, printer).await;
        }
        if !self.flags.has_target() {
            let message = "missing server: a command after --, --url, --unix or --server";
            return Err(CommandError::Usage(message.to_owned()));
        }
        let resolving = self.flags.resolve_target(environment, printer);
        let target = signals.interruptible(resolving).await??;
        let options = self.options()?;
        let target = signals
            .interruptible(WatchedTarget::new(
                target,
                &self.flags,
                options.revisions.len(),
                printer,
            ))
            .await??;
        let checked = match self.check(&target, options, printer, &mut signals).await {
            Ok(checked) => checked,
            Err(failure) => {
                let stderr = target.stderr();
                let exit = printer.report_error(&failure, stderr.as_deref()).await;
                target.finish().await?;
                return Ok(exit);
            }
        };
        target.finish().await?;
        let counts = Counts::of(&checked.report);
        let report = TerminalReport {
            checked: &checked,
            counts,
            target: &target,
            calls: &self.call_policy(),
            repeat: &self.repeat,
            is_verbose: self.verbose,
            printer,
        };
        signals.interruptible(printer.print(&report.render())).await??;
        Ok(match counts.fails(self.strict) {
            true => Exit::Failed,
            false => Exit::Success,
        })
    }

    /// Runs the check until it ends or a signal comes. The end of the connections ends their
    /// processes.
    async fn check(
        &self,
        target: &Arc<WatchedTarget>,
        options: CheckOptions,
        printer: &Printer,
        signals: &mut Signals,
    ) -> Result<Checked, CommandError> {
        let began = Instant::now();
        let checking = check_observed(Arc::clone(target) as _, options, Arc::clone(target) as _);
        let report = signals.interruptible(progress::show(checking, target, printer)).await?;
        let report = report.map_err(CommandError::Check)?;
        Ok(Checked { report, took: began.elapsed() })
    }

    fn options(&self) -> Result<CheckOptions, CommandError> {
        let rules = |named: &[NamedRules]| named.iter().flat_map(|it| it.rules.clone()).collect();
        let mut arguments: BTreeMap<String, Vec<Value>> = BTreeMap::new();
        for (tool, value) in &self.arguments {
            arguments.entry(tool.clone()).or_default().push(value.clone());
        }
        let revisions = match self.flags.revisions() {
            revisions if revisions.is_empty() => Revision::ALL.to_vec(),
            revisions => revisions,
        };
        let options = CheckOptions {
            revisions,
            only: rules(&self.only),
            skip: rules(&self.skip),
            level: self.level.to_rule_level(),
            calls: self.call_policy(),
            arguments,
            rule_timeout: self.rule_timeout,
            connect_timeout: self.flags.connection.timeout(),
            seed: self.seed,
            cases: self.cases,
            max_tokens: self.max_tokens,
            target_arguments: self.repeat.target_arguments(),
        };
        let is_checked =
            |rule| options.selects(rule) && options.revisions.iter().any(|it| rule.applies_in(*it));
        match sparring_check::server_rules().any(is_checked) {
            true => Ok(options),
            false => {
                let message = "no rule is left by --only, --skip, --level and --protocol";
                Err(CommandError::Usage(message.to_owned()))
            }
        }
    }

    fn call_policy(&self) -> CallPolicy {
        let is = |word: &str| self.call.iter().any(|it| it == word);
        match &self.call {
            _ if self.no_call || is("none") => CallPolicy::Nothing,
            patterns if patterns.is_empty() => CallPolicy::ReadOnly,
            _ if is("all") => CallPolicy::All,
            patterns => CallPolicy::Matching(patterns.clone()),
        }
    }
}

impl Level {
    fn to_rule_level(self) -> RuleLevel {
        match self {
            Level::Must => RuleLevel::Must,
            Level::Should => RuleLevel::Should,
            Level::Lint => RuleLevel::Lint,
        }
    }
}

/// Parses `TOOL={"a": 1}`.
fn parse_arguments(text: &str) -> Result<(String, Value), String> {
    let (tool, json) = text.split_once('=').ok_or("expected TOOL=JSON")?;
    let value: Value = serde_json::from_str(json).map_err(|error| format!("{tool}: {error}"))?;
    match value.is_object() && !tool.is_empty() {
        true => Ok((tool.to_owned(), value)),
        false => Err("expected TOOL=JSON, with a JSON object".to_owned()),
    }
}
