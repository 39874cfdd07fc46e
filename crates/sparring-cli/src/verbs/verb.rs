//! The choice between the verbs.

use clap::Subcommand;

use super::mock::Mock;
use super::schema::Schema;
use super::visit::Visit;
use crate::args::Look;

/// What to do.
#[derive(Subcommand)]
#[expect(clippy::large_enum_variant, reason = "there is one, and it is moved once")]
pub(crate) enum Verb {
    #[command(flatten)]
    Visit(Visit),
    Mock(Mock),
    Schema(Schema),
}

impl Verb {
    /// How to tell of it.
    pub(crate) fn look(&self) -> Look {
        match self {
            Verb::Visit(visit) => visit.shared().look.clone(),
            Verb::Mock(mock) => mock.look.clone(),
            Verb::Schema(schema) => schema.look(),
        }
    }
}
