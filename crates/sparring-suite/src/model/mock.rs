//! A mock of a suite, as the suite describes it.

use std::time::Duration;

use serde_json::Value;
use sparring_mock::HttpFault;
use sparring_script::{Node, NodeKind, Span, TemplateTree};

use super::{MatcherTemplate, Script, Transport};

/// A mock of a suite.
#[derive(Debug)]
pub(crate) struct SuiteMock {
    pub(crate) name: String,
    /// The position of its name.
    pub(crate) span: Span,
    pub(crate) kind: MockKind,
    /// The transports of an MCP server, if the suite names them.
    pub(crate) transports: Vec<Transport>,
}

/// The kind of a mock.
#[derive(Debug)]
pub(crate) enum MockKind {
    /// An HTTP server.
    Http(Vec<Route>),
    /// An MCP server with a script.
    Script(Script),
    /// An MCP server that answers by recorded interactions.
    Interactions(Interactions),
    /// An LLM endpoint.
    Llm(Llm),
}

/// Recorded interactions.
#[derive(Debug)]
pub(crate) struct Interactions {
    pub(crate) responses: Value,
    /// True if the mock over HTTP is a separate process.
    pub(crate) is_process: bool,
}

/// The description of an LLM endpoint. It is parsed when its templates can be rendered.
#[derive(Debug)]
pub(crate) struct Llm {
    /// The key of its API.
    pub(crate) api: &'static str,
    pub(crate) node: Node,
    pub(crate) tree: TemplateTree,
}

impl Llm {
    /// The description with other turns.
    pub(crate) fn with_turns(&self, turns: &Node) -> Node {
        let mut node = self.node.clone();
        if let NodeKind::Map(entries) = &mut node.kind {
            let own = entries.iter_mut().filter(|entry| entry.key == self.api);
            own.for_each(|entry| entry.value = turns.clone());
        }
        node
    }
}

/// A route: a matcher of requests, and the replies.
#[derive(Debug)]
pub(crate) struct Route {
    pub(crate) when: Option<MatcherTemplate>,
    pub(crate) replies: Vec<Reply>,
}

/// The reply to a request.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, TemplateTree)>,
    pub(crate) body: Body,
    pub(crate) delay: Duration,
    pub(crate) fault: Option<HttpFault>,
    pub(crate) times: Option<u64>,
}

/// The body of a reply.
#[derive(Debug)]
pub(crate) enum Body {
    Nothing,
    Json(TemplateTree),
    Text(TemplateTree),
}

impl SuiteMock {
    /// Returns true if it is an MCP server.
    pub(crate) fn is_mcp(&self) -> bool {
        !matches!(self.kind, MockKind::Http(_) | MockKind::Llm(_))
    }

    /// Returns true if it is a separate process over HTTP too.
    pub(crate) fn is_process(&self) -> bool {
        match &self.kind {
            MockKind::Script(script) => script.is_process,
            MockKind::Interactions(interactions) => interactions.is_process,
            MockKind::Http(_) | MockKind::Llm(_) => false,
        }
    }

    /// The LLM endpoint, if it is one.
    pub(crate) fn llm(&self) -> Option<&Llm> {
        match &self.kind {
            MockKind::Llm(llm) => Some(llm),
            _ => None,
        }
    }

    /// Returns the transport to serve it over while the tests run over `transport`. A mock
    /// without `transport` uses HTTP. A transport that only the user selected applies to all
    /// other mocks.
    pub(crate) fn served(&self, transport: Option<Transport>, named: &[Transport]) -> Transport {
        let Some(first) = self.transports.first() else { return Transport::Http };
        match transport {
            Some(transport) if self.transports.contains(&transport) => transport,
            Some(wanted) if wanted != Transport::Memory && !named.contains(&wanted) => wanted,
            _ => *first,
        }
    }

    /// Its templates.
    pub(crate) fn trees(&self) -> Vec<&TemplateTree> {
        match &self.kind {
            MockKind::Interactions(_) => Vec::new(),
            MockKind::Llm(llm) => vec![&llm.tree],
            MockKind::Script(script) => script.trees(),
            MockKind::Http(routes) => {
                let when = routes.iter().filter_map(|route| Some(route.when.as_ref()?.templates()));
                let replies = routes.iter().flat_map(|route| &route.replies);
                when.chain(replies.flat_map(Reply::trees)).collect()
            }
        }
    }
}

impl Reply {
    fn trees(&self) -> impl Iterator<Item = &TemplateTree> {
        let body = match &self.body {
            Body::Nothing => None,
            Body::Json(tree) | Body::Text(tree) => Some(tree),
        };
        self.headers.iter().map(|(_, tree)| tree).chain(body)
    }
}
