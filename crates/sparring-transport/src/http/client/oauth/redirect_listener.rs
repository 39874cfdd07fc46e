//! A local HTTP server that the browser is redirected to after a login.

use std::convert::Infallible;
use std::future::{poll_fn, ready};
use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;
use futures_util::FutureExt as _;
use futures_util::stream::{FuturesUnordered, StreamExt as _};
use http::header::{CACHE_CONTROL, CONNECTION, CONTENT_TYPE, HeaderValue, REFERRER_POLICY};
use http::{Method, Request, Response, StatusCode, Uri};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;
use tokio::time::{sleep, timeout};

use super::super::endpoint::is_loopback;
use super::error::AuthError;

/// The maximum wait for the browser to read the result page.
const PAGE_TIMEOUT: Duration = Duration::from_secs(1);

/// The wait before the next attempt if no connection can be accepted.
const ACCEPT_RETRY_INTERVAL: Duration = Duration::from_millis(50);

/// Listens for the redirect.
pub(super) struct RedirectListener {
    listener: TcpListener,
    /// The redirect URL.
    pub(super) url: String,
    path: String,
}

impl RedirectListener {
    /// Listens on the address `before`, if it is still free, or else on `wanted`.
    pub(super) async fn bind(
        wanted: &str,
        before: Option<&str>,
    ) -> Result<RedirectListener, AuthError> {
        if let Some(before) = before.filter(|before| differs_only_in_port(before, wanted))
            && let Ok(redirect) = RedirectListener::bind_to(before).await
        {
            return Ok(redirect);
        }
        RedirectListener::bind_to(wanted)
            .await
            .map_err(|why| AuthError::CannotListen { redirect: wanted.to_owned(), why })
    }

    async fn bind_to(url: &str) -> Result<RedirectListener, String> {
        let RedirectAddress { host, ip, port, path } = RedirectAddress::parse(url)?;
        let listener = TcpListener::bind((ip, port)).await.map_err(|error| error.to_string())?;
        let port = listener.local_addr().map_err(|error| error.to_string())?.port();
        Ok(RedirectListener { listener, url: format!("http://{host}:{port}{path}"), path })
    }

    /// Waits for the redirect and returns the result of `check` for its query. The browser
    /// shows the result.
    pub(super) async fn serve<T>(
        self,
        check: impl Fn(&str) -> Result<T, AuthError>,
    ) -> Result<T, AuthError> {
        let came = Mutex::new(None);
        let respond = |visit: usize, request: &Request<Incoming>| {
            if !self.is_redirect(request) {
                return html_response(StatusCode::NOT_FOUND, "Not found.");
            }
            let checked = check(request.uri().query().unwrap_or_default());
            let (status, page) = render_result(&checked);
            // Any page can send a browser here, so a wrong state does not end the login.
            if !matches!(checked, Err(AuthError::WrongState)) {
                *lock(&came) = Some((visit, checked));
            }
            html_response(status, &page)
        };
        let mut visits = FuturesUnordered::new();
        let mut count = 0;
        let (by, outcome) = loop {
            tokio::select! {
                biased;
                accepted = self.listener.accept() => {
                    let Ok((stream, _)) = accepted else {
                        // The system has no free file descriptors for now.
                        sleep(ACCEPT_RETRY_INTERVAL).await;
                        continue;
                    };
                    count += 1;
                    let (visit, respond) = (count, &respond);
                    let service = service_fn(move |request| {
                        ready(Ok::<_, Infallible>(respond(visit, &request)))
                    });
                    let served = http1::Builder::new().serve_connection(TokioIo::new(stream), service);
                    visits.push(served.map(move |_| visit));
                },
                Some(_) = visits.next() => {}
                // Polled after the connections: one of them may have set it.
                () = poll_fn(|_| match lock(&came).is_some() {
                    true => Poll::Ready(()),
                    false => Poll::Pending,
                }) => {}
            }
            if let Some(came) = lock(&came).take() {
                break came;
            }
        };
        // Browsers open connections that they may never use.
        let seen = async { while visits.next().await.is_some_and(|visit| visit != by) {} };
        let _ = timeout(PAGE_TIMEOUT, seen).await;
        outcome
    }

    fn is_redirect(&self, request: &Request<Incoming>) -> bool {
        request.method() == Method::GET && request.uri().path() == self.path
    }
}

/// Checks that a redirect URL can be used.
pub(super) fn check(redirect: &str) -> Result<(), AuthError> {
    let no_redirect = |why| AuthError::CannotListen { redirect: redirect.to_owned(), why };
    RedirectAddress::parse(redirect).map(drop).map_err(no_redirect)
}

/// An address on this machine.
struct RedirectAddress {
    /// As in the redirect URL.
    host: String,
    ip: IpAddr,
    /// 0 means any free port.
    port: u16,
    path: String,
}

impl RedirectAddress {
    fn parse(url: &str) -> Result<RedirectAddress, String> {
        let uri: Uri = url.parse().map_err(|error| format!("not a URL: {error}"))?;
        let host = uri.host().filter(|host| is_loopback(host) && uri.scheme_str() == Some("http"));
        let host = host.ok_or("it must be http:// on this machine")?;
        if url.contains(['?', '#', '@']) {
            return Err("only a host, a port and a path are allowed".to_owned());
        }
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        let ip = bare.parse().unwrap_or(IpAddr::from([127, 0, 0, 1]));
        // `Uri` reports no port if it is invalid.
        let named = uri.authority().is_some_and(|authority| authority.as_str() != host);
        let port = uri.port_u16().or((!named).then_some(0)).ok_or("invalid port")?;
        Ok(RedirectAddress { host: host.to_owned(), ip, port, path: uri.path().to_owned() })
    }
}

/// Returns true if two addresses differ only in a port that may be chosen.
fn differs_only_in_port(before: &str, wanted: &str) -> bool {
    let (Ok(before), Ok(wanted)) = (RedirectAddress::parse(before), RedirectAddress::parse(wanted))
    else {
        return false;
    };
    (before.host, before.path) == (wanted.host, wanted.path)
        && (wanted.port == 0 || wanted.port == before.port)
}

fn render_result<T>(checked: &Result<T, AuthError>) -> (StatusCode, String) {
    match checked {
        Ok(_) => (StatusCode::OK, "Done. You can close this page.".to_owned()),
        Err(error) => {
            // The text may come from the party that sent the browser here.
            let why = error.to_string().replace('&', "&amp;").replace('<', "&lt;");
            (StatusCode::BAD_REQUEST, format!("Login failed: {why}"))
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn html_response(status: StatusCode, page: &str) -> Response<Full<Bytes>> {
    let html = format!("<!doctype html><meta charset=utf-8><title>spar</title><p>{page}\n");
    let mut response = Response::new(Full::from(html));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    let text = HeaderValue::from_static;
    headers.insert(CONTENT_TYPE, text("text/html; charset=utf-8"));
    headers.insert(CACHE_CONTROL, text("no-store"));
    headers.insert(REFERRER_POLICY, text("no-referrer"));
    headers.insert(CONNECTION, text("close"));
    response
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpStream;

    use super::*;

    async fn visit(url: &str, path: &str) -> String {
        let uri: Uri = url.parse().expect("a URL");
        let authority = uri.authority().expect("a host").as_str();
        let mut stream = TcpStream::connect(authority).await.expect("it listens");
        let request = format!("GET {path} HTTP/1.1\r\nHost: {authority}\r\n\r\n");
        stream.write_all(request.as_bytes()).await.expect("it reads");
        let mut page = String::new();
        stream.read_to_string(&mut page).await.expect("it answers");
        page
    }

    #[tokio::test]
    async fn shows_the_result_in_the_browser() {
        let redirect =
            RedirectListener::bind("http://127.0.0.1/callback", None).await.expect("a port");
        let url = redirect.url.clone();
        // A silent connection must not delay the others.
        let authority = url.parse::<Uri>().expect("a URL").authority().expect("a host").to_string();
        let idle = TcpStream::connect(authority).await.expect("it listens");
        let check = |query: &str| match query {
            "good" => Ok(query.to_owned()),
            _ => Err(AuthError::LoginFailed { issuer: "x".to_owned(), why: "<b>".to_owned() }),
        };
        let visits = async {
            let other = visit(&url, "/favicon.ico?good").await;
            (other, visit(&url, "/callback?good").await)
        };
        let (came, (other, good)) = tokio::join!(redirect.serve(check), visits);
        assert_eq!(came.expect("it came"), "good");
        assert!(other.starts_with("HTTP/1.1 404"), "{other}");
        assert!(good.starts_with("HTTP/1.1 200") && good.contains("You can close"), "{good}");
        drop(idle);

        let redirect =
            RedirectListener::bind("http://127.0.0.1/callback", None).await.expect("a port");
        let url = redirect.url.clone();
        let (came, page) = tokio::join!(redirect.serve(check), visit(&url, "/callback?bad"));
        assert!(came.is_err() && page.contains("&lt;b>"), "{page}");
    }

    #[tokio::test]
    async fn a_visit_with_another_state_does_not_end_the_login() {
        let redirect =
            RedirectListener::bind("http://127.0.0.1/callback", None).await.expect("a port");
        let url = redirect.url.clone();
        let check = |query: &str| match query {
            "mine" => Ok(()),
            _ => Err(AuthError::WrongState),
        };
        let visits = async {
            let other = visit(&url, "/callback?other").await;
            assert!(other.contains("state mismatch"), "{other}");
            visit(&url, "/callback?mine").await
        };
        let (came, _) = tokio::join!(redirect.serve(check), visits);
        assert!(came.is_ok(), "{came:?}");
    }

    #[test]
    fn accepts_only_redirects_to_this_machine() {
        for (url, why) in [
            ("http://example.com/", "on this machine"),
            ("https://127.0.0.1/", "on this machine"),
            ("http://127.0.0.1.example.com/", "on this machine"),
            ("nowhere", "on this machine"),
            ("http://127.0.0.1:99999/", "invalid port"),
            ("http://127.0.0.1:x/", "invalid port"),
            ("http://127.0.0.1/a b", "not a URL"),
            ("http://127.0.0.1/a?b=c", "only a host, a port and a path"),
            ("http://127.0.0.1/a#b", "only a host"),
            ("http://me@127.0.0.1/", "only a host"),
        ] {
            let error = check(url).expect_err(url).to_string();
            assert!(
                error.contains("cannot use the redirect URL") && error.contains(why),
                "{error}"
            );
        }
        for url in ["http://localhost", "http://[::1]:80/x", "http://127.0.0.1:0/"] {
            check(url).expect(url);
        }
    }

    #[tokio::test]
    async fn reports_a_port_in_use() {
        let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}/", taken.local_addr().expect("an address"));
        let error =
            RedirectListener::bind(&url, None).await.err().expect("it is taken").to_string();
        assert!(error.contains(&url) && error.contains("in use"), "{error}");
    }

    #[test]
    fn a_free_port_may_be_the_previous_one() {
        assert!(differs_only_in_port("http://127.0.0.1:5/cb", "http://127.0.0.1/cb"));
        assert!(!differs_only_in_port("http://127.0.0.1:5/cb", "http://127.0.0.1:6/cb"));
        assert!(!differs_only_in_port("http://127.0.0.1:5/cb", "http://localhost/cb"));
        assert!(!differs_only_in_port("http://127.0.0.1:5/a", "http://127.0.0.1/cb"));
    }
}
