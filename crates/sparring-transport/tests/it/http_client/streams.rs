//! Event streams: frames before the answer, resumption after a break, and cancellation.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::json;

use super::scripted_server::{ReceivedRequest, Reply, ScriptedServer, call, done, within};

fn event(id: &str, data: &str) -> String {
    format!("id: {id}\nretry: 1\ndata: {data}\n\n")
}

/// A server of 2025-11-25 with a session.
async fn session(
    answer: impl Fn(&ReceivedRequest) -> Reply + Send + Sync + 'static,
) -> ScriptedServer {
    session_with(|_| Reply::of("202 Accepted", &[], ""), answer).await
}

/// The same, with a scripted response to `notifications/initialized`.
pub(super) async fn session_with(
    initialized: impl Fn(&ReceivedRequest) -> Reply + Send + Sync + 'static,
    answer: impl Fn(&ReceivedRequest) -> Reply + Send + Sync + 'static,
) -> ScriptedServer {
    ScriptedServer::new(move |asked| match &*asked.what() {
        "server/discover" => Reply::of("400 Bad Request", &[], "initialize first"),
        "initialize" => {
            let result = json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                "serverInfo": {"name": "site", "version": "1"}});
            let headers = [("content-type", "application/json"), ("mcp-session-id", "s-1")];
            Reply::of("200 OK", &headers, &asked.result(result))
        }
        "notifications/initialized" => initialized(asked),
        "DELETE" => Reply::of("202 Accepted", &[], ""),
        _ => answer(asked),
    })
    .await
}

#[tokio::test]
async fn the_client_receives_notifications_before_the_answer_in_any_chunks() {
    let server = ScriptedServer::calling(|asked| {
        let note = r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}"#;
        Reply::events(&format!(": hi\r\n\r\nevent: message\r\ndata: {note}\r\n\r\ndata:{}\n\n", done(asked)))
    })
    .await;
    let client = server.connect().await.unwrap();
    assert_eq!(within(call(&client)).await.unwrap().content(), "done");
    assert_eq!(client.notifications().count("notifications/message"), 1);
}

#[tokio::test]
async fn the_client_resumes_a_broken_stream() {
    let times = AtomicUsize::new(0);
    let answer = std::sync::Mutex::new(String::new());
    let server = session(move |asked| {
        let last = asked.header("last-event-id");
        match (&*asked.what(), last) {
            ("tools/call", _) => {
                *answer.lock().unwrap() = done(asked);
                Reply::events(&event("a-1", ""))
            }
            ("GET", None) => Reply::of("405 Method Not Allowed", &[], ""),
            // The stream ends again without the answer.
            ("GET", Some("a-1")) => Reply::events(&event("a-2", "")),
            ("GET", Some("a-2")) => {
                times.fetch_add(1, Ordering::Relaxed);
                Reply::events(&event("a-3", &answer.lock().unwrap()))
            }
            other => panic!("{other:?}"),
        }
    })
    .await;
    let client = server.connect().await.unwrap();
    assert_eq!(within(call(&client)).await.unwrap().content(), "done");
    let taken_up: Vec<_> = server
        .asked()
        .iter()
        .filter_map(|asked| asked.header("last-event-id").map(str::to_owned))
        .collect();
    assert_eq!(taken_up, ["a-1", "a-2"]);
    let resumed = server.asked().into_iter().find(|asked| asked.header("last-event-id").is_some());
    assert_eq!(resumed.unwrap().header("mcp-session-id"), Some("s-1"));
    // The transcript contains each exchange with its end.
    let exchanges = client.transcript().exchanges();
    let broken = exchanges.iter().filter(|it| it.error.is_some() && it.method != "POST").count();
    assert_eq!(broken, 1, "{exchanges:#?}");
}

#[tokio::test]
async fn reports_a_stream_that_cannot_be_resumed() {
    let server = session(|asked| match (&*asked.what(), asked.header("last-event-id")) {
        ("tools/call", _) => Reply::events(&event("a-1", "")),
        ("GET", Some(_)) => Reply::of("400 Bad Request", &[], "no such stream"),
        _ => Reply::of("405 Method Not Allowed", &[], ""),
    })
    .await;
    let error = server.call().await.expect_err("it cannot be resumed").to_string();
    assert!(error.contains("ended before the answer") && error.contains("400"), "{error}");
}

#[tokio::test]
async fn the_client_stops_resuming_a_stream_without_new_events() {
    let server = session(|asked| match (&*asked.what(), asked.header("last-event-id")) {
        ("tools/call", _) => Reply::events(&event("a-1", "")),
        ("GET", Some(_)) => Reply::events(""),
        _ => Reply::of("405 Method Not Allowed", &[], ""),
    })
    .await;
    let error = server.call().await.expect_err("it ends for ever").to_string();
    assert!(error.contains("ended before the answer"), "{error}");
}

#[tokio::test]
async fn the_client_stops_resuming_a_stream_that_repeats_its_events() {
    let server = session(|asked| match (&*asked.what(), asked.header("last-event-id")) {
        ("tools/call", _) | ("GET", Some(_)) => Reply::events("id: a-1\nretry: 0\ndata:\n\n"),
        _ => Reply::of("405 Method Not Allowed", &[], ""),
    })
    .await;
    let error = server.call().await.expect_err("it ends for ever").to_string();
    assert!(error.contains("ended before the answer"), "{error}");
}

#[tokio::test]
async fn the_id_of_an_event_may_have_any_characters_that_a_header_can_have() {
    let answer = std::sync::Mutex::new(String::new());
    let server = session(move |asked| match (&*asked.what(), asked.header("last-event-id")) {
        ("tools/call", _) => {
            *answer.lock().unwrap() = done(asked);
            Reply::events(&event("ü 1", ""))
        }
        ("GET", Some("ü 1")) => Reply::events(&event("2", &answer.lock().unwrap())),
        _ => Reply::of("405 Method Not Allowed", &[], ""),
    })
    .await;
    assert_eq!(server.call().await.unwrap().content(), "done");
    // An invalid id must not open the standing stream instead.
    let server = session(|asked| match &*asked.what() {
        "tools/call" => Reply::events(&event("a\u{1}", "")),
        _ => Reply::of("405 Method Not Allowed", &[], ""),
    })
    .await;
    let error = server.call().await.expect_err("it cannot be resumed").to_string();
    assert!(error.ends_with("ended before the answer"), "{error}");
}

#[tokio::test]
async fn the_client_resumes_no_stream_since_2026_07_28() {
    let server = ScriptedServer::calling(|_| Reply::events(&event("a-1", ""))).await;
    let error = server.call().await.expect_err("no answer").to_string();
    assert!(error.contains("ended before the answer"), "{error}");
    assert!(server.asked().iter().all(|asked| asked.method == "POST"));
}

#[tokio::test]
async fn a_subscription_receives_the_events_of_its_stream_until_the_end() {
    for (last, good) in [(Some("result"), true), (None, false)] {
        let server = ScriptedServer::calling(move |asked| {
            let frame: serde_json::Value = serde_json::from_str(&asked.body).unwrap();
            let meta = json!({"io.modelcontextprotocol/subscriptionId": frame["id"]});
            let note = |method: &str, mut params: serde_json::Value| {
                params["_meta"] = meta.clone();
                let note = json!({"jsonrpc": "2.0", "method": method, "params": params});
                format!("id: 1\ndata: {note}\n\n")
            };
            let mut events = note(
                "notifications/subscriptions/acknowledged",
                json!({"notifications": {"resourceSubscriptions": ["file:///a"]}}),
            );
            events.push_str(&note("notifications/resources/updated", json!({"uri": "file:///a"})));
            if last.is_some() {
                let result = asked.result(json!({"resultType": "complete", "_meta": meta}));
                events.push_str(&format!("data: {result}\n\n"));
            }
            Reply::events(&events)
        })
        .await;
        let client = server.connect().await.unwrap();
        let mut subscription = within(client.subscribe("file:///a")).await.unwrap();
        let note = within(subscription.next(super::scripted_server::TEST_TIMEOUT)).await.unwrap();
        assert_eq!(note.method(), Some("notifications/resources/updated"));
        assert_eq!(within(subscription.ended()).await.is_ok(), good);
        assert_eq!(server.asked().len(), 2, "it is not taken up again");
    }
}

#[tokio::test]
async fn an_answer_in_a_batch_or_without_an_id_ends_its_stream() {
    for answer in ["[ANSWER]", r#"{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"no"}}"#] {
        let server = session(move |asked| match &*asked.what() {
            "tools/call" => {
                let events = event("a-1", &answer.replace("ANSWER", &done(asked)));
                Reply::of(
                    "200 OK",
                    &[("content-type", "Text/Event-Stream; charset=utf-8")],
                    &events,
                )
            }
            _ => Reply::of("405 Method Not Allowed", &[], ""),
        })
        .await;
        let client = server.connect().await.unwrap();
        within(call(&client)).await.expect("an answer");
        within(client.close()).await;
        let exchanges = client.transcript().exchanges();
        let posts = exchanges.iter().filter(|it| it.method == "POST" && it.status == Some(200));
        let errors: Vec<_> = posts.filter_map(|it| it.error.clone()).collect();
        assert!(errors.is_empty(), "{errors:?}");
    }
}

#[tokio::test]
async fn reports_a_session_that_is_lost_while_the_stream_is_open() {
    let times = AtomicUsize::new(0);
    let server = session(move |_| match times.fetch_add(1, Ordering::Relaxed) {
        0 => Reply::events(&event("g-1", "")),
        _ => Reply::of("404 Not Found", &[], "session expired"),
    })
    .await;
    let client = server.connect().await.unwrap();
    let cause = within(client.closed()).await.to_string();
    assert!(cause.contains("session expired"), "{cause}");
}

#[tokio::test]
async fn the_client_receives_notifications_on_the_standing_stream() {
    let note = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;
    let server = session(move |asked| match (&*asked.what(), asked.header("last-event-id")) {
        ("GET", None) => Reply::events(&event("g-1", note)),
        ("GET", Some("g-1")) => Reply::events(&event("g-2", note)).then_hang(),
        _ => Reply::json(&done(asked)),
    })
    .await;
    let client = server.connect().await.unwrap();
    let two = client.notifications().wait_for(
        "notifications/tools/list_changed",
        2,
        super::scripted_server::TEST_TIMEOUT,
    );
    assert!(within(two).await.is_ok());
}

#[tokio::test]
async fn reports_lost_messages_when_a_standing_stream_cannot_be_resumed() {
    let note = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;
    let begun = std::sync::atomic::AtomicBool::new(false);
    let server = session(move |asked| match (&*asked.what(), asked.header("last-event-id")) {
        ("GET", None) => {
            let reply = Reply::events(&event("g-1", note));
            match begun.swap(true, std::sync::atomic::Ordering::Relaxed) {
                true => reply.then_hang(),
                false => reply,
            }
        }
        ("GET", Some("g-1")) => Reply::of("400 Bad Request", &[], "not kept any more"),
        _ => Reply::json(&done(asked)),
    })
    .await;
    let client = server.connect().await.unwrap();
    let two = client.notifications().wait_for(
        "notifications/tools/list_changed",
        2,
        super::scripted_server::TEST_TIMEOUT,
    );
    assert!(within(two).await.is_ok());
    let [missed] = &client.background_errors()[..] else {
        panic!("{:?}", client.background_errors())
    };
    let missed = missed.to_string();
    assert!(missed.starts_with("messages since the last event are lost"), "{missed}");
    assert!(missed.ends_with("answered 400 Bad Request: not kept any more"), "{missed}");
}

#[tokio::test]
async fn a_timeout_closes_the_stream_of_its_request() {
    let (closed, mut gone) = tokio::sync::mpsc::unbounded_channel();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    tokio::spawn(async move {
        use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
        while let Ok((mut stream, _)) = listener.accept().await {
            let closed = closed.clone();
            tokio::spawn(async move {
                let mut text = String::new();
                let mut bytes = [0; 4096];
                while let Ok(read @ 1..) = stream.read(&mut bytes).await {
                    text = String::from_utf8_lossy(&bytes[..read]).into_owned();
                    let reply = match text.contains("server/discover") {
                        true => {
                            let asked = ReceivedRequest {
                                body: text.split("\r\n\r\n").nth(1).unwrap().to_owned(),
                                ..ReceivedRequest::default()
                            };
                            let body = super::scripted_server::discovered(&asked);
                            format!(
                                "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
                                body.len()
                            )
                        }
                        false => {
                            "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n: wait\n\n"
                                .to_owned()
                        }
                    };
                    stream.write_all(reply.as_bytes()).await.unwrap();
                }
                let _ = closed.send(text.contains("tools/call"));
            });
        }
    });
    let target = sparring_transport::http::HttpTarget::new(url);
    let client =
        super::scripted_server::connect(sparring_peer::Client::builder(), &target).await.unwrap();
    let short = client.with_timeout(Duration::from_millis(50));
    within(call(&short)).await.expect_err("no answer");
    assert_eq!(within(gone.recv()).await, Some(true));
}
