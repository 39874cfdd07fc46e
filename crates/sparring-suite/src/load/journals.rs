//! Reads the expectations of journals, and checks that their mocks exist.

use sparring_script::{MapEntry, Node, NodeKind, did_you_mean};

use super::{Loader, one_or_many};
use crate::grammar::is_llm_key;
use crate::model::{
    Expectation, Journal, JournalExpectation, MatcherTemplate, Server, ServerKind, Step, SuiteMock,
};

impl Loader {
    /// Reads the expectations of `received` or `called`, one for each mock.
    pub(super) fn read_journals(&mut self, entry: &MapEntry, journal: Journal) -> Vec<Expectation> {
        if entry.value.entries().is_empty() {
            self.problems.add(entry.value.span, "this expects nothing");
        }
        let of = |named: &MapEntry| {
            let expected = one_or_many(&named.value);
            self.check_requests(&named.key, expected);
            let expected =
                expected.iter().map(|it| self.read_journal_expectation(it, journal)).collect();
            Expectation::Journal {
                journal,
                name: named.key.clone(),
                span: named.key_span,
                expected,
            }
        };
        entry.value.entries().iter().map(of).collect()
    }

    /// Refuses keys that only requests to an LLM endpoint have.
    fn check_requests(&mut self, name: &str, expected: &[Node]) {
        let known = self.mocks.iter().find(|it| it.name == name);
        if known.is_none_or(|it| it.llm().is_some()) {
            return;
        }
        let llm_keys = expected.iter().flat_map(Node::entries).filter(|it| is_llm_key(&it.key));
        for entry in llm_keys {
            let key = &entry.key;
            let message = format!("`{key}` needs an LLM endpoint, and `{name}` is none");
            self.problems.add(entry.key_span, message);
        }
    }

    fn read_journal_expectation(&mut self, node: &Node, journal: Journal) -> JournalExpectation {
        let count = node.get("count").map(|it| MatcherTemplate::read(it, &mut self.problems));
        let mut wanted = node.clone();
        if let NodeKind::Map(entries) = &mut wanted.kind {
            entries.retain(|entry| entry.key != "count");
        }
        let matcher = match journal {
            _ if wanted.entries().is_empty() => None,
            Journal::Received => Some(self.read_request(&wanted)),
            Journal::Called => Some(MatcherTemplate::read(&wanted, &mut self.problems)),
        };
        JournalExpectation { span: node.span, matcher, count }
    }

    /// Checks that each mock exists and has such a journal.
    pub(super) fn check_journals<'s>(
        &mut self,
        steps: impl Iterator<Item = &'s Step>,
        server: Option<&Server>,
    ) {
        for (_, expectation) in steps.flat_map(|step| &step.expect.0) {
            let mocks = &self.mocks;
            let Expectation::Journal { journal, name, span, .. } = expectation else { continue };
            let known = mocks.iter().find(|it| it.name == *name).map(SuiteMock::is_mcp);
            let tested =
                server.filter(|it| it.name == *name && matches!(it.kind, ServerKind::Mock(_)));
            let message = match (known.or(tested.map(|_| true)), journal) {
                (Some(true), Journal::Called) | (Some(false), Journal::Received) => continue,
                (Some(true), Journal::Received) => {
                    format!("`{name}` is an MCP server; use `called`")
                }
                (Some(false), Journal::Called) => {
                    format!("`{name}` is an HTTP server; use `received`")
                }
                (None, _) => format!("no mock named `{name}`"),
            };
            let tested = server.filter(|it| matches!(it.kind, ServerKind::Mock(_)));
            let names = mocks.iter().map(|it| &*it.name).chain(tested.map(|it| &*it.name));
            let help = did_you_mean(name, names).filter(|_| known.is_none());
            self.problems.add_with_help(*span, message, help);
        }
    }
}
