//! Secrets appear neither in the transcript nor in errors or debug output.

use sparring_peer::Client;
use sparring_transport::http::{Credentials, HttpLink, HttpTarget};

use super::scripted_server::{Reply, ScriptedServer, call, connect, done, within};

#[tokio::test]
async fn credentials_and_headers_are_sent_and_hidden() {
    let server = ScriptedServer::calling(|asked| match asked.header("x-key") {
        Some("hunter2") => {
            let headers = [
                ("content-type", "application/json"),
                ("set-cookie", "hunter6"),
                ("mcp-session-id", "hunter7"),
            ];
            Reply::of("200 OK", &headers, &done(asked))
        }
        _ => Reply::of("403 Forbidden", &[("set-cookie", "hunter3")], ""),
    })
    .await;
    let mut target = server.target().header("X-Key", "hunter2").basic("me", "hunter4");
    let link = HttpLink::new(&target).unwrap();
    let mut shown = format!("{target:?} {link:?}");
    let client = connect(Client::builder(), &target).await.unwrap();
    let response = within(call(&client)).await.unwrap();
    shown.push_str(&format!("{response:?}"));
    let cookie = response.envelope().and_then(|envelope| envelope.headers.get("set-cookie"));
    assert_eq!(cookie, Some("hunter6"), "the caller gets the whole header");
    let asked = server.asked();
    assert_eq!(asked[1].header("authorization"), Some("Basic bWU6aHVudGVyNA=="));
    shown.push_str(&format!("{:?}", client.transcript().exchanges()));

    target.headers[0].1 = "hunter5".to_owned();
    let client = connect(Client::builder(), &target).await.unwrap();
    let error = within(call(&client)).await.expect_err("the wrong key");
    shown.push_str(&format!("{error} {error:?} {:?}", client.transcript().exchanges()));
    assert!(shown.contains("x-key") && shown.contains("set-cookie"), "{shown}");
    assert!(!shown.contains("hunter") && !shown.contains("aHVudGVy"), "{shown}");
}

#[test]
fn reports_an_invalid_header_without_its_value() {
    let mut target = HttpTarget::new("http://localhost/mcp");
    target.headers = vec![("X-Key".to_owned(), "hunter2\n".to_owned())];
    let error = HttpLink::new(&target).expect_err("no such header").to_string();
    assert!(error.contains("X-Key") && !error.contains("hunter2"), "{error}");
    target.headers.clear();
    target.credentials = Some(Credentials::Bearer("hunter2\n".into()));
    let error = HttpLink::new(&target).expect_err("no such header").to_string();
    assert!(error.contains("Authorization") && !error.contains("hunter2"), "{error}");
}
