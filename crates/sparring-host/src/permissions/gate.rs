//! Decides about calls: by the rules, by what was granted, and by asking. What
//! was decided is written down before anything is called.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use sparring_wire::{Json, RawJson};
use tokio::sync::OnceCell;
use tokio::time::timeout;

use super::ask::{Answer, Asker, Question};
use super::audit::{Audit, AuditError, Line};
use super::fingerprint::Fingerprint;
use super::grants::{Grant, Grants};
use super::rules::{Permissions, Rule, Verdict};
use crate::text::{cut, visible};

/// The most of a name that a message shows.
const LONGEST_NAME: usize = 100;

/// What a gate has besides rules.
pub struct GateOptions {
    /// Who is asked. With nobody, what is to be asked for is denied.
    pub asker: Option<Arc<dyn Asker>>,
    /// How long an answer may take.
    pub deadline: Duration,
    /// What was granted for good.
    pub grants: Grants,
    /// Where decisions are written down. A call that cannot be is denied.
    pub audit: Option<Audit>,
}

/// Decides about calls.
pub struct Gate {
    permissions: Mutex<Arc<Permissions>>,
    options: GateOptions,
    /// What somebody has said in this run, for good or for as long as it lasts.
    said: Mutex<HashMap<Subject, bool>>,
    questions: Mutex<Questions>,
    /// Held by whoever asks.
    turn: tokio::sync::Mutex<()>,
}

/// What is being asked, by server, tool and arguments.
type Questions = HashMap<[String; 3], Weak<OnceCell<Settled>>>;

/// A call that is to be decided about.
#[derive(Clone, Copy)]
pub struct Call<'a> {
    /// What it is known by in the audit log.
    pub id: &'a str,
    /// The server, as it is called in its file.
    pub server: &'a str,
    /// The tool, as its server calls it.
    pub tool: &'a str,
    /// What it is to be called with.
    pub arguments: Json<'a>,
}

/// What was decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settled {
    /// Whether the call is made.
    pub allowed: bool,
    /// Why.
    pub reason: Reason,
    /// What somebody should know besides: an answer that could not be stored.
    pub note: Option<String>,
}

/// Why something was decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reason {
    /// A rule says so.
    Rule(Arc<Rule>),
    /// It was granted before, for good.
    Granted,
    /// Somebody was asked and said this; or nothing.
    Answer(Option<Answer>),
    /// Somebody was asked before in this run and said never.
    Refused,
    /// There is nobody to ask; the rule is the one that wants it.
    Nobody(Option<Arc<Rule>>),
    /// Nobody answered in time.
    Late(Duration),
    /// Asking failed.
    AskFailed(String),
}

/// Why a call is not made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Denied {
    /// It was decided so.
    #[error("{}", told(server, tool, reason))]
    Decided {
        /// The server.
        server: String,
        /// The tool.
        tool: String,
        /// Why.
        reason: Reason,
    },
    /// What was decided cannot be written down.
    #[error("nothing is called that is not written down: {0}")]
    Unrecorded(#[from] AuditError),
}

/// A tool of a server as it is reached.
#[derive(PartialEq, Eq, Hash)]
struct Subject {
    server: String,
    tool: String,
    target: Option<Fingerprint>,
}

/// A minute, nobody to ask, and nothing that outlives the run.
impl Default for GateOptions {
    fn default() -> Self {
        let deadline = Duration::from_secs(60);
        GateOptions { asker: None, deadline, grants: Grants::default(), audit: None }
    }
}

impl Gate {
    /// A gate with these rules.
    pub fn new(permissions: Permissions, options: GateOptions) -> Gate {
        Gate {
            permissions: Mutex::new(Arc::new(permissions)),
            options,
            said: Mutex::default(),
            questions: Mutex::default(),
            turn: tokio::sync::Mutex::default(),
        }
    }

    /// Other rules from now on, also for what is being asked.
    pub fn set_permissions(&self, permissions: Permissions) {
        *locked(&self.permissions) = Arc::new(permissions);
    }

    /// The rules there are.
    pub fn permissions(&self) -> Arc<Permissions> {
        locked(&self.permissions).clone()
    }

    /// What was granted for good.
    pub fn grants(&self) -> &Grants {
        &self.options.grants
    }

    /// What would become of a call of this tool; `None` if somebody would be
    /// asked.
    pub fn standing(&self, server: &str, tool: &str) -> Option<Settled> {
        let permissions = self.permissions();
        let decision = permissions.decide(server, tool);
        let settled = |allowed, reason| Some(Settled { allowed, reason, note: None });
        match (decision.verdict, decision.rule) {
            (Verdict::Deny, Some(rule)) => settled(false, Reason::Rule(rule)),
            (Verdict::Allow, Some(rule)) => settled(true, Reason::Rule(rule)),
            (_, rule) => {
                let target = permissions.fingerprint(server).cloned();
                let grant = target.as_ref().map(|target| Grant::new(server, tool, target));
                let subject = Subject { server: server.to_owned(), tool: tool.to_owned(), target };
                match locked(&self.said).get(&subject) {
                    Some(false) => settled(false, Reason::Refused),
                    Some(true) => settled(true, Reason::Granted),
                    None if grant.is_some_and(|grant| self.options.grants.has(&grant)) => {
                        settled(true, Reason::Granted)
                    }
                    None if self.options.asker.is_none() => settled(false, Reason::Nobody(rule)),
                    None => None,
                }
            }
        }
    }

    /// Decides about a call, and writes that down.
    ///
    /// Who makes the same call while it is being asked for gets the same answer.
    /// One with other arguments is asked for by itself, unless the answer is
    /// about the tool.
    ///
    /// # Errors
    /// When the call is not to be made; the error says why, and what would allow
    /// it where nobody could be asked.
    pub async fn check(&self, call: Call<'_>) -> Result<Settled, Denied> {
        let settled = match self.standing(call.server, call.tool) {
            Some(settled) => settled,
            None => self.settle(call).await,
        };
        if let Some(audit) = &self.options.audit {
            let Call { id, server, tool, arguments } = call;
            audit.record(&Line { call: id, server, tool, arguments, settled: &settled })?;
        }
        if settled.allowed {
            return Ok(settled);
        }
        let (server, tool) = (call.server.to_owned(), call.tool.to_owned());
        Err(Denied::Decided { server, tool, reason: settled.reason })
    }

    /// Settles by asking what does not stand.
    async fn settle(&self, call: Call<'_>) -> Settled {
        let question = self.question(call);
        let settled = question.get_or_init(|| self.ask(call)).await.clone();
        // Rules may have changed while somebody thought about it.
        match self.permissions().decide(call.server, call.tool) {
            decision if decision.verdict == Verdict::Deny => match decision.rule {
                Some(rule) => Settled { allowed: false, reason: Reason::Rule(rule), note: None },
                None => settled,
            },
            _ => settled,
        }
    }

    /// The same for all who make the same call until it is answered.
    fn question(&self, call: Call<'_>) -> Arc<OnceCell<Settled>> {
        let mut questions = locked(&self.questions);
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

    async fn ask(&self, call: Call<'_>) -> Settled {
        let _turn = self.turn.lock().await;
        // Somebody may have said something of this tool before it was our turn.
        if let Some(settled) = self.standing(call.server, call.tool) {
            return settled;
        }
        let rule = self.permissions().decide(call.server, call.tool).rule;
        let Some(asker) = &self.options.asker else {
            return Settled { allowed: false, reason: Reason::Nobody(rule), note: None };
        };
        let (server, tool) = (call.server.to_owned(), call.tool.to_owned());
        let question = Question { server, tool, arguments: RawJson::from(call.arguments), rule };
        let reason = match timeout(self.options.deadline, asker.ask(question)).await {
            Ok(Ok(answer)) => Reason::Answer(answer),
            Ok(Err(error)) => Reason::AskFailed(error.to_string()),
            Err(_) => Reason::Late(self.options.deadline),
        };
        let note = match reason {
            Reason::Answer(Some(answer @ (Answer::Always | Answer::Never))) => {
                self.remember(call, answer == Answer::Always).await
            }
            _ => None,
        };
        let allowed = matches!(reason, Reason::Answer(Some(Answer::Once | Answer::Always)));
        Settled { allowed, reason, note }
    }

    async fn remember(&self, call: Call<'_>, allowed: bool) -> Option<String> {
        let Call { server, tool, .. } = call;
        let target = self.permissions().fingerprint(server).cloned();
        let grant = target.as_ref().filter(|_| allowed).map(|to| Grant::new(server, tool, to));
        let subject = Subject { server: server.to_owned(), tool: tool.to_owned(), target };
        match grant {
            Some(grant) => {
                let told = self.options.grants.add(grant).await.err()?;
                Some(format!("the answer holds for this run only: {told}"))
            }
            None => {
                locked(&self.said).insert(subject, allowed);
                None
            }
        }
    }
}

impl Denied {
    /// Why it was decided so, where it was.
    pub fn reason(&self) -> Option<&Reason> {
        match self {
            Denied::Decided { reason, .. } => Some(reason),
            Denied::Unrecorded(_) => None,
        }
    }
}

impl Reason {
    /// A word for it.
    pub fn name(&self) -> &'static str {
        match self {
            Reason::Rule(_) => "rule",
            Reason::Granted => "grant",
            Reason::Answer(_) => "answer",
            Reason::Refused => "earlier-answer",
            Reason::Nobody(_) => "nobody",
            Reason::Late(_) => "deadline",
            Reason::AskFailed(_) => "failure",
        }
    }
}

impl fmt::Debug for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gate").field("permissions", &self.permissions).finish_non_exhaustive()
    }
}

fn told(server: &str, tool: &str, reason: &Reason) -> String {
    let shown = |name: &str| cut(&visible(name), LONGEST_NAME);
    let what = format!("the tool '{}' of '{}'", shown(tool), shown(server));
    match reason {
        Reason::Rule(rule) => format!("{what} is denied by the rule {rule}"),
        Reason::Granted => format!("{what} is granted"),
        Reason::Answer(Some(_)) | Reason::Refused => {
            format!("{what} is denied: the answer was never")
        }
        Reason::Answer(None) => format!("{what} is not allowed: there was no answer"),
        Reason::Late(deadline) => {
            format!("{what} is not allowed: there was no answer within {deadline:?}")
        }
        Reason::AskFailed(why) => format!("{what} is not allowed: nobody could be asked: {why}"),
        Reason::Nobody(rule) => {
            let pattern = format!("mcp__{}__{}", shown(server), shown(tool));
            let plain = |c: char| c.is_ascii_alphanumeric() || "_-.*/".contains(c);
            let pattern = match pattern.chars().all(plain) {
                true => pattern,
                false => format!("'{}'", pattern.replace('\'', r"'\''")),
            };
            match rule {
                Some(rule) => format!(
                    "{what} must be asked for by the rule {rule}, and there is nobody to ask: \
                     --allow {pattern} allows it"
                ),
                None => format!(
                    "no rule allows {what}, and there is nobody to ask: --allow {pattern} or a \
                     rule in the config allows it"
                ),
            }
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
