//! Replies that are asked of an HTTP server.

use std::time::Duration;

use http::Method;
use http::header::{HeaderName, HeaderValue};
use sparring_script::{Node, Template, duration};

use super::{Loader, text};
use crate::upstream::{HttpBody, HttpCall};

/// How long an answer may take, where nothing is said.
const TIMEOUT: Duration = Duration::from_secs(30);

impl Loader<'_> {
    pub(super) fn http_call(&mut self, node: &Node) -> HttpCall {
        let body = match (node.get("body"), node.get("json")) {
            (Some(body), None) => HttpBody::Text(self.text_tree(body)),
            (None, Some(json)) => HttpBody::Json(self.tree(json)),
            (None, None) => HttpBody::None,
            (Some(_), Some(json)) => {
                self.problems.add(json.span, "give either `body` or `json`");
                HttpBody::None
            }
        };
        let url = self.url(node.get("url"));
        let query = node.get("query").map(Node::entries).unwrap_or_default();
        let timeout = node.get("timeout").and_then(Node::as_str).and_then(|it| duration(it).ok());
        HttpCall {
            method: self.method(node, matches!(body, HttpBody::None)),
            url,
            query: query.iter().map(|it| (it.key.clone(), self.tree(&it.value))).collect(),
            headers: self.headers(node.get("headers")),
            body,
            timeout: timeout.unwrap_or(TIMEOUT),
        }
    }

    fn method(&mut self, node: &Node, bodiless: bool) -> Method {
        let Some(name) = text(node, "method") else {
            return if bodiless { Method::GET } else { Method::POST };
        };
        Method::from_bytes(name.as_bytes()).unwrap_or_else(|_| {
            let span = node.get("method").map_or(node.span, |method| method.span);
            self.problems.add(span, format!("`{name}` is no method of HTTP"));
            Method::GET
        })
    }

    fn url(&mut self, node: Option<&Node>) -> Template {
        let nowhere = || Template::parse("").expect("an empty text is a template");
        let Some(node) = node else { return nowhere() };
        let written = node.as_str().unwrap_or_default();
        // Its holes are checked as those of any text.
        self.tree(node);
        let begins = ["http://", "https://", "${vars."].iter().any(|it| written.starts_with(it));
        if !begins {
            let message =
                "the URL must begin with http:// or https://, or with a variable that does";
            self.problems.add(node.span, message);
        }
        Template::parse(written).unwrap_or_else(|_| nowhere())
    }

    fn headers(&mut self, node: Option<&Node>) -> Vec<(HeaderName, sparring_script::Tree)> {
        let mut headers = Vec::new();
        for entry in node.map(Node::entries).unwrap_or_default() {
            let literal = entry.value.as_str().filter(|it| !it.contains("${"));
            if literal.is_some_and(|value| HeaderValue::from_str(value).is_err()) {
                self.problems.add(entry.value.span, "no header can have this value");
            }
            match HeaderName::from_bytes(entry.key.as_bytes()) {
                Ok(name) => headers.push((name, self.text_tree(&entry.value))),
                Err(_) => {
                    self.problems
                        .add(entry.key_span, format!("`{}` is no name of a header", entry.key));
                }
            }
        }
        headers
    }
}
