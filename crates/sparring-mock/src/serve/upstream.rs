//! Replies that an HTTP server gives.

use http::header::CONTENT_TYPE;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use sparring_peer::server::{Answer, Failure};
use sparring_script::Path;
use sparring_wire::ErrorObject;
use tokio::time::timeout;

use super::Mock;
use super::facts::Facts;
use super::perform::{render, text_of};
use crate::upstream::{Asked, HttpBody, HttpCall, Outcome, ask};

/// What must be written otherwise in a URL (RFC 3986, 2.3).
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

impl Mock {
    /// Asks an HTTP server, and gives what it says; whatever goes wrong is a
    /// result that says so.
    pub(super) async fn ask_upstream(&self, call: &HttpCall, facts: &Facts<'_>) -> Answer {
        let asked = self.request(call, facts)?;
        let url = asked.url.clone();
        let outcome = timeout(call.timeout, ask(asked, &facts.scene().model.trust)).await;
        let outcome = outcome.unwrap_or_else(|_| Outcome::late(&url, call.timeout));
        Ok(outcome.into_result().into())
    }

    fn request(&self, call: &HttpCall, facts: &Facts<'_>) -> Result<Asked, Failure> {
        // Variables are the script's own, and may be whole URLs.
        let encode = |path: &Path, text: String| match path.root() {
            "vars" => text,
            _ => encoded(&text),
        };
        let url = call.url.render_text(facts, encode);
        let mut url = url.map_err(|undefined| ErrorObject::internal(undefined.to_string()))?;
        for (name, value) in &call.query {
            let mark = if url.contains('?') { '&' } else { '?' };
            let value = text_of(value, facts)?;
            url += &format!("{mark}{}={}", encoded(name), encoded(&value));
        }
        let mut request = http::Request::builder().method(&call.method);
        for (name, value) in &call.headers {
            request = request.header(name, text_of(value, facts)?);
        }
        let body = match &call.body {
            HttpBody::None => Vec::new(),
            HttpBody::Text(text) => text_of(text, facts)?.into_bytes(),
            HttpBody::Json(value) => {
                request = request.header(CONTENT_TYPE, "application/json");
                render(value, facts)?.to_string().into_bytes()
            }
        };
        Ok(Asked { request, url, body })
    }
}

fn encoded(text: &str) -> String {
    utf8_percent_encode(text, RESERVED).to_string()
}
