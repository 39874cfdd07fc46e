//! Compares whole frames and the tables of methods with the official schemas.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use sparring_wire::{Checker, Frame, Id, RawJson, Revision, Rule, Side};

use super::schema::{Schema, spec_dir};
use super::{examples, samples};

const SIDES: [(Side, &str); 2] = [(Side::Client, "Client"), (Side::Server, "Server")];

/// Returns the methods of a union such as `ClientRequest`, with their types.
fn methods<'a>(schema: &'a Schema, union: &str) -> Vec<(&'a str, &'a str)> {
    let types = schema.members_of(union).into_iter();
    let methods = types.map(|name| {
        let definition = schema.definition(name).unwrap();
        let method = &definition["properties"]["method"]["const"];
        (method.as_str().unwrap(), name)
    });
    methods.collect()
}

#[test]
fn the_tables_have_exactly_the_methods_of_the_schemas() {
    let Some(dir) = spec_dir() else { return };
    let mut count = 0;
    for revision in Revision::ALL {
        let schema = Schema::load(&dir, revision);
        for (side, name) in SIDES {
            let official = methods(&schema, &format!("{name}Request")).into_iter();
            let official: BTreeSet<_> = official.map(|(method, _)| method).collect();
            let ours = revision.requests(side).iter().map(|rule| rule.name);
            assert_eq!(ours.collect::<BTreeSet<_>>(), official, "{revision} {side}");
            count += official.len();
            let official = methods(&schema, &format!("{name}Notification")).into_iter();
            let official: BTreeSet<_> = official.map(|(method, _)| method).collect();
            let ours = revision.notifications(side).iter().map(|rule| rule.name);
            assert_eq!(ours.collect::<BTreeSet<_>>(), official, "{revision} {side}");
            count += official.len();
        }
    }
    assert!(count >= 120, "{count}");
}

#[test]
fn the_capabilities_are_those_of_the_schemas() {
    let Some(dir) = spec_dir() else { return };
    for revision in Revision::ALL {
        let schema = Schema::load(&dir, revision);
        for (side, name) in SIDES {
            let definition = schema.definition(&format!("{name}Capabilities")).unwrap();
            let official = definition["properties"].as_object().unwrap().keys();
            let ours = revision.definition().capabilities(side).iter().copied();
            let official: BTreeSet<_> = official.map(String::as_str).collect();
            assert_eq!(ours.collect::<BTreeSet<_>>(), official, "{revision} {side}");
        }
    }
}

fn assert_valid(checker: &Checker, from: Side, answers: Option<&str>, frame: &Value) {
    let frame = Frame::parse(frame.to_string());
    let mut found = checker.check(&frame, from, answers);
    // Samples of the schema need not follow its recommendations.
    found.retain(|it| !it.is_warning());
    assert!(found.is_empty(), "{} {frame:?}: {found:?}", checker.revision());
}

#[test]
fn valid_requests_and_notifications_have_no_violations() {
    let Some(dir) = spec_dir() else { return };
    let mut count = 0;
    for revision in Revision::ALL {
        let schema = Schema::load(&dir, revision);
        let checker = Checker::for_revision(revision);
        for (side, name) in SIDES {
            for kind in ["Request", "Notification"] {
                for (_, name) in methods(&schema, &format!("{name}{kind}")) {
                    let mut values = samples::of_type(&schema, name);
                    values.extend(examples(&dir, revision, name));
                    for mut value in values {
                        value["jsonrpc"] = json!("2.0");
                        if kind == "Request" {
                            value["id"] = json!("r-1");
                        }
                        assert_valid(&checker, side, None, &value);
                        count += 1;
                    }
                }
            }
        }
    }
    assert!(count >= 400, "{count}");
}

#[test]
fn valid_results_have_no_violations() {
    let Some(dir) = spec_dir() else { return };
    let mut count = 0;
    for revision in Revision::ALL {
        let schema = Schema::load(&dir, revision);
        let checker = Checker::for_revision(revision);
        for (side, _) in SIDES {
            for rule in revision.requests(side) {
                let mut values = samples::of_type(&schema, rule.result);
                values.extend(examples(&dir, revision, rule.result));
                if rule.task {
                    values.extend(samples::of_type(&schema, "CreateTaskResult"));
                }
                for value in values {
                    let frame =
                        Frame::result_response(&Id::Integer(1), RawJson::from(&value).view(), &[]);
                    let mut found = checker.check(&frame, side.other(), Some(rule.name));
                    // Samples of the schema need not follow its recommendations, and their
                    // numbers need not fit their lists.
                    found.retain(|it| !it.is_warning() && it.rule != Rule::CompletionTotal);
                    assert!(found.is_empty(), "{revision} {frame:?}: {found:?}");
                    count += 1;
                }
            }
        }
    }
    assert!(count >= 300, "{count}");
}

#[test]
fn official_responses_have_no_violations() {
    let Some(dir) = spec_dir() else { return };
    let revision = Revision::V2026_07_28;
    let checker = Checker::for_revision(revision);
    let (mut count, mut wrong) = (0, Vec::new());
    for rule in revision.requests(Side::Client) {
        for response in examples(&dir, revision, &format!("{}Response", rule.result)) {
            let frame = Frame::parse(response.to_string());
            let found = checker.check(&frame, Side::Server, Some(rule.name));
            wrong.extend(found.into_iter().map(|it| (rule.name, it.rule, it.path)));
            count += 1;
        }
        if rule.input_required {
            for result in examples(&dir, revision, "InputRequiredResult") {
                let response = json!({"jsonrpc": "2.0", "id": 1, "result": result});
                assert_valid(&checker, Side::Server, Some(rule.name), &response);
                count += 1;
            }
        }
    }
    for name in [
        "HeaderMismatchError",
        "MissingRequiredClientCapabilityError",
        "UnsupportedProtocolVersionError",
    ] {
        for response in examples(&dir, revision, name) {
            assert_valid(&checker, Side::Server, None, &response);
            count += 1;
        }
    }
    assert!(count >= 15, "{count}");
    // One example omits the caching hints. The schema accepts it as an
    // InputRequiredResult, whose resultType is any string; server/utilities/caching
    // requires them in a complete result.
    let hints = ["$.result.cacheScope", "$.result.ttlMs"];
    let hints = hints.map(|it| ("resources/read", Rule::MissingField, it.to_owned()));
    assert_eq!(wrong, hints);
}
