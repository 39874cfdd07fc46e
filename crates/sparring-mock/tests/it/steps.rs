//! Steps and timers: progress, log messages and notifications.

use std::future::IntoFuture;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::json;
use sparring_peer::client::SubscriptionFilter;
use sparring_wire::types::LogLevel;
use sparring_wire::{Json, Revision};

use crate::fixture::{TIMEOUT, call_text, connect, everywhere, mock, within};

const SCRIPT: &str = "
tools:
  - name: slow
    during:
      - {progress: 0.25}
      - {progress: {progress: 0.5, total: 1, message: \"half of ${args.what:-it}\"}, delay: 10ms}
      - {log: {level: warning, logger: it, data: {said: \"${args.what:-it}\"}}}
      - {log: quiet}
    text: done
  - {name: custom, during: [{notify: {method: acme/ready, params: {n: \"${call}\"}}}], text: done}
  - {name: later, after: [{delay: 5ms, notify: prompts/list_changed}], text: done}
prompts: [{name: p, text: x}]
resources: [{uri: \"a://b\", text: x}]
timers:
  - {every: 20ms, notify: {method: resources/updated, params: {uri: \"a://b\"}}}
";

#[tokio::test]
async fn sends_progress_in_order_and_only_on_request() {
    everywhere(SCRIPT, async |client, _| {
        let received = Arc::new(Mutex::new(Vec::new()));
        let recorder = Arc::clone(&received);
        let call = client
            .call_tool("slow", json!({"what": "the way"}))
            .on_progress(move |it| recorder.lock().unwrap().push((it.progress, it.message)));
        assert_eq!(within(call.into_future()).await.unwrap().content(), "done");
        let half = Some("half of the way".to_owned());
        assert_eq!(*received.lock().unwrap(), [(0.25, None), (0.5, half)]);
        let before = client.notifications().count("notifications/progress");
        call_text(client, "slow", json!({})).await;
        assert_eq!(client.notifications().count("notifications/progress"), before);
    })
    .await;
}

#[tokio::test]
async fn sends_log_messages_from_the_requested_level() {
    everywhere(SCRIPT, async |client, _| {
        assert!(client.capabilities().has("logging"));
        within(client.set_log_level(LogLevel::Warning)).await.unwrap();
        call_text(client, "slow", json!({"what": "x"})).await;
        let reported = client.notifications().by_name("notifications/message");
        assert_eq!(reported.len(), 1);
        let params: serde_json::Value = reported[0].params().unwrap().deserialize().unwrap();
        assert_eq!((&params["level"], &params["logger"]), (&json!("warning"), &json!("it")));
        assert_eq!(params["data"], json!({"said": "x"}));
    })
    .await;
}

#[tokio::test]
async fn sends_any_notification() {
    let mock = mock(SCRIPT);
    for revision in Revision::ALL {
        let client = connect(&mock, revision).await;
        call_text(&client, "custom", json!({})).await;
        let reported = client.notifications().by_name("notifications/acme/ready");
        assert!(
            reported[0].params().unwrap().get("n").and_then(Json::as_i64).is_some(),
            "{revision}"
        );
    }
}

#[tokio::test]
async fn runs_steps_after_an_answer_and_on_timers() {
    everywhere(SCRIPT, async |client, revision| {
        let (changed, updated) =
            ("notifications/prompts/list_changed", "notifications/resources/updated");
        let filter =
            SubscriptionFilter { prompts_list_changed: true, ..SubscriptionFilter::default() };
        let mut prompts = match revision.is_modern() {
            true => Some(within(client.listen(filter)).await.unwrap()),
            false => None,
        };
        let mut resource = within(client.subscribe("a://b")).await.unwrap();
        call_text(client, "later", json!({})).await;
        match &mut prompts {
            Some(prompts) => {
                let reported = prompts.next(TIMEOUT).await.unwrap();
                assert_eq!(reported.method(), Some(changed));
            }
            None => {
                client.notifications().wait_for(changed, 1, TIMEOUT).await.unwrap();
            }
        }
        for _ in 0..2 {
            let reported = resource.next(TIMEOUT).await.unwrap();
            assert_eq!(reported.method(), Some(updated));
        }
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_timer_with_after_runs_once() {
    let mock =
        mock("tools: [{name: a, hidden: true, text: x}]\ntimers: [{after: 1h, show: {tool: a}}]");
    let client = connect(&mock, Revision::LATEST_LEGACY).await;
    assert!(client.list_tools().await.unwrap().is_empty());
    tokio::time::advance(Duration::from_secs(3_601)).await;
    let changed = "notifications/tools/list_changed";
    client.notifications().wait_for(changed, 1, TIMEOUT).await.unwrap();
    assert_eq!(client.list_tools().await.unwrap().len(), 1);
    tokio::time::advance(Duration::from_secs(7_200)).await;
    client.ping().await.unwrap();
    assert_eq!(client.notifications().count(changed), 1);
}
