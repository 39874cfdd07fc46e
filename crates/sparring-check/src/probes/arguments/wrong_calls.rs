//! Calls of tools with wrong arguments, and the findings that they show.

use std::collections::BTreeSet;

use serde_json::Value;
use sparring_wire::Rule;
use tokio::task::yield_now;
use tokio::time::Instant;

use super::caller::{Answer, Call};
use super::command::call_command;
use super::run::Run;
use super::wrong::{Wrong, looks_like_refusal, wrong_arguments};
use crate::context::ProbeResult;
use crate::verdict::Finding;

/// The number of tools that a finding about several tools names.
const MAX_NAMES: usize = 5;

impl Run<'_> {
    /// Calls a tool with wrong arguments, until this time.
    pub(super) async fn call_with_wrong_arguments(
        &mut self,
        index: usize,
        end: Instant,
    ) -> ProbeResult {
        let tool = &self.tools[index];
        let Some(cases) = tool.cases.as_ref() else { return Ok(()) };
        let good = tool.succeeded.as_ref().or(tool.good.first());
        let wrong = good.map(|good| wrong_arguments(cases, good)).unwrap_or_default();
        // A signal can end the check here.
        yield_now().await;
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
        match wrong.kind.rule() {
            None => {}
            Some(Rule::ExtraArgumentAccepted) => {
                self.accepts_extra.push((name.to_owned(), wrong, finding));
            }
            Some(rule) => {
                self.fail_with_command(rule, finding.about(name), name, &wrong.arguments);
            }
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
                format!("expected an answer to a call {}; the server ended", wrong.mistake)
            }
            _ => "expected an answer to a call with valid arguments; the server ended".to_owned(),
        };
        let mut finding = Finding::new(message).about(name).with_frames(&call.frames());
        finding.command = arguments.and_then(|it| call_command(self.context, name, it));
        self.context.fail(Rule::ArgumentsCrash, finding);
        culprit.map(|_| ())
    }

    /// Reports a finding with the command that repeats the call.
    pub(super) fn fail_with_command(
        &self,
        rule: Rule,
        mut finding: Finding,
        name: &str,
        arguments: &Value,
    ) {
        finding.command = call_command(self.context, name, arguments);
        self.context.fail(rule, finding);
    }

    /// Reports the tools that accept arguments that their schemas forbid. Most often all
    /// tools of a server do, because of its library, so there is one finding.
    pub(super) fn report_extra(&self) {
        let Some((name, wrong, first)) = self.accepts_extra.first() else { return };
        let names = self.accepts_extra.iter().map(|(name, _, _)| &**name);
        let mut subject = names.take(MAX_NAMES).collect::<Vec<_>>().join(", ");
        if let Some(more) = self.accepts_extra.len().checked_sub(MAX_NAMES + 1) {
            subject.push_str(&format!(" and {} more", more + 1));
        }
        let finding = first.clone().about(subject);
        self.fail_with_command(Rule::ExtraArgumentAccepted, finding, name, &wrong.arguments);
    }
}
