//! What is asked of others than the server itself: by the same means, with the
//! same trust and through the same proxies, but without its headers. Each
//! exchange is in the transcript, and no body of any is ever shown.

use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, DATE, HOST, USER_AGENT};
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use serde::de::DeserializeOwned;
use sparring_peer::Cause;
use sparring_peer::link::Recorder;
use tokio::time::timeout;

use super::super::HttpTarget;
use super::super::call::{Caller, Head, hidden};
use super::super::connect::Connector;
use super::super::endpoint::{Endpoint, Origin, is_loopback, shown as shown_url};
use super::super::note::{Note, Progress, shown};
use super::denied::Denied;
use crate::secrets::Secrets;

/// How long an exchange may take.
const LONGEST: Duration = Duration::from_secs(30);

/// The longest document that is read.
const LARGEST: usize = 1024 * 1024;

/// How far two clocks may be apart before it is worth a word.
const SKEW: u64 = 60;

const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// Asks others.
pub(super) struct Web<'a> {
    /// How: the server that this is for.
    pub(super) target: &'a HttpTarget,
    pub(super) recorder: Option<Recorder>,
    pub(super) secrets: Secrets,
}

/// What somebody answered.
pub(super) struct Answer {
    /// Who, as it may be shown.
    pub(super) url: String,
    pub(super) status: StatusCode,
    pub(super) body: Vec<u8>,
    headers: HeaderMap,
}

/// The content of a request that has one.
pub(super) struct Content {
    pub(super) kind: &'static str,
    pub(super) body: String,
    pub(super) authorization: Option<String>,
}

impl Web<'_> {
    pub(super) async fn get(&self, url: &str) -> Result<Answer, Denied> {
        self.ask(&Method::GET, url, None).await
    }

    pub(super) async fn post(&self, url: &str, content: Content) -> Result<Answer, Denied> {
        self.ask(&Method::POST, url, Some(content)).await
    }

    async fn ask(
        &self,
        method: &Method,
        url: &str,
        content: Option<Content>,
    ) -> Result<Answer, Denied> {
        let endpoint = self.endpoint(url)?;
        let bad = |why: String| Denied::Unusable { url: shown_url(url), why };
        let connector = Connector::new(&endpoint.origin, self.target);
        let connector = connector.map_err(|error| bad(error.to_string()))?;
        let url = endpoint.to_string();
        let head = head(&endpoint, content.as_ref()).map_err(|why| bad(why.to_owned()))?;
        let body = content.map(|content| Bytes::from(content.body)).unwrap_or_default();
        let caller = Caller::new(connector, endpoint, None, self.secrets.clone());
        let mut note = Note::begin(self.recorder.clone(), Progress::default());
        let asked = async {
            let content = || (head.clone(), body.clone());
            let mut opened = caller.call(method, &content, &mut note).await?;
            let (body, whole) = opened.body(LARGEST, &note).await?;
            note.complete();
            Ok((opened, body, whole))
        };
        match timeout(LONGEST, asked).await {
            Err(_) => Err(Denied::Down(format!("{url} did not answer within {LONGEST:?}"))),
            Ok(Err(Cause::Unreachable(why))) => Err(Denied::Down(why)),
            Ok(Err(cause)) => Err(bad(cause.to_string())),
            Ok(Ok((_, _, false))) => Err(bad(format!("it is longer than {LARGEST} bytes"))),
            Ok(Ok((opened, body, true))) => {
                let (status, headers) = (opened.status, opened.headers);
                Ok(Answer { url, status, body, headers })
            }
        }
    }

    /// An address that somebody names. Nobody whom a server over TLS names may be
    /// spoken to without.
    pub(super) fn endpoint(&self, url: &str) -> Result<Endpoint, Denied> {
        let bad = |error: super::super::BadUrl| Denied::Unusable {
            url: shown_url(url),
            why: error.reason,
        };
        let (endpoint, _) = Endpoint::parse(url).map_err(bad)?;
        let secured =
            self.target.url.get(..6).is_some_and(|begin| begin.eq_ignore_ascii_case("https:"));
        match &endpoint.origin {
            Origin::Tcp { tls: false, host, .. } if secured && !is_loopback(host) => {
                Err(Denied::Downgrade(endpoint.to_string()))
            }
            Origin::Unix(_) => Err(Denied::Downgrade(endpoint.to_string())),
            _ => Ok(endpoint),
        }
    }
}

fn head(endpoint: &Endpoint, content: Option<&Content>) -> Result<Head, &'static str> {
    let mut headers = HeaderMap::new();
    let host = HeaderValue::try_from(endpoint.host()).map_err(|_| "its host is none")?;
    headers.insert(HOST, host);
    let agent = concat!("sparring/", env!("CARGO_PKG_VERSION"));
    headers.insert(USER_AGENT, HeaderValue::from_static(agent));
    headers.insert(ACCEPT, JSON);
    if let Some(content) = content {
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(content.kind));
        if let Some(authorization) = &content.authorization {
            let value = HeaderValue::try_from(authorization);
            headers.insert(AUTHORIZATION, hidden(value.map_err(|_| "the credentials are none")?));
        }
    }
    Ok(Head { shown: shown(&headers, &Secrets::default()), headers })
}

impl Answer {
    /// What it says, if it is a document of that kind.
    pub(super) fn read<T: DeserializeOwned>(&self) -> Result<T, Denied> {
        serde_json::from_slice(&self.body).map_err(|error| Denied::Unusable {
            url: self.url.clone(),
            // The words of the parser may repeat what stands there.
            why: match error.classify() {
                serde_json::error::Category::Data => field_of(&error.to_string()),
                _ => "it is not JSON".to_owned(),
            },
        })
    }

    /// That it failed, in words that show nothing of it.
    pub(super) fn status_shown(&self) -> String {
        format!("{} answered {}", self.url, self.status)
    }

    /// How far its clock is from ours, if that may be the trouble.
    pub(super) fn skew(&self) -> Option<String> {
        skew(&self.headers)
    }
}

/// Which field is missing or wrong.
fn field_of(error: &str) -> String {
    let missing = error.strip_prefix("missing field `").and_then(|rest| rest.split('`').next());
    match missing {
        Some(field) => format!("it has no {field}"),
        None => "a field has a value of the wrong type".to_owned(),
    }
}

/// How far the clock of whoever answered is from ours, if that may be the
/// trouble.
pub(super) fn skew(headers: &HeaderMap) -> Option<String> {
    let theirs = httpdate::parse_http_date(headers.get(DATE)?.to_str().ok()?).ok()?;
    let (apart, word) = match theirs.elapsed() {
        Ok(behind) => (behind, "behind"),
        Err(ahead) => (ahead.duration(), "ahead of"),
    };
    let seconds = apart.as_secs();
    (seconds > SKEW).then(|| format!("clock skew: its clock is {seconds}s {word} ours"))
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;

    #[test]
    fn a_clock_that_is_far_off_is_told() {
        let told = |apart: i64| {
            let apart_by = Duration::from_secs(apart.unsigned_abs());
            let now = SystemTime::now();
            let theirs = if apart < 0 { now - apart_by } else { now + apart_by };
            let mut headers = HeaderMap::new();
            let date = httpdate::fmt_http_date(theirs);
            headers.insert(DATE, date.parse().expect("a header"));
            skew(&headers)
        };
        assert_eq!(told(30), None);
        assert_eq!(told(-30), None);
        let said = |apart| told(apart).unwrap_or_default();
        assert!(said(-600).ends_with("s behind ours"), "{}", said(-600));
        assert!(said(600).ends_with("s ahead of ours"), "{}", said(600));
    }

    #[test]
    fn what_cannot_be_read_is_told_without_being_shown() {
        #[derive(Debug, serde::Deserialize)]
        struct Wanted {
            #[expect(dead_code, reason = "only read")]
            issuer: String,
        }
        for (body, expected) in [
            ("{\"hunter2\": 1}", "it has no issuer"),
            ("{\"issuer\": [\"hunter2\"]}", "a field has a value of the wrong type"),
            ("hunter2", "it is not JSON"),
        ] {
            let answer = Answer {
                url: "http://a/b".to_owned(),
                status: StatusCode::OK,
                body: body.into(),
                headers: HeaderMap::new(),
            };
            let error = answer.read::<Wanted>().expect_err("it is none").to_string();
            assert_eq!(error, format!("what http://a/b answers cannot be used: {expected}"));
        }
    }
}
