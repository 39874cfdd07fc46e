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
        }
        if let Some(auth) = node.get("auth") {
            options.auth = accepted_credentials(auth);
        }
        HttpConfig {
            issuer: self.load_mock_issuer(node, &mut options),
            options,
            control: self.load_control_access(node),
            tls: LazyTls::new(settings.tls.clone()),
        }
    }

    fn load_control_access(&mut self, node: &Node) -> ControlAccess {
        let Some(control) = node.get("control") else { return ControlAccess::default() };
        let token = text(control, "token");
        if let Some(empty) = control.get("token").filter(|it| it.as_str() == Some("")) {
            self.problems.add(empty.span, "the token is empty");
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
