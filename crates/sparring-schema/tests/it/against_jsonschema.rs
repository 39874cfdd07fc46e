//! Random schemas and values, judged by us and by the crate `jsonschema`.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value, json};
use sparring_schema::Schema;

const DIALECTS: [&str; 5] = [
    "https://json-schema.org/draft/2020-12/schema",
    "https://json-schema.org/draft/2019-09/schema",
    "http://json-schema.org/draft-07/schema#",
    "http://json-schema.org/draft-06/schema#",
    "http://json-schema.org/draft-04/schema#",
];

fn name() -> impl Strategy<Value = String> {
    select(vec!["a", "b", "ab", "c", "é/~"]).prop_map(str::to_owned)
}

fn scalar() -> impl Strategy<Value = Value> {
    // Those that draft 4 and its successors see in the same way.
    select(vec![
        json!(null),
        json!(true),
        json!(false),
        json!(0),
        json!(1),
        json!(2),
        json!(-3),
        json!(1.5),
        json!(0.3),
        json!(-0.75),
        json!(9_007_199_254_740_993_u64),
        json!(u64::MAX),
        json!(i64::MIN),
        json!(""),
        json!("a"),
        json!("ab"),
        json!("b1"),
        json!("é😀"),
        json!("12"),
    ])
}

fn value() -> impl Strategy<Value = Value> {
    scalar().prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::Array),
            vec((name(), inner), 0..4).prop_map(object),
        ]
    })
}

fn object(members: Vec<(String, Value)>) -> Value {
    Value::Object(members.into_iter().collect())
}

fn pattern() -> impl Strategy<Value = Value> {
    select(vec!["^a", "b$", r"^\d+$", "^[a-c]*$", r"\w", "^(?!a)", "é", "^.{2}$", r"[^\s]"])
        .prop_map(Value::from)
}

fn count() -> impl Strategy<Value = Value> {
    (0..4_u64).prop_map(Value::from)
}

fn number() -> impl Strategy<Value = Value> {
    select(vec![json!(0), json!(1), json!(1.5), json!(-2), json!(0.3), json!(u64::MAX)])
}

fn types() -> impl Strategy<Value = Value> {
    let all = vec!["null", "boolean", "integer", "number", "string", "array", "object"];
    prop_oneof![
        select(all.clone()).prop_map(Value::from),
        proptest::sample::subsequence(all, 1..4).prop_map(Value::from),
    ]
}

fn names() -> impl Strategy<Value = Value> {
    proptest::sample::subsequence(vec!["a", "b", "ab"], 1..3).prop_map(Value::from)
}

/// A keyword with what stands below it, by the dialect of this number.
fn keyword(dialect: usize, below: BoxedStrategy<Value>) -> impl Strategy<Value = (String, Value)> {
    let list = vec(below.clone(), 1..4).prop_map(Value::Array).boxed();
    let map = vec((name(), below.clone()), 0..4).prop_map(object).boxed();
    let patterns = vec((pattern(), below.clone()), 0..3)
        .prop_map(|all| {
            object(all.into_iter().map(|(it, of)| (it.as_str().unwrap().to_owned(), of)).collect())
        })
        .boxed();
    let needed = vec((name(), names()), 0..3).prop_map(object).boxed();
    let options = vec(value(), 1..4)
        .prop_filter("each once", |all| (0..all.len()).all(|at| !all[..at].contains(&all[at])));
    let mut all: Vec<(&str, BoxedStrategy<Value>)> = vec![
        ("type", types().boxed()),
        ("enum", options.prop_map(Value::Array).boxed()),
        ("minimum", number().boxed()),
        ("maximum", number().boxed()),
        ("multipleOf", select(vec![json!(1), json!(2), json!(0.5), json!(0.1)]).boxed()),
        ("minLength", count().boxed()),
        ("maxLength", count().boxed()),
        ("pattern", pattern().boxed()),
        ("minItems", count().boxed()),
        ("maxItems", count().boxed()),
        ("uniqueItems", any::<bool>().prop_map(Value::from).boxed()),
        ("minProperties", count().boxed()),
        ("maxProperties", count().boxed()),
        ("required", names().boxed()),
        ("properties", map.clone()),
        ("patternProperties", patterns),
        ("additionalProperties", below.clone()),
        ("allOf", list.clone()),
        ("anyOf", list.clone()),
        ("oneOf", list.clone()),
        ("not", below.clone()),
        ("items", below.clone()),
    ];
    if dialect <= 3 {
        all.push(("const", value().boxed()));
        all.push(("contains", below.clone()));
        all.push(("propertyNames", below.clone()));
        all.push(("exclusiveMinimum", number().boxed()));
        all.push(("exclusiveMaximum", number().boxed()));
    } else {
        all.push(("exclusiveMinimum", any::<bool>().prop_map(Value::from).boxed()));
        all.push(("exclusiveMaximum", any::<bool>().prop_map(Value::from).boxed()));
    }
    if dialect <= 2 {
        all.push(("if", below.clone()));
        all.push(("then", below.clone()));
        all.push(("else", below.clone()));
    }
    if dialect <= 1 {
        all.push(("minContains", count().boxed()));
        all.push(("maxContains", count().boxed()));
        all.push(("dependentSchemas", map.clone()));
        all.push(("dependentRequired", needed.clone()));
        all.push(("unevaluatedProperties", below.clone()));
        all.push(("unevaluatedItems", below.clone()));
    } else {
        all.push(("dependencies", prop_oneof![map, needed].boxed()));
    }
    if dialect == 0 {
        all.push(("prefixItems", list.clone()));
    } else {
        all.push(("items", list));
        all.push(("additionalItems", below.clone()));
    }
    // A value below a member or an item, so that no reference goes on for ever.
    let reference = json!({"$ref": "#"});
    all.push(("properties", Just(json!({"a": reference})).boxed()));
    all.push(("$ref", Just(json!("#/definitions/shared")).boxed()));
    let choices: Vec<BoxedStrategy<(String, Value)>> = all
        .into_iter()
        .map(|(name, below)| below.prop_map(move |below| (name.to_owned(), below)).boxed())
        .collect();
    proptest::strategy::Union::new(choices)
}

/// In draft 4 a limit stands beside what says that it is exclusive.
fn completed(dialect: usize, members: Vec<(String, Value)>) -> Map<String, Value> {
    let mut members: Map<String, Value> = members.into_iter().collect();
    for (exclusive, limit) in [("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")] {
        if dialect == 4 && members.contains_key(exclusive) {
            members.entry(limit).or_insert(json!(1));
        }
    }
    members
}

fn schema(dialect: usize) -> impl Strategy<Value = Value> {
    let leaf = match dialect {
        4 => Just(json!({})).boxed(),
        _ => prop_oneof![Just(json!(true)), Just(json!(false)), Just(json!({}))].boxed(),
    };
    let part = leaf.prop_recursive(3, 24, 4, move |below| {
        vec(keyword(dialect, below.boxed()), 0..5)
            .prop_map(move |members| Value::Object(completed(dialect, members)))
    });
    let shared = select(vec![json!({"type": "string"}), json!({"minimum": 1, "maxLength": 1})]);
    (vec(keyword(dialect, part.boxed()), 0..6), shared).prop_map(move |(members, shared)| {
        let mut members = completed(dialect, members);
        members.insert("$schema".to_owned(), json!(DIALECTS[dialect]));
        members.insert("definitions".to_owned(), json!({"shared": shared}));
        Value::Object(members)
    })
}

/// Whether the other validator has another opinion: for it items that are as
/// `contains` says count as evaluated in 2019-09 too, which says that of `items` and
/// `additionalItems` alone (section 9.3.1.3).
fn is_disputed(schema: &Value) -> bool {
    let text = schema.to_string();
    text.contains(DIALECTS[1])
        && text.contains("\"contains\"")
        && text.contains("\"unevaluatedItems\"")
}

fn agree(schema: &Value, values: &[Value]) -> Result<(), TestCaseError> {
    if is_disputed(schema) {
        return Ok(());
    }
    let ours = Schema::new(schema);
    let theirs = jsonschema::options().should_validate_formats(false).build(schema);
    let (ours, theirs) = match (ours, theirs) {
        (Ok(ours), Ok(theirs)) => (ours, theirs),
        (Err(_), Err(_)) => return Ok(()),
        (ours, theirs) => {
            let (ours, theirs) = (ours.err(), theirs.err().map(|it| it.to_string()));
            return Err(TestCaseError::fail(format!("ours {ours:?}, theirs {theirs:?}")));
        }
    };
    for value in values {
        prop_assert_eq!(ours.is_valid(value), theirs.is_valid(value), "{} by {}", value, schema);
        prop_assert_eq!(ours.breaches(value, 3).is_empty(), ours.is_valid(value));
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn both_judge_alike(
        (schema, values) in (0..DIALECTS.len()).prop_flat_map(|dialect| (schema(dialect), vec(value(), 8)))
    ) {
        agree(&schema, &values)?;
    }
}
