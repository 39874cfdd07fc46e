//! The probes: each sends requests of its own and reports the outcomes of a few rules.
//!
//! One file for each area of the specification. A probe reports an outcome for each of its
//! rules: [`Context::pass`], [`Context::fail`], [`Context::not_applicable`] or
//! [`Context::undecided`]. A rule without an outcome is undecided.

mod altered_state;
mod arguments;
mod authorization;
mod batch;
mod broken_messages;
mod call_traffic;
mod cancellations;
mod capabilities;
mod changes;
mod completion;
mod cost;
mod definition_findings;
mod definitions;
pub(crate) mod http;
mod input_required;
mod lifecycle;
mod listen;
mod lists;
mod malformed_params;
mod messages;
mod metadata;
mod modern_traffic;
mod observed;
mod optional_fields;
mod pagination;
mod prompts;
mod questions;
mod refusals;
mod resources;
mod safety;
mod statelessness;
mod stdio;
mod subscriptions;
mod task_ids;
mod tasks;
mod tools;
mod uri_template;
mod usage;
mod utilities;

pub(crate) use self::authorization::refuses_without_token;

use std::future::Future;
use std::pin::Pin;

use sparring_wire::Rule;

use crate::context::{Context, ProbeResult};

/// A probe, and the rules that it decides.
pub(crate) struct Probe {
    pub(crate) rules: &'static [Rule],
    pub(crate) run: for<'a> fn(&'a Context) -> ProbeFuture<'a>,
}

pub(crate) type ProbeFuture<'a> = Pin<Box<dyn Future<Output = ProbeResult> + Send + 'a>>;

/// Declares a probe: the names of its rules, and the function that runs it.
macro_rules! probe {
    ([$($rule:ident),* $(,)?], $run:path) => {
        crate::probes::Probe {
            rules: &[$(sparring_wire::Rule::$rule),*],
            run: |context| Box::pin($run(context)),
        }
    };
}
pub(crate) use probe;

/// Returns the number of probes that run in each revision.
pub fn probe_count() -> usize {
    PROBES.iter().copied().map(<[Probe]>::len).sum()
}

/// The probes that need no connection.
pub(crate) const AUTHORIZATION_PROBES: &[Probe] = authorization::PROBES;

/// All probes, in the order in which they run.
pub(crate) const PROBES: &[&[Probe]] = &[
    lifecycle::PROBES,
    messages::PROBES,
    broken_messages::PROBES,
    batch::PROBES,
    stdio::PROBES,
    http::PROBES,
    authorization::PROBES,
    utilities::PROBES,
    pagination::PROBES,
    subscriptions::PROBES,
    tools::PROBES,
    usage::PROBES,
    resources::PROBES,
    prompts::PROBES,
    completion::PROBES,
    optional_fields::PROBES,
    malformed_params::PROBES,
    call_traffic::PROBES,
    // After the requests that these repeat.
    metadata::PROBES,
    statelessness::PROBES,
    listen::PROBES,
    questions::PROBES,
    tasks::PROBES,
    input_required::PROBES,
    cancellations::PROBES,
    definitions::PROBES,
    cost::PROBES,
    safety::PROBES,
    // Late, when other requests may have changed the lists.
    lists::PROBES,
    // After all probes that need the shared connection, since arguments may crash the server.
    arguments::PROBES,
    capabilities::LAST_PROBES,
    listen::LAST_PROBES,
    modern_traffic::LAST_PROBES,
    metadata::LAST_PROBES,
];
