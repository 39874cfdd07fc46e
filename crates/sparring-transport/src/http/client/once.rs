//! One request on a connection of its own, which nothing outlives: for what is no
//! MCP server, and is asked seldom.

use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::{Request, Response, Uri};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;

use super::connect::Io;
use super::tcp::{self, Failed};
use super::tls::TlsClient;

/// Sends a request to the host of a URL, and gives its answer with all of its body,
/// or says why there is none. A body of more than `most` bytes is not taken in.
///
/// Boxed, so that it is built here and not where it is waited for.
pub fn ask_once<'a>(
    uri: &'a Uri,
    tls: Option<&'a TlsClient>,
    request: Request<Bytes>,
    most: usize,
) -> BoxFuture<'a, Result<Response<Bytes>, String>> {
    Box::pin(async move {
        let io = open(uri, tls).await.map_err(|failed| told(&failed))?;
        talk(io, request.map(Full::new), most).await
    })
}

async fn open(uri: &Uri, tls: Option<&TlsClient>) -> Result<Box<dyn Io>, Failed> {
    let stream = tcp::connect(uri).await?;
    let Some(tls) = tls else { return Ok(Box::new(TokioIo::new(stream))) };
    let stream = tcp::secure(stream, uri.host().unwrap_or_default(), tls.config()).await?;
    Ok(Box::new(TokioIo::new(stream)))
}

async fn talk(
    io: Box<dyn Io>,
    request: Request<Full<Bytes>>,
    most: usize,
) -> Result<Response<Bytes>, String> {
    let (mut sender, mut connection) =
        http1::handshake(io).await.map_err(|error| error.to_string())?;
    let mut answered = std::pin::pin!(async {
        let response = sender.send_request(request).await.map_err(|error| error.to_string())?;
        let (parts, body) = response.into_parts();
        let body = Limited::new(body, most).collect().await.map_err(|error| error.to_string())?;
        Ok(Response::from_parts(parts, body.to_bytes()))
    });
    // The connection is driven here, and ends with the answer.
    tokio::select! {
        biased;
        response = &mut answered => response,
        ended = &mut connection => match ended {
            Ok(()) => answered.await,
            Err(error) => Err(error.to_string()),
        },
    }
}

/// What the system says, in the words that people know.
fn told(failed: &Failed) -> String {
    match failed {
        Failed::Name(error) | Failed::Tcp(error) => match error.kind() {
            std::io::ErrorKind::ConnectionRefused => "Connection refused".to_owned(),
            std::io::ErrorKind::ConnectionReset => "Connection reset".to_owned(),
            _ => error.to_string(),
        },
        Failed::Tunnel(why) => why.clone(),
        Failed::Tls(error) => format!("TLS failed ({error})"),
    }
}
