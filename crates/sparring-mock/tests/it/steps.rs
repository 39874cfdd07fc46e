//! What happens besides answers: progress, log messages, notifications, in
//! their time.

use std::future::IntoFuture;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::json;
use sparring_peer::client::Filter;
use sparring_wire::types::LogLevel;
use sparring_wire::{Json, Revision};

use crate::fixture::{PATIENCE, connect, everywhere, mock, said, within};

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
async fn progress_comes_in_order_and_only_to_who_wants_it() {
    everywhere(SCRIPT, async |client, _| {
        let heard = Arc::new(Mutex::new(Vec::new()));
        let ears = Arc::clone(&heard);
        let call = client
            .call_tool("slow", json!({"what": "the way"}))
            .on_progress(move |it| ears.lock().unwrap().push((it.progress, it.message)));
        assert_eq!(within(call.into_future()).await.unwrap().content(), "done");
        let half = Some("half of the way".to_owned());
        assert_eq!(*heard.lock().unwrap(), [(0.25, None), (0.5, half)]);
        let before = client.notifications().count("notifications/progress");
        said(client, "slow", json!({})).await;
        assert_eq!(client.notifications().count("notifications/progress"), before);
    })
    .await;
}

#[tokio::test]
async fn log_messages_come_from_the_level_on_that_the_client_wants() {
    everywhere(SCRIPT, async |client, _| {
        assert!(client.capabilities().has("logging"));
        within(client.set_log_level(LogLevel::Warning)).await.unwrap();
        said(client, "slow", json!({"what": "x"})).await;
        let told = client.notifications().of("notifications/message");
        assert_eq!(told.len(), 1);
        let params: serde_json::Value = told[0].params().unwrap().to().unwrap();
        assert_eq!((&params["level"], &params["logger"]), (&json!("warning"), &json!("it")));
        assert_eq!(params["data"], json!({"said": "x"}));
    })
    .await;
}

#[tokio::test]
async fn any_notification_can_be_sent_along() {
    let mock = mock(SCRIPT);
    for revision in Revision::ALL {
        let client = connect(&mock, revision).await;
        said(&client, "custom", json!({})).await;
        let told = client.notifications().of("notifications/acme/ready");
        assert!(told[0].params().unwrap().get("n").and_then(Json::as_i64).is_some(), "{revision}");
    }
}

#[tokio::test]
async fn what_comes_after_an_answer_and_on_a_timer_comes() {
    everywhere(SCRIPT, async |client, revision| {
        let (changed, updated) =
            ("notifications/prompts/list_changed", "notifications/resources/updated");
        let filter = Filter { prompts_list_changed: true, ..Filter::default() };
        let mut prompts = match revision.is_modern() {
            true => Some(within(client.listen(filter)).await.unwrap()),
            false => None,
        };
        let mut resource = within(client.subscribe("a://b")).await.unwrap();
        said(client, "later", json!({})).await;
        match &mut prompts {
            Some(prompts) => {
                let told = prompts.next(PATIENCE).await.unwrap();
                assert_eq!(told.method(), Some(changed));
            }
            None => {
                client.notifications().wait_for(changed, 1, PATIENCE).await.unwrap();
            }
        }
        for _ in 0..2 {
            let told = resource.next(PATIENCE).await.unwrap();
            assert_eq!(told.method(), Some(updated));
        }
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_timer_that_is_over_is_over() {
    let mock =
        mock("tools: [{name: a, hidden: true, text: x}]\ntimers: [{after: 1h, show: {tool: a}}]");
    let client = connect(&mock, Revision::LATEST_LEGACY).await;
    assert!(client.list_tools().await.unwrap().is_empty());
    tokio::time::advance(Duration::from_secs(3_601)).await;
    let changed = "notifications/tools/list_changed";
    client.notifications().wait_for(changed, 1, PATIENCE).await.unwrap();
    assert_eq!(client.list_tools().await.unwrap().len(), 1);
    tokio::time::advance(Duration::from_secs(7_200)).await;
    client.ping().await.unwrap();
    assert_eq!(client.notifications().count(changed), 1);
}
