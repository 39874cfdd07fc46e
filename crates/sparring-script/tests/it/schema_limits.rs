//! Schemas and values that would take too much time, stack or memory without limits.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use sparring_script::Schema;
use sparring_script::schema::Verdict;

/// The time limit of a test, which is not optimized and shares its machine. Without limits
/// each schema would take minutes to years.
const TIME_LIMIT: Duration = Duration::from_secs(30);

fn object(name: &str, value: Value) -> Value {
    // The `json!` macro would copy the whole value.
    Value::Object([(name.to_owned(), value)].into_iter().collect())
}

fn nested(depth: usize) -> Value {
    (0..depth).fold(json!(1), |value, _| object("a", Value::Array(vec![value])))
}

/// Compiles a schema and checks a value. A schema that is too complex counts as undecided.
#[track_caller]
fn verdict(schema: &Value, value: &Value) -> Verdict {
    let started = Instant::now();
    let verdict = match Schema::new(schema) {
        Ok(schema) => schema.check(value, 5),
        Err(error) if error.too_complex => Verdict::Undecided(error.to_string()),
        Err(error) => panic!("{error}"),
    };
    assert!(started.elapsed() < TIME_LIMIT, "it took {:?}", started.elapsed());
    verdict
}

#[track_caller]
fn undecided(schema: &Value, value: &Value) -> String {
    match verdict(schema, value) {
        Verdict::Undecided(reason) => reason,
        other => panic!("{other:?}"),
    }
}

/// Returns levels of `anyOf` whose alternatives share their targets: 2 to the power of
/// `levels` paths.
fn shared_alternatives(levels: usize, leaf: Value) -> Value {
    let mut definitions = serde_json::Map::new();
    for level in 0..levels {
        let next = json!({"$ref": format!("#/$defs/l{}", level + 1)});
        definitions.insert(format!("l{level}"), json!({"anyOf": [next, next]}));
    }
    definitions.insert(format!("l{levels}"), leaf);
    json!({"$ref": "#/$defs/l0", "$defs": definitions})
}

#[test]
fn too_many_paths_through_alternatives_are_refused_before_they_are_tried() {
    for leaf in [json!({"type": "string"}), json!(false)] {
        let reason = undecided(&shared_alternatives(40, leaf), &json!(1));
        let expected = "schema too complex to check: more than 10000 paths through its \
                        references and alternatives";
        assert!(reason.contains(expected), "{reason}");
    }
    let few = shared_alternatives(8, json!({"type": "string"}));
    assert!(matches!(verdict(&few, &json!(1)), Verdict::Invalid(_)));
    assert!(verdict(&few, &json!("a")).is_valid());
}

#[test]
fn alternatives_that_multiply_with_the_depth_of_the_value_end_at_the_deadline() {
    let below = json!({"items": {"$ref": "#"}, "minItems": 1});
    let schema = json!({"anyOf": [below, {"allOf": [below, {"maxItems": 0}]}, below]});
    let value = (0..100).fold(json!([]), |value, _| Value::Array(vec![value]));
    let verdict = verdict(&schema, &value);
    assert!(!verdict.is_valid(), "{verdict:?}");
}

#[test]
fn nested_unevaluated_properties_are_counted_as_the_work_they_cause() {
    let mut schema = json!({"properties": {"a": true}});
    for _ in 0..30 {
        schema = json!({"allOf": [schema], "unevaluatedProperties": false});
    }
    undecided(&schema, &json!({"b": 1}));
}

#[test]
fn references_only_to_themselves_are_errors_with_their_pointer() {
    let mutual = json!({
        "properties": {"x": {"$ref": "#/$defs/a"}},
        "$defs": {"a": {"allOf": [{"$ref": "#/$defs/b"}]}, "b": {"anyOf": [{"$ref": "#/$defs/a"}]}},
    });
    for (schema, expected) in [
        (json!({"$ref": "#"}), "the schema refers to itself endlessly"),
        (json!({"items": {"$ref": "#/items"}}), "at /items: the schema refers to itself endlessly"),
        (mutual, "at /properties/x: "),
        (
            json!({"$id": "https://example.com/a", "not": {"$ref": "https://example.com/a"}}),
            "the schema",
        ),
    ] {
        let error = Schema::new(&schema).unwrap_err();
        assert!(!error.too_complex, "{error}");
        let text = error.to_string();
        let place = expected.starts_with("at /properties") && text.starts_with("at /$defs/a: ");
        assert!(text.starts_with(expected) || place, "{schema}: {text}");
    }
}

#[test]
fn recursion_into_members_and_items_is_no_loop() {
    let schema = json!({
        "properties": {"a": {"items": {"anyOf": [{"type": "integer"}, {"$ref": "#"}]}}},
    });
    assert!(verdict(&schema, &nested(63)).is_valid());
}

#[test]
fn deep_values_and_schemas_do_not_exhaust_the_stack() {
    let schema = json!({"additionalProperties": {"$ref": "#"}, "items": {"$ref": "#"}});
    assert!(verdict(&schema, &nested(120)).is_valid());
    let too_deep = "schema too complex to check: the value is nested too deeply";
    assert_eq!(undecided(&schema, &nested(1_000)), too_deep);
    let chain = (0..90).fold(schema, |schema, _| json!({"allOf": [schema]}));
    assert_eq!(undecided(&chain, &nested(120)), too_deep);
    let deep = (0..150).fold(json!({"type": "null"}), |schema, _| object("items", schema));
    assert!(verdict(&deep, &json!([[[]]])).is_valid());
    let deep = (0..2_000).fold(json!({"type": "null"}), |schema, _| object("items", schema));
    let reason = undecided(&deep, &json!([]));
    assert_eq!(reason, "schema too complex to check: nested more than 200 levels deep");
    let chain: serde_json::Map<String, Value> = (0..300)
        .map(|link| (link.to_string(), json!({"$ref": format!("#/$defs/{}", link + 1)})))
        .chain([("300".to_owned(), json!(true))])
        .collect();
    let reason = undecided(&json!({"$ref": "#/$defs/0", "$defs": chain}), &json!(1));
    assert!(reason.contains("more than 200 references and alternatives in a chain"), "{reason}");
}

#[test]
fn a_deep_value_and_a_long_chain_together_fit_on_the_stack() {
    let mut inner = json!({"items": {"$ref": "#"}});
    for _ in 0..90 {
        inner = json!({"allOf": [inner]});
    }
    let value = (0..200).fold(json!([]), |value, _| Value::Array(vec![value]));
    assert!(verdict(&inner, &value).is_valid());
}

#[test]
fn plain_patterns_take_linear_time() {
    let text = json!("a".repeat(100_000) + "!");
    let found = verdict(&json!({"pattern": "^(a+)+$"}), &text);
    assert!(matches!(found, Verdict::Invalid(_)), "{found:?}");
}

#[test]
fn a_pattern_on_which_the_engine_gives_up_is_undecided_and_named() {
    let value = json!("a".repeat(50) + "!");
    let schema = json!({"properties": {"x": {"pattern": "^(?:(?=a)a+)+$"}}});
    let reason = undecided(&schema, &json!({"x": value}));
    assert_eq!(
        reason,
        "schema too complex to check: gave up on pattern \"^(?:(?=a)a+)+$\" at /properties/x/pattern"
    );
    let names = json!({"patternProperties": {"^(?:(?=a)a+)+$": false}});
    let reason = undecided(&names, &json!({(value.as_str().unwrap()): 1}));
    assert!(reason.contains("gave up on the pattern"), "{reason}");
}

#[test]
fn an_undecided_check_is_never_valid_and_a_certain_one_counts() {
    let slow = json!({"pattern": "^(?:(?=a)a+)+$"});
    let value = json!("a".repeat(50) + "!");
    for schema in [
        json!({"not": slow}),
        json!({"if": slow, "else": false}),
        json!({"oneOf": [slow, {"type": "string"}]}),
        json!({"anyOf": [slow, {"type": "null"}]}),
    ] {
        undecided(&schema, &value);
    }
    undecided(&json!({"contains": slow, "minContains": 0, "maxContains": 0}), &json!([value]));
    undecided(&json!({"not": {"propertyNames": slow}}), &json!({(value.as_str().unwrap()): 1}));
    assert!(verdict(&json!({"anyOf": [slow, {"type": "string"}]}), &value).is_valid());
    let both = json!({"pattern": slow["pattern"], "maxLength": 3});
    assert!(matches!(verdict(&both, &value), Verdict::Invalid(_)));
}

#[test]
fn long_texts_are_not_tried_with_patterns_that_backtrack() {
    let text = json!("a".repeat(1_000_000));
    let reason = undecided(&json!({"pattern": "(?=.*x)(?=.*y)b"}), &text);
    assert!(reason.ends_with("a text is too long for a pattern that may backtrack"), "{reason}");
    let text = json!("a".repeat(60_000));
    undecided(&json!({"pattern": "(?=.*x)(?=.*y)b"}), &text);
}

#[test]
fn patterns_that_compile_to_gigabytes_are_refused() {
    let reason = undecided(&json!({"pattern": r"^(\p{L}{1,1000}){1,1000}$"}), &json!("a"));
    assert!(reason.starts_with("at /pattern: schema too complex to check: pattern"), "{reason}");
    let patterns: Vec<Value> = (0..900)
        .map(|number| json!({"pattern": format!(r"^[\p{{L}}{number}]{{1,300}}$")}))
        .collect();
    let reason = undecided(&json!({"anyOf": patterns}), &json!("a"));
    assert!(reason.contains("is too large") || reason.contains("takes too long"), "{reason}");
    let patterns: Vec<Value> =
        (0..2_000).map(|number| json!({"pattern": format!("^{number}a?$")})).collect();
    undecided(&json!({"anyOf": patterns}), &json!("a"));
}

#[test]
fn a_pattern_with_many_letters_of_all_scripts_fits() {
    let schema = json!({"pattern": r"^[\p{L}\p{Z}\p{N}_.:/=+\-@]{0,256}$"});
    assert!(verdict(&schema, &json!("\u{e9} 1")).is_valid());
    assert!(!verdict(&schema, &json!("\n")).is_valid());
}

#[test]
fn a_schema_of_ten_megabytes_is_refused() {
    let options: Vec<String> = (0..1_000_000).map(|number| format!("{number:07}")).collect();
    let reason = undecided(&json!({"enum": options}), &json!("x"));
    assert_eq!(reason, "schema too complex to check: more than 200000 values");
}

#[test]
fn the_number_of_mismatches_is_limited() {
    let schema = Schema::new(&json!({"items": {"anyOf": [{"type": "null"}, {"type": "string"}]}}));
    let value: Value = (0..300_000).collect();
    match schema.unwrap().check(&value, 3) {
        Verdict::Invalid(found) => assert!((1..=3).contains(&found.len()), "{found:?}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn many_items_are_compared_quickly() {
    let schema = json!({"uniqueItems": true});
    let numbers: Value = (0..30_000).collect();
    assert!(verdict(&schema, &numbers).is_valid());
}

/// Returns the schema of a tree whose nodes have one of `kinds` kinds. The property that
/// distinguishes the kinds comes last.
fn tree(kinds: usize, together: &str) -> Value {
    let mut alternatives = Vec::new();
    for kind in 0..kinds {
        let children = json!({"type": "array", "items": {"$ref": "#/$defs/node"}});
        let kind = json!({"const": kind.to_string()});
        alternatives.push(json!({"properties": {"children": children, "kind": kind}}));
    }
    json!({"$ref": "#/$defs/node", "$defs": {"node": {together: alternatives}}})
}

fn branch(depth: usize, leaf: &str) -> Value {
    let mut value = json!({"children": [], "kind": leaf});
    for _ in 0..depth {
        value = json!({"children": [value], "kind": "5"});
    }
    value
}

#[test]
fn a_tree_of_alternatives_is_decided_or_undecided_in_time() {
    for together in ["anyOf", "oneOf"] {
        let schema = tree(6, together);
        assert!(verdict(&schema, &branch(3, "5")).is_valid(), "{together}");
        assert!(matches!(verdict(&schema, &branch(3, "none")), Verdict::Invalid(_)), "{together}");
        assert!(!verdict(&schema, &branch(40, "none")).is_valid(), "{together}");
    }
}

#[test]
fn bounds_beyond_64_bits_are_understood() {
    let schema = json!({"maxLength": 1e300, "maxItems": 18_446_744_073_709_551_616.0});
    assert!(verdict(&schema, &json!("a")).is_valid());
    assert!(verdict(&schema, &json!([1])).is_valid());
    assert!(!verdict(&json!({"minItems": 1e300}), &json!([1])).is_valid());
}

#[test]
fn a_schema_is_usable_after_its_budget_was_exhausted() {
    let schema = Schema::new(&tree(6, "anyOf")).unwrap();
    assert!(!schema.check(&branch(60, "none"), 1).is_valid());
    assert!(schema.check(&branch(2, "5"), 1).is_valid());
}

#[tokio::test]
async fn a_check_in_the_background_does_not_block_the_runtime() {
    let schema = Schema::new(&tree(6, "oneOf")).unwrap();
    let value = branch(100, "none");
    let check = schema.check_in_background(&value, 1);
    let mut ticks = 0;
    let count = async {
        loop {
            tokio::task::yield_now().await;
            ticks += 1;
        }
    };
    let verdict = tokio::select! { verdict = check => verdict, () = count => unreachable!() };
    assert!(!verdict.is_valid(), "{verdict:?}");
    assert!(ticks > 1, "the runtime did nothing else");
}
