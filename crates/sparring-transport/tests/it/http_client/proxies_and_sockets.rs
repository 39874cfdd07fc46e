//! Servers behind a proxy and on a Unix socket.

use std::sync::{Arc, Mutex};

use sparring_peer::{Client, Protocol};
use sparring_transport::http::{HttpLink, HttpTarget, Proxies};

use super::scripted_server::{
    Reply, ScriptedServer, call, connect, discovered, done, serve, within,
};

#[tokio::test]
async fn sends_the_whole_url_and_credentials_to_a_proxy() {
    let proxy = ScriptedServer::new(|asked| match &*asked.what() {
        "server/discover" => Reply::json(&discovered(asked)),
        _ => Reply::json(&done(asked)),
    })
    .await;
    let address = proxy.url.trim_start_matches("http://").trim_end_matches("/mcp");
    let mut target = HttpTarget::new("http://server.example/mcp");
    target.proxies = Proxies { http: format!("http://me:pass@{address}"), ..Proxies::default() };
    let client = connect(Client::builder(), &target).await.unwrap();
    assert_eq!(within(call(&client)).await.unwrap().content(), "done");
    let asked = proxy.asked();
    assert_eq!(asked[0].path, "http://server.example/mcp");
    assert_eq!(asked[0].header("host"), Some("server.example"));
    assert_eq!(asked[0].header("proxy-authorization"), Some("Basic bWU6cGFzcw=="));
    let shown = format!("{:?}", client.transcript().exchanges());
    assert!(shown.contains("proxy-authorization") && !shown.contains("bWU6cGFzcw"), "{shown}");

    target.proxies.no_proxy = "server.example".to_owned();
    let error = connect(Client::builder(), &target).await.expect_err("no such server");
    assert!(error.to_string().contains("cannot resolve the name server.example"), "{error}");
}

#[tokio::test]
async fn sends_the_length_of_the_message_unless_the_user_sets_another() {
    let server = ScriptedServer::calling(|asked| Reply::json(&done(asked))).await;
    let client = server.connect().await.unwrap();
    for _ in 0..2 {
        within(call(&client)).await.unwrap();
    }
    for asked in server.asked() {
        assert_eq!(asked.header("content-length"), Some(&*asked.body.len().to_string()));
    }
    let mut target = server.target();
    target.headers.push(("Content-Length".to_owned(), "7".to_owned()));
    let builder = Client::builder().protocol(Protocol::Raw);
    let client = connect(builder, &target).await.unwrap();
    client.send_bytes("[1,2,3]and more");
    while server.asked().len() < 4 {
        tokio::task::yield_now().await;
    }
    assert_eq!(server.asked()[3].header("content-length"), Some("7"));
}

#[tokio::test]
async fn reports_a_proxy_that_refuses_the_connection() {
    let proxy = ScriptedServer::new(|_| Reply::of("403 Forbidden", &[], "")).await;
    let mut target = HttpTarget::new("https://server.example/mcp");
    target.proxies.https = proxy.url.trim_end_matches("/mcp").to_owned();
    let error = connect(Client::builder(), &target).await.expect_err("not let through").to_string();
    assert!(error.contains("through the proxy"), "{error}");
    assert_eq!(proxy.asked()[0].path, "server.example:443");
}

#[test]
fn reports_an_invalid_proxy_without_its_secrets() {
    for proxy in ["socks5://me:hunter2@proxy:1", "https://me:hunter2@proxy", "me:hunter2@a b"] {
        let mut target = HttpTarget::new("https://server.example/mcp");
        target.proxies.https = proxy.to_owned();
        let error = HttpLink::new(&target).expect_err("no such proxy").to_string();
        assert!(error.contains("invalid proxy") && !error.contains("hunter2"), "{error}");
    }
}

#[tokio::test]
async fn a_unix_socket_is_an_address_like_any_other() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("server.sock");
    let listener = tokio::net::UnixListener::bind(&path).unwrap();
    let asked = Arc::new(Mutex::new(Vec::new()));
    let request_log = Arc::clone(&asked);
    tokio::spawn(async move {
        let answer =
            Arc::new(|asked: &super::scripted_server::ReceivedRequest| match &*asked.what() {
                "server/discover" => Reply::json(&discovered(asked)),
                _ => Reply::json(&done(asked)),
            });
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(serve(stream, Arc::clone(&request_log), Arc::clone(&answer)));
        }
    });
    let encoded = path.to_str().unwrap().replace('/', "%2F");
    let target = HttpTarget::new(format!("http+unix://{encoded}/mcp"));
    let client = connect(Client::builder(), &target).await.unwrap();
    assert_eq!(within(call(&client)).await.unwrap().content(), "done");
    assert_eq!(asked.lock().unwrap()[0].path, "/mcp");

    let target = HttpTarget::new(format!("http+unix://{encoded}.not/mcp"));
    let error = connect(Client::builder(), &target).await.expect_err("no such socket").to_string();
    assert!(error.contains("server.sock.not: No such file"), "{error}");
}

#[tokio::test]
async fn reports_an_unreachable_proxy() {
    let free = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    for url in ["http://server.example/mcp", "https://server.example/mcp"] {
        let mut target = HttpTarget::new(url);
        target.proxies.http = format!("http://me:secret@{free}");
        target.proxies.https = target.proxies.http.clone();
        let error =
            connect(Client::builder(), &target).await.expect_err("no connection").to_string();
        let expected = format!("through the proxy http://{free}/: Connection refused");
        assert!(error.contains("cannot connect to") && error.contains(&expected), "{error}");
    }
}

#[test]
fn ignores_an_invalid_proxy_that_is_not_used() {
    let mut target = HttpTarget::new("http://localhost:1/mcp");
    target.proxies.http = "socks5://me:secret@proxy:1".to_owned();
    let error = HttpLink::new(&target).expect_err("no such proxy").to_string();
    assert!(error.contains("socks5://proxy:1"), "{error}");
    target.proxies.no_proxy = "localhost,127.0.0.1".to_owned();
    assert!(HttpLink::new(&target).is_ok());
}
