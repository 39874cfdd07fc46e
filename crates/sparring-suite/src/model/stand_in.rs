//! A stand-in that is started for a suite, as the suite describes it.

use std::time::Duration;

use serde_json::Value;
use sparring_mock::HttpFault;
use sparring_script::{Kind, Node, Span, Tree};

use super::{Pattern, Script, Transport};

/// A stand-in.
#[derive(Debug)]
pub(crate) struct StandIn {
    pub(crate) name: String,
    /// Where its name stands.
    pub(crate) span: Span,
    pub(crate) kind: StandInKind,
    /// How it is served, where it is an MCP server and that is said.
    pub(crate) transports: Vec<Transport>,
}

/// What it stands for.
#[derive(Debug)]
pub(crate) enum StandInKind {
    /// An HTTP server.
    Http(Vec<Route>),
    /// An MCP server with a script.
    Script(Script),
    /// An MCP server that answers turn by turn.
    Interactions(Value),
    /// An LLM endpoint.
    Llm(Llm),
}

/// An LLM endpoint, as it is described: it is read once what its holes ask for
/// is known.
#[derive(Debug)]
pub(crate) struct Llm {
    /// The key of its API.
    pub(crate) api: &'static str,
    pub(crate) node: Node,
    pub(crate) tree: Tree,
}

impl Llm {
    /// The same with other turns.
    pub(crate) fn with_turns(&self, turns: &Node) -> Node {
        let mut node = self.node.clone();
        if let Kind::Map(entries) = &mut node.kind {
            let own = entries.iter_mut().filter(|entry| entry.key == self.api);
            own.for_each(|entry| entry.value = turns.clone());
        }
        node
    }
}

/// Which requests get which replies.
#[derive(Debug)]
pub(crate) struct Route {
    pub(crate) when: Option<Pattern>,
    pub(crate) replies: Vec<Reply>,
}

/// What a request gets.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, Tree)>,
    pub(crate) body: Body,
    pub(crate) delay: Duration,
    pub(crate) fault: Option<HttpFault>,
    pub(crate) times: Option<u64>,
}

/// The body of a reply.
#[derive(Debug)]
pub(crate) enum Body {
    Nothing,
    Json(Tree),
    Text(Tree),
}

impl StandIn {
    /// Whether it is an MCP server.
    pub(crate) fn is_mcp(&self) -> bool {
        !matches!(self.kind, StandInKind::Http(_) | StandInKind::Llm(_))
    }

    /// The LLM endpoint that it is.
    pub(crate) fn llm(&self) -> Option<&Llm> {
        match &self.kind {
            StandInKind::Llm(llm) => Some(llm),
            _ => None,
        }
    }

    /// How it is served while the tests run over `transport`. One that no
    /// description names is wanted of all that may have another.
    pub(crate) fn served(&self, transport: Option<Transport>, named: &[Transport]) -> Transport {
        let Some(first) = self.transports.first() else { return Transport::Http };
        match transport {
            Some(transport) if self.transports.contains(&transport) => transport,
            Some(wanted) if wanted != Transport::Memory && !named.contains(&wanted) => wanted,
            _ => *first,
        }
    }

    /// The texts with holes in it.
    pub(crate) fn trees(&self) -> Vec<&Tree> {
        match &self.kind {
            StandInKind::Interactions(_) => Vec::new(),
            StandInKind::Llm(llm) => vec![&llm.tree],
            StandInKind::Script(script) => script.trees(),
            StandInKind::Http(routes) => {
                let when = routes.iter().filter_map(|route| Some(route.when.as_ref()?.holes()));
                let replies = routes.iter().flat_map(|route| &route.replies);
                when.chain(replies.flat_map(Reply::trees)).collect()
            }
        }
    }
}

impl Reply {
    fn trees(&self) -> impl Iterator<Item = &Tree> {
        let body = match &self.body {
            Body::Nothing => None,
            Body::Json(tree) | Body::Text(tree) => Some(tree),
        };
        self.headers.iter().map(|(_, tree)| tree).chain(body)
    }
}
