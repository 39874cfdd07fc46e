//! What is expected to have come to stand-ins, and whether these are there.

use sparring_script::{Entry, Kind, Node, did_you_mean};

use super::Loader;
use crate::grammar::is_of_llm;
use crate::model::{Coming, Facet, Journal, Pattern, Server, StandIn, Step, Way};

impl Loader {
    /// The facets of `received` or `called`, one for each stand-in.
    pub(super) fn journals(&mut self, entry: &Entry, journal: Journal) -> Vec<Facet> {
        if entry.value.entries().is_empty() {
            self.problems.add(entry.value.span, "nothing is expected here");
        }
        let of = |named: &Entry| {
            let coming = self.some(&named.value);
            self.check_requests(&named.key, coming);
            let coming = coming.iter().map(|it| self.coming(it, journal)).collect();
            Facet::Journal { journal, name: named.key.clone(), span: named.key_span, coming }
        };
        entry.value.entries().iter().map(of).collect()
    }

    /// Only requests to an LLM endpoint have what it reads in them.
    fn check_requests(&mut self, name: &str, coming: &[Node]) {
        let known = self.stand_ins.iter().find(|it| it.name == name);
        if known.is_none_or(|it| it.llm().is_some()) {
            return;
        }
        let of_llm = coming.iter().flat_map(Node::entries).filter(|it| is_of_llm(&it.key));
        for entry in of_llm {
            let key = &entry.key;
            let message = format!("`{name}` is no LLM endpoint, whose requests have `{key}`");
            self.problems.add(entry.key_span, message);
        }
    }

    fn coming(&mut self, node: &Node, journal: Journal) -> Coming {
        let count = node.get("count").map(|it| Pattern::read(it, &mut self.problems));
        let mut wanted = node.clone();
        if let Kind::Map(entries) = &mut wanted.kind {
            entries.retain(|entry| entry.key != "count");
        }
        let pattern = match journal {
            _ if wanted.entries().is_empty() => None,
            Journal::Received => Some(self.request(&wanted)),
            Journal::Called => Some(Pattern::read(&wanted, &mut self.problems)),
        };
        Coming { span: node.span, pattern, count }
    }

    /// Whether there is such a stand-in, and whether it keeps such a journal.
    pub(super) fn check_journals<'s>(
        &mut self,
        steps: impl Iterator<Item = &'s Step>,
        server: Option<&Server>,
    ) {
        for (_, facet) in steps.flat_map(|step| &step.expect.0) {
            let stand_ins = &self.stand_ins;
            let Facet::Journal { journal, name, span, .. } = facet else { continue };
            let known = stand_ins.iter().find(|it| it.name == *name).map(StandIn::is_mcp);
            let tested = server.filter(|it| it.name == *name && matches!(it.way, Way::Mock(_)));
            let message = match (known.or(tested.map(|_| true)), journal) {
                (Some(true), Journal::Called) | (Some(false), Journal::Received) => continue,
                (Some(true), Journal::Received) => {
                    format!("`{name}` is an MCP server; `called` looks at what comes to it")
                }
                (Some(false), Journal::Called) => {
                    format!("`{name}` is an HTTP server; `received` looks at what comes to it")
                }
                (None, _) => format!("there is no mock `{name}`"),
            };
            let tested = server.filter(|it| matches!(it.way, Way::Mock(_)));
            let names = stand_ins.iter().map(|it| &*it.name).chain(tested.map(|it| &*it.name));
            let help = did_you_mean(name, names).filter(|_| known.is_none());
            self.problems.add_with_help(*span, message, help);
        }
    }
}
