//! What may be called: rules, what somebody granted, and whom to ask.
//!
//! [`Permissions`] knows the rules, [`Gate`] decides about calls, [`Audit`]
//! writes down what was decided.

mod ask;
mod audit;
mod fingerprint;
mod gate;
mod grants;
mod pattern;
mod prompt;
mod rules;

pub use ask::{Answer, Asker, Question};
pub use audit::{Audit, AuditError};
pub use fingerprint::Fingerprint;
pub use gate::{Call, Denied, Gate, GateOptions, Reason, Settled};
pub use grants::{Grant, Grants};
pub use pattern::{Glob, Meaning, PatternError, meaning, meaning_within};
pub use prompt::Prompt;
pub use rules::{Decision, Findings, Permissions, Policy, Rule, Source, Verdict};
