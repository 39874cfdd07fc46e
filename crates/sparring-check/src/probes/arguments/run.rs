//! The calls of all tools, and the findings that they show.

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use serde_json::Value;
use sparring_wire::Rule;
use tokio::time::Instant;

use super::caller::{Answer, Call, Caller, own_frames};
use super::cases::{Case, Shrinking};
use super::command::call_command;
use super::is_checked;
use super::tool_check::{Fault, ToolCheck};
use super::wrong::{Wrong, WrongKind, looks_like_refusal, wrong_arguments};
use crate::connection::Reply;
use crate::context::{Context, ProbeResult, Stopped};
use crate::verdict::Finding;

/// The number of calls that shrink one case.
const MAX_SHRINKS: usize = 150;

/// The shortest wait for an answer while a hang is shrunk.
const MIN_SHRINK_TIMEOUT: Duration = Duration::from_millis(250);

/// The number of tools that a finding about several tools names.
const MAX_NAMES: usize = 5;

/// The calls of one revision.
pub(super) struct Run<'a> {
    context: &'a Context,
    caller: Caller<'a>,
    tools: Vec<ToolCheck<'a>>,
    timeout: Duration,
    /// The time for everything that repeats: wrong and generated arguments, shrinking.
    unit: Duration,
    /// The last call before the present one.
    previous: Option<(usize, Value)>,
    /// The kinds of wrong arguments that were tried.
    tried: BTreeSet<WrongKind>,
    /// The tools that accept an argument that their schema forbids, with the first call.
    accepts_extra: Vec<(String, Wrong, Finding)>,
}

impl<'a> Run<'a> {
    pub(super) fn new(context: &'a Context, tools: &[&'a Value]) -> Self {
        let timeout = context.options.rule_timeout;
        // A probe may take six times as long.
        let unit = timeout.max(Duration::from_secs(1));
        let deadline = Instant::now() + unit * 11 / 2;
        Run {
            context,
            caller: Caller::new(context, deadline),
            tools: tools.iter().map(|tool| ToolCheck::new(context, tool)).collect(),
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
        self.shrink_internal_errors().await
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
        let seed = self.context.options.seed;
        self.tools[index].settle(seed);
        Ok(())
    }

    /// Calls each tool with its next case, round by round. Each tool has the same part of the
    /// time.
    async fn call_with_generated_arguments(&mut self) -> ProbeResult {
        let cases: Vec<Vec<Case>> = self.tools.iter().map(|tool| self.cases_of(tool)).collect();
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
                    tool.is_valid(&arguments) && !tool.uses_network
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
                self.report_fault(index, case, arguments.clone(), fault, message, call).await?;
            }
        }
        self.previous = Some((index, arguments));
        Ok(())
    }

    /// Shrinks the arguments that show a fault, and reports it.
    async fn report_fault(
        &mut self,
        index: usize,
        case: Case,
        arguments: Value,
        fault: Fault,
        message: String,
        call: Call,
    ) -> ProbeResult {
        let frames = call.frames();
        let fail = |run: &Self,
                    index: usize,
                    message,
                    arguments: Option<&Value>,
                    reply: Option<&Reply>| {
            let name = run.tools[index].name;
            let frames = reply.map_or_else(|| frames.clone(), own_frames);
            let mut finding = Finding::new(message).about(name).with_frames(&frames);
            finding.command = arguments.and_then(|it| call_command(run.context, name, it));
            run.context.fail(fault.rule(), finding);
        };
        if fault == Fault::Crash {
            match self.find_culprit(index, &arguments).await {
                Ok(Some(culprit)) if culprit == (index, arguments.clone()) => {}
                Ok(Some((index, arguments))) => {
                    fail(self, index, message, Some(&arguments), None);
                    return Ok(());
                }
                Ok(None) => {
                    fail(self, index, message, None, None);
                    return Ok(());
                }
                // The server cannot be started again.
                Err(stopped) => {
                    fail(self, index, message, Some(&arguments), None);
                    return Err(stopped);
                }
            }
        }
        let is_first = self.tools[index].succeeded.is_none();
        let original = arguments.clone();
        let mut smallest = (arguments, message, call.reply);
        let shrunk = self.shrink(index, case, fault, &mut smallest).await;
        let (arguments, message, reply) = smallest;
        if fault == Fault::Hang && !is_first {
            // Smaller arguments were confirmed already.
            let unconfirmed = Some(&arguments).filter(|it| **it == original);
            if !self.is_certain_hang(index, unconfirmed).await? {
                return shrunk;
            }
        }
        fail(self, index, message, Some(&arguments), Some(&reply));
        shrunk
    }

    /// Returns true if a tool hangs again, and not for arguments that succeeded before: then
    /// it is only slow at times.
    async fn is_certain_hang(
        &mut self,
        index: usize,
        unconfirmed: Option<&Value>,
    ) -> Result<bool, Stopped> {
        let name = self.tools[index].name;
        let good = self.tools[index].succeeded.clone();
        for (arguments, hangs) in [(unconfirmed, true), (good.as_ref(), false)] {
            let Some(arguments) = arguments else { continue };
            if !self.caller.has_time_for(self.timeout) {
                break;
            }
            let call = self.caller.call(name, arguments, self.timeout).await?;
            if (call.answer == Answer::Hang) != hangs {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns the call after which the server ends: this one or the one before.
    async fn find_culprit(
        &mut self,
        index: usize,
        arguments: &Value,
    ) -> Result<Option<(usize, Value)>, Stopped> {
        let present = (index, arguments.clone());
        for (index, arguments) in [Some(present), self.previous.clone()].into_iter().flatten() {
            if !self.caller.has_time_for(self.timeout) {
                break;
            }
            let name = self.tools[index].name;
            if self.caller.crashes(name, &arguments, self.timeout).await?.is_some() {
                return Ok(Some((index, arguments)));
            }
        }
        Ok(None)
    }

    /// Replaces the arguments by the smallest ones that show the same fault.
    async fn shrink(
        &mut self,
        index: usize,
        case: Case,
        fault: Fault,
        smallest: &mut (Value, String, Reply),
    ) -> ProbeResult {
        let original = smallest.0.clone();
        let timeout = match fault {
            Fault::Hang => {
                let usual = self.tools[index].slowest * 20;
                usual.max(MIN_SHRINK_TIMEOUT).min(self.timeout)
            }
            _ => self.timeout,
        };
        let end = Instant::now() + self.unit * 2;
        // The outcome of each call; one shrunk value can come more than once.
        let mut known = HashMap::from([(original.to_string(), true)]);
        let mut failures: HashMap<String, (Value, String, Reply)> = HashMap::new();
        let mut last_failure = original.to_string();
        let (mut shrinking, mut fails) = (Shrinking::new(case), true);
        for _ in 0..MAX_SHRINKS {
            // A hang is confirmed at the end.
            let reserved = if fault == Fault::Hang { timeout + self.timeout } else { timeout };
            if Instant::now() > end || !self.caller.has_time_for(reserved) {
                break;
            }
            let Some(cases) = &self.tools[index].cases else { break };
            let Some(arguments) = shrinking.next(cases, fails) else { break };
            let key = arguments.to_string();
            fails = match known.get(&key) {
                Some(fails) => *fails,
                None => {
                    let found = self.shows(index, &arguments, fault, timeout).await?;
                    let fails = found.is_some();
                    if let Some((message, reply)) = found {
                        failures.insert(key.clone(), (arguments, message, reply));
                    }
                    known.insert(key.clone(), fails);
                    fails
                }
            };
            if fails {
                last_failure = key;
            }
        }
        let Some(shrunk) = failures.remove(&last_failure) else { return Ok(()) };
        if fault != Fault::Hang {
            *smallest = shrunk;
        } else if let Some((message, reply)) =
            self.shows(index, &shrunk.0, fault, self.timeout).await?
        {
            *smallest = (shrunk.0, message, reply);
        }
        Ok(())
    }

    /// Calls a tool, and returns the message if it shows the fault.
    async fn shows(
        &mut self,
        index: usize,
        arguments: &Value,
        fault: Fault,
        timeout: Duration,
    ) -> Result<Option<(String, Reply)>, Stopped> {
        let name = self.tools[index].name;
        if fault == Fault::Crash {
            let crash = self.caller.crashes(name, arguments, timeout).await?;
            let message = "expected an answer to a call with valid arguments; the server ended";
            return Ok(crash.map(|call| (message.to_owned(), call.reply)));
        }
        let call = self.caller.call(name, arguments, timeout).await?;
        let found = self.tools[index].fault(&call, timeout).filter(|(found, _)| *found == fault);
        Ok(found.map(|(_, message)| (message, call.reply)))
    }

    /// Reports the internal errors of the tools that also succeed.
    async fn shrink_internal_errors(&mut self) -> ProbeResult {
        for index in 0..self.tools.len() {
            let tool = &mut self.tools[index];
            let Some((case, arguments)) = tool.internal_error.take() else { continue };
            if tool.succeeded.is_none() || !self.caller.has_time_for(self.timeout) {
                continue;
            }
            let fault = Fault::InternalError;
            if let Some((message, reply)) =
                self.shows(index, &arguments, fault, self.timeout).await?
            {
                let mut smallest = (arguments, message, reply);
                let shrunk = self.shrink(index, case, fault, &mut smallest).await;
                let (arguments, message, reply) = smallest;
                let name = self.tools[index].name;
                let mut finding =
                    Finding::new(message).about(name).with_frames(&own_frames(&reply));
                finding.command = call_command(self.context, name, &arguments);
                self.context.fail(fault.rule(), finding);
                shrunk?;
            }
        }
        Ok(())
    }

    /// A server can also end right after the last call.
    async fn check_survival(&mut self) -> ProbeResult {
        if self.caller.is_alive().await {
            return Ok(());
        }
        let Some((index, arguments)) = self.previous.clone() else { return Ok(()) };
        let name = self.tools[index].name;
        if let Some(call) = self.caller.crashes(name, &arguments, self.timeout).await? {
            let message = "expected the server to run on after a call; it ended";
            let mut finding = Finding::new(message).about(name).with_frames(&call.frames());
            finding.command = call_command(self.context, name, &arguments);
            self.context.fail(Rule::ArgumentsCrash, finding);
        }
        Ok(())
    }

    async fn call_with_wrong_arguments(&mut self, index: usize, end: Instant) -> ProbeResult {
        let tool = &self.tools[index];
        let Some(cases) = tool.cases.as_ref() else { return Ok(()) };
        let good = tool.succeeded.as_ref().or(tool.good.first());
        let wrong = good.map(|good| wrong_arguments(cases, good)).unwrap_or_default();
        let mut accepted = BTreeSet::new();
        for wrong in wrong {
            if self.tools[index].is_over || accepted.contains(&wrong.kind) {
                continue;
            }
            if Instant::now() > end || !self.caller.has_time_for(self.timeout) {
                break;
            }
            let name = self.tools[index].name;
            let call = self.caller.call(name, &wrong.arguments, self.timeout).await?;
            self.tools[index].spent += call.took;
            self.tried.insert(wrong.kind);
            match call.answer {
                Answer::Success if !looks_like_refusal(&call.text()) => {
                    accepted.insert(wrong.kind);
                    self.report_accepted(name, wrong.clone(), &call);
                }
                Answer::Crash => {
                    self.tools[index].is_over = true;
                    self.report_crash_of_wrong(index, &wrong, &call).await?;
                }
                Answer::Hang => {
                    self.tools[index].is_over = true;
                    let message = format!("{}, {}", call.reply.describe(), wrong.mistake);
                    let finding = Finding::new(message).about(name);
                    let finding = finding.with_frames(&call.frames());
                    self.fail_with_command(Rule::NoAnswer, finding, name, &wrong.arguments);
                }
                _ => {}
            }
            self.previous = Some((index, wrong.arguments));
        }
        Ok(())
    }

    fn report_accepted(&mut self, name: &str, wrong: Wrong, call: &Call) {
        let message = format!("expected an error for a call {}", wrong.mistake);
        let finding = call.reply.finding(message);
        if wrong.kind == WrongKind::Extra {
            self.accepts_extra.push((name.to_owned(), wrong, finding));
        } else {
            let finding = finding.about(name);
            self.fail_with_command(wrong.kind.rule(), finding, name, &wrong.arguments);
        }
    }

    async fn report_crash_of_wrong(
        &mut self,
        index: usize,
        wrong: &Wrong,
        call: &Call,
    ) -> ProbeResult {
        let culprit = self.find_culprit(index, &wrong.arguments).await;
        let (name, arguments) = match &culprit {
            Ok(Some((index, arguments))) => (self.tools[*index].name, Some(arguments)),
            Ok(None) => (self.tools[index].name, None),
            Err(_) => (self.tools[index].name, Some(&wrong.arguments)),
        };
        let message = match arguments {
            Some(it) if *it == wrong.arguments => {
                format!("expected an error for a call {}; the server ended", wrong.mistake)
            }
            _ => "expected an answer to a call with valid arguments; the server ended".to_owned(),
        };
        let mut finding = Finding::new(message).about(name).with_frames(&call.frames());
        finding.command = arguments.and_then(|it| call_command(self.context, name, it));
        self.context.fail(Rule::ArgumentsCrash, finding);
        culprit.map(|_| ())
    }

    fn fail_with_command(&self, rule: Rule, mut finding: Finding, name: &str, arguments: &Value) {
        finding.command = call_command(self.context, name, arguments);
        self.context.fail(rule, finding);
    }

    /// Reports the tools that accept arguments that their schemas forbid. Most often all
    /// tools of a server do, because of its library, so there is one finding.
    fn report_extra(&self) {
        let Some((name, wrong, first)) = self.accepts_extra.first() else { return };
        let names = self.accepts_extra.iter().map(|(name, _, _)| &**name);
        let mut subject = names.take(MAX_NAMES).collect::<Vec<_>>().join(", ");
        if let Some(more) = self.accepts_extra.len().checked_sub(MAX_NAMES + 1) {
            subject.push_str(&format!(" and {} more", more + 1));
        }
        let finding = first.clone().about(subject);
        self.fail_with_command(Rule::ExtraArgumentAccepted, finding, name, &wrong.arguments);
    }

    /// Reports the rules that the server kept, unless something else was reported about them.
    fn report_kept(&self) {
        let context = self.context;
        for fault in [Fault::Crash, Fault::Hang, Fault::InternalError] {
            context.pass(fault.rule());
        }
        let has_tried = |rule: Rule| self.tried.iter().any(|kind| kind.rule() == rule);
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
