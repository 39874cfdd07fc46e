//! `durian-0.5`: only what an instruction itself names as its triggers, topic and
//! tags. It never surprises, and never finds what nobody thought of.

use super::Engine;
use crate::library::{Library, LibraryError};
use crate::phrase::words;
use crate::routing::{Request, Routed, rank, triggered};

pub(super) struct Durian;

impl Engine for Durian {
    fn version(&self) -> &'static str {
        "durian-0.5"
    }

    fn summary(&self) -> &'static str {
        "commands, phrases, topics and tags that stand in the message"
    }

    fn route(&self, library: &Library, request: &Request) -> Result<Vec<Routed>, LibraryError> {
        let message = words(&request.message);
        let fits = |(number, instruction)| {
            let reasons = triggered(instruction, &message);
            (!reasons.is_empty()).then_some(Routed { number, reasons })
        };
        let mut routed: Vec<Routed> = library.all().iter().enumerate().filter_map(fits).collect();
        rank(&mut routed, library.all());
        Ok(routed)
    }
}
