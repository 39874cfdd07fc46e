//! One request over HTTP, on a connection of its own that nothing outlives.

use bytes::Bytes;
use http::{Request, Uri, header};
use sparring_transport::http::ask_once;

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
    let tls = match uri.scheme_str() {
        Some("http") => None,
        Some("https") => Some(trust.client()?),
        _ => return Err("Only http:// and https:// are asked".to_owned()),
    };
    let target = uri.path_and_query().map_or("/", |target| target.as_str());
    let request: Request<Bytes> = asked
        .request
        .uri(target)
        .header(header::HOST, authority.as_str())
        .body(asked.body.into())
        .map_err(|error| format!("No request ({error})"))?;
    let (parts, body) = ask_once(&uri, tls, request, MOST).await?.into_parts();
    Ok(Outcome::answered(&asked.url, &parts, &body))
}
