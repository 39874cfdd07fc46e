//! Keys of features that this build does not have: they are told where they stand,
//! and never passed over.

use sparring_script::Node;

use super::Loader;

impl Loader<'_> {
    /// Tells which of these keys stand there.
    pub(super) fn refuse(&mut self, node: Option<&Node>, keys: &[&str], feature: &str) {
        for entry in keys.iter().filter_map(|key| node?.entry(key)) {
            let key = &entry.key;
            let message =
                format!("`{key}` needs the feature `{feature}`, which this build does not have");
            self.problems.add(entry.key_span, message);
        }
    }

    /// Tells what of a script is about HTTP.
    #[cfg(not(feature = "http"))]
    pub(super) fn refuse_http(&mut self, script: &Node) {
        self.refuse(Some(script), &["auth", "control", "paths"], "http");
    }

    /// Tells what of a reply is about HTTP.
    #[cfg(not(feature = "http"))]
    pub(super) fn refuse_http_reply(&mut self, reply: &Node) {
        self.refuse(Some(reply), &["http"], "http");
        self.refuse(reply.get("when"), &["headers"], "http");
        let faults = ["status", "bad_content_type", "drop_sse", "expire_session"];
        self.refuse(reply.get("fault"), &faults, "http");
    }

    /// Tells that there can be no issuer.
    #[cfg(feature = "http")]
    pub(super) fn issuing(
        &mut self,
        script: &Node,
        _: &mut sparring_transport::http::HttpOptions,
    ) -> crate::issuing::Issuing {
        self.refuse(script.get("auth"), &["oauth"], "oauth");
        crate::issuing::Issuing
    }
}

#[cfg(test)]
#[cfg(not(feature = "http"))]
mod tests {
    use crate::MockServer;

    fn check(script: &str, place: &str, key: &str) {
        let told = MockServer::from_yaml(script, ".").unwrap_err().to_string();
        let needs = format!("`{key}` needs the feature `http`, which this build does not have");
        assert!(told.contains(&needs) && told.contains(place), "{told}");
    }

    #[test]
    fn keys_of_http_are_told_where_they_stand() {
        check("tools: []\nauth: {bearer: x}", "mock.yaml:2:1", "auth");
        check("control: {token: x}", "mock.yaml:1:1", "control");
        check("paths: {mcp: /}", "mock.yaml:1:1", "paths");
        check("tools: [{name: t, http: {url: http://x}}]", "mock.yaml:1:19", "http");
        check("tools: [{name: t, text: x, fault: {status: 500}}]", "mock.yaml:1:36", "status");
        let when = "tools: [{name: t, replies: [{when: {headers: {x: y}}, text: z}, {text: w}]}]";
        check(when, "mock.yaml:1:37", "headers");
    }

    #[test]
    fn a_script_without_them_is_good() {
        assert!(MockServer::from_yaml("tools: [{name: t, text: x}]", ".").is_ok());
    }
}
