//! The revisions and transports in which the tests of a suite are planned.

use sparring_suite::{Plan, TestSelection, Transport};
use sparring_wire::Revision;

use crate::fixture::read;

/// Returns the planned tests with their variants, and the number of impossible variants.
fn planned(suite: &str, choice: &TestSelection) -> (Vec<String>, usize) {
    let plan = Plan::new(vec![read(suite).unwrap()], choice).unwrap();
    let names = plan.tests().map(|it| format!("{}{}", it.test.name, it.variant)).collect();
    (names, plan.impossible().len())
}

const SUITE: &str = "servers:\n  \
    one: {mock: trainer.mock.yaml, protocol: [2025-11-25, 2026-07-28], transport: [http, sse]}\n  \
    two: {command: server, protocol: 2024-11-05}\n  \
    three: {command: server}\n\
    tests: [{name: a, ping: true}, {name: b, server: two, ping: true}, \
    {name: c, server: three, ping: true}]\n";

#[test]
fn plans_each_test_once_for_each_variant_of_its_server() {
    let (names, left_out) = planned(SUITE, &TestSelection::default());
    let expected = [
        "a [2025-11-25, http]",
        "a [2025-11-25, sse]",
        "a [2026-07-28, http]",
        "b [2024-11-05]",
        "c",
    ];
    assert_eq!((names, left_out), (expected.map(str::to_owned).to_vec(), 1));
}

#[test]
fn selected_revisions_and_transports_replace_those_of_the_suite() {
    let choice = TestSelection {
        protocols: vec![Revision::V2025_06_18],
        transports: vec![Transport::Stdio],
        ..TestSelection::default()
    };
    let (names, _) = planned(SUITE, &choice);
    assert_eq!(names, ["a [2025-06-18, stdio]", "b [2025-06-18]", "c [2025-06-18]"]);
}
