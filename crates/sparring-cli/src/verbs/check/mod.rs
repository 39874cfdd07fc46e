//! `spar check`: checks a server against all rules of the specification, and reports the
//! verdicts.

mod baseline;
mod json_report;
mod progress;
mod repeat_command;
mod report_run;
mod rule_list;
mod rule_names;
mod rule_verdict;
mod terminal_report;
mod tool_uses;
mod watched_target;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use jiff::Timestamp;
use serde_json::Value;
use sparring_check::{
    CallPolicy, CheckError, CheckOptions, CheckReport, ToolTokens, check_observed,
};
use sparring_suite::call_arguments;
use sparring_wire::{Revision, RuleLevel};

use crate::args::{OutputFlags, TargetFlags, values};
use crate::command_error::CommandError;
use crate::environment::Environment;
use crate::exit::Exit;
use crate::output::Printer;
use crate::report::{Ci, Destination, ReportRequest, Reports};
use crate::signals::Signals;
use baseline::Baseline;
pub(crate) use baseline::schema as baseline_schema;
use json_report::JsonReport;
use repeat_command::RepeatCommand;
use report_run::RunSource;
use rule_names::NamedRules;
use rule_verdict::{Counts, RuleVerdict};
use terminal_report::TerminalReport;
use tool_uses::ToolUses;
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
  spar check --report sarif=check.sarif --report junit=check.xml -- python server.py
  spar check --accept -- python server.py
  spar check --list
  spar check --explain wire/not-json

Arguments of tools come from --with, then from the `call` steps of the suites
(*.spar.yaml) in the current folder, then from the examples, defaults and enums of the
input schema; the others are generated.

Exit codes:
  0    the server keeps all rules of the level must; with --strict, of every level;
       accepted findings do not count
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

    /// Accept the present findings: write them to the baseline, with a place for reasons
    #[arg(long)]
    accept: bool,

    /// The file of accepted findings; others fail [default: spar-check.yaml, if it exists]
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,

    /// Write a report: junit, json, ndjson, tap, markdown, html, github, gitlab, sarif,
    /// agent; to a file, or to stdout instead of the terminal report; html without a file
    /// writes spar-report.html; may be repeated
    #[arg(long = "report", value_name = "NAME[=PATH]", help_heading = "Output")]
    reports: Vec<ReportRequest>,

    /// List also the rules that were kept or do not apply, and the tokens of all tools
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
    began: Timestamp,
    took: Duration,
}

impl Checked {
    /// Returns the name of the server.
    fn server_name(&self) -> Option<String> {
        let mut infos = self.report.revisions.iter().rev().map(|it| &it.facts.server_info);
        infos.find_map(|info| info.as_ref().map(|info| info.name.clone()))
    }

    /// Returns the tokens of the tools in the newest revision that has any, largest first.
    fn tool_tokens(&self) -> Vec<ToolTokens> {
        let mut facts = self.report.revisions.iter().rev().map(|it| &it.facts);
        facts.find(|it| !it.tools.is_empty()).map(|it| it.tool_tokens()).unwrap_or_default()
    }
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
        let variables = environment.variables.clone().into_iter().collect();
        let reports = Reports::new(&self.reports, Ci::from_variables(&variables))?;
        if printer.is_json() && reports.have_stdout() {
            let message = "--json and a --report without a file both go to stdout";
            return Err(CommandError::Usage(message.to_owned()));
        }
        let baseline = self.read_baseline()?;
        let resolving = self.flags.resolve_target(environment, printer);
        let target = signals.interruptible(resolving).await??;
        let mut options = self.options()?;
        if options.calls != CallPolicy::Nothing {
            let folder = environment.current_dir.clone();
            let reading = move || call_arguments::of_folder(&folder);
            let found = signals.interruptible_blocking(reading).await?;
            for note in &found.notes {
                printer.note(note).await;
            }
            options.suggested_arguments = found.arguments;
        }
        let revisions = options.revisions.len();
        let watching = WatchedTarget::new(target, &self.flags, revisions, printer);
        let target = signals.interruptible(watching).await??;
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
        let finished = FinishedCheck {
            check: &self,
            verdicts: RuleVerdict::all(&checked.report, &baseline),
            checked: &checked,
            baseline: &baseline,
            target: &target,
            printer,
        };
        finished.report(&reports, &variables, &mut signals).await
    }

    /// Reads the accepted findings, and checks that new ones can be written.
    fn read_baseline(&self) -> Result<Baseline, CommandError> {
        let path = self.baseline.as_deref().unwrap_or(Path::new(baseline::DEFAULT_FILE));
        if self.accept {
            Destination::for_path(path)?;
        }
        Baseline::read(path, self.baseline.is_some() && !self.accept)
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
        let (began, started) = (Timestamp::now(), Instant::now());
        let checking = check_observed(Arc::clone(target) as _, options, Arc::clone(target) as _);
        let report = signals.interruptible(progress::show(checking, target, printer)).await?;
        let report = report.map_err(CommandError::Check)?;
        Ok(Checked { report, began, took: started.elapsed() })
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
            suggested_arguments: BTreeMap::new(),
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

/// A finished check, compared with the accepted findings.
struct FinishedCheck<'a> {
    check: &'a Check,
    checked: &'a Checked,
    verdicts: Vec<RuleVerdict<'a>>,
    baseline: &'a Baseline,
    target: &'a WatchedTarget,
    printer: &'a Printer,
}

impl FinishedCheck<'_> {
    /// Writes the reports and the accepted findings, and returns the exit code.
    async fn report(
        &self,
        reports: &Reports,
        variables: &std::collections::HashMap<String, String>,
        signals: &mut Signals,
    ) -> Result<Exit, CommandError> {
        let (check, printer) = (self.check, self.printer);
        let fails = !check.accept && Counts::of(&self.verdicts).fails(check.strict);
        let mut unwritten = Vec::new();
        if reports.are_wanted() {
            let source = RunSource {
                checked: self.checked,
                verdicts: &self.verdicts,
                transport: self.target.transport_name(),
                repeat: &check.repeat,
                build: Ci::build(variables),
                strict: check.strict,
                secrets: printer.secrets(),
            };
            unwritten = reports.write_finished(Arc::new(source.to_run()), printer, signals).await?;
        }
        if !reports.have_stdout() {
            let printed = match printer.is_json() {
                true => signals.interruptible(printer.print_json(&self.to_json(fails))).await?,
                false => signals.interruptible(printer.print(&self.to_text())).await?,
            };
            unwritten.extend(printed.err().filter(|it| !it.is_broken_pipe()));
        }
        let token_needed = self.checked.report.token_needed.clone().map(CheckError::TokenNeeded);
        let incomplete = token_needed.map(CommandError::Check);
        if check.accept && incomplete.is_none() {
            self.write_baseline().await?;
        }
        if unwritten.is_empty() {
            reports.announce(printer).await;
        }
        for failure in unwritten.iter().chain(&incomplete) {
            printer.print_error(failure).await;
        }
        Ok(match (fails, unwritten.is_empty(), incomplete) {
            (true, ..) => Exit::Failed,
            (false, false, _) => Exit::Usage,
            (false, true, Some(failure)) => failure.exit(),
            (false, true, None) => Exit::Success,
        })
    }

    fn to_text(&self) -> String {
        let report = TerminalReport {
            checked: self.checked,
            verdicts: &self.verdicts,
            uses: &ToolUses::of(&self.checked.report),
            gone: &self.baseline.gone(&self.verdicts, &ToolUses::of(&self.checked.report)),
            baseline: self.baseline,
            target: self.target,
            calls: &self.check.call_policy(),
            repeat: &self.check.repeat,
            is_verbose: self.check.verbose,
            printer: self.printer,
        };
        report.render()
    }

    fn to_json(&self, fails: bool) -> Value {
        let uses = ToolUses::of(&self.checked.report);
        let report = JsonReport {
            checked: self.checked,
            verdicts: &self.verdicts,
            uses: &uses,
            tokens: &self.checked.tool_tokens(),
            gone: &self.baseline.gone(&self.verdicts, &uses),
            transport: self.target.transport_name(),
            repeat: &self.check.repeat,
            fails,
        };
        report.to_value()
    }

    /// Writes the present findings to the baseline.
    async fn write_baseline(&self) -> Result<(), CommandError> {
        let file = &self.baseline.file;
        let (text, count) = self.baseline.render_accepting(&self.verdicts, self.check.strict);
        let text = self.printer.secrets().mask(&text).into_owned();
        let written = Destination::for_path(&self.baseline.path())?.write(&text);
        written.map_err(|error| CommandError::File(format!("cannot write {file}: {error}")))?;
        let findings = if count == 1 { "finding" } else { "findings" };
        self.printer.note(&format!("wrote {file}: {count} accepted {findings}")).await;
        Ok(())
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
