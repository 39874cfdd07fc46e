//! Servers of 2026-07-28 with broken subscriptions: one that ends is made
//! again, one that is refused is not.

use std::future::poll_fn;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use sparring_host::config::ServerConfig;
use sparring_host::manager::{Event, Events, Manager};
use sparring_peer::{Incoming, Link as _, LinkKind, MemoryLink, Outgoing, Protocol, memory};
use sparring_wire::{Frame, Revision};

use super::fixture::{TestConnector, advance_time, entry, event, within};

/// The answer to a subscription.
#[derive(Clone, Copy, PartialEq)]
enum Listening {
    Refused,
    /// Acknowledged and ended at once.
    Ends,
}

/// Answers requests and records them.
async fn serve(mut link: MemoryLink, listening: Listening, asked: Arc<Mutex<Vec<String>>>) {
    loop {
        let incoming = poll_fn(|cx| link.poll_receive(cx)).await;
        let frame = match incoming {
            Incoming::Frame { frame, .. } => frame,
            Incoming::Closed(_) => return,
            _ => continue,
        };
        let (Some(method), Some(id)) = (frame.method(), frame.id()) else { continue };
        asked.lock().unwrap().push(method.to_owned());
        let id: Value = serde_json::from_str(&id.to_string()).unwrap();
        let reply = |result: Value| json!({"jsonrpc": "2.0", "id": id, "result": result});
        let replies = match method {
            "server/discover" => vec![reply(discovery())],
            "tools/list" => vec![reply(json!({
                "resultType": "complete", "ttlMs": 0, "cacheScope": "private", "tools": []
            }))],
            "subscriptions/listen" if listening == Listening::Ends => {
                let meta = json!({"io.modelcontextprotocol/subscriptionId": id});
                let params = json!({"notifications": {"toolsListChanged": true}, "_meta": meta});
                let method = "notifications/subscriptions/acknowledged";
                let message = json!({"jsonrpc": "2.0", "method": method, "params": params});
                vec![message, reply(json!({"resultType": "complete", "_meta": meta}))]
            }
            _ => {
                let error = json!({"code": -32601, "message": "no such method"});
                vec![json!({"jsonrpc": "2.0", "id": id, "error": error})]
            }
        };
        for reply in replies {
            link.send(Outgoing::from(Frame::parse(reply.to_string())));
        }
    }
}

fn discovery() -> Value {
    json!({
        "resultType": "complete", "ttlMs": 0, "cacheScope": "private",
        "supportedVersions": ["2026-07-28"], "capabilities": {"tools": {"listChanged": true}},
        "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "by hand", "version": "1"}},
    })
}

/// A manager connected to such a server, the server's requests, and the reason
/// why the subscription failed.
async fn start_manager(listening: Listening) -> (Manager, Arc<Mutex<Vec<String>>>, Events) {
    let connector = TestConnector::default();
    let asked = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&asked);
    connector.put("a", move || {
        let (here, there) = memory(LinkKind::Shared);
        tokio::spawn(serve(there, listening, Arc::clone(&noted)));
        here
    });
    let protocol = Protocol::Only(Revision::V2026_07_28);
    let manager = connector.manager([ServerConfig { protocol, ..entry("a") }]);
    let events = manager.subscribe();
    within(manager.connect("a")).await.unwrap();
    (manager, asked, events)
}

async fn subscription_failure(events: &mut Events) -> String {
    event(events, |event| match event {
        Event::SubscriptionFailed { why, .. } => Some(why.to_string()),
        _ => None,
    })
    .await
}

fn count(asked: &Mutex<Vec<String>>, method: &str) -> usize {
    asked.lock().unwrap().iter().filter(|asked| *asked == method).count()
}

#[tokio::test(start_paused = true)]
async fn a_refused_subscription_is_reported_and_not_repeated() {
    let (manager, asked, mut events) = start_manager(Listening::Refused).await;
    assert!(subscription_failure(&mut events).await.contains("no such method"));
    advance_time(Duration::from_secs(600)).await;
    assert_eq!(count(&asked, "subscriptions/listen"), 1);
    assert!(manager.is_connected("a"), "it is used without");
}

#[tokio::test(start_paused = true)]
async fn a_subscription_that_ends_is_made_again_and_the_lists_are_fetched() {
    let (manager, asked, mut events) = start_manager(Listening::Ends).await;
    subscription_failure(&mut events).await;
    let listed = count(&asked, "tools/list");
    advance_time(Duration::from_secs(3)).await;
    assert!(count(&asked, "subscriptions/listen") > 1);
    assert!(count(&asked, "tools/list") > listed, "something may have changed meanwhile");
    assert!(manager.is_connected("a"));
    // The delay grows, because no subscription is stable.
    advance_time(Duration::from_secs(600)).await;
    assert!(count(&asked, "subscriptions/listen") < 40);
}
