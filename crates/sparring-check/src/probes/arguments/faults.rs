//! The faults that calls with valid arguments show: the search for the smallest arguments,
//! and the findings.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use sparring_wire::Rule;
use tokio::task::yield_now;
use tokio::time::Instant;

use super::caller::{Answer, own_frames};
use super::cases::{Case, Shrinking};
use super::run::Run;
use super::tool_check::Fault;
use crate::connection::Reply;
use crate::context::{ProbeResult, Stopped};
use crate::verdict::Finding;

/// The number of calls that shrink one case.
const MAX_SHRINKS: usize = 150;

/// The shortest wait for an answer while a hang is shrunk.
const MIN_SHRINK_TIMEOUT: Duration = Duration::from_millis(250);

/// A call that shows a fault.
pub(super) struct Shown {
    pub(super) arguments: Value,
    pub(super) message: String,
    pub(super) reply: Reply,
}

impl Run<'_> {
    /// Looks for the smallest arguments that show a fault, and reports it. One revision after
    /// the other looks for those of a tool, and begins with the ones that the others found.
    pub(super) async fn report_fault(
        &mut self,
        index: usize,
        case: Case,
        fault: Fault,
        mut shown: Shown,
    ) -> ProbeResult {
        let original = shown.arguments.clone();
        let key = (self.tools[index].name.to_owned(), fault.rule());
        let smallest = Arc::clone(self.context.smallest_arguments());
        let (mut searched, mut is_confirmed) = (Ok(()), false);
        if let Some(mut smallest) = self.caller.before_deadline(smallest.lock()).await {
            if let Some(known) = smallest.get(&key) {
                searched = self.try_known(index, fault, known, &mut shown, &mut is_confirmed).await;
            }
            if searched.is_ok() && !is_confirmed {
                searched = self.shrink(index, case, fault, &mut shown).await;
                is_confirmed = shown.arguments != original;
                smallest.insert(key, shown.arguments.clone());
            }
        }
        match fault {
            Fault::Crash if !is_confirmed => {
                let culprit = self.find_culprit(index, &original).await;
                let (index, arguments) = match &culprit {
                    Ok(Some((index, arguments))) => (*index, Some(arguments)),
                    Ok(None) => (index, None),
                    // The server cannot be started again.
                    Err(_) => (index, Some(&original)),
                };
                self.fail(index, fault, &shown, arguments);
                culprit.and(searched)
            }
            Fault::Hang if !self.is_certain_hang(index, &shown, is_confirmed).await => searched,
            _ => {
                self.fail(index, fault, &shown, Some(&shown.arguments));
                searched
            }
        }
    }

    fn fail(&self, index: usize, fault: Fault, shown: &Shown, arguments: Option<&Value>) {
        let name = self.tools[index].name;
        let frames = own_frames(&shown.reply);
        let finding = Finding::new(&shown.message).about(name).with_frames(&frames);
        match arguments {
            Some(arguments) => self.fail_with_command(fault.rule(), finding, name, arguments),
            None => self.context.fail(fault.rule(), finding),
        }
    }

    /// Tries the arguments that show the fault in another revision.
    async fn try_known(
        &mut self,
        index: usize,
        fault: Fault,
        known: &Value,
        shown: &mut Shown,
        is_confirmed: &mut bool,
    ) -> ProbeResult {
        if !self.caller.has_time_for(self.timeout) {
            return Ok(());
        }
        if let Some(found) = self.shows(index, known, fault, self.timeout).await? {
            *shown = found;
            *is_confirmed = true;
        }
        Ok(())
    }

    /// Returns true if a tool hangs again, and not for arguments that succeeded before:
    /// otherwise it is only slow at times.
    async fn is_certain_hang(&mut self, index: usize, shown: &Shown, is_confirmed: bool) -> bool {
        let name = self.tools[index].name;
        let Some(good) = self.tools[index].succeeded.clone() else { return true };
        let unconfirmed = (!is_confirmed).then_some((&shown.arguments, true));
        for (arguments, hangs) in unconfirmed.into_iter().chain([(&good, false)]) {
            if !self.caller.has_time_for(self.timeout) {
                break;
            }
            let call = self.caller.call(name, arguments, self.timeout).await;
            if call.is_ok_and(|call| (call.answer == Answer::Hang) != hangs) {
                return false;
            }
        }
        true
    }

    /// Returns the call after which the server ends: this one or the one before. Without time
    /// to find out it is this one.
    pub(super) async fn find_culprit(
        &mut self,
        index: usize,
        arguments: &Value,
    ) -> Result<Option<(usize, Value)>, Stopped> {
        let present = (index, arguments.clone());
        for (index, arguments) in
            [Some(present.clone()), self.previous.clone()].into_iter().flatten()
        {
            if !self.caller.has_time_for(self.timeout) {
                return Ok(Some(present));
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
        shown: &mut Shown,
    ) -> ProbeResult {
        let mut failures: HashMap<String, Shown> = HashMap::new();
        let last = self.search(index, case, fault, shown, &mut failures).await;
        let (last, stopped) = match last {
            Ok(last) => (last, Ok(())),
            Err((last, stopped)) => (last, Err(stopped)),
        };
        let Some(shrunk) = failures.remove(&last) else { return stopped };
        if fault != Fault::Hang {
            *shown = shrunk;
        } else if let Some(confirmed) =
            self.shows(index, &shrunk.arguments, fault, self.timeout).await?
        {
            *shown = confirmed;
        }
        stopped
    }

    /// Calls the tool with smaller and smaller arguments. Returns the last ones that fail, as
    /// JSON, also if the server cannot be started again.
    async fn search(
        &mut self,
        index: usize,
        case: Case,
        fault: Fault,
        shown: &Shown,
        failures: &mut HashMap<String, Shown>,
    ) -> Result<String, (String, Stopped)> {
        let (timeout, end) = match fault {
            Fault::Hang => {
                let usual = self.tools[index].slowest * 20;
                let timeout = usual.max(MIN_SHRINK_TIMEOUT).min(self.timeout);
                // A hang is confirmed at the end.
                (timeout, Instant::now() + self.unit * 2)
            }
            _ => (self.timeout, Instant::now() + self.unit * 3),
        };
        let mut last = shown.arguments.to_string();
        // The outcome of each call; one shrunk value can come more than once.
        let mut known = HashMap::from([(last.clone(), true)]);
        let (mut shrinking, mut fails) = (Shrinking::new(case), true);
        for _ in 0..MAX_SHRINKS {
            let reserved = if fault == Fault::Hang { timeout + self.timeout } else { timeout };
            if Instant::now() > end || !self.caller.has_time_for(reserved) {
                break;
            }
            let Some(cases) = &self.tools[index].cases else { break };
            let Some(arguments) = shrinking.next(cases, fails) else { break };
            // A signal can end the check here, also if the outcome is known.
            yield_now().await;
            let key = arguments.to_string();
            fails = match known.get(&key) {
                Some(fails) => *fails,
                None => match self.shows(index, &arguments, fault, timeout).await {
                    Ok(found) => {
                        let fails = found.is_some();
                        known.insert(key.clone(), fails);
                        failures.extend(found.map(|it| (key.clone(), it)));
                        fails
                    }
                    Err(stopped) => return Err((last, stopped)),
                },
            };
            if fails {
                last = key;
            }
        }
        Ok(last)
    }

    /// Calls a tool, and returns the call if it shows the fault.
    async fn shows(
        &mut self,
        index: usize,
        arguments: &Value,
        fault: Fault,
        timeout: Duration,
    ) -> Result<Option<Shown>, Stopped> {
        let tool = &self.tools[index];
        let shown = |message, reply| Shown { arguments: arguments.clone(), message, reply };
        if fault == Fault::Crash {
            let crash = self.caller.crashes(tool.name, arguments, timeout).await?;
            return Ok(crash.map(|call| shown(Fault::crash_message(), call.reply)));
        }
        let call = self.caller.call(tool.name, arguments, timeout).await?;
        let found = tool.fault(&call, timeout).filter(|(found, _)| *found == fault);
        Ok(found.map(|(_, message)| shown(message, call.reply)))
    }

    /// Reports the internal errors of the tools that also succeed.
    pub(super) async fn report_internal_errors(&mut self) -> ProbeResult {
        let fault = Fault::InternalError;
        for index in 0..self.tools.len() {
            let tool = &mut self.tools[index];
            let Some((case, arguments)) = tool.internal_error.take() else { continue };
            if tool.succeeded.is_none() || !self.caller.has_time_for(self.timeout) {
                continue;
            }
            if let Some(shown) = self.shows(index, &arguments, fault, self.timeout).await? {
                self.report_fault(index, case, fault, shown).await?;
            }
        }
        Ok(())
    }

    /// A server can also end right after the last call.
    pub(super) async fn check_survival(&mut self) -> ProbeResult {
        if self.caller.is_alive().await {
            return Ok(());
        }
        let Some((index, arguments)) = self.previous.clone() else { return Ok(()) };
        let name = self.tools[index].name;
        if let Some(call) = self.caller.crashes(name, &arguments, self.timeout).await? {
            let message = "expected the server to run on after a call; it ended";
            let finding = Finding::new(message).about(name).with_frames(&own_frames(&call.reply));
            self.fail_with_command(Rule::ArgumentsCrash, finding, name, &arguments);
        }
        Ok(())
    }
}
