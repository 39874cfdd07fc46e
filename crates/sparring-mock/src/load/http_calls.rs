//! Loads HTTP requests of replies.

use std::time::Duration;

use http::Method;
use http::header::{HeaderName, HeaderValue};
use sparring_script::{Node, Template, parse_duration};

use super::{ControlKeys, Loader, TextOrigin, text};
use crate::upstream::{HttpBody, HttpCall};

/// The default timeout.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);

impl Loader<'_> {
    pub(super) fn load_http_call(&mut self, node: &Node) -> HttpCall {
        if let TextOrigin::HttpClient(ControlKeys { http: false, .. }) = self.origin {
            self.problems.add_with_help(
                node.span,
                "a change over HTTP cannot use `http`",
                Some(
                    "allow it with --allow-control http, or with `control_keys` in Rust".to_owned(),
                ),
            );
        }
        let body = match (node.get("body"), node.get("json")) {
            (Some(body), None) => HttpBody::Text(self.load_text(body)),
            (None, Some(json)) => HttpBody::Json(self.load_tree(json)),
            (None, None) => HttpBody::None,
            (Some(_), Some(json)) => {
                self.problems.add(json.span, "give either `body` or `json`");
                HttpBody::None
            }
        };
        let url = self.load_url(node.get("url"));
        let query = node.get("query").map(Node::entries).unwrap_or_default();
        let timeout =
            node.get("timeout").and_then(Node::as_str).and_then(|it| parse_duration(it).ok());
        HttpCall {
            method: self.load_method(node, matches!(body, HttpBody::None)),
            url,
            query: query.iter().map(|it| (it.key.clone(), self.load_tree(&it.value))).collect(),
            headers: self.load_headers(node.get("headers")),
            body,
            timeout: timeout.unwrap_or(DEFAULT_TIMEOUT),
        }
    }

    fn load_method(&mut self, node: &Node, has_no_body: bool) -> Method {
        let Some(name) = text(node, "method") else {
            return if has_no_body { Method::GET } else { Method::POST };
        };
        Method::from_bytes(name.as_bytes()).unwrap_or_else(|_| {
            let span = node.get("method").map_or(node.span, |method| method.span);
            self.problems.add(span, format!("`{name}` is not an HTTP method"));
            Method::GET
        })
    }

    fn load_url(&mut self, node: Option<&Node>) -> Template {
        let empty = || Template::parse("").expect("an empty template is valid");
        let Some(node) = node else { return empty() };
        let text_of_url = node.as_str().unwrap_or_default();
        // Its templates are checked like those of any text.
        self.load_tree(node);
        let has_valid_start =
            ["http://", "https://", "${vars."].iter().any(|it| text_of_url.starts_with(it));
        if !has_valid_start {
            let message = "the URL must begin with http://, https:// or a variable";
            self.problems.add(node.span, message);
        }
        Template::parse(text_of_url).unwrap_or_else(|_| empty())
    }

    fn load_headers(
        &mut self,
        node: Option<&Node>,
    ) -> Vec<(HeaderName, sparring_script::TemplateTree)> {
        let mut headers = Vec::new();
        for entry in node.map(Node::entries).unwrap_or_default() {
            let literal = entry.value.as_str().filter(|it| !it.contains("${"));
            if literal.is_some_and(|value| HeaderValue::from_str(value).is_err()) {
                self.problems.add(entry.value.span, "not a valid header value");
            }
            match HeaderName::from_bytes(entry.key.as_bytes()) {
                Ok(name) => headers.push((name, self.load_text(&entry.value))),
                Err(_) => {
                    self.problems
                        .add(entry.key_span, format!("`{}` is not a header name", entry.key));
                }
            }
        }
        headers
    }
}
