//! The report of a check for a person: what was checked, the failures with the frames that
//! show them, the warnings, and the counts.

use sparring_check::{CallPolicy, TOKENIZER, is_about_metadata};
use sparring_report::{Sender, StepFrame, fold_frames};
use sparring_wire::{Revision, Rule, Side};

use super::Checked;
use super::baseline::{AcceptedFinding, Baseline};
use super::repeat_command::RepeatCommand;
use super::rule_verdict::{
    Counts, GroupedFinding, RuleStatus, RuleVerdict, render_revisions, section_url,
};
use super::tool_uses::ToolUses;
use super::watched_target::WatchedTarget;
use crate::output::table::Table;
use crate::output::{Paint, Printer, line};
use crate::report::render_time;

/// The columns if stdout is not a terminal, and the fewest.
const DEFAULT_COLUMNS: usize = 100;
const MIN_COLUMNS: usize = 40;

/// The maximum number of findings of one rule that are shown, and of those with frames.
const MAX_FINDINGS: usize = 8;
const MAX_FINDINGS_WITH_FRAMES: usize = 2;

/// The number of the largest tools that are shown.
const MAX_LARGEST: usize = 3;

/// The maximum length of one line.
const MAX_LINE_COLUMNS: usize = 1_000;

/// The maximum length of a name of a tool, and of a row of the head.
const MAX_NAME_COLUMNS: usize = 200;
const MAX_ROW_COLUMNS: usize = 10_000;

/// The note about a server that refuses every connection.
const TOKEN_NEEDED: &str =
    "the server needs a valid token (--bearer, --oauth); only its authorization was checked";

/// The report of one check.
pub(super) struct TerminalReport<'a> {
    pub(super) checked: &'a Checked,
    pub(super) verdicts: &'a [RuleVerdict<'a>],
    pub(super) uses: &'a ToolUses,
    /// The accepted findings that the server no longer has.
    pub(super) gone: &'a [&'a AcceptedFinding],
    pub(super) baseline: &'a Baseline,
    pub(super) target: &'a WatchedTarget,
    pub(super) calls: &'a CallPolicy,
    pub(super) repeat: &'a RepeatCommand,
    pub(super) is_verbose: bool,
    pub(super) printer: &'a Printer,
}

impl TerminalReport<'_> {
    /// Renders the whole report.
    pub(super) fn render(&self) -> String {
        let with = |status| self.verdicts.iter().filter(move |it| it.status == status);
        let mut text = String::new();
        if !self.printer.is_quiet() {
            text.push_str(&self.render_head());
        }
        with(RuleStatus::Failed).for_each(|it| text.push_str(&self.render_failure(it)));
        with(RuleStatus::Warned).for_each(|it| text.push_str(&self.render_warning(it)));
        text.push_str(&self.render_reasons(with(RuleStatus::Undecided), RuleStatus::Undecided));
        if self.is_verbose {
            text.push_str(&self.render_accepted());
            text.push_str(&self.render_kept(with(RuleStatus::Passed)));
            text.push_str(
                &self.render_reasons(with(RuleStatus::NotApplicable), RuleStatus::NotApplicable),
            );
        }
        text.push_str(&self.render_gone());
        let gap = if text.is_empty() { "" } else { "\n" };
        let time = render_time(self.checked.took.as_secs_f64() * 1e3);
        text.push_str(&format!("{gap}{} in {time}\n", Counts::of(self.verdicts)));
        text
    }

    /// Renders the accepted findings that the server still has.
    fn render_accepted(&self) -> String {
        let mut text = String::new();
        for verdict in self.verdicts {
            for found in verdict.findings() {
                let Some(accepted) = found.accepted else { continue };
                let reason = match accepted.reason.as_str() {
                    "" => String::new(),
                    reason => format!(" ({reason})"),
                };
                let line = format!("{}: {}{reason}", verdict.rule, render_message(&found));
                text.push_str(&self.render_wrapped(&line));
            }
        }
        match text.is_empty() {
            true => text,
            false => format!("\n{}\n{text}", self.paint().dim("accepted")),
        }
    }

    /// Renders the accepted findings that the server no longer has.
    fn render_gone(&self) -> String {
        if self.gone.is_empty() {
            return String::new();
        }
        let file = &self.baseline.file;
        let mut text =
            format!("\n{} in {file}, but no longer found\n", self.paint().warning("accepted"));
        for AcceptedFinding { rule, about, finding, line, .. } in self.gone {
            let about = if about.is_empty() { String::new() } else { format!("{about}: ") };
            text.push_str(&self.render_wrapped(&format!("line {line}: {rule}: {about}{finding}")));
        }
        text.push_str("  --accept removes them\n");
        text
    }

    fn render_wrapped(&self, text: &str) -> String {
        let lines = line::wrap_words(&truncate(&line::clean(text)), self.columns() - 2);
        lines.iter().map(|line| format!("  {line}\n")).collect()
    }

    /// Renders what was checked.
    fn render_head(&self) -> String {
        let report = &self.checked.report;
        let infos = report.revisions.iter().rev().filter_map(|it| it.facts.server_info.as_ref());
        let name = infos.map(|it| format!("{} {}", it.name, it.version)).next();
        let name = line::clean(name.as_deref().unwrap_or("a server without a name").trim());
        let mut text = format!(
            "{} over {}\n",
            self.paint().heading(&truncate(&name)),
            self.target.transport()
        );
        let names = |is_connected: bool| {
            let found = report.revisions.iter().filter(|it| it.is_connected == is_connected);
            found.map(|it| it.revision.name()).collect::<Vec<_>>().join(", ")
        };
        let (spoken, failed) = (names(true), names(false));
        if report.token_needed.is_some() {
            text.push_str(&self.render_row("note", TOKEN_NEEDED));
        } else {
            if !spoken.is_empty() {
                text.push_str(&self.render_row("speaks", &spoken));
            }
            if !failed.is_empty() {
                text.push_str(&self.render_row("failed", &format!("{failed}: no connection")));
            }
        }
        for (reason, revisions) in group_reasons(&report.not_spoken) {
            let names: Vec<&str> = revisions.iter().map(|it| it.name()).collect();
            text.push_str(&self.render_row("not", &format!("{}: {reason}", names.join(", "))));
        }
        text.push_str(&self.render_tools());
        text.push_str(&self.render_tokens());
        text
    }

    /// Renders the tokens of the definitions, largest first.
    fn render_tokens(&self) -> String {
        let tokens = self.checked.tool_tokens();
        if tokens.is_empty() {
            return String::new();
        }
        let all: usize = tokens.iter().map(|it| it.tokens).sum();
        let shown = if self.is_verbose { tokens.len() } else { MAX_LARGEST };
        let title = format!("{all} in the definitions of all tools ({TOKENIZER}), largest first");
        let mut text = self.render_row("tokens", &title);
        let mut table = Table::default();
        for tool in tokens.iter().take(shown) {
            table.add_row([&*format!("{:>6}", tool.tokens), &*shown_name(&tool.tool)]);
        }
        let rows = table.render(Paint::new(false, false), self.printer.width(), 9);
        text.push_str(&rows);
        if let Some(more @ 1..) = tokens.len().checked_sub(shown) {
            text.push_str(&format!("         and {more} more; --verbose lists all\n"));
        }
        text
    }

    /// Renders the tools that were called, and how to call the others.
    fn render_tools(&self) -> String {
        let uses = self.uses;
        if uses.called() + uses.not_called.len() == 0 {
            return String::new();
        }
        let mut text = format!("{} called", uses.called());
        if !uses.not_called.is_empty() {
            let names: Vec<_> = uses.not_called.iter().map(|(tool, _)| shown_name(tool)).collect();
            let advice = match self.calls {
                CallPolicy::Nothing => " (--no-call)",
                CallPolicy::All => "",
                CallPolicy::ReadOnly | CallPolicy::Matching(_) => "; --call all allows them",
            };
            text.push_str(&format!("; not called: {}{advice}", names.join(", ")));
        }
        let mut text = self.render_row("tools", &text);
        for (tool, answer) in &uses.never_succeeded {
            let answer = truncate(&line::clean(answer));
            let tool = shown_name(tool);
            let row = format!("{tool} never succeeded, so its results were not judged: {answer}");
            text.push_str(&self.render_row("note", &row));
        }
        text
    }

    /// Renders a rule that the server broke.
    fn render_failure(&self, verdict: &RuleVerdict<'_>) -> String {
        let entry = verdict.rule.entry();
        let failed = verdict.revisions(RuleStatus::Failed);
        let title = self.render_title(verdict, &failed);
        let mut text = format!("\n{} {title}\n{}\n", self.paint().error("FAIL"), entry.summary);
        if let Some(url) = section_url(verdict.rule) {
            text.push_str(&format!("{}\n", self.paint().dim(&url)));
        }
        let findings = verdict.new_findings();
        for (at, found) in findings.iter().enumerate().take(MAX_FINDINGS) {
            text.push_str(&self.render_finding(found, &failed));
            if at < MAX_FINDINGS_WITH_FRAMES {
                text.push_str(&self.render_frames(verdict.rule, found));
            }
        }
        text.push_str(&render_more(findings.len()));
        text.push_str(&self.render_block("change", entry.advice));
        text.push_str(&self.render_repeat(verdict, &failed, &findings));
        text
    }

    /// Renders a recommendation that the server broke, in short form.
    fn render_warning(&self, verdict: &RuleVerdict<'_>) -> String {
        let entry = verdict.rule.entry();
        let warned = verdict.revisions(RuleStatus::Warned);
        let title = self.render_title(verdict, &warned);
        let mut text = format!("\n{} {title}\n", self.paint().warning("warn"));
        let findings = verdict.new_findings();
        for found in findings.iter().take(MAX_FINDINGS) {
            text.push_str(&self.render_finding(found, &warned));
        }
        text.push_str(&render_more(findings.len()));
        text.push_str(&self.render_block("change", entry.advice));
        text.push_str(&self.render_repeat(verdict, &warned, &findings));
        text
    }

    fn render_title(&self, verdict: &RuleVerdict<'_>, revisions: &[Revision]) -> String {
        let revisions = self.render_revisions(revisions);
        format!("{} {}", self.paint().heading(verdict.rule.id()), self.paint().dim(&revisions))
    }

    /// Renders a finding, with its revisions if they are not those of the title.
    fn render_finding(&self, found: &GroupedFinding<'_>, title: &[Revision]) -> String {
        let revisions = match found.revisions == title {
            true => String::new(),
            false => format!(" {}", self.paint().dim(&self.render_revisions(&found.revisions))),
        };
        let message = truncate(&line::clean(&render_message(found)));
        let lines = line::wrap_words(&message, self.columns() - 2);
        let lines: Vec<String> = lines.iter().map(|line| format!("  {line}")).collect();
        format!("{}{revisions}\n", lines.join("\n"))
    }

    fn render_frames(&self, rule: Rule, found: &GroupedFinding<'_>) -> String {
        let frames = found.finding.frames.iter().map(|frame| StepFrame {
            from: match frame.from {
                Side::Client => Sender::Client,
                Side::Server => Sender::Server,
            },
            is_complete: is_about_metadata(rule),
            text: match frame.omitted_bytes {
                0 => frame.text.clone(),
                omitted => format!("{}… ({omitted} bytes more)", frame.text),
            },
        });
        let frames: Vec<StepFrame> = frames.collect();
        let columns = self.columns() - 2;
        let lines = fold_frames(&frames, 0, columns);
        let lines = lines.iter().flat_map(|text| line::wrap(&line::clean(text), columns));
        self.render_block("traffic", &lines.collect::<Vec<_>>().join("\n"))
    }

    /// Renders the commands that repeat the findings: their own, or a check of the rule.
    fn render_repeat(
        &self,
        verdict: &RuleVerdict<'_>,
        revisions: &[Revision],
        findings: &[GroupedFinding<'_>],
    ) -> String {
        // A command that is cut repeats nothing.
        let is_whole = |command: &String| truncate(command) == *command;
        let own = findings.iter().take(MAX_FINDINGS).filter_map(|it| it.finding.command.clone());
        let own = own.filter(is_whole);
        let rule = self.repeat.for_rule(verdict.rule, revisions);
        let commands: Vec<String> = own.chain([rule]).collect();
        self.render_block("repeat", &commands.join("\n"))
    }

    /// Renders rules with their reasons: the rules with the same reason are one entry.
    fn render_reasons<'r>(
        &self,
        verdicts: impl Iterator<Item = &'r RuleVerdict<'r>>,
        status: RuleStatus,
    ) -> String {
        let mut groups: Vec<(String, Vec<&str>)> = Vec::new();
        for verdict in verdicts {
            for (reason, _) in verdict.reasons(status) {
                match groups.iter_mut().find(|(known, _)| known == reason) {
                    Some((_, rules)) => rules.push(verdict.rule.id()),
                    None => groups.push((reason.to_owned(), vec![verdict.rule.id()])),
                }
            }
        }
        let name = match status {
            RuleStatus::Undecided => self.paint().warning("undecided"),
            _ => self.paint().dim("not applicable"),
        };
        let entries = groups.iter().map(|(reason, rules)| {
            let reason = truncate(&line::clean(reason));
            let rules = line::wrap_words(&rules.join(", "), self.columns() - 2);
            let rules: String = rules.iter().map(|line| format!("  {line}\n")).collect();
            format!("\n{name} {reason}\n{rules}")
        });
        entries.collect()
    }

    fn render_kept<'r>(&self, verdicts: impl Iterator<Item = &'r RuleVerdict<'r>>) -> String {
        let rules: Vec<&str> = verdicts.map(|it| it.rule.id()).collect();
        if rules.is_empty() {
            return String::new();
        }
        let lines = line::wrap_words(&rules.join(", "), self.columns() - 2);
        let lines: String = lines.iter().map(|line| format!("  {line}\n")).collect();
        format!("\n{}\n{lines}", self.paint().success("passed"))
    }

    /// Renders a name and a value below the title of the report.
    fn render_row(&self, name: &str, value: &str) -> String {
        let value = line::truncate(&line::clean(value), MAX_ROW_COLUMNS);
        let lines = line::wrap_words(&value, self.columns() - 9);
        let lines = lines.iter().enumerate().map(|(at, line)| {
            let name = if at == 0 { self.paint().dim(&format!("{name:6}")) } else { " ".repeat(6) };
            format!("  {name} {line}\n")
        });
        lines.collect()
    }

    fn render_block(&self, name: &str, text: &str) -> String {
        if text.trim().is_empty() {
            return String::new();
        }
        let lines = text.lines().map(|text| format!("  {}\n", truncate(text).trim_end()));
        let head = self.paint().dim(&format!("{name}:"));
        std::iter::once(format!("{head}\n")).chain(lines).collect()
    }

    fn render_revisions(&self, revisions: &[Revision]) -> String {
        let checked = &self.checked.report.revisions;
        let checked: Vec<Revision> = checked.iter().map(|it| it.revision).collect();
        if let [only] = checked[..] {
            return format!("in {only}");
        }
        match render_revisions(revisions, &checked) {
            all if all == "all" => "in all revisions".to_owned(),
            range if range.starts_with(|c: char| c.is_alphabetic()) => range,
            names => format!("in {names}"),
        }
    }

    fn columns(&self) -> usize {
        self.printer.width().unwrap_or(DEFAULT_COLUMNS).max(MIN_COLUMNS)
    }

    fn paint(&self) -> Paint {
        self.printer.paint()
    }
}

/// Renders the item and the message of a finding.
fn render_message(found: &GroupedFinding<'_>) -> String {
    let finding = found.finding;
    match finding.subject.as_str() {
        "" => finding.message.clone(),
        subject => format!("{subject}: {}", finding.message),
    }
}

fn render_more(findings: usize) -> String {
    match findings.saturating_sub(MAX_FINDINGS) {
        0 => String::new(),
        more => format!("  and {more} more\n"),
    }
}

/// Groups revisions by the reason, in the order of the reasons.
fn group_reasons(all: &[(Revision, String)]) -> Vec<(&str, Vec<Revision>)> {
    let mut groups: Vec<(&str, Vec<Revision>)> = Vec::new();
    for (revision, reason) in all {
        match groups.iter_mut().find(|(known, _)| known == reason) {
            Some((_, revisions)) => revisions.push(*revision),
            None => groups.push((reason, vec![*revision])),
        }
    }
    groups
}

fn shown_name(name: &str) -> String {
    line::truncate(&line::clean(name), MAX_NAME_COLUMNS)
}

fn truncate(text: &str) -> String {
    line::truncate(text, MAX_LINE_COLUMNS)
}
