//! The calls of all tools, and the findings that they show.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::Value;
use sparring_wire::Rule;
use tokio::task::yield_now;
use tokio::time::Instant;

use super::caller::Caller;
use super::cases::Case;
use super::faults::Shown;
use super::is_checked;
use super::tool_check::{Fault, ToolCheck};
use super::wrong::{Wrong, WrongKind};
use crate::context::{Context, ProbeResult};
use crate::verdict::Finding;

/// The calls of one revision.
pub(super) struct Run<'a> {
    pub(super) context: &'a Context,
    pub(super) caller: Caller<'a>,
    pub(super) tools: Vec<ToolCheck<'a>>,
    pub(super) timeout: Duration,
    /// The time for everything that repeats: wrong and generated arguments, shrinking.
    pub(super) unit: Duration,
    /// The last call before the present one.
    pub(super) previous: Option<(usize, Value)>,
    /// The kinds of wrong arguments that were tried.
    pub(super) tried: BTreeSet<WrongKind>,
    /// The tools that accept an argument that their schema forbids, with the first call.
    pub(super) accepts_extra: Vec<(String, Wrong, Finding)>,
}

impl<'a> Run<'a> {
    pub(super) async fn new(context: &'a Context, tools: &[&'a Value]) -> Self {
        let timeout = context.options.rule_timeout;
        // A probe may take six times as long.
        let unit = timeout.max(Duration::from_secs(1));
        let deadline = Instant::now() + unit * 11 / 2;
        let mut checks = Vec::with_capacity(tools.len());
        for tool in tools {
            checks.push(ToolCheck::new(context, tool));
            // A signal can end the check here.
            yield_now().await;
        }
        Run {
            context,
            caller: Caller::new(context, deadline),
            tools: checks,
            timeout,
            unit,
            previous: None,
            tried: BTreeSet::new(),
            accepts_extra: Vec::new(),
        }
    }

    /// Calls all tools, and reports the outcomes.
    pub(super) async fn finish(mut self) -> ProbeResult {
        let called = self.call_all().await;
        for tool in &self.tools {
            self.context.record_tool_use(tool.tool_use());
        }
        self.report_extra();
        if called.is_ok() {
            self.report_kept();
        }
        self.caller.close().await;
        called
    }

    async fn call_all(&mut self) -> ProbeResult {
        self.caller.check_connection().await;
        for index in 0..self.tools.len() {
            self.call_with_good_arguments(index).await?;
        }
        let end = Instant::now() + self.unit / 2;
        let wrong = [
            Rule::InvalidArgumentsAccepted,
            Rule::ArgumentLimitIgnored,
            Rule::ExtraArgumentAccepted,
            Rule::ArgumentsCrash,
        ];
        if wrong.into_iter().any(|rule| is_checked(self.context, rule)) {
            for index in 0..self.tools.len() {
                self.call_with_wrong_arguments(index, end).await?;
            }
        }
        let generated = [
            Rule::ArgumentsCrash,
            Rule::ArgumentsHang,
            Rule::ArgumentsInternalError,
            Rule::OutputSchema,
        ];
        if generated.into_iter().any(|rule| is_checked(self.context, rule)) {
            self.call_with_generated_arguments().await?;
        }
        self.check_survival().await?;
        self.report_internal_errors().await
    }

    async fn call_with_good_arguments(&mut self, index: usize) -> ProbeResult {
        for arguments in self.tools[index].good.clone() {
            let is_slow = self.tools[index].spent > self.unit / 5;
            let has_succeeded = self.tools[index].succeeded.is_some();
            if self.tools[index].is_over || is_slow && has_succeeded {
                break;
            }
            self.call_valid(index, Case::Given(arguments.clone()), arguments).await?;
        }
        self.tools[index].settle();
        Ok(())
    }

    /// Calls each tool with its next case, round by round. Each tool has the same part of the
    /// time.
    async fn call_with_generated_arguments(&mut self) -> ProbeResult {
        self.context.expect_generated_arguments();
        let mut cases: Vec<Vec<Case>> = Vec::with_capacity(self.tools.len());
        for tool in &self.tools {
            cases.push(self.cases_of(tool));
            yield_now().await;
        }
        let time = self.unit / 2;
        let share = time / self.tools.len().max(1) as u32;
        let mut began = Instant::now();
        let spent: Vec<Duration> = self.tools.iter().map(|tool| tool.spent).collect();
        for round in 0..self.context.options.cases as usize {
            for index in 0..self.tools.len() {
                let tool = &self.tools[index];
                let is_fast = tool.spent - spent[index] <= share || began.elapsed() < time / 2;
                let has_time = is_fast && began.elapsed() <= time;
                let Some(case) = cases[index].get(round).filter(|_| has_time && !tool.is_over)
                else {
                    continue;
                };
                let arguments = tool.cases.as_ref().and_then(|it| it.arguments(case));
                // A signal can end the check here, also if no case has arguments.
                yield_now().await;
                if let Some(arguments) = arguments {
                    // A fault has a time of its own.
                    let found = self.tools[index].found.len();
                    let before = Instant::now();
                    self.call_valid(index, case.clone(), arguments).await?;
                    if self.tools[index].found.len() > found {
                        began += before.elapsed();
                    }
                }
            }
        }
        Ok(())
    }

    fn cases_of(&self, tool: &ToolCheck<'_>) -> Vec<Case> {
        let count = self.context.options.cases;
        tool.cases.as_ref().map(|it| it.cases(count)).unwrap_or_default()
    }

    /// Calls a tool with arguments that should be valid, and reports the fault that shows.
    async fn call_valid(&mut self, index: usize, case: Case, arguments: Value) -> ProbeResult {
        if !self.caller.has_time_for(self.timeout) {
            self.tools[index].is_over = true;
            return Ok(());
        }
        let name = self.tools[index].name;
        let call = self.caller.call(name, &arguments, self.timeout).await?;
        self.tools[index].note(&arguments, &call);
        let tool = &self.tools[index];
        let fault = tool.fault(&call, self.timeout).filter(|(fault, _)| {
            let is_judged = match fault {
                Fault::Hang | Fault::InternalError => {
                    tool.is_valid(&arguments) && !tool.may_be_slow
                }
                Fault::Crash | Fault::Output => true,
            };
            is_judged && !tool.found.contains(fault)
        });
        match fault {
            None => {}
            Some((Fault::InternalError, _)) => {
                let first = &mut self.tools[index].internal_error;
                first.get_or_insert((case, arguments.clone()));
            }
            Some((fault, message)) => {
                self.tools[index].found.insert(fault);
                let shown = Shown { arguments: arguments.clone(), message, reply: call.reply };
                self.report_fault(index, case, fault, shown).await?;
            }
        }
        self.previous = Some((index, arguments));
        Ok(())
    }

    /// Reports the rules that the server kept, unless something else was reported about them.
    fn report_kept(&self) {
        let context = self.context;
        for fault in [Fault::Crash, Fault::Hang, Fault::InternalError] {
            context.pass(fault.rule());
        }
        let has_tried = |rule: Rule| self.tried.iter().any(|kind| kind.rule() == Some(rule));
        for (rule, missing) in [
            (Rule::InvalidArgumentsAccepted, "no input schema has a required argument or a type"),
            (Rule::ArgumentLimitIgnored, "no input schema has limits"),
            (Rule::ExtraArgumentAccepted, "no input schema forbids further arguments"),
        ] {
            match has_tried(rule) {
                true => context.pass(rule),
                false => context.not_applicable(rule, missing),
            }
        }
        let described = |tool: &&ToolCheck<'_>| tool.output.is_some();
        let mut described = self.tools.iter().filter(described).peekable();
        match (described.peek().is_some(), described.any(|tool| tool.succeeded.is_some())) {
            (true, true) => context.pass(Rule::OutputSchema),
            (true, false) => {
                let reason = "no tool with an output schema succeeded";
                context.not_applicable(Rule::OutputSchema, reason);
            }
            _ => context.not_applicable(Rule::OutputSchema, "no tool has an output schema"),
        }
    }
}
