//! Decides about calls by rules, grants and questions, and logs each decision
//! before the call is made.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use sparring_wire::{Json, RawJson};
use tokio::sync::OnceCell;
use tokio::time::timeout;

use super::asker::{Answer, Asker, Question};
use super::audit::{AuditError, AuditLog, AuditRecord};
use super::fingerprint::Fingerprint;
use super::grants::{Grant, Grants};
use super::rules::{Permissions, Rule, Verdict};
use crate::text::{escape_control, truncate};

/// The maximum number of characters of a name in a message.
const MAX_NAME_CHARS: usize = 100;

/// The options of a gate besides its rules.
pub struct PermissionGateOptions {
    /// Asks a person. If `None`, calls that need a question are denied.
    pub asker: Option<Arc<dyn Asker>>,
    /// Maximum wait for an answer.
    pub deadline: Duration,
    /// The stored grants.
    pub grants: Grants,
    /// The audit log. If it cannot be written, calls are denied.
    pub audit: Option<AuditLog>,
}

/// Decides about calls.
pub struct PermissionGate {
    permissions: Mutex<Arc<Permissions>>,
    options: PermissionGateOptions,
    /// The answers of this run for a whole tool.
    answers: Mutex<HashMap<ToolIdentity, bool>>,
    questions: Mutex<OpenQuestions>,
    /// Held while a question is asked.
    question_lock: tokio::sync::Mutex<()>,
}

/// The open questions, by server, tool and arguments.
type OpenQuestions = HashMap<[String; 3], Weak<OnceCell<Decision>>>;

/// A call to decide about.
#[derive(Clone, Copy)]
pub struct Call<'a> {
    /// The call's id in the audit log.
    pub id: &'a str,
    /// The server's name in its configuration file.
    pub server: &'a str,
    /// The tool's name at the server.
    pub tool: &'a str,
    /// The arguments of the call.
    pub arguments: Json<'a>,
}

/// A decision about a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// True if the call is allowed.
    pub allowed: bool,
    /// The reason.
    pub reason: Reason,
    /// A note for the user, for example that an answer could not be stored.
    pub note: Option<String>,
}

/// The reason of a decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reason {
    /// A rule decided.
    Rule(Arc<Rule>),
    /// A stored grant, or an earlier "always", allows it.
    Granted,
    /// The person answered; `None` if there was no answer.
    Answer(Option<Answer>),
    /// The person answered "never" earlier in this run.
    Refused,
    /// There is no asker; the rule is the one that requires a question.
    NoAsker(Option<Arc<Rule>>),
    /// The person did not answer in time.
    Timeout(Duration),
    /// Asking failed.
    AskFailed(String),
}

/// Why a call is not made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Denied {
    /// The decision is to deny.
    #[error("{}", denial_message(server, tool, reason))]
    Decided {
        /// The server.
        server: String,
        /// The tool.
        tool: String,
        /// The reason.
        reason: Reason,
    },
    /// The decision cannot be logged.
    #[error("call denied: {0}")]
    Unrecorded(#[from] AuditError),
}

/// A tool of a server with a given fingerprint.
#[derive(PartialEq, Eq, Hash)]
struct ToolIdentity {
    server: String,
    tool: String,
    target: Option<Fingerprint>,
}

/// One minute, no asker, and nothing that outlives the run.
impl Default for PermissionGateOptions {
    fn default() -> Self {
        let deadline = Duration::from_secs(60);
        PermissionGateOptions { asker: None, deadline, grants: Grants::default(), audit: None }
    }
}

impl PermissionGate {
    /// Creates a gate with these rules.
    pub fn new(permissions: Permissions, options: PermissionGateOptions) -> PermissionGate {
        PermissionGate {
            permissions: Mutex::new(Arc::new(permissions)),
            options,
            answers: Mutex::default(),
            questions: Mutex::default(),
            question_lock: tokio::sync::Mutex::default(),
        }
    }

    /// Replaces the rules, also for open questions.
    pub fn set_permissions(&self, permissions: Permissions) {
        *lock(&self.permissions) = Arc::new(permissions);
    }

    /// The current rules.
    pub fn permissions(&self) -> Arc<Permissions> {
        lock(&self.permissions).clone()
    }

    /// The stored grants.
    pub fn grants(&self) -> &Grants {
        &self.options.grants
    }

    /// Decides about a tool without asking; `None` if a person must be asked.
    pub fn decide_without_asking(&self, server: &str, tool: &str) -> Option<Decision> {
        let permissions = self.permissions();
        let by_rules = permissions.decide(server, tool);
        let decision = |allowed, reason| Some(Decision { allowed, reason, note: None });
        match (by_rules.verdict, by_rules.rule) {
            (Verdict::Deny, Some(rule)) => decision(false, Reason::Rule(rule)),
            (Verdict::Allow, Some(rule)) => decision(true, Reason::Rule(rule)),
            (_, rule) => {
                let target = permissions.fingerprint(server).cloned();
                let grant = target.as_ref().map(|target| Grant::new(server, tool, target));
                let identity =
                    ToolIdentity { server: server.to_owned(), tool: tool.to_owned(), target };
                match lock(&self.answers).get(&identity) {
                    Some(false) => decision(false, Reason::Refused),
                    Some(true) => decision(true, Reason::Granted),
                    None if grant.is_some_and(|grant| self.options.grants.has(&grant)) => {
                        decision(true, Reason::Granted)
                    }
                    None if self.options.asker.is_none() => decision(false, Reason::NoAsker(rule)),
                    None => None,
                }
            }
        }
    }

    /// Decides about a call and logs the decision.
    ///
    /// Identical calls share one question. A call with other arguments is asked
    /// for separately, unless the answer is about the whole tool.
    ///
    /// # Errors
    /// If the call is denied. The error contains the reason and, if there is no asker, a
    /// way to allow the call.
    pub async fn check(&self, call: Call<'_>) -> Result<Decision, Denied> {
        let decision = match self.decide_without_asking(call.server, call.tool) {
            Some(decision) => decision,
            None => self.decide_by_asking(call).await,
        };
        if let Some(audit) = &self.options.audit {
            let Call { id, server, tool, arguments } = call;
            audit.record(&AuditRecord {
                call: id,
                server,
                tool,
                arguments,
                decision: &decision,
            })?;
        }
        if decision.allowed {
            return Ok(decision);
        }
        let (server, tool) = (call.server.to_owned(), call.tool.to_owned());
        Err(Denied::Decided { server, tool, reason: decision.reason })
    }

    /// Decides by asking.
    async fn decide_by_asking(&self, call: Call<'_>) -> Decision {
        let question = self.shared_question(call);
        let decision = question.get_or_init(|| self.ask(call)).await.clone();
        // The rules may have changed while the person decided.
        match self.permissions().decide(call.server, call.tool) {
            by_rules if by_rules.verdict == Verdict::Deny => match by_rules.rule {
                Some(rule) => Decision { allowed: false, reason: Reason::Rule(rule), note: None },
                None => decision,
            },
            _ => decision,
        }
    }

    /// The shared question of identical calls.
    fn shared_question(&self, call: Call<'_>) -> Arc<OnceCell<Decision>> {
        let mut questions = lock(&self.questions);
        questions.retain(|_, question| question.strong_count() > 0);
        let key = [call.server.into(), call.tool.into(), call.arguments.text().into_owned()];
        let asked = questions.entry(key).or_default();
        match asked.upgrade().filter(|question| !question.initialized()) {
            Some(question) => question,
            None => {
                let question = Arc::new(OnceCell::new());
                *asked = Arc::downgrade(&question);
                question
            }
        }
    }

    async fn ask(&self, call: Call<'_>) -> Decision {
        let _guard = self.question_lock.lock().await;
        // An answer to an earlier question may already decide about this tool.
        if let Some(decision) = self.decide_without_asking(call.server, call.tool) {
            return decision;
        }
        let rule = self.permissions().decide(call.server, call.tool).rule;
        let Some(asker) = &self.options.asker else {
            return Decision { allowed: false, reason: Reason::NoAsker(rule), note: None };
        };
        let (server, tool) = (call.server.to_owned(), call.tool.to_owned());
        let question = Question { server, tool, arguments: RawJson::from(call.arguments), rule };
        let reason = match timeout(self.options.deadline, asker.ask(question)).await {
            Ok(Ok(answer)) => Reason::Answer(answer),
            Ok(Err(error)) => Reason::AskFailed(error.to_string()),
            Err(_) => Reason::Timeout(self.options.deadline),
        };
        let note = match reason {
            Reason::Answer(Some(answer @ (Answer::Always | Answer::Never))) => {
                self.remember(call, answer == Answer::Always).await
            }
            _ => None,
        };
        let allowed = matches!(reason, Reason::Answer(Some(Answer::Once | Answer::Always)));
        Decision { allowed, reason, note }
    }

    async fn remember(&self, call: Call<'_>, allowed: bool) -> Option<String> {
        let Call { server, tool, .. } = call;
        let target = self.permissions().fingerprint(server).cloned();
        let grant = target.as_ref().filter(|_| allowed).map(|to| Grant::new(server, tool, to));
        let identity = ToolIdentity { server: server.to_owned(), tool: tool.to_owned(), target };
        match grant {
            Some(grant) => {
                let error = self.options.grants.add(grant).await.err()?;
                Some(format!("the answer is valid for this run only: {error}"))
            }
            None => {
                lock(&self.answers).insert(identity, allowed);
                None
            }
        }
    }
}

impl Denied {
    /// The reason of the decision, if there was one.
    pub fn reason(&self) -> Option<&Reason> {
        match self {
            Denied::Decided { reason, .. } => Some(reason),
            Denied::Unrecorded(_) => None,
        }
    }
}

impl Reason {
    /// The stable name of the reason.
    pub fn name(&self) -> &'static str {
        match self {
            Reason::Rule(_) => "rule",
            Reason::Granted => "grant",
            Reason::Answer(_) => "answer",
            Reason::Refused => "earlier-answer",
            Reason::NoAsker(_) => "nobody",
            Reason::Timeout(_) => "deadline",
            Reason::AskFailed(_) => "failure",
        }
    }
}

impl fmt::Debug for PermissionGate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PermissionGate")
            .field("permissions", &self.permissions)
            .finish_non_exhaustive()
    }
}

fn denial_message(server: &str, tool: &str, reason: &Reason) -> String {
    let display = |name: &str| truncate(&escape_control(name), MAX_NAME_CHARS);
    let what = format!("the tool '{}' of '{}'", display(tool), display(server));
    match reason {
        Reason::Rule(rule) => format!("{what} is denied by rule {rule}"),
        Reason::Granted => format!("{what} is granted"),
        Reason::Answer(Some(_)) | Reason::Refused => {
            format!("{what} is denied: you answered never")
        }
        Reason::Answer(None) => format!("{what} is not allowed: no answer"),
        Reason::Timeout(deadline) => {
            format!("{what} is not allowed: no answer within {deadline:?}")
        }
        Reason::AskFailed(why) => format!("{what} is not allowed: cannot ask: {why}"),
        Reason::NoAsker(rule) => {
            let pattern = format!("mcp__{}__{}", display(server), display(tool));
            let plain = |c: char| c.is_ascii_alphanumeric() || "_-.*/".contains(c);
            let pattern = match pattern.chars().all(plain) {
                true => pattern,
                false => format!("'{}'", pattern.replace('\'', r"'\''")),
            };
            match rule {
                Some(rule) => format!(
                    "rule {rule} requires a confirmation for {what}, but this run cannot ask: \
                     use --allow {pattern}"
                ),
                None => format!(
                    "no rule allows {what}, and this run cannot ask: use --allow {pattern} or add \
                     a rule to the config"
                ),
            }
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
