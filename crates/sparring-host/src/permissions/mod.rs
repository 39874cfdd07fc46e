//! Permissions of calls: rules, stored grants and questions to a person.
//!
//! [`Permissions`] contains the rules, [`PermissionGate`] decides about calls, and
//! [`AuditLog`] logs the decisions.

mod asker;
mod audit;
mod fingerprint;
mod gate;
mod grants;
mod rules;
mod text_prompt;
mod tool_pattern;

pub use asker::{Answer, Asker, Question};
pub use audit::{AuditError, AuditLog};
pub use fingerprint::Fingerprint;
pub use gate::{Call, Decision, Denied, PermissionGate, PermissionGateOptions, Reason};
pub use grants::{Grant, Grants};
pub use rules::{Findings, Permissions, Policy, Rule, RuleDecision, Source, Verdict};
pub use text_prompt::TextPrompt;
pub use tool_pattern::{
    PatternError, PatternTarget, ToolPattern, resolve_pattern, resolve_server_pattern,
};
