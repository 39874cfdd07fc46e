//! A run with many tests.

use serde_json::json;
use sparring_report::{FailedTry, Failure, Outcome, Run, Sender};

use super::traffic::TrafficBuilder;
use super::{run, test};

const VARIANTS: [(&str, &str); 4] = [
    ("2025-11-25", "stdio"),
    ("2025-11-25", "http"),
    ("2026-07-28", "stdio"),
    ("2026-07-28", "http"),
];
const ACTIONS: [&str; 6] = ["create", "fetch", "update", "delete", "search", "export"];

/// Returns a run of `tests` tests with at least 6 frames each, in suites of 40.
pub(crate) fn big(tests: usize) -> Run {
    run((0..tests).map(one).collect())
}

fn one(at: usize) -> sparring_report::Test {
    let (protocol, transport) = VARIANTS[at % 4];
    let number = at / 4;
    let suite = format!("suites/team-{}/part-{:03}.spar.yaml", at / 1000, at / 40);
    let action = ACTIONS[number % ACTIONS.len()];
    let mut test = test(&suite, 10 + at % 40 * 7, &format!("{action} works for record {number}"));
    test.server = Some(["catalog", "orders", "billing"][number % 3].to_owned());
    test.protocol = Some(protocol.to_owned());
    test.transport = Some(transport.to_owned());
    test.tags = vec![action.to_owned(), format!("tier-{}", number % 5)];
    // Durations with a long tail, the same in every run.
    let mixed = (at as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
    let took = 0.8
        + (mixed % 1000) as f64 / 1000.0 * 12.0
        + if mixed.is_multiple_of(61) { 240.0 } else { 0.0 };
    let text = format!(
        "{{\"record\":{number},\"state\":\"{action}d\",\"note\":\"{}\"}}",
        "all of it is here ".repeat(6)
    );
    let mut traffic = TrafficBuilder::new(&mut test);
    traffic
        .initialize(4.0 + took / 3.0)
        .call(action, json!({"id": number, "dry": false}), took, &text)
        .notify(Sender::Server, "notifications/message", json!({"level": "info", "data": "done"}))
        .call("audit", json!({"id": number}), took / 2.0, "1 entry");
    match mixed % 97 {
        0 | 1 => {
            traffic.add_violation(
                "unknown-field",
                "$.result.extra",
                "the revision has no field `extra` here",
                "2025-11-25/server/tools",
            );
            test.outcome = Outcome::Failed;
            let place = test.place.clone();
            let message = format!("text: expected \"{number}\", found \"{}\"", number + 1);
            let source = format!("    expect: {{text: \"{number}\"}}");
            let failures = vec![Failure { place, span: 0..0, source, message, diff: None }];
            test.failed_tries = vec![FailedTry { failures, ..FailedTry::default() }];
        }
        2 => test.failed_tries = vec![FailedTry::default()],
        3 | 4 => {
            test.outcome = Outcome::Skipped;
            test.reason = Some("needs a database".to_owned());
            (test.took_ms, test.frames, test.timings) = (0.0, Vec::new(), Vec::new());
        }
        _ => {}
    }
    test
}
