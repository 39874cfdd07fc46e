//! The list of all rules, in one file for each part. The rules of an area, such as `tools`, are
//! together.
//!
//! Each part is a macro that passes its entries and those before it to the next part, so that one
//! enum has all rules.

#[macro_use]
mod definitions;
#[macro_use]
mod features;
#[macro_use]
mod messages;
#[macro_use]
mod transports;
#[macro_use]
mod utilities;

use super::{RuleEntry, RuleLevel, RuleSource};
use crate::revision::Revision;
use crate::revision::Revision::{V2024_11_05, V2025_03_26, V2025_06_18, V2025_11_25, V2026_07_28};

const ALL: &[Revision] = &Revision::ALL;
/// The revisions in which both sides only should keep to the negotiated capabilities.
const UNTIL_2025_03_26: &[Revision] = &[V2024_11_05, V2025_03_26];
const LEGACY: &[Revision] = &[V2024_11_05, V2025_03_26, V2025_06_18, V2025_11_25];
const MODERN: &[Revision] = &[V2026_07_28];
const ONLY_2025_03_26: &[Revision] = &[V2025_03_26];
const ONLY_2025_11_25: &[Revision] = &[V2025_11_25];
const UNTIL_2025_06_18: &[Revision] = &[V2024_11_05, V2025_03_26, V2025_06_18];
const SINCE_2025_03_26: &[Revision] = &[V2025_03_26, V2025_06_18, V2025_11_25, V2026_07_28];
const SINCE_2025_06_18: &[Revision] = &[V2025_06_18, V2025_11_25, V2026_07_28];
const SINCE_2025_11_25: &[Revision] = &[V2025_11_25, V2026_07_28];
/// The revisions with Streamable HTTP.
const STREAMABLE: &[Revision] = &[V2025_03_26, V2025_06_18, V2025_11_25, V2026_07_28];
/// The revisions with sessions and the header of the protocol version.
const VERSION_HEADER: &[Revision] = &[V2025_06_18, V2025_11_25];
const ONLY_2024_11_05: &[Revision] = &[V2024_11_05];
const ONLY_2025_06_18: &[Revision] = &[V2025_06_18];
/// The revisions with sessions and resumable streams over HTTP.
const HTTP_SESSIONS: &[Revision] = &[V2025_03_26, V2025_06_18, V2025_11_25];

const MESSAGES: &str = "basic#messages";
/// The section of rules that the specification does not have.
const NONE: &str = "";

/// Declares the enum of rules and the catalogue in the same order.
macro_rules! rules {
    ($($variant:ident = $id:literal, $source:ident, $level:ident, $revisions:ident, $section:expr, $summary:literal, $advice:literal;)*) => {
        /// A rule that a server, a client or a test can break.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Rule {
            $(#[doc = concat!("`", $id, "`: ", $summary)] $variant,)*
        }

        /// The catalogue: every rule once, in the order of [`Rule`].
        pub const RULES: &[RuleEntry] = &[$(RuleEntry {
            rule: Rule::$variant,
            id: $id,
            source: RuleSource::$source,
            level: RuleLevel::$level,
            revisions: $revisions,
            section: $section,
            summary: $summary,
            advice: $advice,
        },)*];
    };
}

message_rules! { utility_rules, transport_rules, feature_rules, definition_rules, rules, }
