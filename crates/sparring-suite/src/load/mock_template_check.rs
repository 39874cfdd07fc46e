//! Checks that `${mocks.NAME.…}` names a mock and a value that the mock has.

use sparring_script::{Path, Span, TemplateTree, did_you_mean};

use super::Loader;
use crate::model::{Server, SuiteMock, Transport};

/// The values of a mock over HTTP, and of one over stdio.
const OVER_HTTP: [&str; 2] = ["url", "config"];
const OVER_STDIO: [&str; 5] = ["command", "args", "shell", "config", "journal"];

impl Loader {
    /// Checks servers and mocks. A mock can use the mocks before it.
    pub(super) fn check_mock_templates(&mut self, servers: &[Server]) {
        let mocks = std::mem::take(&mut self.mocks);
        for (at, mock) in mocks.iter().enumerate() {
            let (before, after) = mocks.split_at(at);
            for tree in mock.trees() {
                self.check_mock_names_among(tree, before, after);
            }
        }
        self.mocks = mocks;
        for tree in servers.iter().flat_map(|server| server.kind.trees()) {
            self.check_mock_names(tree);
        }
    }

    /// Checks a template that is rendered after all mocks are started.
    pub(super) fn check_mock_names(&mut self, tree: &TemplateTree) {
        let mocks = std::mem::take(&mut self.mocks);
        self.check_mock_names_among(tree, &mocks, &[]);
        self.mocks = mocks;
    }

    fn check_mock_names_among(
        &mut self,
        tree: &TemplateTree,
        known: &[SuiteMock],
        later: &[SuiteMock],
    ) {
        for (path, span, _) in tree.placeholders() {
            if path.root() == "mocks" {
                self.check_mock_name(path, span, known, later);
            }
        }
    }

    fn check_mock_name(
        &mut self,
        path: &Path,
        span: Span,
        known: &[SuiteMock],
        later: &[SuiteMock],
    ) {
        let (Some(name), Some(field)) = (path.key_at(1), path.key_at(2)) else {
            self.problems.add(span, "write ${mocks.NAME.url} with the name of a mock");
            return;
        };
        let Some(mock) = known.iter().find(|it| it.name == name) else {
            let message = match later.iter().any(|it| it.name == name) {
                true => format!("mock `{name}` is started later; move it up"),
                false => format!("no mock named `{name}`"),
            };
            let help = did_you_mean(name, known.iter().map(|it| &*it.name));
            return self.problems.add_with_help(span, message, help);
        };
        let fields = fields(mock);
        if !fields.contains(&field) {
            let message = format!("mock `{name}` has no `{field}`; it has {}", fields.join(", "));
            self.problems.add_with_help(span, message, did_you_mean(field, fields.iter().copied()));
        }
    }
}

/// The values of a mock over all its transports.
fn fields(mock: &SuiteMock) -> Vec<&'static str> {
    if !mock.is_mcp() {
        return vec!["url"];
    }
    let stdio = mock.transports.contains(&Transport::Stdio);
    let http =
        mock.transports.is_empty() || mock.transports.iter().any(|it| *it != Transport::Stdio);
    let mut fields = Vec::new();
    fields.extend(OVER_HTTP.into_iter().filter(|_| http));
    fields.extend(OVER_STDIO.into_iter().filter(|field| stdio && !(http && *field == "config")));
    fields
}
