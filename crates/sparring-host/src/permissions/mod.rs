//! Permissions of calls: rules, stored grants and questions to a person.
//!
//! [`Permissions`] contains the rules, [`Gate`] decides about calls, and
//! [`Audit`] logs the decisions.

mod asker;
mod audit;
mod fingerprint;
mod gate;
mod grants;
mod rules;
mod text_prompt;
mod tool_pattern;

pub use asker::{Answer, Asker, Question};
pub use audit::{Audit, AuditError};
pub use fingerprint::Fingerprint;
pub use gate::{Call, Decision, Denied, Gate, GateOptions, Reason};
pub use grants::{Grant, Grants};
pub use rules::{Findings, Permissions, Policy, Rule, RuleDecision, Source, Verdict};
pub use text_prompt::Prompt;
pub use tool_pattern::{
    Glob, PatternError, PatternTarget, resolve_pattern, resolve_server_pattern,
};
