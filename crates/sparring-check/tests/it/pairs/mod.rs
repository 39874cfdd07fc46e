//! For every rule a server that breaks only this rule, and the correct server that keeps it.
//! One file for each area of the catalogue.

mod arguments;
pub(crate) mod authorization;
mod completion;
mod cost;
mod definitions;
mod exchange;
mod http;
mod lifecycle;
mod lists;
mod prompts;
mod questions;
mod resources;
mod safety;
mod schema;
mod statelessness;
mod stdio;
mod subscriptions;
pub(crate) mod tasks;
mod tools;
mod utilities;
mod wire;

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex};

use futures_util::{StreamExt as _, stream};
use sparring_check::{CheckError, CheckOptions, CheckReport, CheckTarget, Status, check};
use sparring_transport::Target;
use sparring_wire::{RULES, Revision, Rule};
use tokio::sync::OnceCell;

use crate::support::{AlteredHttp, AlteredServer, bad_rules, options, render_problems};

/// The number of checks at the same time.
const PARALLEL: usize = 4;

/// The cases of all areas.
const AREAS: &[&[Case]] = &[
    wire::TEXT,
    wire::FIELDS,
    wire::METHODS,
    schema::SHAPES,
    schema::FORMATS,
    schema::CONTENT,
    exchange::CASES,
    lifecycle::CASES,
    statelessness::CASES,
    stdio::CASES,
    http::traffic::CASES,
    http::origin::CASES,
    http::sessions::CASES,
    http::streams::CASES,
    http::headers::CASES,
    http::legacy_sse::CASES,
    authorization::CASES,
    utilities::CASES,
    questions::CASES,
    tasks::CASES,
    subscriptions::CASES,
    lists::CASES,
    tools::CALLS,
    tools::RESULTS,
    tools::DEFINITIONS,
    resources::CASES,
    prompts::CASES,
    completion::CASES,
    definitions::CASES,
    cost::CASES,
    safety::CASES,
    arguments::CASES,
];

/// The report about a correct server.
type CorrectReport = Arc<Result<CheckReport, CheckError>>;
/// The key of a shared check of a correct server: the revision, the choice of rules, the kind of
/// server, and the functions that change it and the options.
type CorrectKey = (Revision, bool, usize, [usize; 4]);

/// The reports about correct servers.
static REPORTS: LazyLock<Mutex<HashMap<CorrectKey, Arc<OnceCell<CorrectReport>>>>> =
    LazyLock::new(Mutex::default);

/// A rule with a server that breaks it in one revision.
#[derive(Clone, Copy)]
pub(crate) struct Case {
    rule: Rule,
    revision: Revision,
    server: Broken,
    /// Other rules that the server cannot help breaking.
    also: &'static [Rule],
    /// Options that the rule needs.
    options: fn(&mut CheckOptions),
    /// Makes the correct server over HTTP such that the rule applies.
    base: fn(AlteredHttp) -> AlteredHttp,
    /// The correct server on lines, if the usual one does not show the rule.
    correct: fn() -> AlteredServer,
    /// Changes the correct server on lines, but not the broken one.
    change: fn(AlteredServer) -> AlteredServer,
}

/// How a case breaks the correct server.
#[derive(Clone, Copy)]
enum Broken {
    Lines(fn(AlteredServer) -> AlteredServer),
    Http(fn(AlteredHttp) -> AlteredHttp),
    /// The correct server is protected, and the check has a token.
    Protected(fn(AlteredHttp) -> AlteredHttp),
    /// A process, and the correct one.
    Process(fn() -> Target, fn() -> Target),
}

impl Case {
    const fn new(rule: Rule, revision: Revision, server: Broken) -> Case {
        let correct = AlteredServer::default as fn() -> _;
        let (base, change) = (|server| server, |server| server);
        Case { rule, revision, server, also: &[], options: |_| {}, base, correct, change }
    }

    /// A process that breaks the rule, and one that keeps it.
    pub(crate) const fn process(
        rule: Rule,
        revision: Revision,
        broken: fn() -> Target,
        correct: fn() -> Target,
    ) -> Case {
        Case::new(rule, revision, Broken::Process(broken, correct))
    }

    /// Alters this correct server on lines instead of the usual one.
    pub(crate) const fn of(mut self, correct: fn() -> AlteredServer) -> Case {
        self.correct = correct;
        self
    }

    /// A server on a stream of lines.
    pub(crate) const fn lines(
        rule: Rule,
        revision: Revision,
        alter: fn(AlteredServer) -> AlteredServer,
    ) -> Case {
        Case::new(rule, revision, Broken::Lines(alter))
    }

    /// A server over HTTP.
    pub(crate) const fn http(
        rule: Rule,
        revision: Revision,
        alter: fn(AlteredHttp) -> AlteredHttp,
    ) -> Case {
        Case::new(rule, revision, Broken::Http(alter))
    }

    /// A protected server over HTTP, for whose requests the check has a token. Only the rules of
    /// authorization are checked.
    pub(crate) const fn protected(
        rule: Rule,
        revision: Revision,
        alter: fn(AlteredHttp) -> AlteredHttp,
    ) -> Case {
        Case::new(rule, revision, Broken::Protected(alter))
            .with_options(authorization::only_authorization)
    }

    /// Names other rules that the server cannot help breaking.
    pub(crate) const fn also(mut self, rules: &'static [Rule]) -> Case {
        self.also = rules;
        self
    }

    /// Changes the options of the check.
    pub(crate) const fn with_options(mut self, change: fn(&mut CheckOptions)) -> Case {
        self.options = change;
        self
    }

    /// Changes the correct server over HTTP, before it is broken.
    pub(crate) const fn on(mut self, base: fn(AlteredHttp) -> AlteredHttp) -> Case {
        self.base = base;
        self
    }

    /// Changes the correct server on lines, so that the rule applies to it.
    pub(crate) const fn correct(mut self, change: fn(AlteredServer) -> AlteredServer) -> Case {
        self.change = change;
        self
    }

    async fn target(&self, broken: bool) -> Arc<dyn CheckTarget> {
        match self.server {
            Broken::Lines(alter) if broken => Arc::new(alter((self.correct)())),
            Broken::Lines(_) => Arc::new((self.change)((self.correct)())),
            Broken::Process(broken_target, _) if broken => Arc::new(broken_target()),
            Broken::Process(_, correct) => Arc::new(correct()),
            Broken::Http(alter) if broken => {
                Arc::new(alter((self.base)(AlteredHttp::default())).start().await)
            }
            Broken::Http(_) => Arc::new((self.base)(AlteredHttp::default()).start().await),
            Broken::Protected(alter) if broken => {
                Arc::new(authorization::protect(alter(AlteredHttp::default())).start().await)
            }
            Broken::Protected(_) => {
                Arc::new(authorization::protect(AlteredHttp::default()).start().await)
            }
        }
    }

    /// Checks the correct server. Cases with the same server and options share one check.
    async fn correct_report(&self, options: CheckOptions) -> CorrectReport {
        let kind = match self.server {
            Broken::Lines(_) => 0,
            Broken::Http(_) => 1,
            Broken::Protected(_) => 2,
            Broken::Process(_, correct) => correct as usize,
        };
        let functions = [
            self.options as usize,
            self.base as usize,
            self.correct as usize,
            self.change as usize,
        ];
        let is_judged_by_arguments = self.rule.id().starts_with("arguments/");
        let key = (self.revision, is_judged_by_arguments, kind, functions);
        let shared = REPORTS.lock().unwrap().entry(key).or_default().clone();
        let checked = shared
            .get_or_init(|| async { Arc::new(check(self.target(false).await, options).await) });
        Arc::clone(checked.await)
    }

    /// Returns what is wrong with the verdicts about both servers.
    async fn problem(&self) -> Option<String> {
        let Case { rule, revision, also, .. } = *self;
        let mut options = CheckOptions { revisions: vec![revision], ..options() };
        if !rule.id().starts_with("arguments/") {
            // A server whose schemas are altered does not validate with them.
            options.skip.extend([
                Rule::InvalidArgumentsAccepted,
                Rule::ArgumentLimitIgnored,
                Rule::ExtraArgumentAccepted,
            ]);
        }
        (self.options)(&mut options);
        let name = format!("{rule} in {revision}");
        let report = match check(self.target(true).await, options.clone()).await {
            Ok(report) => report,
            Err(error) => return Some(format!("{name}: {error}")),
        };
        let status = report.verdict(rule, revision).map(|it| it.status());
        if !matches!(status, Some(Status::Failed | Status::Warned)) {
            return Some(format!("{name}: not found in the broken server: {status:?}"));
        }
        let mut others = bad_rules(&report);
        others.retain(|it| *it != rule && !also.contains(it));
        if !others.is_empty() {
            let problems = render_problems(&report);
            return Some(format!("{name}: the broken server breaks more, {others:?}:\n{problems}"));
        }
        let report = self.correct_report(options).await;
        let report = match &*report {
            Ok(report) => report,
            Err(error) => return Some(format!("{name}, correct server: {error}")),
        };
        let verdict = report.verdict(rule, revision);
        (verdict.map(|it| it.status()) != Some(Status::Passed))
            .then(|| format!("{name}: the correct server does not keep it: {verdict:#?}"))
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn each_broken_server_breaks_only_its_rule_and_the_correct_server_keeps_it() {
    let cases = AREAS.iter().copied().flatten().copied();
    let only = std::env::var("SPAR_RULE").ok();
    let is_selected = |rule: Rule| {
        only.as_ref().is_none_or(|only| only.split(',').any(|it| rule.id().contains(it)))
    };
    let cases = cases.filter(|it| is_selected(it.rule));
    let problems = cases.map(|case| async move { case.problem().await });
    let problems: Vec<_> = stream::iter(problems).buffered(PARALLEL).collect().await;
    let problems: Vec<String> = problems.into_iter().flatten().collect();
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn every_rule_about_servers_has_a_case() {
    let options = options();
    let has_case = |rule| AREAS.iter().copied().flatten().any(|case: &Case| case.rule == rule);
    let rules = RULES.iter().map(|it| it.rule).filter(|rule| options.selects(*rule));
    let missing: Vec<&str> = rules.filter(|it| !has_case(*it)).map(Rule::id).collect();
    assert!(missing.is_empty(), "{missing:#?}");
}
