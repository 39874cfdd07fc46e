//! Reads the mocks of a suite.

use sparring_mock::{HttpFault, LlmScope, LlmScript};
use sparring_script::matcher::check_subject;
use sparring_script::{MapEntry, Node, NodeKind, TemplateTree, did_you_mean, parse_duration};

use super::servers::is_process;
use super::{Loader, one_or_many};
use crate::grammar::HTTP_METHOD;
use crate::model::{
    Body, Interactions, Llm, MatcherTemplate, MockKind, Reply, Route, Server, SuiteMock, Transport,
};

/// The keys for the kind of a mock, and the other keys that each kind can have.
const KINDS: [(&str, &[&str]); 7] = [
    ("http", &[]),
    ("mock", &["vars", "transport", "process"]),
    ("mcp_interactions", &["transport", "process"]),
    ("turns", &["cases", "models"]),
    ("openai", &["cases", "models"]),
    ("anthropic", &["cases", "models"]),
    ("gemini", &["cases", "models"]),
];

impl Loader {
    pub(super) fn read_mocks(&mut self, node: &Node, servers: &[Server]) -> Vec<SuiteMock> {
        let entries = node.get("mocks").map(Node::entries).unwrap_or_default();
        for entry in entries.iter().filter(|it| servers.iter().any(|one| one.name == it.key)) {
            let message = format!("a server is already named `{}`", entry.key);
            self.problems.add(entry.key_span, message);
        }
        entries.iter().filter_map(|entry| self.read_mock(entry)).collect()
    }

    fn read_mock(&mut self, entry: &MapEntry) -> Option<SuiteMock> {
        let (node, name) = (&entry.value, &entry.key);
        let kinds: Vec<_> = KINDS.iter().filter(|(key, _)| node.get(key).is_some()).collect();
        let [(key, other_keys)] = kinds[..] else {
            self.problems.add(
                entry.key_span,
                format!(
                    "mock `{name}` needs one of `http`, `mock`, `mcp_interactions`, `turns`, `openai`, `anthropic` and `gemini`"
                ),
            );
            return None;
        };
        for other in node.entries() {
            if other.key != *key && !other_keys.contains(&&*other.key) {
                let message = format!("`{}` cannot be used with `{key}`", other.key);
                self.problems.add(other.key_span, message);
            }
        }
        let kind = match *key {
            "http" => MockKind::Http(self.read_routes(node.get("http")?)),
            "mock" => MockKind::Script(self.read_script(node)?),
            "mcp_interactions" => MockKind::Interactions(Interactions {
                responses: node.get("mcp_interactions")?.to_json(),
                is_process: is_process(node),
            }),
            api => MockKind::Llm(self.read_llm(node, api)),
        };
        let transports = super::texts(node, "transport");
        self.check_process(node, &transports, "http");
        Some(SuiteMock {
            name: name.clone(),
            span: entry.key_span,
            kind,
            transports: transports.iter().filter_map(|name| Transport::from_name(name)).collect(),
        })
    }

    /// Reads an LLM endpoint and checks the parts that do not depend on templates.
    fn read_llm(&mut self, node: &Node, api: &'static str) -> Llm {
        LlmScript::read(node, LlmScope::Suite(None), &mut self.problems);
        // Its templates were checked just now.
        let mut checked = self.problems.clone();
        Llm { api, node: node.clone(), tree: TemplateTree::from_node(node, &mut checked) }
    }

    /// Reads the turns of a test for the suite's LLM endpoints, by their names.
    pub(super) fn read_turns(
        &mut self,
        test: &Node,
        server: Option<&Server>,
    ) -> Vec<(String, Node)> {
        let Some(turns) = test.entry("turns") else { return Vec::new() };
        if server.is_some_and(|server| server.concurrency > 1) {
            let message =
                "`turns` cannot be used with `concurrency`, because the tests share the endpoint";
            self.problems.add(turns.key_span, message);
        }
        if matches!(turns.value.kind, NodeKind::Map(_)) {
            let named = turns.value.entries().iter();
            return named.filter_map(|entry| self.read_named_turns(entry)).collect();
        }
        let llms = || self.mocks.iter().filter(|mock| mock.llm().is_some());
        let names: Vec<&str> = llms().map(|mock| &*mock.name).collect();
        let [name] = names[..] else {
            let (message, help) = match names.is_empty() {
                true => (
                    "the suite has no LLM endpoint for these turns",
                    "write `mocks: {llm: {turns: []}}` at the top of the suite".to_owned(),
                ),
                false => (
                    "the suite has several LLM endpoints for these turns",
                    format!("name the endpoint, as in `turns: {{{}: […]}}`", names[0]),
                ),
            };
            self.problems.add_with_help(turns.key_span, message, Some(help));
            return Vec::new();
        };
        let name = name.to_owned();
        self.check_turns_of(&name, &turns.value);
        vec![(name, turns.value.clone())]
    }

    /// Reads the turns for one endpoint.
    fn read_named_turns(&mut self, entry: &MapEntry) -> Option<(String, Node)> {
        let names = || self.mocks.iter().filter(|it| it.llm().is_some()).map(|it| &*it.name);
        if !names().any(|name| name == entry.key) {
            let message = format!("no LLM endpoint named `{}`", entry.key);
            let help = did_you_mean(&entry.key, names());
            self.problems.add_with_help(entry.key_span, message, help);
            return None;
        }
        self.check_turns_of(&entry.key, &entry.value);
        Some((entry.key.clone(), entry.value.clone()))
    }

    /// Checks the script of an endpoint with the turns of a test.
    fn check_turns_of(&mut self, name: &str, turns: &Node) {
        let llm = self.mocks.iter().find(|it| it.name == name).and_then(SuiteMock::llm);
        if let Some(whole) = llm.map(|llm| llm.with_turns(turns)) {
            LlmScript::read(&whole, LlmScope::Suite(None), &mut self.problems);
        }
    }

    fn read_routes(&mut self, node: &Node) -> Vec<Route> {
        let route = |route: &Node| Route {
            when: route.get("when").map(|when| self.read_request(when)),
            replies: self.read_replies(route.get("reply").map(one_or_many).unwrap_or_default()),
        };
        let routes = node.items().iter().map(route).collect();
        self.check_order(node.items());
        routes
    }

    /// Refuses routes after one that matches every request.
    fn check_order(&mut self, routes: &[Node]) {
        let is_general =
            |route: &Node| route.get("when").is_none_or(|when| when.entries().is_empty());
        let after = routes.iter().skip_while(|route| !is_general(route)).nth(1);
        if let Some(route) = after {
            let message = "no request gets to this route: the route before matches every request";
            let help = Some("write `when` there, or move it to the end".to_owned());
            self.problems.add_with_help(route.span, message, help);
        }
    }

    /// Reads a matcher of HTTP requests.
    pub(super) fn read_request(&mut self, node: &Node) -> MatcherTemplate {
        let mut node = node.clone();
        if let NodeKind::Map(entries) = &mut node.kind {
            for entry in entries {
                match (&*entry.key, &mut entry.value.kind) {
                    ("method", NodeKind::String(method)) => {
                        *method = method.to_uppercase();
                        check_subject(&entry.value, &HTTP_METHOD, &mut self.problems);
                    }
                    ("headers", NodeKind::Map(headers)) => {
                        headers.iter_mut().for_each(|it| it.key.make_ascii_lowercase());
                    }
                    ("path", NodeKind::String(path))
                        if path.contains('?') && !path.contains("${") =>
                    {
                        let message = "a path has no query; use `query`";
                        self.problems.add(entry.value.span, message);
                    }
                    ("path", NodeKind::String(path))
                        if !path.starts_with('/') && !path.starts_with("${") =>
                    {
                        let message = "no request has this path, because a path begins with `/`";
                        self.problems.add(entry.value.span, message);
                    }
                    _ => {}
                }
            }
        }
        MatcherTemplate::read(&node, &mut self.problems)
    }

    fn read_replies(&mut self, nodes: &[Node]) -> Vec<Reply> {
        let last = nodes.len().saturating_sub(1);
        let mut replies = Vec::new();
        for (at, node) in nodes.iter().enumerate() {
            let mut reply = self.read_reply(node);
            if at < last {
                reply.times.get_or_insert(1);
            }
            replies.push(reply);
        }
        replies
    }

    fn read_reply(&mut self, node: &Node) -> Reply {
        if let (Some(_), Some(text)) = (node.get("json"), node.entry("text")) {
            self.problems.add(text.key_span, "`text` cannot be used with `json`");
        }
        let status = node.get("status").and_then(Node::as_u64).unwrap_or(200);
        let status = u16::try_from(status).unwrap_or(u16::MAX);
        if let Some(node) = node.get("status").filter(|_| status > 599) {
            self.problems.add(node.span, "the highest status is 599");
        }
        let body = match (self.read_tree(node, "json"), self.read_text(node, "text")) {
            (Some(json), _) => Body::Json(json),
            (None, Some(text)) => Body::Text(text),
            (None, None) => Body::Nothing,
        };
        let delay = node.get("delay").and_then(Node::as_str).and_then(|it| parse_duration(it).ok());
        Reply {
            status,
            headers: self.read_texts(node, "headers"),
            body,
            delay: delay.unwrap_or_default(),
            fault: node.get("fault").and_then(|fault| self.read_fault(fault)),
            times: node.get("times").and_then(Node::as_u64),
        }
    }

    fn read_fault(&mut self, node: &Node) -> Option<HttpFault> {
        let [entry] = node.entries() else {
            self.problems.add(node.span, "write one of `disconnect`, `silent` and `slow`");
            return None;
        };
        match (&*entry.key, entry.value.as_str()) {
            ("disconnect", Some("middle")) => Some(HttpFault::Truncate),
            ("disconnect", _) => Some(HttpFault::Disconnect),
            ("slow", _) => Some(HttpFault::Slow(entry.value.as_u64()?)),
            _ => {
                if entry.value.as_bool() == Some(false) {
                    self.problems.add(entry.value.span, "`silent` can only be true");
                }
                Some(HttpFault::Silent)
            }
        }
    }
}
