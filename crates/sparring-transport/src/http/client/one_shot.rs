//! Sends one request on its own connection, for rare requests to servers that are not MCP
//! servers.

use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::{Request, Response, Uri};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;

use super::connector::ByteStream;
use super::tcp::{self, ConnectFailure};
use super::tls::TlsClient;

/// Sends a request to the host of a URL and returns the response with its whole body, or the
/// reason why there is none. A body of more than `limit` bytes is an error.
///
/// Boxed, so that it is compiled here and not in the callers' crates.
pub fn send_once<'a>(
    uri: &'a Uri,
    tls: Option<&'a TlsClient>,
    request: Request<Bytes>,
    limit: usize,
) -> BoxFuture<'a, Result<Response<Bytes>, String>> {
    Box::pin(async move {
        let io = open(uri, tls).await.map_err(|failed| describe_failure(&failed))?;
        send(io, request.map(Full::new), limit).await
    })
}

async fn open(uri: &Uri, tls: Option<&TlsClient>) -> Result<Box<dyn ByteStream>, ConnectFailure> {
    let stream = tcp::connect(uri, None).await?;
    let Some(tls) = tls else { return Ok(Box::new(TokioIo::new(stream))) };
    let stream =
        tcp::start_tls(stream, uri.host().unwrap_or_default(), tls.client_config()).await?;
    Ok(Box::new(TokioIo::new(stream)))
}

pub(super) async fn send(
    io: Box<dyn ByteStream>,
    request: Request<Full<Bytes>>,
    limit: usize,
) -> Result<Response<Bytes>, String> {
    let (mut sender, mut connection) =
        http1::handshake(io).await.map_err(|error| error.to_string())?;
    let mut answered = std::pin::pin!(async {
        let response = sender.send_request(request).await.map_err(|error| error.to_string())?;
        let (parts, body) = response.into_parts();
        let body = Limited::new(body, limit).collect().await.map_err(|error| error.to_string())?;
        Ok(Response::from_parts(parts, body.to_bytes()))
    });
    // The connection is polled here and ends with the response.
    tokio::select! {
        biased;
        response = &mut answered => response,
        ended = &mut connection => match ended {
            Ok(()) => answered.await,
            Err(error) => Err(error.to_string()),
        },
    }
}

/// Describes a failure in the usual words.
fn describe_failure(failed: &ConnectFailure) -> String {
    match failed {
        ConnectFailure::Resolve(error) | ConnectFailure::Tcp(error) => match error.kind() {
            std::io::ErrorKind::ConnectionRefused => "Connection refused".to_owned(),
            std::io::ErrorKind::ConnectionReset => "Connection reset".to_owned(),
            _ => error.to_string(),
        },
        ConnectFailure::Tunnel(why) => why.clone(),
        ConnectFailure::TooNear(locality) => format!("it has a {} address", locality.name()),
        ConnectFailure::Tls(error) => format!("TLS failed ({error})"),
    }
}
