//! Two thousand sessions, each with a standing stream: measures the memory of one and the time
//! of a call among them, and checks that each receives every notification.

use std::time::{Duration, Instant};

use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;

use super::client::{Sender, ask, begin, call, connect, post, send};
use super::servers::Served;

const SESSIONS: usize = 2_000;

/// Returns true if nothing was lost.
pub(crate) async fn run(served: &Served) -> bool {
    let mut caller = connect(served.address).await;
    let before = served.memory();
    let mut sessions = Vec::new();
    let mut streams: Vec<(Sender, Incoming)> = Vec::new();
    for _ in 0..SESSIONS {
        let id = begin(served.address, &mut caller).await;
        let mut sender = connect(served.address).await;
        let get = Request::get("/mcp")
            .header("host", served.address.to_string())
            .header("accept", "text/event-stream")
            .header("mcp-session-id", &id)
            .body(Full::<Bytes>::default());
        let body = send(&mut sender, get.expect("a request")).await.into_body();
        streams.push((sender, body));
        sessions.push(id);
    }
    let each = (served.memory() - before) / SESSIONS;

    let mut times = Vec::new();
    for id in &sessions {
        let request = post(served.address)
            .header("mcp-session-id", id)
            .body(Full::from(call(1, "echo")))
            .expect("a request");
        let start = Instant::now();
        ask(&mut caller, request).await;
        times.push(start.elapsed());
    }
    times.sort_unstable();
    let at = |part: usize| times[times.len() * part / 100].as_secs_f64() * 1e6;

    let change = post(served.address)
        .header("mcp-session-id", &sessions[0])
        .body(Full::from(call(2, "change")))
        .expect("a request");
    ask(&mut caller, change).await;
    let mut notified = 0;
    for (_, body) in &mut streams {
        notified += usize::from(receives_notification(body).await);
    }
    println!("{SESSIONS} sessions with a standing stream each");
    println!("memory for each: {:.1} KiB", each as f64 / 1024.0);
    println!("a call among them: median {:.1} µs, p99 {:.1} µs", at(50), at(99));
    println!("received the notification: {notified} of {SESSIONS}");
    notified == SESSIONS
}

/// Returns true if the notification arrives on a stream.
async fn receives_notification(body: &mut Incoming) -> bool {
    let reading = async {
        let mut text = Vec::new();
        while let Some(Ok(piece)) = body.frame().await {
            text.extend_from_slice(&piece.into_data().unwrap_or_default());
            if String::from_utf8_lossy(&text).contains("tools/list_changed") {
                return true;
            }
        }
        false
    };
    tokio::time::timeout(Duration::from_secs(10), reading).await.unwrap_or(false)
}
