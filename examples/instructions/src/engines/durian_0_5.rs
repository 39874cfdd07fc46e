//! `durian-0.5`: routes only by the triggers, the topic and the tags of an instruction.
//! It is predictable, but finds only what the authors wrote down.

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
