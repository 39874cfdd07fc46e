//! What a script says about the server over HTTP.

use sparring_script::Node;
use sparring_transport::http::{Auth, HttpOptions};

use super::{Loader, Settings, one_or_many, text};
use crate::over_http::{Control, OverHttp};
use crate::upstream::Trust;

impl Loader<'_> {
    pub(super) fn over_http(&mut self, node: &Node, settings: &Settings) -> OverHttp {
        let mut options = HttpOptions::default();
        if let Some(paths) = node.get("paths") {
            options.path = text(paths, "mcp").unwrap_or(options.path);
            options.sse_path = text(paths, "sse").or(options.sse_path);
            options.message_path = text(paths, "messages").unwrap_or(options.message_path);
        }
        if let Some(auth) = node.get("auth") {
            options.auth = accepted(auth);
        }
        OverHttp {
            issuing: self.issuing(node, &mut options),
            options,
            control: control(node),
            trust: Trust::new(settings.tls.clone()),
        }
    }
}

fn accepted(node: &Node) -> Auth {
    let tokens = node.get("bearer").map(one_or_many).unwrap_or_default();
    let auth = tokens.iter().filter_map(Node::as_str).fold(Auth::default(), Auth::bearer);
    let users = node.get("basic").map(Node::entries).unwrap_or_default();
    users
        .iter()
        .fold(auth, |auth, user| auth.basic(&user.key, user.value.as_str().unwrap_or_default()))
}

fn control(node: &Node) -> Control {
    let Some(control) = node.get("control") else { return Control::default() };
    let anywhere = control.get("anywhere").and_then(Node::as_bool).unwrap_or_default();
    Control { token: text(control, "token"), anywhere }
}
