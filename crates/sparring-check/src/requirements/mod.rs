//! The normative sentences of the specification that concern a server: for each, in our own
//! words, the rules that check it, or the reason why nothing outside of the server shows it.
//!
//! One file for each part of the specification. `docs/requirements.md` is generated from here.

mod authorization;
mod client;
mod http;
mod lifecycle;
mod messages;
mod server;
mod stdio;
mod utilities;

use sparring_wire::Revision::{V2024_11_05, V2025_03_26, V2025_06_18, V2025_11_25, V2026_07_28};
use sparring_wire::{Revision, Rule, RuleLevel};

/// One normative sentence of the specification, in our own words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Requirement {
    /// The page and section, such as `server/tools#calling-tools`, in the newest of
    /// `revisions`.
    pub section: &'static str,
    /// The strength: [`RuleLevel::Must`] or [`RuleLevel::Should`].
    pub level: RuleLevel,
    /// The revisions that have the sentence, oldest first.
    pub revisions: &'static [Revision],
    /// The sentence in our own words.
    pub text: &'static str,
    /// The rules that check it, or the reason why there is none.
    pub coverage: Coverage,
}

/// How a requirement is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coverage {
    /// These rules check it.
    Rules(&'static [Rule]),
    /// It cannot be seen from outside, for this reason.
    Unseen(&'static str),
}

/// Declares the requirements of one part of the specification.
macro_rules! requirements {
    ($($section:literal, $level:ident, $revisions:ident, $text:literal, $coverage:tt;)*) => {
        pub(super) const REQUIREMENTS: &[crate::requirements::Requirement] = &[
            $(crate::requirements::Requirement {
                section: $section,
                level: sparring_wire::RuleLevel::$level,
                revisions: crate::requirements::sets::$revisions,
                text: $text,
                coverage: crate::requirements::covered_by!($coverage),
            },)*
        ];
    };
}
/// Rules in brackets, or a reason in parentheses.
macro_rules! covered_by {
    ([$($rule:ident),+ $(,)?]) => {
        crate::requirements::Coverage::Rules(&[$(sparring_wire::Rule::$rule),+])
    };
    (($reason:literal)) => { crate::requirements::Coverage::Unseen($reason) };
}
use {covered_by, requirements};

/// The sets of revisions that requirements name.
mod sets {
    use super::*;
    macro_rules! sets {
        ($($name:ident = [$($revision:ident),*];)*) => {
            $(#[allow(dead_code)] pub(super) const $name: &[Revision] = &[$($revision),*];)*
        };
    }
    sets! {
        ALL = [V2024_11_05, V2025_03_26, V2025_06_18, V2025_11_25, V2026_07_28];
        LEGACY = [V2024_11_05, V2025_03_26, V2025_06_18, V2025_11_25];
        MODERN = [V2026_07_28];
        ONLY_2024_11_05 = [V2024_11_05];
        ONLY_2025_03_26 = [V2025_03_26];
        ONLY_2025_06_18 = [V2025_06_18];
        ONLY_2025_11_25 = [V2025_11_25];
        UNTIL_2025_03_26 = [V2024_11_05, V2025_03_26];
        UNTIL_2025_06_18 = [V2024_11_05, V2025_03_26, V2025_06_18];
        SINCE_2025_03_26 = [V2025_03_26, V2025_06_18, V2025_11_25, V2026_07_28];
        SINCE_2025_06_18 = [V2025_06_18, V2025_11_25, V2026_07_28];
        SINCE_2025_11_25 = [V2025_11_25, V2026_07_28];
        FROM_2025_03_26_TO_2025_06_18 = [V2025_03_26, V2025_06_18];
        FROM_2025_03_26_TO_2025_11_25 = [V2025_03_26, V2025_06_18, V2025_11_25];
        FROM_2025_06_18_TO_2025_11_25 = [V2025_06_18, V2025_11_25];
    }
}

/// All requirements, in the order of the specification's pages.
pub fn all() -> impl Iterator<Item = &'static Requirement> {
    [
        messages::REQUIREMENTS,
        lifecycle::REQUIREMENTS,
        stdio::REQUIREMENTS,
        http::REQUIREMENTS,
        authorization::REQUIREMENTS,
        utilities::REQUIREMENTS,
        server::REQUIREMENTS,
        client::REQUIREMENTS,
    ]
    .into_iter()
    .flatten()
}

/// Returns the requirements that a rule checks.
pub fn of_rule(rule: Rule) -> impl Iterator<Item = &'static Requirement> {
    let checks = move |it: &&Requirement| match it.coverage {
        Coverage::Rules(rules) => rules.contains(&rule),
        Coverage::Unseen(_) => false,
    };
    all().filter(checks)
}
