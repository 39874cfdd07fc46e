//! Whether there is the mock that `${mocks.NAME.…}` asks for, and whether it has
//! that.

use sparring_script::{Path, Span, Tree, did_you_mean};

use super::Loader;
use crate::model::{Server, StandIn, Transport};

/// What can be asked of a mock over HTTP, and of one over stdio.
const OVER_HTTP: [&str; 2] = ["url", "config"];
const OVER_STDIO: [&str; 5] = ["command", "args", "shell", "config", "journal"];

impl Loader {
    /// In servers and mocks; a mock may ask for one that stands before it.
    pub(super) fn check_mock_holes(&mut self, servers: &[Server]) {
        let stand_ins = std::mem::take(&mut self.stand_ins);
        for (at, stand_in) in stand_ins.iter().enumerate() {
            let (before, after) = stand_ins.split_at(at);
            for tree in stand_in.trees() {
                self.check_among(tree, before, after);
            }
        }
        self.stand_ins = stand_ins;
        for tree in servers.iter().flat_map(|server| server.way.trees()) {
            self.check_mocks_in(tree);
        }
    }

    /// In whatever is used when all of them are started.
    pub(super) fn check_mocks_in(&mut self, tree: &Tree) {
        let stand_ins = std::mem::take(&mut self.stand_ins);
        self.check_among(tree, &stand_ins, &[]);
        self.stand_ins = stand_ins;
    }

    fn check_among(&mut self, tree: &Tree, known: &[StandIn], later: &[StandIn]) {
        for (path, span, _) in tree.holes() {
            if path.root() == "mocks" {
                self.check_mock_hole(path, span, known, later);
            }
        }
    }

    fn check_mock_hole(&mut self, path: &Path, span: Span, known: &[StandIn], later: &[StandIn]) {
        let (Some(name), Some(field)) = (path.key(1), path.key(2)) else {
            self.problems.add(span, "write ${mocks.NAME.url}, with the name of a mock");
            return;
        };
        let Some(stand_in) = known.iter().find(|it| it.name == name) else {
            let message = match later.iter().any(|it| it.name == name) {
                true => format!("the mock `{name}` is started later, since it stands below"),
                false => format!("there is no mock `{name}`"),
            };
            let help = did_you_mean(name, known.iter().map(|it| &*it.name));
            return self.problems.add_with_help(span, message, help);
        };
        let fields = fields(stand_in);
        if !fields.contains(&field) {
            let message =
                format!("the mock `{name}` has no `{field}`, it has {}", fields.join(", "));
            self.problems.add_with_help(span, message, did_you_mean(field, fields.iter().copied()));
        }
    }
}

/// All that a mock may have in one way or another to serve it.
fn fields(stand_in: &StandIn) -> Vec<&'static str> {
    if !stand_in.is_mcp() {
        return vec!["url"];
    }
    let stdio = stand_in.transports.contains(&Transport::Stdio);
    let http = stand_in.transports.is_empty()
        || stand_in.transports.iter().any(|it| *it != Transport::Stdio);
    let mut fields = Vec::new();
    fields.extend(OVER_HTTP.into_iter().filter(|_| http));
    fields.extend(OVER_STDIO.into_iter().filter(|field| stdio && !(http && *field == "config")));
    fields
}
