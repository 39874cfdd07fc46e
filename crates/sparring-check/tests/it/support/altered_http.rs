//! The correct server over HTTP, behind a proxy that alters requests and responses.

use std::sync::{Arc, OnceLock};

use axum::Router;
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{Request, State};
use axum::http::HeaderMap;
use axum::http::request::Parts;
use axum::response::Response;
use sparring_check::{CheckTarget, OpenFuture};
use sparring_mock::MockServer;
use sparring_transport::Target;
use sparring_transport::http::HttpTarget;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};

use super::{CORRECT, mock};

/// The largest body of a request.
const MAX_BODY: usize = 16 * 1024 * 1024;

type OnRequest = Arc<dyn Fn(&Parts, &Bytes) -> Option<Response> + Send + Sync>;
type Passes = Arc<dyn Fn(&Parts, &Bytes) -> bool + Send + Sync>;
type OnResponse = Arc<dyn Fn(&Parts, &Bytes, &mut Response) + Send + Sync>;
type OnBody = Arc<dyn Fn(&Parts, &Bytes, String) -> String + Send + Sync>;
/// Decides about the head of a request, and the bytes of the response.
type OnHead = (fn(&str) -> bool, &'static str);
type OnHeaders = Arc<dyn Fn(&Parts, &Bytes, &mut HeaderMap) + Send + Sync>;

/// Builds the altered server.
#[derive(Clone, Default)]
pub(crate) struct AlteredHttp {
    passes: Vec<Passes>,
    on_request: Vec<OnRequest>,
    on_response: Vec<OnResponse>,
    on_body: Vec<OnBody>,
    on_headers: Vec<OnHeaders>,
    script: Option<String>,
    all_interfaces: bool,
    refuses_head: Option<OnHead>,
    http_sse: bool,
    token: Option<&'static str>,
}

/// A running altered server.
pub(crate) struct RunningHttp {
    target: Target,
    _mock: MockServer,
    _server: sparring_transport::http::HttpServerHandle,
    proxy: tokio::task::JoinHandle<()>,
    front: Option<tokio::task::JoinHandle<()>>,
}

struct Proxy {
    alterations: AlteredHttp,
    upstream: String,
    client: reqwest::Client,
}

impl AlteredHttp {
    /// Serves this script instead of the correct server's.
    pub(crate) fn script(mut self, script: &str) -> Self {
        self.script = Some(script.to_owned());
        self
    }

    /// Listens on all interfaces instead of the loopback interface.
    pub(crate) fn all_interfaces(mut self) -> Self {
        self.all_interfaces = true;
        self
    }

    /// Answers with these bytes if the head of the first request on a connection, as the client
    /// wrote it, fits.
    pub(crate) fn on_head(mut self, fits: fn(&str) -> bool, response: &'static str) -> Self {
        self.refuses_head = Some((fits, response));
        self
    }

    /// Is reached over HTTP+SSE instead of Streamable HTTP.
    pub(crate) fn http_sse(mut self) -> Self {
        self.http_sse = true;
        self
    }

    /// Alters the headers of a request before the correct server gets it.
    pub(crate) fn on_headers(
        mut self,
        alter: impl Fn(&Parts, &Bytes, &mut HeaderMap) + Send + Sync + 'static,
    ) -> Self {
        self.on_headers.push(Arc::new(alter));
        self
    }

    /// Gives this token to the check.
    pub(crate) fn token(mut self, token: &'static str) -> Self {
        self.token = Some(token);
        self
    }

    /// Gives no token to the check.
    pub(crate) fn without_token(mut self) -> Self {
        self.token = None;
        self
    }

    /// Chooses requests that the correct server answers, whatever the other alterations are.
    pub(crate) fn pass(
        mut self,
        chooses: impl Fn(&Parts, &Bytes) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.passes.push(Arc::new(chooses));
        self
    }

    /// Answers a request instead of the correct server.
    pub(crate) fn on_request(
        mut self,
        alter: impl Fn(&Parts, &Bytes) -> Option<Response> + Send + Sync + 'static,
    ) -> Self {
        self.on_request.push(Arc::new(alter));
        self
    }

    /// Alters the status and headers of a response of the correct server.
    pub(crate) fn on_response(
        mut self,
        alter: impl Fn(&Parts, &Bytes, &mut Response) + Send + Sync + 'static,
    ) -> Self {
        self.on_response.push(Arc::new(alter));
        self
    }

    /// Replaces the body of a response that is not an event stream, or one chunk of an event
    /// stream.
    pub(crate) fn on_body(
        mut self,
        alter: impl Fn(&Parts, &Bytes, String) -> String + Send + Sync + 'static,
    ) -> Self {
        self.on_body.push(Arc::new(alter));
        self
    }

    /// Starts the server.
    pub(crate) async fn start(self) -> RunningHttp {
        let mock = mock(self.script.as_deref().unwrap_or(CORRECT));
        let (server, urls) = mock.listen_locally().await.unwrap();
        let upstream = if self.http_sse { urls.sse.unwrap() } else { urls.mcp };
        let path = url_path(&upstream).to_owned();
        let interface = if self.all_interfaces { "0.0.0.0:0" } else { "127.0.0.1:0" };
        let token = self.token;
        let refuses_head = self.refuses_head;
        let proxy = Proxy { alterations: self, upstream, client: client() };
        let app = Router::new().fallback(forward).with_state(Arc::new(proxy));
        let listener = TcpListener::bind(interface).await.unwrap();
        let url = format!("http://127.0.0.1:{}{path}", listener.local_addr().unwrap().port());
        let proxy = tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
        let (url, front) = match refuses_head {
            Some(refused) => start_front(url, refused).await,
            None => (url, None),
        };
        let target = HttpTarget::new(url);
        let target = Target::Http(match token {
            Some(token) => target.bearer(token),
            None => target,
        });
        RunningHttp { target, _mock: mock, _server: server, proxy, front }
    }
}

/// Returns the client of all proxies, which is slow to make. It keeps no connections, because
/// each test has a runtime of its own.
fn client() -> reqwest::Client {
    static CLIENT: OnceLock<reqwest::Client> = OnceLock::new();
    let build = || reqwest::Client::builder().no_proxy().pool_max_idle_per_host(0).build();
    CLIENT.get_or_init(|| build().unwrap()).clone()
}

/// Starts a front that looks at the first bytes of each connection.
async fn start_front(
    url: String,
    (fits, response): OnHead,
) -> (String, Option<tokio::task::JoinHandle<()>>) {
    let path = url_path(&url).to_owned();
    let behind = url["http://".len()..url.len() - path.len()].to_owned();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}{path}", listener.local_addr().unwrap());
    let serve = async move {
        while let Ok((mut client, _)) = listener.accept().await {
            let behind = behind.clone();
            tokio::spawn(async move {
                let mut head = vec![0; 4096];
                let read = client.read(&mut head).await.unwrap_or(0);
                if fits(&String::from_utf8_lossy(&head[..read])) {
                    return drop(client.write_all(response.as_bytes()).await);
                }
                let mut server = TcpStream::connect(behind).await.unwrap();
                server.write_all(&head[..read]).await.unwrap();
                let _ = copy_bidirectional(&mut client, &mut server).await;
            });
        }
    };
    (url, Some(tokio::spawn(serve)))
}

fn url_path(url: &str) -> &str {
    let rest = url.split_once("://").unwrap().1;
    &rest[rest.find('/').unwrap()..]
}

async fn forward(State(proxy): State<Arc<Proxy>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let body = to_bytes(body, MAX_BODY).await.unwrap();
    let alterations = &proxy.alterations;
    if !alterations.passes.iter().any(|chooses| chooses(&parts, &body))
        && let Some(response) = alterations.on_request.iter().find_map(|it| it(&parts, &body))
    {
        return response;
    }
    let base = proxy.upstream.strip_suffix(url_path(&proxy.upstream)).unwrap();
    let mut headers = parts.headers.clone();
    // The correct server accepts only its own address.
    headers.remove("host");
    alterations.on_headers.iter().for_each(|it| it(&parts, &body, &mut headers));
    let url = format!("{base}{}", parts.uri);
    let sent = proxy.client.request(parts.method.clone(), url).headers(headers);
    // The correct server is gone at the end of a test.
    let Ok(answer) = sent.body(body.clone()).send().await else { return bad_gateway() };
    let mut builder = Response::builder().status(answer.status());
    for (name, value) in answer.headers() {
        if name != "transfer-encoding" && name != "content-length" {
            builder = builder.header(name, value);
        }
    }
    let streams = answer.headers().get("content-type");
    let streams = streams.is_some_and(|it| it.as_bytes().starts_with(b"text/event-stream"));
    let mut response = if streams {
        let (proxy, parts, sent) = (Arc::clone(&proxy), parts.clone(), body.clone());
        let chunks = futures_util::stream::unfold(answer, |mut answer| async move {
            let chunk = answer.chunk().await.transpose()?;
            Some((chunk, answer))
        });
        let chunks = futures_util::StreamExt::map(chunks, move |chunk| {
            chunk.map(|chunk| alter_body(&proxy.alterations, &parts, &sent, &chunk))
        });
        builder.body(Body::from_stream(chunks)).unwrap()
    } else {
        let bytes = answer.bytes().await.unwrap();
        let text = alter_body(alterations, &parts, &body, &bytes);
        builder.body(Body::from(text)).unwrap()
    };
    alterations.on_response.iter().for_each(|it| it(&parts, &body, &mut response));
    response
}

fn bad_gateway() -> Response {
    Response::builder().status(502).body(Body::empty()).unwrap()
}

fn alter_body(alterations: &AlteredHttp, parts: &Parts, request: &Bytes, body: &Bytes) -> Bytes {
    if alterations.on_body.is_empty() {
        return body.clone();
    }
    let mut text = String::from_utf8(body.to_vec()).unwrap();
    for alter in &alterations.on_body {
        text = alter(parts, request, text);
    }
    text.into()
}

impl CheckTarget for RunningHttp {
    fn open(&self) -> OpenFuture<'_> {
        CheckTarget::open(&self.target)
    }

    fn http(&self) -> Option<&HttpTarget> {
        CheckTarget::http(&self.target)
    }
}

impl Drop for RunningHttp {
    fn drop(&mut self) {
        self.proxy.abort();
        self.front.iter().for_each(tokio::task::JoinHandle::abort);
    }
}
