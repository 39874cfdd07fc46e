//! Lists the tests of a plan (`--list`).

use serde_json::{Value, json};
use sparring_suite::{Plan, PlannedTest};

use crate::output::line;

/// Renders one line for each test and variant.
pub(super) fn render_list(plan: &Plan) -> String {
    plan.tests().map(render_listed_test).collect()
}

/// Returns one entry for each test, with its variants.
pub(super) fn list_as_json(plan: &Plan) -> Value {
    let mut listed: Vec<(PlannedTest<'_>, Vec<Value>)> = Vec::new();
    for planned in plan.tests() {
        let variant = variant_as_json(planned);
        match listed.iter_mut().find(|(other, _)| std::ptr::eq(other.test, planned.test)) {
            Some((_, variants)) => variants.push(variant),
            None => listed.push((planned, vec![variant])),
        }
    }
    let tests = listed.into_iter().map(|(planned, variants)| {
        let PlannedTest { suite, test, .. } = planned;
        let (source, span) = suite.place(test.span);
        let mut entry = json!({
            "name": test.name,
            "file": source.name(),
            "line": source.position(span.start).line,
            "tags": test.tags,
            "variants": variants,
        });
        if let Some(reason) = &test.skip {
            entry["skip"] = reason.as_str().into();
        }
        entry
    });
    json!({"tests": tests.collect::<Vec<_>>()})
}

fn render_listed_test(planned: PlannedTest<'_>) -> String {
    let tags: String = planned.test.tags.iter().map(|tag| format!(" [{tag}]")).collect();
    let PlannedTest { suite, test, variant, .. } = planned;
    let (suite, test) = (line::clean(suite.name()), line::clean(&test.name));
    format!("{suite}: {test}{variant}{}\n", line::clean(&tags))
}

/// The revision and the transport, if the suite or a flag selects them.
fn variant_as_json(planned: PlannedTest<'_>) -> Value {
    let mut variant = json!({});
    if let Some(protocol) = planned.variant.protocol {
        variant["protocol"] = protocol.name().into();
    }
    if let Some(transport) = planned.variant.transport {
        variant["transport"] = transport.name().into();
    }
    variant
}
