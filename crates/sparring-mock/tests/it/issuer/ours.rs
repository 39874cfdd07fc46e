//! Our own client is let in by a mock's issuer, in every way to a token.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;
use sparring_mock::MockServer;
use sparring_peer::Client;
use sparring_transport::http::{
    Credentials, HttpLink, HttpTarget, HttpTransport, OAuth, Proof, Serving, Visitor,
};
use sparring_wire::Revision;

use crate::fixture::{PATIENCE, listen, mock, said, within};

const SCRIPT: &str = "
auth:
  oauth:
    scopes: [read, write]
    requires: read
    tools: {wipe: write}
    clients: [{id: robot, secret: hush}]
tools: [{name: look, text: seen}, {name: wipe, text: gone}]
";

/// Somebody who logs in, and how often that was.
fn person() -> (OAuth, Arc<AtomicUsize>) {
    let times = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&times);
    let visitor = Visitor::new(move |url| {
        counted.fetch_add(1, Ordering::SeqCst);
        tokio::spawn(reqwest::get(url.to_owned()));
    });
    (OAuth { patience: PATIENCE, ..OAuth::code(visitor) }, times)
}

fn link(mock: &MockServer, serving: &Serving, oauth: OAuth, over: HttpTransport) -> HttpLink {
    let urls = mock.urls(serving.address().unwrap());
    let url = if over == HttpTransport::Sse { urls.sse.unwrap() } else { urls.mcp };
    let credentials = Some(Credentials::OAuth(Box::new(oauth)));
    HttpLink::new(&HttpTarget { credentials, transport: over, ..HttpTarget::new(url) }).unwrap()
}

#[tokio::test]
async fn somebody_logs_in_renews_and_is_allowed_more() {
    for (revision, over) in [
        (Revision::V2024_11_05, HttpTransport::Sse),
        (Revision::LATEST_LEGACY, HttpTransport::Streamable),
        (Revision::LATEST, HttpTransport::Streamable),
    ] {
        let mock = mock(SCRIPT);
        let serving = listen(&mock).await;
        let issuer = mock.issuer().unwrap();
        let (oauth, times) = person();
        let link = link(&mock, &serving, oauth, over);
        let client = within(Client::builder().revision(revision).connect(link)).await.unwrap();
        assert_eq!(said(&client, "look", json!({})).await, "seen");
        assert_eq!(times.load(Ordering::SeqCst), 1, "{revision}");
        issuer.expire_all();
        assert_eq!(said(&client, "look", json!({})).await, "seen");
        assert_eq!(times.load(Ordering::SeqCst), 1, "{revision}: it was renewed");
        let asked: Vec<String> = issuer.requests().iter().map(|it| it.text()).collect();
        assert!(asked.iter().any(|form| form.contains("grant_type=refresh_token")));
        assert_eq!(said(&client, "wipe", json!({})).await, "gone");
        assert_eq!(times.load(Ordering::SeqCst), 2, "{revision}: more was asked for");
        let heard = client.transcript();
        assert!(heard.violations().is_empty(), "{:?}", heard.violations());
        within(client.close()).await;
    }
}

#[tokio::test]
async fn a_client_asks_for_itself() {
    for (proof, good) in [
        (Proof::Secret("hush".to_owned()), true),
        (Proof::Secret("wrong".to_owned()), false),
        (Proof::None, false),
    ] {
        let mock = mock(SCRIPT);
        let serving = listen(&mock).await;
        let oauth = OAuth::client_credentials("robot", proof);
        let link = link(&mock, &serving, oauth, HttpTransport::Auto);
        match within(Client::connect(link)).await {
            Ok(client) => assert!(good && said(&client, "wipe", json!({})).await == "gone"),
            Err(error) => {
                assert!(!good, "{error}");
                assert!(error.to_string().contains("invalid_client"), "{error}");
            }
        }
    }
}

#[tokio::test]
async fn what_goes_wrong_on_the_way_is_told_by_its_name() {
    for (change, told) in [
        (json!({"login": "deny"}), "access_denied"),
        (json!({"refuse": "invalid_grant"}), "invalid_grant"),
        (json!({"wrong": "audience"}), "it is for somebody else"),
        (json!({"wrong": "signature"}), "its signature is not the issuer's"),
        (json!({"wrong": "scope"}), "insufficient_scope"),
    ] {
        let mock = mock(SCRIPT);
        let serving = listen(&mock).await;
        mock.issuer().unwrap().change(change.clone()).unwrap();
        let link = link(&mock, &serving, person().0, HttpTransport::Streamable);
        let error = within(Client::connect(link)).await.unwrap_err().to_string();
        let wanted = told.trim_start_matches("insufficient_");
        assert!(error.contains(wanted), "{change}: {error}");
    }
}

#[tokio::test]
async fn it_is_the_same_at_another_address_of_this_machine() {
    let mock = mock(SCRIPT);
    let serving = mock.listen("[::1]:0".parse().unwrap()).await.unwrap();
    let oauth = OAuth::client_credentials("robot", Proof::Secret("hush".to_owned()));
    let link = link(&mock, &serving, oauth, HttpTransport::Streamable);
    let client = within(Client::connect(link)).await.unwrap();
    assert_eq!(said(&client, "look", json!({})).await, "seen");
    assert!(mock.issuer().unwrap().url().starts_with("http://[::1]:"));
}
