//! The options of a check.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value;
use sparring_wire::{Revision, Rule, RuleLevel};

/// The options of a check.
#[derive(Debug, Clone)]
pub struct CheckOptions {
    /// The revisions to check; those that the server does not speak are left out.
    pub revisions: Vec<Revision>,
    /// If not empty, only these rules are checked.
    pub only: Vec<Rule>,
    /// These rules are not checked.
    pub skip: Vec<Rule>,
    /// The weakest level that is checked.
    pub level: RuleLevel,
    /// The tools that may be called.
    pub calls: CallPolicy,
    /// Arguments for tools, by name.
    pub arguments: BTreeMap<String, Vec<Value>>,
    /// Arguments that a tool may accept, by name, such as those in suites. They are used if
    /// they conform to the input schema of the tool.
    pub suggested_arguments: BTreeMap<String, Vec<Value>>,
    /// The longest wait for one response.
    pub rule_timeout: Duration,
    /// The longest wait for the first connection.
    pub connect_timeout: Duration,
    /// The seed of generated arguments.
    pub seed: u64,
    /// The number of generated arguments for each tool.
    pub cases: u32,
    /// The largest number of tokens of all definitions together.
    pub max_tokens: Option<usize>,
    /// The arguments of the command line that name the server, for commands that a report
    /// shows, such as `-- python server.py`.
    pub target_arguments: String,
}

impl Default for CheckOptions {
    fn default() -> Self {
        CheckOptions {
            revisions: Revision::ALL.to_vec(),
            only: Vec::new(),
            skip: Vec::new(),
            level: RuleLevel::Lint,
            calls: CallPolicy::ReadOnly,
            arguments: BTreeMap::new(),
            suggested_arguments: BTreeMap::new(),
            rule_timeout: Duration::from_secs(5),
            connect_timeout: Duration::from_secs(30),
            seed: 0,
            cases: 20,
            max_tokens: None,
            target_arguments: String::new(),
        }
    }
}

impl CheckOptions {
    /// Returns true if the rule is to be checked.
    pub fn selects(&self, rule: Rule) -> bool {
        concerns_servers(rule)
            && rule.level() <= self.level
            && (self.only.is_empty() || self.only.contains(&rule))
            && !self.skip.contains(&rule)
    }
}

/// Returns true if the rule is about servers of the protocol. A check calls only listed tools,
/// so the rule about unlisted ones is for suites.
pub(crate) fn concerns_servers(rule: Rule) -> bool {
    let is_of_suites = ["llm/", "suite/"].iter().any(|area| rule.id().starts_with(area));
    !is_of_suites && rule != Rule::UnlistedTool
}

/// The tools that a check may call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallPolicy {
    /// No tool.
    Nothing,
    /// The tools whose annotations say that they only read.
    ReadOnly,
    /// The tools that only read, and those whose names match one of these patterns. A `*`
    /// matches any text.
    Matching(Vec<String>),
    /// Every tool.
    All,
}
