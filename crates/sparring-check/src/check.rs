//! Runs a check: finds the revisions that the server speaks, and runs all probes in each.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use futures_util::{StreamExt as _, stream};
use sparring_wire::{FrameKind, Json, RULES, Revision, Rule, RuleSource, Side};

use crate::applicability::reason_against;
use crate::context::{Context, FirstConnection, SpokenRevisions};
use crate::handshake::{self, Judgement};
use crate::observer::CheckObserver;
use crate::options::CheckOptions;
use crate::probes::{AUTHORIZATION_PROBES, PROBES, Probe, refuses_without_token};
use crate::report::{CheckReport, RevisionReport};
use crate::target::CheckTarget;
use crate::tool_policy::read_only_tools;
use crate::verdict::{Outcome, Verdict};

/// The number of revisions that are checked at the same time.
const PARALLEL_REVISIONS: usize = 4;

/// The number of responses that one probe may wait for.
const MAX_WAITS_PER_PROBE: u32 = 6;

/// The number of unanswered requests after which a revision is no longer checked.
const MAX_UNANSWERED: usize = 3;

/// The reason why a server could not be checked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CheckError {
    /// The server could not be started or connected to in any revision.
    #[error("cannot connect to the server: {0}")]
    NoConnection(String),
    /// The server needs a token. Returned by [`CheckReport::require_connection`], since a check
    /// reports about the authorization of such a server.
    #[error("the server needs a valid token, so only its authorization was checked: {0}")]
    TokenNeeded(String),
    /// The server speaks none of the revisions.
    #[error("the server speaks none of the revisions: {}", render_reasons(.0))]
    NoRevision(Vec<(Revision, String)>),
}

fn render_reasons(reasons: &[(Revision, String)]) -> String {
    let reasons = reasons.iter().map(|(revision, reason)| format!("{revision}: {reason}"));
    reasons.collect::<Vec<_>>().join("; ")
}

/// Checks a server in each of the revisions that it speaks.
///
/// # Errors
/// If the server cannot be connected to, or speaks none of the revisions.
pub async fn check(
    target: Arc<dyn CheckTarget>,
    options: CheckOptions,
) -> Result<CheckReport, CheckError> {
    check_observed(target, options, Arc::new(())).await
}

/// Checks a server like [`check`], and shows its traffic and progress to an observer.
///
/// # Errors
/// If the server cannot be connected to, or speaks none of the revisions.
pub async fn check_observed(
    target: Arc<dyn CheckTarget>,
    options: CheckOptions,
    observer: Arc<dyn CheckObserver>,
) -> Result<CheckReport, CheckError> {
    let options = Arc::new(options);
    let revisions = options.revisions.clone();
    let first = FirstConnection::default();
    let contexts = revisions.into_iter().map(|revision| {
        let (target, options) = (Arc::clone(&target), Arc::clone(&options));
        let (observer, first) = (Arc::clone(&observer), &first);
        async move { (revision, Context::open(target, options, observer, revision, first).await) }
    });
    let contexts: Vec<_> = stream::iter(contexts).buffered(PARALLEL_REVISIONS).collect().await;
    let spoken = contexts.iter().map(|(revision, context)| (*revision, context.is_ok()));
    let spoken = Arc::new(SpokenRevisions(spoken.collect()));
    let opened = contexts.iter().filter_map(|(_, context)| context.as_ref().ok());
    let read_only = Arc::new(opened.flat_map(|it| read_only_tools(it.facts())).collect());
    let (smallest_arguments, has_generated_arguments) = (Arc::default(), Arc::default());
    let checks = contexts.into_iter().map(|(revision, context)| {
        let (read_only, spoken) = (Arc::clone(&read_only), Arc::clone(&spoken));
        let smallest = Arc::clone(&smallest_arguments);
        let has_generated = Arc::clone(&has_generated_arguments);
        async move {
            let judgement = match context {
                Ok(mut context) => {
                    context.set_spoken(spoken);
                    context.share_arguments(smallest, has_generated);
                    return (revision, Ok(check_revision(context, read_only).await));
                }
                Err(failed) => handshake::judge(failed, &spoken).await,
            };
            let outcome = match judgement {
                Judgement::Broken(context, reason) => report_broken(*context).ok_or((reason, true)),
                Judgement::NotConnected(reason) => Err((reason, true)),
                Judgement::NotSpoken(reason) => Err((reason, false)),
            };
            (revision, outcome)
        }
    });
    let outcomes: Vec<_> = stream::iter(checks).buffered(PARALLEL_REVISIONS).collect().await;

    let mut report = CheckReport::default();
    let mut not_opened = None;
    for (revision, outcome) in outcomes {
        match outcome {
            Ok(checked) => report.revisions.push(checked),
            Err((reason, is_failure)) => {
                if is_failure {
                    not_opened.get_or_insert_with(|| reason.clone());
                }
                report.not_spoken.push((revision, reason));
            }
        }
    }
    if report.revisions.is_empty() {
        let unconnected = |revision| {
            let (target, options) = (Arc::clone(&target), Arc::clone(&options));
            Context::unconnected(target, options, Arc::clone(&observer), revision)
        };
        let contexts = options.revisions.iter().map(|revision| unconnected(*revision)).collect();
        report.revisions = check_authorization(contexts).await;
        report.token_needed = not_opened.clone().filter(|_| !report.revisions.is_empty());
    }
    match (report.revisions.is_empty(), not_opened) {
        (false, _) => Ok(report),
        (true, Some(reason)) => Err(CheckError::NoConnection(reason)),
        (true, None) => Err(CheckError::NoRevision(report.not_spoken)),
    }
}

/// Checks a server that refuses every connection. If it refuses them without a token, the rules
/// of authorization can be checked; otherwise no rule.
async fn check_authorization(contexts: Vec<Context>) -> Vec<RevisionReport> {
    let rules: Vec<Rule> = AUTHORIZATION_PROBES.iter().flat_map(|it| it.rules).copied().collect();
    let is_selected = |context: &Context, rule: Rule| {
        rule.applies_in(context.revision) && context.options.selects(rule)
    };
    let contexts = contexts.into_iter();
    let contexts = contexts.filter(|it| rules.iter().any(|rule| is_selected(it, *rule)));
    let mut contexts: Vec<Context> = contexts.collect();
    match contexts.last() {
        Some(last) if refuses_without_token(last).await => {}
        _ => return Vec::new(),
    }
    let checks = contexts.drain(..).map(|context| async move {
        for probe in AUTHORIZATION_PROBES {
            run_probe(&context, probe).await;
        }
        let mut verdicts = verdicts(&context);
        let is_authorization = |rule: Rule| rule.id().starts_with("authorization/");
        verdicts.retain(|it| is_authorization(it.rule));
        let revision = context.revision;
        let (facts, tool_uses) = context.into_parts();
        RevisionReport { revision, is_connected: false, facts, verdicts, tool_uses }
    });
    stream::iter(checks).buffered(PARALLEL_REVISIONS).collect().await
}

async fn check_revision(
    mut context: Context,
    read_only_tools: Arc<BTreeSet<String>>,
) -> RevisionReport {
    context.set_read_only_tools(read_only_tools);
    let revision = context.revision;
    // An iterator adapter in the place of these loops would make the future not `Send`.
    for probes in PROBES {
        for probe in *probes {
            context.observer().probe_started(revision, probe.rules);
            run_probe(&context, probe).await;
        }
    }
    context.close().await;
    context.judge_traffic();
    let verdicts = verdicts(&context);
    let (facts, tool_uses) = context.into_parts();
    RevisionReport { revision, is_connected: true, facts, verdicts, tool_uses }
}

/// Returns true if the user asks for a rule that the traffic of any probe can break.
fn needs_all_traffic(options: &CheckOptions) -> bool {
    options.only.iter().any(|rule| is_found_in_traffic(*rule))
}

/// Returns true if the rule has no probe, since any traffic shows its violations.
fn is_found_in_traffic(rule: Rule) -> bool {
    rule.entry().source == RuleSource::Traffic || matches!(rule, Rule::NoAnswer | Rule::Crash)
}

/// Reports the broken rules of a revision without a connection, unless none is selected.
fn report_broken(context: Context) -> Option<RevisionReport> {
    let revision = context.revision;
    let mut verdicts = verdicts(&context);
    verdicts.retain(|it| matches!(it.outcome, Outcome::Broken(_)));
    let (facts, tool_uses) = context.into_parts();
    let is_connected = false;
    let report = RevisionReport { revision, is_connected, facts, verdicts, tool_uses };
    Some(report).filter(|it| !it.verdicts.is_empty())
}

/// Runs a probe if any of its rules is selected. A probe that takes too long is stopped.
async fn run_probe(context: &Context, probe: &Probe) {
    let options = &context.options;
    let is_wanted = |rule: Rule| options.selects(rule) || needs_all_traffic(options);
    if !probe.rules.iter().any(|it| it.applies_in(context.revision) && is_wanted(*it)) {
        return;
    }
    let leave_open = |reason: &str| {
        let open = probe.rules.iter().filter(|rule| !context.outcomes().has(**rule));
        open.for_each(|rule| context.undecided(*rule, reason));
    };
    if context.outcomes().unanswered() >= MAX_UNANSWERED {
        return leave_open("the server left too many requests without an answer");
    }
    let limit = context.options.rule_timeout.max(Duration::from_secs(1)) * MAX_WAITS_PER_PROBE;
    match tokio::time::timeout(limit, (probe.run)(context)).await {
        Ok(Ok(())) => leave_open("the probe did not get that far"),
        Ok(Err(stopped)) => leave_open(&stopped.to_string()),
        Err(_) => leave_open(&match unanswered_request(context) {
            Some(request) => format!("the probe took too long; {request} has no response"),
            None => "the probe took too long".to_owned(),
        }),
    }
}

/// Names the newest request without a response, for the reason why a probe took too long.
fn unanswered_request(context: &Context) -> Option<String> {
    let recordings = context.recordings();
    recordings.iter().rev().find_map(|recording| {
        let entries = recording.entries_from(0);
        let index = entries.iter().rposition(|it| it.frame.kind() == FrameKind::Request)?;
        let (sent, later) = entries[index..].split_first()?;
        let is_answered = later.iter().any(|it| it.frame.id() == sent.frame.id());
        let name = sent.frame.params().and_then(|it| it.get("name")).and_then(Json::as_str);
        let method = sent.frame.method()?;
        (sent.from == Side::Client && !is_answered).then(|| match name {
            Some(name) => format!("{method} of `{name}`"),
            None => method.to_owned(),
        })
    })
}

/// Returns a verdict for each selected rule of the revision.
fn verdicts(context: &Context) -> Vec<Verdict> {
    let revision = context.revision;
    let selected = RULES.iter().map(|entry| entry.rule);
    let selected = selected.filter(|rule| rule.applies_in(revision));
    let selected = selected.filter(|rule| context.options.selects(*rule));
    let verdicts = selected.filter_map(|rule| {
        let outcome = match context.outcomes().outcome(rule) {
            Some(outcome) => outcome,
            None => outcome_of_silence(context, rule)?,
        };
        Some(Verdict { rule, revision, outcome })
    });
    verdicts.collect()
}

/// Returns the outcome of a rule that nothing was reported about. Traffic and connections
/// only report violations.
fn outcome_of_silence(context: &Context, rule: Rule) -> Option<Outcome> {
    is_found_in_traffic(rule).then(|| match reason_against(context, rule) {
        Some(reason) => Outcome::NotApplicable(reason),
        None => Outcome::Kept,
    })
}
