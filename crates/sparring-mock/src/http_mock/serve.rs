//! Takes connections, and answers what comes on them.

use std::io;
use std::sync::Arc;

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use sparring_wire::Headers;
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use super::{HttpReply, HttpRequest};

/// The longest body that is taken in.
const MOST: usize = 8 * 1024 * 1024;

/// Whoever answers, at once.
pub(crate) trait Answer: Send + Sync + 'static {
    fn answer(&self, request: HttpRequest) -> HttpReply;
}

/// Serves until it is dropped, and all connections with it.
pub(crate) async fn run(listener: TcpListener, by: Arc<impl Answer>) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            Some(_) = connections.join_next() => {}
            accepted = listener.accept() => {
                let Ok((stream, _)) = accepted else { continue };
                let by = Arc::clone(&by);
                let service = service_fn(move |request| answer(Arc::clone(&by), request));
                // A client that breaks off is its own affair.
                let serving = http1::Builder::new().serve_connection(TokioIo::new(stream), service);
                connections.spawn(async { drop(serving.await) });
            }
        }
    }
}

async fn answer(
    by: Arc<impl Answer>,
    request: Request<Incoming>,
) -> io::Result<Response<Full<Bytes>>> {
    let (parts, body) = request.into_parts();
    let body = Limited::new(body, MOST).collect().await.map_err(io::Error::other)?;
    let headers: Headers = parts
        .headers
        .iter()
        .filter_map(|(name, value)| Some((name.as_str(), value.to_str().ok()?)))
        .collect();
    let reply = by.answer(HttpRequest {
        method: parts.method.as_str().to_owned(),
        path: parts.uri.path().to_owned(),
        query: parts.uri.query().map(str::to_owned),
        headers,
        body: body.to_bytes().into(),
    });
    tokio::time::sleep(reply.delay).await;
    if reply.disconnect {
        return Err(io::Error::other("disconnected, as told"));
    }
    Ok(reply.response()?.map(Full::new))
}

impl HttpReply {
    /// The reply as it is sent.
    pub(crate) fn response(&self) -> io::Result<Response<Bytes>> {
        let status = StatusCode::from_u16(self.status).map_err(io::Error::other)?;
        let mut response = Response::builder().status(status);
        for (name, value) in &self.headers {
            response = response.header(name, value);
        }
        response.body(self.body.clone().into()).map_err(io::Error::other)
    }
}
