//! Loads the HTTP settings of a script.

use sparring_script::Node;
use sparring_transport::http::{Auth, HttpOptions};

use super::{Loader, Settings, one_or_many, text};
use crate::http_serving::{ControlAccess, HttpConfig};
use crate::upstream::LazyTls;

impl Loader<'_> {
    pub(super) fn load_http_config(&mut self, node: &Node, settings: &Settings) -> HttpConfig {
        let mut options = HttpOptions::default();
        if let Some(paths) = node.get("paths") {
            options.path = text(paths, "mcp").unwrap_or(options.path);
            options.sse_path = text(paths, "sse").or(options.sse_path);
            options.message_path = text(paths, "messages").unwrap_or(options.message_path);
            self.check_paths(paths, &options);
        }
        if let Some(auth) = node.get("auth") {
            options.auth = accepted_credentials(auth);
            for token in auth.get("bearer").map(one_or_many).unwrap_or_default() {
                self.check_token(token);
            }
        }
        HttpConfig {
            issuer: self.load_mock_issuer(node, &mut options),
            options,
            control: self.load_control_access(node),
            tls: LazyTls::new(settings.tls.clone()),
        }
    }

    /// Refuses paths that are not absolute or not different.
    fn check_paths(&mut self, paths: &Node, options: &HttpOptions) {
        let given = paths.entries();
        for (index, entry) in given.iter().enumerate() {
            let Some(path) = entry.value.as_str() else { continue };
            let all = [
                ("mcp", Some(&options.path)),
                ("sse", options.sse_path.as_ref()),
                ("messages", Some(&options.message_path)),
            ];
            let is_same = |(key, other): &(&str, Option<&String>)| {
                let is_later = given[index..].iter().any(|it| it.key == *key);
                !is_later && other.is_some_and(|other| other == path)
            };
            if !path.starts_with('/') {
                self.problems.add(entry.value.span, "the path must begin with `/`");
            } else if let Some((key, _)) = all.iter().find(|it| is_same(it)) {
                let message = format!("`{}` and `{key}` have the same path", entry.key);
                self.problems.add(entry.value.span, message);
            }
        }
    }

    fn check_token(&mut self, token: &Node) {
        if token.as_str() == Some("") {
            self.problems.add(token.span, "the token is empty");
        }
    }

    fn load_control_access(&mut self, node: &Node) -> ControlAccess {
        let Some(control) = node.get("control") else { return ControlAccess::default() };
        let token = text(control, "token");
        if let Some(token) = control.get("token") {
            self.check_token(token);
        }
        let anywhere = control.entry("anywhere");
        let is_anywhere = anywhere.and_then(|it| it.value.as_bool()).unwrap_or_default();
        if let Some(anywhere) = anywhere.filter(|_| is_anywhere && token.is_none()) {
            self.problems.add(anywhere.key_span, "`anywhere` needs a `token`");
        }
        ControlAccess { token: token.map(Into::into), anywhere: is_anywhere }
    }
}

fn accepted_credentials(node: &Node) -> Auth {
    let tokens = node.get("bearer").map(one_or_many).unwrap_or_default();
    let auth = tokens.iter().filter_map(Node::as_str).fold(Auth::default(), Auth::bearer);
    let users = node.get("basic").map(Node::entries).unwrap_or_default();
    users
        .iter()
        .fold(auth, |auth, user| auth.basic(&user.key, user.value.as_str().unwrap_or_default()))
}
