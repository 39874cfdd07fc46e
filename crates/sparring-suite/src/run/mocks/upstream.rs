//! Starts an HTTP server that answers by routes.

use sparring_mock::{HttpMock, HttpReply, HttpRoute};
use sparring_script::Matcher;

use super::{MockStarter, StartError, start_error};
use crate::model::{Body, Reply, Route};

impl MockStarter<'_> {
    /// Starts the server on a free port.
    pub(super) async fn upstream(&self, routes: &[Route]) -> Result<HttpMock, StartError> {
        let mut ready = Vec::new();
        for route in routes {
            let when = match &route.when {
                Some(when) => when
                    .render(&self.scope())
                    .map_err(|it| start_error(self.mock, it.span, &it.message))?,
                None => Matcher::default(),
            };
            let mut route_to = HttpRoute::when(when);
            for reply in &route.replies {
                route_to = route_to.reply(self.reply(reply)?, reply.times);
            }
            ready.push(route_to);
        }
        let mock = HttpMock::start().await.map_err(|error| self.error(&error))?;
        ready.into_iter().for_each(|route| mock.route(route));
        Ok(mock)
    }

    fn reply(&self, reply: &Reply) -> Result<HttpReply, StartError> {
        let mut given = HttpReply::new(reply.status).delay(reply.delay);
        let typed = reply.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type"));
        let (body, kind) = match &reply.body {
            Body::Nothing => (String::new(), None),
            Body::Json(tree) => (self.value(tree)?.to_string(), Some("application/json")),
            Body::Text(tree) => (self.text(tree)?, Some("text/plain; charset=utf-8")),
        };
        given = given.body(body);
        if let Some(kind) = kind.filter(|_| !typed) {
            given = given.header("content-type", kind);
        }
        for (name, value) in &reply.headers {
            given = given.header(name, &self.text(value)?);
        }
        if let Some(fault) = reply.fault {
            given = given.fault(fault);
        }
        given.check().map_err(|why| self.error(&why))?;
        Ok(given)
    }
}
