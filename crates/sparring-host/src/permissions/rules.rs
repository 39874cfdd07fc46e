//! Evaluates permission rules: deny, then ask, then allow, and otherwise ask.
//!
//! Neither the order nor the precision of rules matters. This module neither
//! asks nor remembers.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use super::fingerprint::Fingerprint;
use super::tool_pattern::{
    PatternError, PatternTarget, ToolPattern, resolve_pattern, resolve_server_pattern,
    unknown_server_note,
};
use crate::config::{Config, EntryState, FileRules, Rules, Scope, ServerConfig};
use crate::names::visible_tool_names;

/// Rules outside of servers' entries.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Policy {
    /// The rules of the user's file.
    pub user: Rules,
    /// The rules of the project's files, as far as the user trusts them.
    pub project: Rules,
    /// The rules of this run. Allowed tools need no question, whatever the
    /// files say: the user has just answered.
    pub session: Rules,
}

/// The origin of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// The user's file.
    User,
    /// A file of the project.
    Project,
    /// The command line of this run.
    Session,
}

/// The verdict of the rules about a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The tool may be called.
    Allow,
    /// A person must be asked.
    Ask,
    /// The tool must not be called.
    Deny,
}

/// A rule as it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// Its pattern.
    pub pattern: String,
    /// Its origin.
    pub source: Source,
    /// The server whose entry contains it.
    pub entry: Option<String>,
}

/// The verdict about a tool, and the rule behind it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleDecision {
    /// The verdict about a call.
    pub verdict: Verdict,
    /// The deciding rule; `None` if no rule matches.
    pub rule: Option<Arc<Rule>>,
}

/// All rules, by server.
#[derive(Debug, Clone, Default)]
pub struct Permissions {
    servers: BTreeMap<String, ServerRules>,
}

/// Findings about rules. All rules stay in force as far as possible: a rule
/// that matches two servers denies for both, asks for both, and allows for
/// neither.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Findings {
    /// Errors that must be fixed.
    pub errors: Vec<(Rule, PatternError)>,
    /// Notes, for example about rules for unknown servers.
    pub notes: Vec<String>,
}

#[derive(Debug, Clone, Default)]
struct ServerRules {
    fingerprint: Option<Fingerprint>,
    denied: Vec<RuleEntry>,
    asked: Vec<RuleEntry>,
    allowed: Vec<RuleEntry>,
}

#[derive(Debug, Clone)]
struct RuleEntry {
    tools: ToolPattern,
    rule: Arc<Rule>,
}

impl Policy {
    /// Collects the rules of all files and of this run.
    pub fn from_config(config: &Config, session: Rules) -> Policy {
        let mut policy = Policy { session, ..Policy::default() };
        for FileRules { scope, rules, .. } in &config.rules {
            let into = match scope {
                Scope::User => &mut policy.user,
                Scope::Project => &mut policy.project,
            };
            into.deny.extend_from_slice(&rules.deny);
            into.ask.extend_from_slice(&rules.ask);
            into.allow.extend_from_slice(&rules.allow);
        }
        policy
    }
}

impl Permissions {
    /// The rules about these servers, with findings. Servers of a project must
    /// not be included before its file is trusted.
    pub fn new<'a>(
        policy: &Policy,
        servers: impl IntoIterator<Item = &'a ServerConfig>,
    ) -> (Permissions, Findings) {
        Permissions::build(policy, servers, &[])
    }

    /// The rules about all usable servers, with findings; without findings
    /// about the unusable ones.
    pub fn from_config(config: &Config, session: Rules) -> (Permissions, Findings) {
        let usable = config.servers.values().filter_map(|configured| match &configured.state {
            EntryState::Ready(server) => Some(&**server),
            _ => None,
        });
        let others: Vec<&str> = config.servers.keys().map(String::as_str).collect();
        Permissions::build(&Policy::from_config(config, session), usable, &others)
    }

    /// The rules about some of the configured servers, with findings; without
    /// findings about the others.
    pub fn for_servers<'a>(
        config: &Config,
        session: Rules,
        servers: impl IntoIterator<Item = &'a ServerConfig>,
    ) -> (Permissions, Findings) {
        let others: Vec<&str> = config.servers.keys().map(String::as_str).collect();
        Permissions::build(&Policy::from_config(config, session), servers, &others)
    }

    fn build<'a>(
        policy: &Policy,
        servers: impl IntoIterator<Item = &'a ServerConfig>,
        others: &[&str],
    ) -> (Permissions, Findings) {
        let servers: Vec<&ServerConfig> = servers.into_iter().collect();
        let named = servers.iter().map(|server| {
            let fingerprint = Some(Fingerprint::from_server(server));
            (server.name.clone(), ServerRules { fingerprint, ..ServerRules::default() })
        });
        let mut permissions = Permissions { servers: named.collect() };
        let mut findings = Findings::default();
        for server in servers {
            permissions.add_server_rules(server, &mut findings);
        }
        for (rules, source) in [
            (&policy.user, Source::User),
            (&policy.project, Source::Project),
            (&policy.session, Source::Session),
        ] {
            permissions.add_rules(rules, source, others, &mut findings);
        }
        (permissions, findings)
    }

    /// Evaluates the rules for a tool, by the server's name of it.
    pub fn decide(&self, server: &str, tool: &str) -> RuleDecision {
        let Some(rules) = self.servers.get(server) else {
            return RuleDecision { verdict: Verdict::Ask, rule: None };
        };
        let is_of_session = |entry: &&RuleEntry| entry.rule.source == Source::Session;
        let visible = visible_tool_names(server, tool);
        // Only a rule that restricts also matches the names that clients see: the
        // visible names of two tools can be equal.
        let fits_visible =
            |entry: &&RuleEntry| visible.iter().any(|name| entry.tools.matches(name));
        let fits = |entry: &&RuleEntry| entry.tools.matches(tool);
        let denied = rules.denied.iter().find(|entry| fits(entry) || fits_visible(entry));
        let first =
            |entries: &[RuleEntry]| entries.iter().find(fits).map(|entry| entry.rule.clone());
        let first_of_session = |entries: &[RuleEntry]| {
            let entry = entries.iter().filter(is_of_session).find(fits);
            entry.map(|entry| entry.rule.clone())
        };
        let found = denied.map(|entry| (Verdict::Deny, entry.rule.clone()));
        let found = found
            .or_else(|| first_of_session(&rules.asked).map(|rule| (Verdict::Ask, rule)))
            .or_else(|| first_of_session(&rules.allowed).map(|rule| (Verdict::Allow, rule)))
            .or_else(|| first(&rules.asked).map(|rule| (Verdict::Ask, rule)))
            .or_else(|| first(&rules.allowed).map(|rule| (Verdict::Allow, rule)));
        match found {
            Some((verdict, rule)) => RuleDecision { verdict, rule: Some(rule) },
            None => RuleDecision { verdict: Verdict::Ask, rule: None },
        }
    }

    /// The fingerprint of a server; `None` if it is not configured.
    pub fn fingerprint(&self, server: &str) -> Option<&Fingerprint> {
        self.servers.get(server)?.fingerprint.as_ref()
    }

    /// The rules about a server, each with its verdict and its tools.
    pub fn rules_for(&self, server: &str) -> impl Iterator<Item = (Verdict, &ToolPattern, &Rule)> {
        let rules = self.servers.get(server).into_iter();
        let groups = rules.flat_map(|it| {
            [(Verdict::Deny, &it.denied), (Verdict::Ask, &it.asked), (Verdict::Allow, &it.allowed)]
        });
        groups.flat_map(|(verdict, entries)| {
            entries.iter().map(move |entry| (verdict, &entry.tools, &*entry.rule))
        })
    }

    fn add_server_rules(&mut self, server: &ServerConfig, findings: &mut Findings) {
        let source = Source::from(server.origin.scope);
        for (verdict, pattern) in patterns_with_verdict(&server.rules) {
            let (pattern, entry) = (pattern.clone(), Some(server.name.clone()));
            let rule = Rule { pattern, source, entry };
            match resolve_server_pattern(&rule.pattern, &server.name) {
                Ok(tools) => self.insert(&server.name, verdict, tools, &Arc::new(rule)),
                Err(error) => findings.errors.push((rule, error)),
            }
        }
    }

    fn add_rules(
        &mut self,
        rules: &Rules,
        source: Source,
        others: &[&str],
        findings: &mut Findings,
    ) {
        for (verdict, pattern) in patterns_with_verdict(rules) {
            let rule = Arc::new(Rule { pattern: pattern.clone(), source, entry: None });
            match resolve_pattern(pattern, self.servers.keys().map(String::as_str)) {
                Ok(PatternTarget::Tools { server, tools }) => {
                    self.insert(&server, verdict, tools, &rule)
                }
                Ok(PatternTarget::UnknownServer) => {
                    if let Ok(PatternTarget::UnknownServer) =
                        resolve_pattern(pattern, others.iter().copied())
                    {
                        let names = self.servers.keys().map(String::as_str);
                        findings.notes.push(unknown_server_note(pattern, names));
                    }
                }
                Err(error) => {
                    if let PatternError::Ambiguous { servers, .. } = &error
                        && verdict != Verdict::Allow
                    {
                        for (server, tools) in servers {
                            self.insert(server, verdict, tools.clone(), &rule);
                        }
                    }
                    findings.errors.push(((*rule).clone(), error));
                }
            }
        }
    }

    fn insert(&mut self, server: &str, verdict: Verdict, tools: ToolPattern, rule: &Arc<Rule>) {
        let Some(rules) = self.servers.get_mut(server) else { return };
        let entries = match verdict {
            Verdict::Deny => &mut rules.denied,
            Verdict::Ask => &mut rules.asked,
            Verdict::Allow => &mut rules.allowed,
        };
        entries.push(RuleEntry { tools, rule: rule.clone() });
    }
}

impl Findings {
    /// Returns true if there are no findings.
    pub fn is_empty(&self) -> bool {
        self.errors.is_empty() && self.notes.is_empty()
    }
}

impl Source {
    /// The stable name of the source.
    pub fn name(self) -> &'static str {
        match self {
            Source::User => "user",
            Source::Project => "project",
            Source::Session => "session",
        }
    }
}

impl From<Scope> for Source {
    fn from(scope: Scope) -> Self {
        match scope {
            Scope::User => Source::User,
            Scope::Project => Source::Project,
        }
    }
}

impl Verdict {
    /// The stable name of the verdict.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Allow => "allow",
            Verdict::Ask => "ask",
            Verdict::Deny => "deny",
        }
    }
}

/// The rule as part of a sentence.
impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "'{}'", self.pattern)?;
        if let Some(entry) = &self.entry {
            write!(f, " in the entry of '{entry}'")?;
        }
        write!(f, " ({})", self.source.name())
    }
}

fn patterns_with_verdict(rules: &Rules) -> impl Iterator<Item = (Verdict, &String)> {
    let denied = rules.deny.iter().map(|pattern| (Verdict::Deny, pattern));
    let asked = rules.ask.iter().map(|pattern| (Verdict::Ask, pattern));
    let allowed = rules.allow.iter().map(|pattern| (Verdict::Allow, pattern));
    denied.chain(asked).chain(allowed)
}
