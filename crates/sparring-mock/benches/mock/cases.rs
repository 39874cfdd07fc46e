//! Ten thousand concurrent test cases with three responses each: checks that they do not mix,
//! and measures memory.

use std::future::IntoFuture as _;
use std::time::Instant;

use serde_json::json;
use sparring_mock::{MockServer, Settings, directives};
use sparring_peer::Client;

const CASES: usize = 10_000;

pub(crate) async fn run() {
    let mock = MockServer::for_interactions(&Settings::default()).expect("it needs no script");
    let client = Client::connect(mock.connect()).await.expect("a connection");
    let before = memory();
    let began = Instant::now();
    let one = |number: usize| {
        let client = client.clone();
        async move {
            let turn = |turn: usize| {
                let text = format!("{number}/{turn}");
                json!({"content": [{"type": "text", "text": text}]})
            };
            let all = json!([turn(0), turn(1), turn(2)]);
            let task = json!({"task_description": directives(&format!("case-{number}"), &all)});
            for expected in 0..3 {
                let call = client.call_tool("get_data", task.clone()).into_future();
                let text = call.await.expect("an answer").content();
                assert_eq!(text, format!("{number}/{expected}"), "cases mix");
            }
        }
    };
    futures_util::future::join_all((0..CASES).map(one)).await;
    let (took, grown) = (began.elapsed(), memory().saturating_sub(before));
    println!(
        "{CASES} cases at once, 3 calls each, in memory: {took:.2?}, nothing mixed, {:.1} MiB more in use",
        grown as f64 / (1024.0 * 1024.0)
    );
}

/// Returns the resident memory of this process, in bytes.
fn memory() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kibibytes = line.and_then(|line| line.trim().split(' ').next()?.parse::<usize>().ok());
    kibibytes.unwrap_or_default() * 1024
}
