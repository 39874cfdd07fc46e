//! Reads the expectations of journals, and checks that their mocks exist.

use sparring_script::matcher::check_subject;
use sparring_script::{MapEntry, Node, NodeKind, did_you_mean};

use super::{Loader, one_or_many};
use crate::grammar::{METHOD, fits_mcp, is_llm_key, is_mcp_key};
use crate::model::{
    Expectation, Journal, JournalExpectation, MatcherTemplate, Server, ServerKind, Step, SuiteMock,
};

/// The form of the requests to a mock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Http,
    Llm,
    Mcp,
}

impl Loader {
    /// Reads the expectations of `received` or `called`, one for each mock.
    pub(super) fn read_journals(&mut self, entry: &MapEntry, journal: Journal) -> Vec<Expectation> {
        if entry.value.entries().is_empty() {
            self.problems.add(entry.value.span, "this expects nothing");
        }
        let of = |named: &MapEntry| {
            let expected = one_or_many(&named.value);
            // The server under test is not among the mocks.
            let mock = self.mocks.iter().find(|it| it.name == named.key);
            let form = match mock {
                Some(mock) if mock.llm().is_some() => Form::Llm,
                Some(mock) if !mock.is_mcp() => Form::Http,
                _ => Form::Mcp,
            };
            if journal == Journal::Received {
                self.check_requests(&named.key, expected, form);
            }
            let expected = expected
                .iter()
                .map(|it| self.read_journal_expectation(it, journal, form))
                .collect();
            Expectation::Journal {
                journal,
                name: named.key.clone(),
                span: named.key_span,
                expected,
            }
        };
        entry.value.entries().iter().map(of).collect()
    }

    /// Refuses keys that requests to a mock of another kind have.
    fn check_requests(&mut self, name: &str, expected: &[Node], form: Form) {
        for entry in expected.iter().flat_map(Node::entries) {
            let key = &entry.key;
            if form == Form::Mcp && key == "method" {
                check_subject(&entry.value, &METHOD, &mut self.problems);
            }
            let needed = match form {
                Form::Http | Form::Mcp if is_llm_key(key) => "an LLM endpoint",
                Form::Http | Form::Llm if is_mcp_key(key) => "an MCP server",
                Form::Mcp if !fits_mcp(key) => "an HTTP server",
                _ => continue,
            };
            let message = format!("`{key}` needs {needed}, and `{name}` is none");
            self.problems.add(entry.key_span, message);
        }
    }

    fn read_journal_expectation(
        &mut self,
        node: &Node,
        journal: Journal,
        form: Form,
    ) -> JournalExpectation {
        let count = node.get("count").map(|it| MatcherTemplate::read(it, &mut self.problems));
        let mut wanted = node.clone();
        if let NodeKind::Map(entries) = &mut wanted.kind {
            entries.retain(|entry| entry.key != "count");
        }
        let matcher = match journal {
            _ if wanted.entries().is_empty() => None,
            Journal::Received if form == Form::Mcp => Some(self.read_mcp_request(&wanted)),
            Journal::Received => Some(self.read_request(&wanted)),
            Journal::Called => Some(MatcherTemplate::read(&wanted, &mut self.problems)),
        };
        JournalExpectation { span: node.span, matcher, count }
    }

    /// Reads an expectation of requests to an MCP server. Their headers have lower case.
    fn read_mcp_request(&mut self, node: &Node) -> MatcherTemplate {
        let mut node = node.clone();
        if let NodeKind::Map(entries) = &mut node.kind {
            let headers = entries.iter_mut().filter(|entry| entry.key == "headers");
            for header in headers {
                if let NodeKind::Map(headers) = &mut header.value.kind {
                    headers.iter_mut().for_each(|it| it.key.make_ascii_lowercase());
                }
            }
        }
        MatcherTemplate::read(&node, &mut self.problems)
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
                (Some(true), _) | (Some(false), Journal::Received) => continue,
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
