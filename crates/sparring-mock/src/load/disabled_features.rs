//! Reports keys of features that this build does not have, with their positions.

use sparring_script::Node;

use super::Loader;

impl Loader<'_> {
    /// Reports these keys, if they are present.
    pub(super) fn reject_keys(&mut self, node: Option<&Node>, keys: &[&str], feature: &str) {
        for entry in keys.iter().filter_map(|key| node?.entry(key)) {
            let key = &entry.key;
            let message =
                format!("`{key}` needs the feature `{feature}`, which this build does not have");
            self.problems.add(entry.key_span, message);
        }
    }

    /// Reports the HTTP keys of a script.
    #[cfg(not(feature = "http"))]
    pub(super) fn reject_http_keys(&mut self, script: &Node) {
        self.reject_keys(Some(script), &["auth", "control", "paths"], "http");
    }

    /// Reports the HTTP keys of a reply.
    #[cfg(not(feature = "http"))]
    pub(super) fn reject_http_reply_keys(&mut self, reply: &Node) {
        self.reject_keys(Some(reply), &["http"], "http");
        self.reject_keys(reply.get("when"), &["headers"], "http");
        let faults = ["status", "bad_content_type", "drop_sse", "expire_session"];
        self.reject_keys(reply.get("fault"), &faults, "http");
    }

    /// Reports a token issuer.
    #[cfg(feature = "http")]
    pub(super) fn load_mock_issuer(
        &mut self,
        script: &Node,
        _: &mut sparring_transport::http::HttpOptions,
    ) -> crate::mock_issuer::MockIssuer {
        self.reject_keys(script.get("auth"), &["oauth"], "oauth");
        crate::mock_issuer::MockIssuer
    }
}

#[cfg(test)]
#[cfg(not(feature = "http"))]
mod tests {
    use crate::MockServer;

    fn check(script: &str, position: &str, key: &str) {
        let message = MockServer::from_yaml(script, ".").unwrap_err().to_string();
        let needs = format!("`{key}` needs the feature `http`, which this build does not have");
        assert!(message.contains(&needs) && message.contains(position), "{message}");
    }

    #[test]
    fn reports_http_keys_with_their_positions() {
        check("tools: []\nauth: {bearer: x}", "mock.yaml:2:1", "auth");
        check("control: {token: x}", "mock.yaml:1:1", "control");
        check("paths: {mcp: /}", "mock.yaml:1:1", "paths");
        check("tools: [{name: t, http: {url: http://x}}]", "mock.yaml:1:19", "http");
        check("tools: [{name: t, text: x, fault: {status: 500}}]", "mock.yaml:1:36", "status");
        let when = "tools: [{name: t, replies: [{when: {headers: {x: y}}, text: z}, {text: w}]}]";
        check(when, "mock.yaml:1:37", "headers");
    }

    #[test]
    fn loads_a_script_without_http_keys() {
        assert!(MockServer::from_yaml("tools: [{name: t, text: x}]", ".").is_ok());
    }
}
