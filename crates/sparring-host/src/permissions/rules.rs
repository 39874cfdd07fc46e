//! What the rules say of a tool: deny, then ask, then allow, and otherwise ask.
//!
//! Neither the order of rules nor how closely one fits matters. Nobody is asked
//! here, and nothing is remembered.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use super::fingerprint::Fingerprint;
use super::pattern::{Glob, Meaning, PatternError, meaning, meaning_within, nobody};
use crate::config::{Config, FileRules, Rules, Scope, ServerConfig, State};

/// Rules that stand beside the servers. Those in the entry of a server come
/// with it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Policy {
    /// Of the user's own file.
    pub user: Rules,
    /// Of the project's files, as far as the user trusts them.
    pub project: Rules,
    /// Of this run. What is allowed here is not asked for, whatever the files
    /// say: somebody has just answered.
    pub session: Rules,
}

/// Who made a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// The user, in a file.
    User,
    /// The project.
    Project,
    /// Whoever started this run.
    Session,
}

/// What may be done with a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It is called.
    Allow,
    /// It is called if somebody says so.
    Ask,
    /// It is not called.
    Deny,
}

/// A rule, as it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// Its pattern.
    pub pattern: String,
    /// Who made it.
    pub source: Source,
    /// The server in whose entry it stands.
    pub entry: Option<String>,
}

/// What the rules say of a tool, and which one it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// What may be done.
    pub verdict: Verdict,
    /// The rule that says so; none where no rule fits.
    pub rule: Option<Arc<Rule>>,
}

/// All rules, by the servers that they are about.
#[derive(Debug, Clone, Default)]
pub struct Permissions {
    servers: BTreeMap<String, Server>,
}

/// What there is to say of rules. All of them are in force as far as they can
/// be: one that fits two servers denies for both, asks for both, and allows for
/// neither.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Findings {
    /// What must be mended.
    pub errors: Vec<(Rule, PatternError)>,
    /// What somebody may want to know: rules about servers that are not there.
    pub notes: Vec<String>,
}

#[derive(Debug, Clone, Default)]
struct Server {
    fingerprint: Option<Fingerprint>,
    denied: Vec<Entry>,
    asked: Vec<Entry>,
    allowed: Vec<Entry>,
}

#[derive(Debug, Clone)]
struct Entry {
    tools: Glob,
    rule: Arc<Rule>,
}

impl Policy {
    /// What all files say, and the rules of this run.
    pub fn of(config: &Config, session: Rules) -> Policy {
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
    /// The rules about these servers, and what there is to say of them. A server
    /// of a project must not be among them before its file is trusted.
    pub fn new<'a>(
        policy: &Policy,
        servers: impl IntoIterator<Item = &'a ServerConfig>,
    ) -> (Permissions, Findings) {
        Permissions::among(policy, servers, &[])
    }

    /// The rules about all servers that can be used, and what there is to say of
    /// them; nothing of those about servers that cannot.
    pub fn of(config: &Config, session: Rules) -> (Permissions, Findings) {
        let usable = config.servers.values().filter_map(|configured| match &configured.state {
            State::Ready(server) => Some(&**server),
            _ => None,
        });
        let others: Vec<&str> = config.servers.keys().map(String::as_str).collect();
        Permissions::among(&Policy::of(config, session), usable, &others)
    }

    /// The rules about some of its servers, as they are to be used, and what
    /// there is to say of them; nothing of those about its other servers.
    pub fn about_these<'a>(
        config: &Config,
        session: Rules,
        servers: impl IntoIterator<Item = &'a ServerConfig>,
    ) -> (Permissions, Findings) {
        let others: Vec<&str> = config.servers.keys().map(String::as_str).collect();
        Permissions::among(&Policy::of(config, session), servers, &others)
    }

    fn among<'a>(
        policy: &Policy,
        servers: impl IntoIterator<Item = &'a ServerConfig>,
        others: &[&str],
    ) -> (Permissions, Findings) {
        let servers: Vec<&ServerConfig> = servers.into_iter().collect();
        let named = servers.iter().map(|server| {
            let fingerprint = Some(Fingerprint::of(server));
            (server.name.clone(), Server { fingerprint, ..Server::default() })
        });
        let mut permissions = Permissions { servers: named.collect() };
        let mut findings = Findings::default();
        for server in servers {
            permissions.add_within(server, &mut findings);
        }
        for (rules, source) in [
            (&policy.user, Source::User),
            (&policy.project, Source::Project),
            (&policy.session, Source::Session),
        ] {
            permissions.add(rules, source, others, &mut findings);
        }
        (permissions, findings)
    }

    /// What the rules say of a tool, by the names that its server gave it and
    /// its server has.
    pub fn decide(&self, server: &str, tool: &str) -> Decision {
        let Some(rules) = self.servers.get(server) else {
            return Decision { verdict: Verdict::Ask, rule: None };
        };
        let of_session = |entry: &&Entry| entry.rule.source == Source::Session;
        let fits = |entry: &&Entry| entry.tools.matches(tool);
        let first = |entries: &[Entry]| entries.iter().find(fits).map(|entry| entry.rule.clone());
        let first_of_session = |entries: &[Entry]| {
            let entry = entries.iter().filter(of_session).find(fits);
            entry.map(|entry| entry.rule.clone())
        };
        let found = first(&rules.denied).map(|rule| (Verdict::Deny, rule));
        let found = found
            .or_else(|| first_of_session(&rules.asked).map(|rule| (Verdict::Ask, rule)))
            .or_else(|| first_of_session(&rules.allowed).map(|rule| (Verdict::Allow, rule)))
            .or_else(|| first(&rules.asked).map(|rule| (Verdict::Ask, rule)))
            .or_else(|| first(&rules.allowed).map(|rule| (Verdict::Allow, rule)));
        match found {
            Some((verdict, rule)) => Decision { verdict, rule: Some(rule) },
            None => Decision { verdict: Verdict::Ask, rule: None },
        }
    }

    /// What a server is known by where something is remembered of it; none if it
    /// is not configured.
    pub fn fingerprint(&self, server: &str) -> Option<&Fingerprint> {
        self.servers.get(server)?.fingerprint.as_ref()
    }

    /// The rules about a server, each with the tools that it is about.
    pub fn about(&self, server: &str) -> impl Iterator<Item = (&Glob, &Rule)> {
        let rules = self.servers.get(server).into_iter();
        let entries = rules.flat_map(|it| [&it.denied, &it.asked, &it.allowed]).flatten();
        entries.map(|entry| (&entry.tools, &*entry.rule))
    }

    fn add_within(&mut self, server: &ServerConfig, findings: &mut Findings) {
        let source = Source::from(server.origin.scope);
        for (verdict, pattern) in each(&server.rules) {
            let (pattern, entry) = (pattern.clone(), Some(server.name.clone()));
            let rule = Rule { pattern, source, entry };
            match meaning_within(&rule.pattern, &server.name) {
                Ok(tools) => self.put(&server.name, verdict, tools, &Arc::new(rule)),
                Err(error) => findings.errors.push((rule, error)),
            }
        }
    }

    fn add(&mut self, rules: &Rules, source: Source, others: &[&str], findings: &mut Findings) {
        for (verdict, pattern) in each(rules) {
            let rule = Arc::new(Rule { pattern: pattern.clone(), source, entry: None });
            match meaning(pattern, self.servers.keys().map(String::as_str)) {
                Ok(Meaning::Tools { server, tools }) => self.put(&server, verdict, tools, &rule),
                Ok(Meaning::Nobody) => {
                    if let Ok(Meaning::Nobody) = meaning(pattern, others.iter().copied()) {
                        let names = self.servers.keys().map(String::as_str);
                        findings.notes.push(nobody(pattern, names));
                    }
                }
                Err(error) => {
                    if let PatternError::Ambiguous { servers, .. } = &error
                        && verdict != Verdict::Allow
                    {
                        for (server, tools) in servers {
                            self.put(server, verdict, tools.clone(), &rule);
                        }
                    }
                    findings.errors.push(((*rule).clone(), error));
                }
            }
        }
    }

    fn put(&mut self, server: &str, verdict: Verdict, tools: Glob, rule: &Arc<Rule>) {
        let Some(rules) = self.servers.get_mut(server) else { return };
        let entries = match verdict {
            Verdict::Deny => &mut rules.denied,
            Verdict::Ask => &mut rules.asked,
            Verdict::Allow => &mut rules.allowed,
        };
        entries.push(Entry { tools, rule: rule.clone() });
    }
}

impl Findings {
    /// Whether there is nothing to say.
    pub fn is_empty(&self) -> bool {
        self.errors.is_empty() && self.notes.is_empty()
    }
}

impl Source {
    /// A word for it.
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
    /// A word for it.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Allow => "allow",
            Verdict::Ask => "ask",
            Verdict::Deny => "deny",
        }
    }
}

/// As a part of a sentence.
impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "'{}'", self.pattern)?;
        if let Some(entry) = &self.entry {
            write!(f, " in the entry of '{entry}'")?;
        }
        write!(f, " ({})", self.source.name())
    }
}

fn each(rules: &Rules) -> impl Iterator<Item = (Verdict, &String)> {
    let denied = rules.deny.iter().map(|pattern| (Verdict::Deny, pattern));
    let asked = rules.ask.iter().map(|pattern| (Verdict::Ask, pattern));
    let allowed = rules.allow.iter().map(|pattern| (Verdict::Allow, pattern));
    denied.chain(asked).chain(allowed)
}
