//! The builder of a check.

use std::future::IntoFuture;
use std::panic::Location;
use std::pin::Pin;
use std::time::Duration;

use serde_json::Value;
use sparring_check::{CallPolicy, CheckOptions, rules_named};
use sparring_wire::{Revision, Rule, RuleLevel};

use super::checkable::{Checkable, CheckedTarget};
use super::verdicts::Verdicts;
use crate::Error;

/// Checks a server against all rules of the specification, in each revision that it speaks,
/// as `spar check` does.
///
/// ```
/// # use sparring::MockServer;
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let mock = MockServer::from_yaml("tools: [{name: greet, text: hello}]", ".")?;
/// let verdicts = sparring::check(mock).only("wire/").call_all().await?;
/// verdicts.assert_clean();
/// # Ok(())
/// # }
/// ```
///
/// Only tools with `readOnlyHint: true` are called, unless the check allows more.
#[track_caller]
pub fn check<Kind>(server: impl Checkable<Kind>) -> Check {
    Check {
        target: server.into_checked_target(),
        options: CheckOptions::default(),
        unknown: None,
        is_strict: false,
        at: Location::caller(),
    }
}

/// A check; it starts when it is awaited. See [`check`].
///
/// ```
/// # use sparring::blocking::Wait as _;
/// # use sparring::MockServer;
/// use sparring::check::Check;
///
/// fn quick(check: Check) -> Check {
///     check.only("wire/").call_none()
/// }
/// # let mock = MockServer::from_yaml("tools: [{name: greet, text: hello}]", ".")?;
/// quick(sparring::check(mock)).wait()?.assert_clean();
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "the check starts when it is awaited"]
pub struct Check {
    target: CheckedTarget,
    options: CheckOptions,
    /// The first name that is no rule.
    unknown: Option<String>,
    is_strict: bool,
    at: &'static Location<'static>,
}

impl Check {
    /// Checks only this rule, or area such as `tools/`. May be repeated.
    ///
    /// ```
    /// # use sparring::blocking::Wait as _;
    /// # use sparring::MockServer;
    /// # let mock = MockServer::from_yaml("tools: [{name: greet, text: hello}]", ".")?;
    /// let verdicts = sparring::check(mock).only("wire/not-json").wait()?;
    /// assert_eq!(verdicts.iter().next().unwrap().rule.id(), "wire/not-json");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn only(mut self, rules: &str) -> Self {
        let rules = self.named(rules);
        self.options.only.extend(rules);
        self
    }

    /// Leaves out this rule, or area such as `tools/`. May be repeated.
    ///
    /// ```
    /// # use sparring::blocking::Wait as _;
    /// # use sparring::MockServer;
    /// # let mock = MockServer::from_yaml("tools: [{name: greet, text: hello}]", ".")?;
    /// let check = sparring::check(mock).only("wire/").skip("wire/not-json");
    /// assert!(check.wait()?.iter().all(|verdict| verdict.rule.id() != "wire/not-json"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn skip(mut self, rules: &str) -> Self {
        let rules = self.named(rules);
        self.options.skip.extend(rules);
        self
    }

    fn named(&mut self, name: &str) -> Vec<Rule> {
        let rules = rules_named(name);
        if rules.is_empty() {
            self.unknown.get_or_insert_with(|| name.to_owned());
        }
        rules
    }

    /// Checks only rules of this level and stronger ones (default: `Lint`, which is all).
    ///
    /// ```
    /// # use sparring::blocking::Wait as _;
    /// # use sparring::MockServer;
    /// use sparring::wire::RuleLevel;
    ///
    /// # let mock = MockServer::from_yaml("tools: [{name: greet, text: hello}]", ".")?;
    /// let verdicts = sparring::check(mock).only("wire/").level(RuleLevel::Must).wait()?;
    /// assert!(verdicts.iter().all(|verdict| verdict.rule.level() == RuleLevel::Must));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn level(mut self, weakest: RuleLevel) -> Self {
        self.options.level = weakest;
        self
    }

    /// Checks only in these revisions (default: in all that the server speaks).
    ///
    /// ```
    /// # use sparring::blocking::Wait as _;
    /// # use sparring::MockServer;
    /// use sparring::Revision;
    ///
    /// # let mock = MockServer::from_yaml("tools: [{name: greet, text: hello}]", ".")?;
    /// let check = sparring::check(mock).only("wire/").revisions([Revision::V2025_11_25]);
    /// assert_eq!(check.wait()?.revisions(), [Revision::V2025_11_25]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn revisions(mut self, revisions: impl IntoIterator<Item = Revision>) -> Self {
        self.options.revisions = revisions.into_iter().collect();
        self
    }

    /// Calls every tool.
    ///
    /// ```
    /// # use sparring::blocking::Wait as _;
    /// # use sparring::MockServer;
    /// # let mock = MockServer::from_yaml("tools: [{name: greet, text: hello}]", ".")?;
    /// sparring::check(mock).only("wire/").call_all().wait()?.assert_clean();
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn call_all(mut self) -> Self {
        self.options.calls = CallPolicy::All;
        self
    }

    /// Calls no tool.
    ///
    /// ```
    /// # use sparring::blocking::Wait as _;
    /// # use sparring::MockServer;
    /// # let mock = MockServer::from_yaml("tools: [{name: greet, text: hello}]", ".")?;
    /// sparring::check(mock).only("wire/").call_none().wait()?.assert_clean();
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn call_none(mut self) -> Self {
        self.options.calls = CallPolicy::Nothing;
        self
    }

    /// Calls the tools with this name too; a `*` matches any text. May be repeated.
    ///
    /// ```
    /// # use sparring::blocking::Wait as _;
    /// # use sparring::MockServer;
    /// # let mock = MockServer::from_yaml("tools: [{name: greet, text: hello}]", ".")?;
    /// sparring::check(mock).only("wire/").call("gr*").wait()?.assert_clean();
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn call(mut self, pattern: &str) -> Self {
        match &mut self.options.calls {
            CallPolicy::Matching(patterns) => patterns.push(pattern.to_owned()),
            calls => *calls = CallPolicy::Matching(vec![pattern.to_owned()]),
        }
        self
    }

    /// Calls a tool with these arguments first. May be repeated.
    ///
    /// ```
    /// # use sparring::blocking::Wait as _;
    /// # use sparring::MockServer;
    /// use serde_json::json;
    ///
    /// # let mock = MockServer::from_yaml("tools: [{name: greet, text: hello}]", ".")?;
    /// let check = sparring::check(mock).only("wire/").arguments("greet", json!({"name": "Ada"}));
    /// check.wait()?.assert_clean();
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn arguments(mut self, tool: &str, arguments: Value) -> Self {
        self.options.arguments.entry(tool.to_owned()).or_default().push(arguments);
        self
    }

    /// Waits at most this long for each response (default: 5 seconds).
    ///
    /// ```
    /// # use sparring::blocking::Wait as _;
    /// # use sparring::MockServer;
    /// # use std::time::Duration;
    /// # let mock = MockServer::from_yaml("tools: [{name: greet, text: hello}]", ".")?;
    /// let check = sparring::check(mock).only("wire/").rule_timeout(Duration::from_secs(1));
    /// check.wait()?.assert_clean();
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn rule_timeout(mut self, timeout: Duration) -> Self {
        self.options.rule_timeout = timeout;
        self
    }

    /// Sets the seed of generated arguments, and their number for each tool (default: 0, 20).
    ///
    /// ```
    /// # use sparring::blocking::Wait as _;
    /// # use sparring::MockServer;
    /// # let mock = MockServer::from_yaml("tools: [{name: greet, text: hello}]", ".")?;
    /// sparring::check(mock).only("wire/").generate(7, 50).wait()?.assert_clean();
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn generate(mut self, seed: u64, cases: u32) -> Self {
        self.options.seed = seed;
        self.options.cases = cases;
        self
    }

    /// Limits the tokens of the definitions of all tools together.
    ///
    /// ```
    /// # use sparring::blocking::Wait as _;
    /// # use sparring::MockServer;
    /// # let mock = MockServer::from_yaml("tools: [{name: greet, text: hello}]", ".")?;
    /// sparring::check(mock).only("wire/").max_tokens(10_000).wait()?.assert_clean();
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn max_tokens(mut self, tokens: usize) -> Self {
        self.options.max_tokens = Some(tokens);
        self
    }

    /// Makes `assert_clean` fail also for warnings, and for rules that could not be decided.
    ///
    /// ```
    /// # use sparring::blocking::Wait as _;
    /// # use sparring::MockServer;
    /// # let mock = MockServer::from_yaml("tools: [{name: greet, text: hello}]", ".")?;
    /// sparring::check(mock).only("wire/").strict().wait()?.assert_clean();
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn strict(mut self) -> Self {
        self.is_strict = true;
        self
    }

    async fn run(self) -> Result<Verdicts, Error> {
        if let Some(unknown) = self.unknown {
            return Err(Error::not_checked(format!("unknown rule `{unknown}`"), self.at));
        }
        let report = sparring_check::check(self.target.0, self.options).await;
        let report = report.and_then(sparring_check::CheckReport::require_connection);
        let report = report.map_err(|error| Error::not_checked(error.to_string(), self.at))?;
        Ok(Verdicts::new(report, self.is_strict))
    }
}

impl IntoFuture for Check {
    type Output = Result<Verdicts, Error>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.run())
    }
}
