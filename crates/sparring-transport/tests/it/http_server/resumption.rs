//! Broken streams that are resumed, and the standing stream.

use http::StatusCode;
use serde_json::json;
use sparring_transport::http::HttpOptions;
use sparring_wire::Revision;

use super::fixture::{TestServer, options, until};
use super::requests::{bare, call, frame, get_in, post_in, within};

#[tokio::test]
async fn a_resumed_stream_continues_after_the_last_event() {
    let mut test_server = TestServer::open().await;
    let (mut connection, mut broken) = (test_server.connect().await, test_server.connect().await);
    let id = connection.begin(Revision::LATEST_LEGACY).await;
    let mut events = broken.listen(post_in(&id, &call(2, "steps"))).await;
    let priming = events.next().await.unwrap();
    assert_eq!(priming.data.as_deref(), Some(&b""[..]));
    assert_eq!(priming.retry, Some(options().retry));
    let event = events.next().await.unwrap();
    assert_eq!(frame(&event)["params"]["number"], 1);
    assert_eq!(test_server.next().await, "begun");
    drop((events, broken));

    // A broken stream does not cancel the request; its frames are kept.
    test_server.release_call();
    let resume = |event: &str| bare(get_in(&id).header("last-event-id", event));
    let last = event.id.as_deref().unwrap();
    let mut again = connection.listen(resume(last)).await;
    let rest = again.rest().await;
    assert_eq!(rest.len(), 2, "{rest:?}");
    assert_eq!(rest[0]["params"]["number"], 2);
    assert_eq!(
        (&rest[1]["id"], &rest[1]["result"]["content"][0]["text"]),
        (&json!(2), &json!("stepped"))
    );

    // The client can resume from the first event again.
    let mut again = connection.listen(resume(priming.id.as_deref().unwrap())).await;
    assert_eq!(again.rest().await.len(), 3);
    for unknown in ["77-0", "nonsense", "-", "1", ""] {
        let answer = connection.ask(resume(unknown)).await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{unknown}");
    }
}

#[tokio::test]
async fn only_clients_of_2025_11_25_get_a_priming_event() {
    let test_server = TestServer::open().await;
    let mut connection = test_server.connect().await;
    for revision in [Revision::V2025_03_26, Revision::V2025_06_18, Revision::V2025_11_25] {
        let id = connection.begin(revision).await;
        let mut events = connection.listen(post_in(&id, &call(2, "many"))).await;
        let first = events.next().await.unwrap();
        let primed = revision.starts_streams_with_id_event();
        assert_eq!(first.data.is_some_and(|data| data.is_empty()), primed, "{revision}");
        assert!(first.id.is_some(), "{revision}");
        assert_eq!(events.rest().await.len(), if primed { 51 } else { 50 }, "{revision}");
    }
}

#[tokio::test]
async fn notifications_without_a_request_wait_for_the_standing_stream() {
    let test_server = TestServer::open().await;
    let (mut connection, mut first, mut second) =
        (test_server.connect().await, test_server.connect().await, test_server.connect().await);
    let id = connection.begin(Revision::LATEST_LEGACY).await;
    // The session must have received `notifications/initialized`.
    connection.ask(post_in(&id, &call(2, "echo"))).await;
    test_server.http.server().tools_changed();
    let mut events = first.listen(bare(get_in(&id))).await;
    assert_eq!(events.next().await.unwrap().data.as_deref(), Some(&b""[..]));
    let changed = events.next().await.unwrap();
    assert_eq!(frame(&changed)["method"], "notifications/tools/list_changed");

    // Another reader replaces this one and receives everything.
    let mut later = second.listen(bare(get_in(&id))).await;
    let priming = later.next().await.unwrap();
    assert_eq!(priming.id, changed.id, "it goes on where the other was");
    assert_eq!(events.next().await, None);
    test_server.http.server().tools_changed();
    let event = later.next().await.unwrap();
    assert_ne!(event.id, changed.id);

    // A client that resumes receives the missed frames.
    drop((later, second));
    let resumed = get_in(&id).header("last-event-id", changed.id.as_deref().unwrap());
    let mut resumed = connection.listen(bare(resumed)).await;
    assert_eq!(resumed.next().await.unwrap().id, event.id);
}

#[tokio::test]
async fn limits_unread_frames() {
    let test_server = TestServer::with(HttpOptions { replay_bytes: 300, ..options() }).await;
    let mut connection = test_server.connect().await;
    let id = connection.begin(Revision::V2025_06_18).await;
    connection.ask(post_in(&id, &call(2, "echo"))).await;
    for number in 0..100 {
        test_server.http.server().notify("notifications/x", Some(json!({"number": number}).into()));
    }
    // This request is answered after all changes were sent.
    connection.ask(post_in(&id, &call(3, "echo"))).await;
    let mut events = connection.listen(bare(get_in(&id))).await;
    let first = events.frame().await["params"]["number"].as_u64().unwrap();
    assert!((90..100).contains(&first), "{first}");
    for number in first + 1..100 {
        assert_eq!(events.frame().await["params"]["number"], number);
    }
}

#[tokio::test]
async fn refuses_to_resume_at_a_position_that_is_not_kept() {
    let test_server = TestServer::with(HttpOptions { replay_bytes: 300, ..options() }).await;
    let (mut connection, mut broken) = (test_server.connect().await, test_server.connect().await);
    let id = connection.begin(Revision::LATEST_LEGACY).await;
    connection.ask(post_in(&id, &call(2, "echo"))).await;
    let mut events = broken.listen(bare(get_in(&id))).await;
    let first = events.next().await.unwrap().id.unwrap();
    test_server.http.server().notify("notifications/x", Some(json!({"number": 0}).into()));
    let second = events.next().await.unwrap().id.unwrap();
    drop((events, broken));
    let resume = |last: &str| bare(get_in(&id).header("last-event-id", last));
    let mut again = connection.listen(resume(&first)).await;
    assert_eq!(again.next().await.unwrap().id.as_ref(), Some(&second), "all of it is kept");

    // Delivered frames are dropped when more arrive.
    for number in 1..100 {
        test_server.http.server().notify("notifications/x", Some(json!({"number": number}).into()));
        assert_eq!(again.frame().await["params"]["number"], number);
    }
    let mut other = test_server.connect().await;
    let answer = within(other.ask(resume(&second))).await;
    assert_eq!(answer.status, StatusCode::BAD_REQUEST);
    let message = answer.json()["error"]["message"].as_str().unwrap().to_owned();
    assert!(message.contains("not available any more"), "{message}");
    // Without a position it receives the kept frames.
    let mut events = other.listen(bare(get_in(&id))).await;
    assert_eq!(events.next().await.unwrap().data.as_deref(), Some(&b""[..]));
    assert_eq!(again.next().await, None, "the other has taken over");
}

#[tokio::test]
async fn a_request_whose_connection_broke_before_any_event_is_still_served() {
    let mut test_server = TestServer::open().await;
    let (mut connection, mut broken) = (test_server.connect().await, test_server.connect().await);
    let id = connection.begin(Revision::LATEST_LEGACY).await;
    let mut asked = Box::pin(broken.send(post_in(&id, &call(2, "wait"))));
    tokio::select! {
        _ = &mut asked => panic!("the call was not released"),
        begun = test_server.next() => assert_eq!(begun, "begun"),
    }
    drop(asked);
    drop(broken);
    test_server.release_call();
    // Its id is free again after the answer.
    until("it was answered", || test_server.http.server().counts().responses == 2).await;
    let answer = connection.ask(post_in(&id, &call(2, "echo"))).await;
    assert_eq!(answer.status, StatusCode::OK);
}

#[tokio::test]
async fn a_handler_can_close_its_connection_so_that_the_client_resumes() {
    let mut test_server = TestServer::open().await;
    let mut connection = test_server.connect().await;
    let id = connection.begin(Revision::LATEST_LEGACY).await;
    let mut events = connection.listen(post_in(&id, &call(2, "cut"))).await;
    let priming = events.next().await.unwrap();
    assert_eq!((priming.retry, events.next().await), (Some(options().retry), None));
    assert_eq!(test_server.next().await, "begun");
    let resume = get_in(&id).header("last-event-id", priming.id.as_deref().unwrap());
    let mut resumed = connection.listen(bare(resume)).await;
    test_server.release_call();
    let rest = resumed.rest().await;
    assert_eq!(rest.len(), 1, "{rest:?}");
    assert_eq!(rest[0]["result"]["content"][0]["text"], "after");

    // A stream that cannot be resumed is not cut.
    let id = connection.begin(Revision::V2025_06_18).await;
    test_server.release_call();
    let answer = connection.ask(post_in(&id, &call(2, "cut"))).await;
    assert_eq!(answer.json()["result"]["content"][0]["text"], "after");
}
