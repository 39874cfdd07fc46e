//! The choice between the verbs.

use clap::Subcommand;

use super::agent::Agent;
use super::completions::Completions;
use super::config::Config;
use super::mock::Mock;
use super::report::Report;
use super::schema::Schema;
use super::serve::Serve;
use super::shell::Shell;
use super::test::Test;
use super::visit::Visit;
use crate::args::Look;

/// What to do.
#[derive(Subcommand)]
#[expect(clippy::large_enum_variant, reason = "there is one, and it is moved once")]
pub(crate) enum Verb {
    Test(Test),
    #[command(flatten)]
    Visit(Visit),
    Mock(Mock),
    Agent(Box<Agent>),
    Serve(Serve),
    Report(Report),
    Shell(Shell),
    Config(Config),
    Schema(Schema),
    Completions(Completions),
}

impl Verb {
    /// How to tell of it.
    pub(crate) fn look(&self) -> Look {
        match self {
            Verb::Test(test) => test.look(),
            Verb::Visit(visit) => visit.shared().look.clone(),
            Verb::Mock(mock) => mock.look.clone(),
            Verb::Agent(agent) => agent.look(),
            Verb::Serve(serve) => serve.look.clone(),
            Verb::Report(report) => report.look(),
            Verb::Shell(shell) => shell.look(),
            Verb::Config(config) => config.look(),
            Verb::Schema(schema) => schema.look(),
            Verb::Completions(completions) => completions.look(),
        }
    }
}
