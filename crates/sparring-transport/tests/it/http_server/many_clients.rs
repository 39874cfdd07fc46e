//! Many clients at once on several threads: each receives all of its own answers.

use http::StatusCode;
use serde_json::json;
use sparring_wire::Revision;

use super::fixture::TestServer;
use super::requests::{Connection, bare, call, get_in, modern, post_in};

const CLIENTS: u64 = 32;
const CALLS: u64 = 40;

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn clients_of_both_eras_get_their_own_answers() {
    let test_server = TestServer::open().await;
    let address = test_server.serving.address().unwrap();
    let clients = (0..CLIENTS).map(|client| {
        tokio::spawn(async move {
            let mut connection = Connection::to(address).await;
            let session = match client % 2 {
                0 => None,
                _ => Some(connection.begin(Revision::LATEST_LEGACY).await),
            };
            for number in 1..=CALLS {
                let id = client * 1_000 + number;
                let send = |tool| match &session {
                    None => modern(call(id, tool)),
                    Some(session) => post_in(session, &call(id, tool)),
                };
                if number % 4 == 0 {
                    let rest = connection.listen(send("many")).await.rest_of_frames().await;
                    assert_eq!((rest.len(), &rest[50]["id"]), (51, &json!(id)));
                } else {
                    let answer = connection.ask(send("echo")).await;
                    assert_eq!((answer.status, &answer.json()["id"]), (StatusCode::OK, &json!(id)));
                }
            }
        })
    });
    for client in clients.collect::<Vec<_>>() {
        client.await.unwrap();
    }
    assert_eq!(test_server.http.session_count() as u64, CLIENTS / 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn requests_of_one_session_at_once_are_not_mixed_up() {
    let test_server = TestServer::open().await;
    let address = test_server.serving.address().unwrap();
    let mut connection = test_server.connect().await;
    let session = connection.begin(Revision::LATEST_LEGACY).await;
    let mut standing = connection.listen(bare(get_in(&session))).await;
    standing.next().await.unwrap();
    let lanes = (0..CLIENTS).map(|lane| {
        let session = session.clone();
        tokio::spawn(async move {
            let mut connection = Connection::to(address).await;
            for number in 1..=CALLS {
                let id = lane * 1_000 + number;
                let mut events = connection.listen(post_in(&session, &call(id, "many"))).await;
                let frames = events.rest_of_frames().await;
                let numbers: Vec<_> =
                    frames[..50].iter().map(|it| &it["params"]["number"]).collect();
                assert_eq!(
                    numbers,
                    (1..=50).map(|it| json!(it)).collect::<Vec<_>>().iter().collect::<Vec<_>>()
                );
                assert_eq!(frames[50]["id"], id);
            }
        })
    });
    let lanes: Vec<_> = lanes.collect();
    for _ in 0..20 {
        test_server.http.server().tools_changed();
        assert_eq!(standing.frame().await["method"], "notifications/tools/list_changed");
    }
    for lane in lanes {
        lane.await.unwrap();
    }
}
