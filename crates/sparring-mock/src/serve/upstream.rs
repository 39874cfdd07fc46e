//! Replies with the response of an HTTP server.

use http::header::CONTENT_TYPE;
use sparring_peer::server::{HandlerError, HandlerResult};
use sparring_script::template::url::percent_encode;
use sparring_wire::ErrorObject;
use tokio::time::timeout;

use super::MockHandler;
use super::answer::{render, render_text};
use super::template_scope::RequestScope;
use crate::upstream::{HttpBody, HttpCall, UpstreamRequest, UpstreamResult, send};

impl MockHandler {
    /// Sends the request and converts the response; a failure becomes a result with `isError`.
    pub(super) async fn call_upstream(
        &self,
        call: &HttpCall,
        scope: &RequestScope<'_>,
    ) -> HandlerResult {
        let request = self.render_request(call, scope)?;
        let url = request.url.clone();
        let outcome = timeout(call.timeout, send(request, &scope.script().model.http.tls)).await;
        let outcome = outcome.unwrap_or_else(|_| UpstreamResult::from_timeout(&url, call.timeout));
        Ok(outcome.into_result().into())
    }

    fn render_request(
        &self,
        call: &HttpCall,
        scope: &RequestScope<'_>,
    ) -> Result<UpstreamRequest, HandlerError> {
        let url = call.url.render_url(scope);
        let mut url = url.map_err(|undefined| ErrorObject::internal(undefined.to_string()))?;
        for (name, value) in &call.query {
            let mark = if url.contains('?') { '&' } else { '?' };
            let value = render_text(value, scope)?;
            url += &format!("{mark}{}={}", percent_encode(name), percent_encode(&value));
        }
        let mut request = http::Request::builder().method(&call.method);
        for (name, value) in &call.headers {
            request = request.header(name, render_text(value, scope)?);
        }
        let body = match &call.body {
            HttpBody::None => Vec::new(),
            HttpBody::Text(text) => render_text(text, scope)?.into_bytes(),
            HttpBody::Json(value) => {
                request = request.header(CONTENT_TYPE, "application/json");
                render(value, scope)?.to_string().into_bytes()
            }
        };
        Ok(UpstreamRequest { request, url, body })
    }
}
