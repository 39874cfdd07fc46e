//! Where the browser comes back to: a server on this machine, for one visit.

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
use super::denied::Denied;

/// How long the browser may take to read the page that it gets.
const GOODBYE: Duration = Duration::from_secs(1);

/// How long to wait when nobody can be let in.
const PAUSE: Duration = Duration::from_millis(50);

/// Where the browser comes back to.
pub(super) struct Redirect {
    listener: TcpListener,
    /// The same as the browser is told.
    pub(super) url: String,
    path: String,
}

impl Redirect {
    /// Listens there: where it was `before`, if that is still free, and else
    /// where it is `wanted`.
    pub(super) async fn bind(wanted: &str, before: Option<&str>) -> Result<Redirect, Denied> {
        if let Some(before) = before.filter(|before| is_like(before, wanted))
            && let Ok(redirect) = Redirect::bind_to(before).await
        {
            return Ok(redirect);
        }
        Redirect::bind_to(wanted)
            .await
            .map_err(|why| Denied::NoRedirect { redirect: wanted.to_owned(), why })
    }

    async fn bind_to(url: &str) -> Result<Redirect, String> {
        let Address { host, ip, port, path } = Address::of(url)?;
        let listener = TcpListener::bind((ip, port)).await.map_err(|error| error.to_string())?;
        let port = listener.local_addr().map_err(|error| error.to_string())?.port();
        Ok(Redirect { listener, url: format!("http://{host}:{port}{path}"), path })
    }

    /// Waits for the browser and gives what the check makes of its query; the
    /// browser is told how that went.
    pub(super) async fn serve<T>(
        self,
        check: impl Fn(&str) -> Result<T, Denied>,
    ) -> Result<T, Denied> {
        let came = Mutex::new(None);
        let respond = |visit: usize, request: &Request<Incoming>| {
            if !self.is_it(request) {
                return response(StatusCode::NOT_FOUND, "This is not the page.");
            }
            let checked = check(request.uri().query().unwrap_or_default());
            let (status, page) = shown(&checked);
            *lock(&came) = Some((visit, checked));
            response(status, &page)
        };
        let mut visits = FuturesUnordered::new();
        let mut count = 0;
        let (by, outcome) = loop {
            tokio::select! {
                biased;
                accepted = self.listener.accept() => {
                    let Ok((stream, _)) = accepted else {
                        // There are no more files to be had, for now.
                        sleep(PAUSE).await;
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
                // After the visits: one that goes on may have brought it.
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
        let _ = timeout(GOODBYE, seen).await;
        outcome
    }

    fn is_it(&self, request: &Request<Incoming>) -> bool {
        request.method() == Method::GET && request.uri().path() == self.path
    }
}

/// Makes sure that a browser could come back there.
pub(super) fn check(redirect: &str) -> Result<(), Denied> {
    let no_redirect = |why| Denied::NoRedirect { redirect: redirect.to_owned(), why };
    Address::of(redirect).map(drop).map_err(no_redirect)
}

/// An address on this machine.
struct Address {
    /// As the browser is told.
    host: String,
    ip: IpAddr,
    /// None in particular, if it is 0.
    port: u16,
    path: String,
}

impl Address {
    fn of(url: &str) -> Result<Address, String> {
        let uri: Uri = url.parse().map_err(|error| format!("it is no URL: {error}"))?;
        let host = uri.host().filter(|host| is_loopback(host) && uri.scheme_str() == Some("http"));
        let host = host.ok_or("it must be http:// on this machine")?;
        if url.contains(['?', '#', '@']) {
            return Err("it must have nothing but a host, a port and a path".to_owned());
        }
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        let ip = bare.parse().unwrap_or(IpAddr::from([127, 0, 0, 1]));
        // A port that is none is not given at all.
        let named = uri.authority().is_some_and(|authority| authority.as_str() != host);
        let port = uri.port_u16().or((!named).then_some(0)).ok_or("the port is not one")?;
        Ok(Address { host: host.to_owned(), ip, port, path: uri.path().to_owned() })
    }
}

/// Whether two such addresses differ in nothing but a port that is open.
fn is_like(before: &str, wanted: &str) -> bool {
    let (Ok(before), Ok(wanted)) = (Address::of(before), Address::of(wanted)) else { return false };
    (before.host, before.path) == (wanted.host, wanted.path)
        && (wanted.port == 0 || wanted.port == before.port)
}

fn shown<T>(checked: &Result<T, Denied>) -> (StatusCode, String) {
    match checked {
        Ok(_) => (StatusCode::OK, "Done. This page can be closed.".to_owned()),
        Err(denied) => {
            // The words may be those of whoever sent the browser here.
            let why = denied.to_string().replace('&', "&amp;").replace('<', "&lt;");
            (StatusCode::BAD_REQUEST, format!("That did not work: {why}"))
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn response(status: StatusCode, page: &str) -> Response<Full<Bytes>> {
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
        let mut said = String::new();
        stream.read_to_string(&mut said).await.expect("it answers");
        said
    }

    #[tokio::test]
    async fn the_browser_is_told_how_it_went() {
        let redirect = Redirect::bind("http://127.0.0.1/callback", None).await.expect("a port");
        let url = redirect.url.clone();
        // One that opens a connection and says nothing keeps nobody waiting.
        let authority = url.parse::<Uri>().expect("a URL").authority().expect("a host").to_string();
        let idle = TcpStream::connect(authority).await.expect("it listens");
        let check = |query: &str| match query {
            "good" => Ok(query.to_owned()),
            _ => Err(Denied::LoginFailed { issuer: "x".to_owned(), why: "<b>".to_owned() }),
        };
        let visits = async {
            let other = visit(&url, "/favicon.ico?good").await;
            (other, visit(&url, "/callback?good").await)
        };
        let (came, (other, good)) = tokio::join!(redirect.serve(check), visits);
        assert_eq!(came.expect("it came"), "good");
        assert!(other.starts_with("HTTP/1.1 404"), "{other}");
        assert!(good.starts_with("HTTP/1.1 200") && good.contains("can be closed"), "{good}");
        drop(idle);

        let redirect = Redirect::bind("http://127.0.0.1/callback", None).await.expect("a port");
        let url = redirect.url.clone();
        let (came, page) = tokio::join!(redirect.serve(check), visit(&url, "/callback?bad"));
        assert!(came.is_err() && page.contains("&lt;b>"), "{page}");
    }

    #[test]
    fn only_this_machine_will_do() {
        for (url, why) in [
            ("http://example.com/", "on this machine"),
            ("https://127.0.0.1/", "on this machine"),
            ("http://127.0.0.1.example.com/", "on this machine"),
            ("nowhere", "on this machine"),
            ("http://127.0.0.1:99999/", "the port is not one"),
            ("http://127.0.0.1:x/", "the port is not one"),
            ("http://127.0.0.1/a b", "it is no URL"),
            ("http://127.0.0.1/a?b=c", "nothing but a host, a port and a path"),
            ("http://127.0.0.1/a#b", "nothing but"),
            ("http://me@127.0.0.1/", "nothing but"),
        ] {
            let told = check(url).expect_err(url).to_string();
            assert!(told.contains("cannot come back") && told.contains(why), "{told}");
        }
        for url in ["http://localhost", "http://[::1]:80/x", "http://127.0.0.1:0/"] {
            check(url).expect(url);
        }
    }

    #[tokio::test]
    async fn a_port_that_is_taken_is_told() {
        let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}/", taken.local_addr().expect("an address"));
        let told = Redirect::bind(&url, None).await.err().expect("it is taken").to_string();
        assert!(told.contains(&url) && told.contains("in use"), "{told}");
    }

    #[test]
    fn a_port_that_is_open_may_be_the_one_from_before() {
        assert!(is_like("http://127.0.0.1:5/cb", "http://127.0.0.1/cb"));
        assert!(!is_like("http://127.0.0.1:5/cb", "http://127.0.0.1:6/cb"));
        assert!(!is_like("http://127.0.0.1:5/cb", "http://localhost/cb"));
        assert!(!is_like("http://127.0.0.1:5/a", "http://127.0.0.1/cb"));
    }
}
