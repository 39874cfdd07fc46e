//! Replies that an HTTP server gives.

use http::header::CONTENT_TYPE;
use sparring_peer::server::{Answer, Failure};
use sparring_script::template::url::encoded;
use sparring_wire::ErrorObject;
use tokio::time::timeout;

use super::Mock;
use super::facts::Facts;
use super::perform::{render, text_of};
use crate::upstream::{Asked, HttpBody, HttpCall, Outcome, ask};

impl Mock {
    /// Asks an HTTP server, and gives what it says; whatever goes wrong is a
    /// result that says so.
    pub(super) async fn ask_upstream(&self, call: &HttpCall, facts: &Facts<'_>) -> Answer {
        let asked = self.request(call, facts)?;
        let url = asked.url.clone();
        let outcome = timeout(call.timeout, ask(asked, &facts.scene().model.over_http.trust)).await;
        let outcome = outcome.unwrap_or_else(|_| Outcome::late(&url, call.timeout));
        Ok(outcome.into_result().into())
    }

    fn request(&self, call: &HttpCall, facts: &Facts<'_>) -> Result<Asked, Failure> {
        let url = call.url.render_url(facts);
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
