//! The stand-ins of a suite.

use sparring_mock::{HttpFault, LlmKnown, LlmScript};
use sparring_script::{Entry, Kind, Node, Tree, duration};

use super::{Loader, one_or_many};
use crate::model::{Body, Llm, Pattern, Reply, Route, Server, StandIn, StandInKind, Transport};

/// The keys that say what a mock stands for, and what may stand beside each.
const KINDS: [(&str, &[&str]); 5] = [
    ("http", &[]),
    ("mock", &["vars", "transport"]),
    ("mcp_interactions", &["transport"]),
    ("openai", &["cases", "models"]),
    ("anthropic", &["cases", "models"]),
];

impl Loader {
    pub(super) fn stand_ins(&mut self, node: &Node, servers: &[Server]) -> Vec<StandIn> {
        let entries = node.get("mocks").map(Node::entries).unwrap_or_default();
        for entry in entries.iter().filter(|it| servers.iter().any(|one| one.name == it.key)) {
            let message = format!("there is a server `{}` already", entry.key);
            self.problems.add(entry.key_span, message);
        }
        entries.iter().filter_map(|entry| self.stand_in(entry)).collect()
    }

    fn stand_in(&mut self, entry: &Entry) -> Option<StandIn> {
        let (node, name) = (&entry.value, &entry.key);
        let kinds: Vec<_> = KINDS.iter().filter(|(key, _)| node.get(key).is_some()).collect();
        let [(key, beside)] = kinds[..] else {
            self.problems.add(
                entry.key_span,
                format!(
                    "the mock `{name}` must have one of `http`, `mock`, `mcp_interactions`, `openai` and `anthropic`"
                ),
            );
            return None;
        };
        for other in node.entries() {
            if other.key != *key && !beside.contains(&&*other.key) {
                let message = format!("`{}` does not go with `{key}`", other.key);
                self.problems.add(other.key_span, message);
            }
        }
        let kind = match *key {
            "http" => StandInKind::Http(self.routes(node.get("http")?)),
            "mock" => StandInKind::Script(self.script(node)?),
            "mcp_interactions" => {
                StandInKind::Interactions(node.get("mcp_interactions")?.to_json())
            }
            api => StandInKind::Llm(self.llm(node, api)),
        };
        let transports = super::texts(node, "transport");
        Some(StandIn {
            name: name.clone(),
            span: entry.key_span,
            kind,
            transports: transports.iter().filter_map(|name| Transport::from_name(name)).collect(),
        })
    }

    /// An LLM endpoint, which is checked as far as it can be now.
    fn llm(&mut self, node: &Node, api: &'static str) -> Llm {
        LlmScript::read(node, LlmKnown::Suite(None), &mut self.problems);
        // What is wrong with its templates is told by now.
        let mut told = self.problems.clone();
        Llm { api, node: node.clone(), tree: Tree::read(node, &mut told) }
    }

    /// The turns that a test brings, for the one LLM endpoint there is.
    pub(super) fn turns(&mut self, test: &Node, server: Option<&Server>) -> Option<Node> {
        let turns = test.entry("turns")?;
        let llms: Vec<&Llm> = self.stand_ins.iter().filter_map(StandIn::llm).collect();
        let [llm] = llms[..] else {
            let message = match llms.is_empty() {
                true => "there is no LLM endpoint that would take these turns",
                false => "there are several LLM endpoints that could take these turns",
            };
            let help = "write `mocks: {llm: {openai: []}}` at the top of the suite";
            let help = llms.is_empty().then(|| help.to_owned());
            self.problems.add_with_help(turns.key_span, message, help);
            return None;
        };
        let whole = llm.with_turns(&turns.value);
        LlmScript::read(&whole, LlmKnown::Suite(None), &mut self.problems);
        if server.is_some_and(|server| server.concurrency > 1) {
            let message = "`turns` cannot be told apart among tests that run at once";
            self.problems.add(turns.key_span, message);
        }
        Some(turns.value.clone())
    }

    fn routes(&mut self, node: &Node) -> Vec<Route> {
        let route = |route: &Node| Route {
            when: route.get("when").map(|when| self.request(when)),
            replies: self.replies(route.get("reply").map(one_or_many).unwrap_or_default()),
        };
        node.items().iter().map(route).collect()
    }

    /// What a request must be like, as it is given by the mock.
    pub(super) fn request(&mut self, node: &Node) -> Pattern {
        let mut node = node.clone();
        if let Kind::Map(entries) = &mut node.kind {
            for entry in entries {
                match (&*entry.key, &mut entry.value.kind) {
                    ("method", Kind::String(method)) => *method = method.to_uppercase(),
                    ("headers", Kind::Map(headers)) => {
                        headers.iter_mut().for_each(|it| it.key.make_ascii_lowercase());
                    }
                    ("path", Kind::String(path)) if path.contains('?') && !path.contains("${") => {
                        let message = "a path has no query; `query` has what is in it";
                        self.problems.add(entry.value.span, message);
                    }
                    _ => {}
                }
            }
        }
        Pattern::read(&node, &mut self.problems)
    }

    fn replies(&mut self, nodes: &[Node]) -> Vec<Reply> {
        let last = nodes.len().saturating_sub(1);
        let mut replies = Vec::new();
        for (at, node) in nodes.iter().enumerate() {
            let mut reply = self.http_reply(node);
            if at < last {
                reply.times.get_or_insert(1);
            }
            replies.push(reply);
        }
        replies
    }

    fn http_reply(&mut self, node: &Node) -> Reply {
        if let (Some(_), Some(text)) = (node.get("json"), node.entry("text")) {
            self.problems.add(text.key_span, "`text` does not go with `json`");
        }
        let status = node.get("status").and_then(Node::as_u64).unwrap_or(200);
        let status = u16::try_from(status).unwrap_or(u16::MAX);
        if let Some(said) = node.get("status").filter(|_| status > 599) {
            self.problems.add(said.span, "a status is at most 599");
        }
        let body = match (self.tree(node, "json"), self.text(node, "text")) {
            (Some(json), _) => Body::Json(json),
            (None, Some(text)) => Body::Text(text),
            (None, None) => Body::Nothing,
        };
        let delay = node.get("delay").and_then(Node::as_str).and_then(|it| duration(it).ok());
        Reply {
            status,
            headers: self.pairs(node, "headers"),
            body,
            delay: delay.unwrap_or_default(),
            fault: node.get("fault").and_then(|fault| self.http_fault(fault)),
            times: node.get("times").and_then(Node::as_u64),
        }
    }

    fn http_fault(&mut self, node: &Node) -> Option<HttpFault> {
        let [entry] = node.entries() else {
            self.problems
                .add(node.span, "one of `disconnect`, `silent` and `slow` must stand here");
            return None;
        };
        match (&*entry.key, entry.value.as_str()) {
            ("disconnect", Some("middle")) => Some(HttpFault::Truncate),
            ("disconnect", _) => Some(HttpFault::Disconnect),
            ("slow", _) => Some(HttpFault::Slow(entry.value.as_u64()?)),
            _ => {
                if entry.value.as_bool() == Some(false) {
                    self.problems.add(entry.value.span, "only `silent: true` makes sense");
                }
                Some(HttpFault::Silent)
            }
        }
    }
}
