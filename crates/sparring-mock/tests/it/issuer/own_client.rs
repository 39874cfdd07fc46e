//! Sparring's own client gets tokens of a mock's issuer with every grant.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;
use sparring_mock::MockServer;
use sparring_peer::Client;
use sparring_transport::http::{
    BrowserOpener, ClientAuth, Credentials, HttpLink, HttpServerHandle, HttpTarget, HttpTransport,
    OAuth,
};
use sparring_wire::Revision;

use crate::fixture::{TIMEOUT, call_text, listen, mock, within};

const SCRIPT: &str = "
auth:
  oauth:
    scopes: [read, write]
    requires: read
    tools: {wipe: write}
    clients: [{id: robot, secret: hush}]
tools: [{name: look, text: seen}, {name: wipe, text: gone}]
";

/// A user who logs in, and the number of logins.
fn user() -> (OAuth, Arc<AtomicUsize>) {
    let times = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&times);
    let visitor = BrowserOpener::new(move |url| {
        counted.fetch_add(1, Ordering::SeqCst);
        tokio::spawn(reqwest::get(url.to_owned()));
    });
    (OAuth { login_timeout: TIMEOUT, ..OAuth::authorization_code(visitor) }, times)
}

fn link(
    mock: &MockServer,
    serving: &HttpServerHandle,
    oauth: OAuth,
    over: HttpTransport,
) -> HttpLink {
    let urls = mock.urls(serving.address().unwrap());
    let url = if over == HttpTransport::Sse { urls.sse.unwrap() } else { urls.mcp };
    let credentials = Some(Credentials::OAuth(Box::new(oauth)));
    HttpLink::new(&HttpTarget { credentials, transport: over, ..HttpTarget::new(url) }).unwrap()
}

#[tokio::test]
async fn logs_in_refreshes_and_steps_up() {
    for (revision, over) in [
        (Revision::V2024_11_05, HttpTransport::Sse),
        (Revision::LATEST_LEGACY, HttpTransport::Streamable),
        (Revision::LATEST, HttpTransport::Streamable),
    ] {
        let mock = mock(SCRIPT);
        let serving = listen(&mock).await;
        let issuer = mock.issuer().unwrap();
        let (oauth, times) = user();
        let link = link(&mock, &serving, oauth, over);
        let client = within(Client::builder().revision(revision).connect(link)).await.unwrap();
        assert_eq!(call_text(&client, "look", json!({})).await, "seen");
        assert_eq!(times.load(Ordering::SeqCst), 1, "{revision}");
        issuer.expire_all();
        assert_eq!(call_text(&client, "look", json!({})).await, "seen");
        assert_eq!(times.load(Ordering::SeqCst), 1, "{revision}: it was renewed");
        let asked: Vec<String> = issuer.requests().iter().map(|it| it.text()).collect();
        assert!(asked.iter().any(|form| form.contains("grant_type=refresh_token")));
        assert_eq!(call_text(&client, "wipe", json!({})).await, "gone");
        assert_eq!(times.load(Ordering::SeqCst), 2, "{revision}: more was asked for");
        let transcript = client.transcript();
        assert!(transcript.violations().is_empty(), "{:?}", transcript.violations());
        within(client.close()).await;
    }
}

#[tokio::test]
async fn uses_client_credentials() {
    for (proof, good) in [
        (ClientAuth::Secret("hush".into()), true),
        (ClientAuth::Secret("wrong".into()), false),
        (ClientAuth::None, false),
    ] {
        let mock = mock(SCRIPT);
        let serving = listen(&mock).await;
        let oauth = OAuth::client_credentials("robot", proof);
        let link = link(&mock, &serving, oauth, HttpTransport::Auto);
        match within(Client::connect(link)).await {
            Ok(client) => assert!(good && call_text(&client, "wipe", json!({})).await == "gone"),
            Err(error) => {
                assert!(!good, "{error}");
                assert!(error.to_string().contains("invalid_client"), "{error}");
            }
        }
    }
}

#[tokio::test]
async fn reports_errors_of_the_issuer() {
    for (change, expected) in [
        (json!({"login": "deny"}), "access_denied"),
        (json!({"refuse": "invalid_grant"}), "invalid_grant"),
        (json!({"wrong": "audience"}), "it is for another audience"),
        (json!({"wrong": "signature"}), "the signature is not the issuer's"),
        (json!({"wrong": "scope"}), "insufficient_scope"),
    ] {
        let mock = mock(SCRIPT);
        let serving = listen(&mock).await;
        mock.issuer().unwrap().change(change.clone()).unwrap();
        let link = link(&mock, &serving, user().0, HttpTransport::Streamable);
        let error = within(Client::connect(link)).await.unwrap_err().to_string();
        let wanted = expected.trim_start_matches("insufficient_");
        assert!(error.contains(wanted), "{change}: {error}");
    }
}

#[tokio::test]
async fn works_at_another_address_of_this_machine() {
    let mock = mock(SCRIPT);
    let serving = mock.listen("[::1]:0".parse().unwrap()).await.unwrap();
    let oauth = OAuth::client_credentials("robot", ClientAuth::Secret("hush".into()));
    let link = link(&mock, &serving, oauth, HttpTransport::Streamable);
    let client = within(Client::connect(link)).await.unwrap();
    assert_eq!(call_text(&client, "look", json!({})).await, "seen");
    assert!(mock.issuer().unwrap().url().starts_with("http://[::1]:"));
}
