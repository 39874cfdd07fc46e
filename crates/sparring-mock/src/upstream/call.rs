//! One request over HTTP, on a connection of its own that nothing outlives.

use bytes::Bytes;
use http::{Request, Uri, header};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;

use super::outcome::Outcome;
use super::trust::Trust;

/// The most of a body that is taken in.
const MOST: usize = 8 * 1024 * 1024;

/// A request that is ready to be made.
#[derive(Debug)]
pub(crate) struct Asked {
    pub(crate) request: http::request::Builder,
    pub(crate) url: String,
    pub(crate) body: Vec<u8>,
}

/// Makes a request and says what came of it.
pub(crate) async fn ask(asked: Asked, trust: &Trust) -> Outcome {
    let url = asked.url.clone();
    match exchange(asked, trust).await {
        Ok(outcome) => outcome,
        Err(why) => Outcome::failed(&url, &why),
    }
}

async fn exchange(asked: Asked, trust: &Trust) -> Result<Outcome, String> {
    let uri: Uri = asked.url.parse().map_err(|error| format!("No URL ({error})"))?;
    let authority = uri.authority().ok_or("No host")?;
    let (tls, port) = match uri.scheme_str() {
        Some("http") => (None, 80),
        Some("https") => (Some(trust.client()?), 443),
        _ => return Err("Only http:// and https:// are asked".to_owned()),
    };
    let port = authority.port_u16().unwrap_or(port);
    let host = authority.host().trim_start_matches('[').trim_end_matches(']');
    let stream = TcpStream::connect((host, port)).await.map_err(|error| told(&error))?;
    match tls {
        None => talk(stream, asked, &uri).await,
        Some(tls) => {
            let stream = tls.begin(host, stream).await;
            let stream = stream.map_err(|error| format!("TLS failed ({error})"))?;
            talk(stream, asked, &uri).await
        }
    }
}

async fn talk<S>(stream: S, asked: Asked, uri: &Uri) -> Result<Outcome, String>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let (mut sender, connection) =
        http1::handshake(TokioIo::new(stream)).await.map_err(|error| error.to_string())?;
    let target = uri.path_and_query().map_or("/", |target| target.as_str());
    let host = uri.authority().map_or("", |authority| authority.as_str());
    let request: Request<Full<Bytes>> = asked
        .request
        .uri(target)
        .header(header::HOST, host)
        .body(Full::new(asked.body.into()))
        .map_err(|error| format!("No request ({error})"))?;
    let answered = async {
        let response = sender.send_request(request).await.map_err(|error| error.to_string())?;
        let (parts, body) = response.into_parts();
        let body = Limited::new(body, MOST).collect().await.map_err(|error| error.to_string())?;
        Ok(Outcome::answered(&asked.url, &parts, &body.to_bytes()))
    };
    // The connection is driven here, and ends with the answer.
    tokio::pin!(connection);
    tokio::pin!(answered);
    tokio::select! {
        biased;
        outcome = &mut answered => outcome,
        ended = &mut connection => match ended {
            Ok(()) => answered.await,
            Err(error) => Err(error.to_string()),
        },
    }
}

/// What the system says, in the words that people know.
fn told(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::ConnectionRefused => "Connection refused".to_owned(),
        std::io::ErrorKind::ConnectionReset => "Connection reset".to_owned(),
        _ => error.to_string(),
    }
}
