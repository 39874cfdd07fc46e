//! Checks a value against a rule.

use std::cmp::Ordering;

use serde_json::{Number, Value};

use super::mismatch::Mismatch;
use super::{Comparison, JsonType, Rule};
use crate::pattern::any_true_if_known;
use crate::schema::Verdict;
use crate::template::{Path, Segment};
use crate::truncate::truncate_json;

/// Checks a value and adds its mismatches to `found`.
pub(super) fn check_rule(
    rule: &Rule,
    actual: Option<&Value>,
    path: &mut String,
    found: &mut Vec<Mismatch>,
) {
    if let Rule::Exists(wanted) = rule {
        if *wanted != actual.is_some() {
            let expected = if *wanted { "a value" } else { "no value" };
            found.push(Mismatch::new(path, expected, actual));
        }
        return;
    }
    if let Rule::All(rules) = rule {
        return rules.iter().for_each(|it| check_rule(it, actual, path, found));
    }
    if let Rule::Not(inner) = rule {
        let expected = || format!("not {}", describe(inner));
        return match evaluate(inner, actual) {
            Some(false) => {}
            Some(true) => found.push(Mismatch::new(path, expected(), actual)),
            None => found.push(undecided(path, &expected(), actual)),
        };
    }
    // One of the rules may match an absent value.
    if let Rule::OneOf(rules) | Rule::Any(rules) = rule {
        return match any_true_if_known(rules.iter().map(|it| evaluate(it, actual))) {
            Some(true) => {}
            Some(false) => found.push(Mismatch::new(path, describe(rule), actual)),
            None => found.push(undecided(path, &describe(rule), actual)),
        };
    }
    match (rule, actual) {
        (Rule::Subset(pairs), Some(Value::Object(map))) => {
            for (key, expected) in pairs {
                with_segment(path, &key_segment(key), |path| {
                    check_rule(expected, map.get(key), path, found)
                });
            }
        }
        (Rule::Items(rules), Some(Value::Array(items))) => {
            if rules.len() != items.len() {
                let ending = if rules.len() == 1 { "" } else { "s" };
                let expected = format!("{} item{ending}", rules.len());
                found.push(Mismatch::wrong_count(path, expected, items.len(), actual));
            }
            for (index, (expected, item)) in rules.iter().zip(items).enumerate() {
                with_segment(path, &format!("[{index}]"), |path| {
                    check_rule(expected, Some(item), path, found)
                });
            }
        }
        (Rule::Every(expected), Some(Value::Array(items))) => {
            for (index, item) in items.iter().enumerate() {
                with_segment(path, &format!("[{index}]"), |path| {
                    check_rule(expected, Some(item), path, found)
                });
            }
        }
        (Rule::Equals(expected), Some(value)) if !json_equal(expected, value) => {
            found.push(Mismatch::not_equal(path, expected, value));
        }
        (Rule::Conforms(schema), Some(value)) => {
            let mut add = |pointer: &str, message: String, undecided: bool| {
                found.push(Mismatch {
                    path: append_pointer(path, pointer),
                    message,
                    diff: None,
                    undecided,
                });
            };
            match schema.check(value, 3) {
                Verdict::Valid => {}
                Verdict::Invalid(all) => {
                    all.into_iter().for_each(|it| add(&it.pointer, it.message, false));
                }
                Verdict::Undecided(reason) => add("", reason, true),
            }
        }
        (rule, Some(value)) => match (evaluate_simple(rule, value), rule, length(value)) {
            (Some(true), ..) => {}
            (Some(false), Rule::Len(_), Some(length)) => {
                found.push(Mismatch::wrong_count(path, describe(rule), length, actual));
            }
            (Some(false), ..) => found.push(Mismatch::new(path, describe(rule), actual)),
            (None, ..) => found.push(undecided(path, &describe(rule), actual)),
        },
        (rule, None) => found.push(Mismatch::new(path, describe(rule), None)),
    }
}

/// Creates the mismatch of a value for which the check gave up.
fn undecided(path: &str, expected: &str, actual: Option<&Value>) -> Mismatch {
    let actual = actual.map_or("nothing".to_owned(), truncate_json);
    let message = format!("expected {expected}; gave up after too many steps on {actual}");
    Mismatch { path: path.to_owned(), message, diff: None, undecided: true }
}

/// Returns true if a value matches, and `None` if the check gave up.
fn evaluate(rule: &Rule, actual: Option<&Value>) -> Option<bool> {
    let mut found = Vec::new();
    check_rule(rule, actual, &mut String::new(), &mut found);
    match found.is_empty() {
        true => Some(true),
        false => found.iter().any(|it| !it.undecided).then_some(false),
    }
}

/// Evaluates a rule that is either true or false as a whole. Returns `None` if the check
/// gave up.
fn evaluate_simple(rule: &Rule, value: &Value) -> Option<bool> {
    Some(match rule {
        Rule::Equals(expected) => json_equal(expected, value),
        Rule::Contains(part) => match (value, part) {
            (Value::String(text), Value::String(part)) => text.contains(&**part),
            (Value::Array(items), part) => items.iter().any(|item| json_equal(part, item)),
            _ => false,
        },
        Rule::Matches(pattern) => match value {
            Value::String(text) => return pattern.is_match(text).ok(),
            _ => false,
        },
        Rule::StartsWith(start) => value.as_str().is_some_and(|it| it.starts_with(&**start)),
        Rule::EndsWith(end) => value.as_str().is_some_and(|it| it.ends_with(&**end)),
        Rule::Is(json_type) => has_type(*json_type, value),
        Rule::Len(expected) => match length(value) {
            Some(length) => return evaluate(expected, Some(&length.into())),
            None => false,
        },
        Rule::Compare(comparison, number) => match value {
            Value::Number(actual) => compare_numbers(*comparison, actual, number),
            _ => false,
        },
        Rule::Has(expected) => match value {
            Value::Array(items) => {
                return any_true_if_known(items.iter().map(|it| evaluate(expected, Some(it))));
            }
            _ => false,
        },
        _ => false,
    })
}

/// Compares two values. 1 and 1.0 are equal.
fn json_equal(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => {
            order_of_numbers(one, other) == Some(Ordering::Equal)
        }
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(a, b)| json_equal(a, b))
        }
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len()
                && one.iter().all(|(key, a)| other.get(key).is_some_and(|b| json_equal(a, b)))
        }
        _ => one == other,
    }
}

fn has_type(json_type: JsonType, value: &Value) -> bool {
    match json_type {
        JsonType::Null => value.is_null(),
        JsonType::Boolean => value.is_boolean(),
        JsonType::Number => value.is_number(),
        JsonType::Integer => {
            value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|it| it.fract() == 0.0)
        }
        JsonType::String => value.is_string(),
        JsonType::Array => value.is_array(),
        JsonType::Object => value.is_object(),
    }
}

fn length(value: &Value) -> Option<usize> {
    match value {
        Value::String(text) => Some(text.chars().count()),
        Value::Array(items) => Some(items.len()),
        Value::Object(map) => Some(map.len()),
        _ => None,
    }
}

fn compare_numbers(comparison: Comparison, actual: &Number, bound: &Number) -> bool {
    order_of_numbers(actual, bound).is_some_and(|found| match comparison {
        Comparison::Gt => found.is_gt(),
        Comparison::Ge => found.is_ge(),
        Comparison::Lt => found.is_lt(),
        Comparison::Le => found.is_le(),
    })
}

/// Compares two numbers: integers exactly, because many of them are the same as floats.
fn order_of_numbers(one: &Number, other: &Number) -> Option<Ordering> {
    match (one.as_i128(), other.as_i128()) {
        (Some(one), Some(other)) => Some(one.cmp(&other)),
        _ => one.as_f64()?.partial_cmp(&other.as_f64()?),
    }
}

fn describe(rule: &Rule) -> String {
    let several = |word: &str, rules: &[Rule]| {
        let all: Vec<String> = rules.iter().map(describe).collect();
        format!("{word} {}", all.join(", "))
    };
    match rule {
        Rule::Equals(value) => truncate_json(value),
        Rule::Subset(pairs) => {
            let pairs = pairs.iter().map(|(key, rule)| format!("{key} {}", describe(rule)));
            let with = pairs.collect::<Vec<_>>().join(", ");
            if with.is_empty() { "a map".to_owned() } else { format!("a map with {with}") }
        }
        Rule::Items(_) | Rule::Every(_) => "a list".to_owned(),
        Rule::Contains(part) => format!("a value that contains {}", truncate_json(part)),
        Rule::Matches(pattern) => format!("a string that matches /{pattern}/"),
        Rule::StartsWith(start) => format!("a string that starts with {start:?}"),
        Rule::EndsWith(end) => format!("a string that ends with {end:?}"),
        Rule::OneOf(rules) | Rule::Any(rules) => several("one of", rules),
        Rule::All(rules) => several("all of", rules),
        Rule::Not(inner) => format!("not {}", describe(inner)),
        Rule::Exists(true) => "any value".to_owned(),
        Rule::Exists(false) => "no value".to_owned(),
        Rule::Is(json_type) => {
            format!("a value of type {}", format!("{json_type:?}").to_lowercase())
        }
        Rule::Len(inner) => match &**inner {
            Rule::Compare(comparison, number) => {
                format!("a length {} {number}", symbol(*comparison))
            }
            inner => format!("a length of {}", describe(inner)),
        },
        Rule::Compare(comparison, number) => format!("a number {} {number}", symbol(*comparison)),
        Rule::Has(inner) => format!("a list that contains {}", describe(inner)),
        Rule::Conforms(_) => "a value that conforms to the schema".to_owned(),
    }
}

fn symbol(comparison: Comparison) -> &'static str {
    match comparison {
        Comparison::Gt => ">",
        Comparison::Ge => ">=",
        Comparison::Lt => "<",
        Comparison::Le => "<=",
    }
}

/// Returns the segment of a path for a key of a map.
fn key_segment(key: &str) -> String {
    let segment = Path { segments: vec![Segment::Key(key.to_owned())] }.to_string();
    if segment.starts_with('[') { segment } else { format!(".{segment}") }
}

/// Appends the segments of a JSON pointer to a path.
fn append_pointer(path: &str, pointer: &str) -> String {
    let mut path = path.to_owned();
    for token in pointer.split('/').skip(1) {
        let segment = match token.bytes().all(|byte| byte.is_ascii_digit()) {
            true => format!("[{token}]"),
            false => key_segment(&token.replace("~1", "/").replace("~0", "~")),
        };
        path.push_str(if path.is_empty() { segment.trim_start_matches('.') } else { &segment });
    }
    path
}

/// Appends a segment to the path while `work` runs.
fn with_segment(path: &mut String, segment: &str, work: impl FnOnce(&mut String)) {
    let length = path.len();
    path.push_str(if length == 0 { segment.trim_start_matches('.') } else { segment });
    work(path);
    path.truncate(length);
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::Matcher;

    #[track_caller]
    fn check(matcher: serde_json::Value, fit: serde_json::Value, unfit: serde_json::Value) {
        let parsed = Matcher::from_json(&matcher).unwrap();
        let found = parsed.check(Some(&fit));
        assert!(found.is_empty(), "{matcher} should match {fit}: {found:?}");
        assert!(!parsed.matches(Some(&unfit)), "{matcher} should not match {unfit}");
    }

    #[test]
    fn scalars_maps_and_lists() {
        check(json!("a"), json!("a"), json!("b"));
        check(json!(1), json!(1.0), json!("1"));
        check(json!({"a": 1}), json!({"a": 1, "b": 2}), json!({"b": 2}));
        check(json!({"a": {"b": null}}), json!({"a": {"b": null}}), json!({"a": {}}));
        check(json!([1, {"a": 2}]), json!([1, {"a": 2, "b": 3}]), json!([1]));
        check(json!({}), json!({"a": 1}), json!([]));
    }

    #[test]
    fn one_of_several_rules_can_match_an_absent_value() {
        for name in ["any", "one_of"] {
            let one = json!({name: [{"exists": false}, 1]});
            check(json!({"x": one}), json!({}), json!({"x": 2}));
            check(json!({"x": one}), json!({"x": 1}), json!({"x": null}));
            check(json!({"not": {"x": one}}), json!({"x": 2}), json!({}));
            check(json!({"x": {name: [{"not": {"gt": 1}}, "a"]}}), json!({}), json!({"x": 2}));
            check(json!({"x": {name: [1, 2]}}), json!({"x": 1}), json!({}));
        }
    }

    #[test]
    fn integers_are_compared_exactly() {
        let large: i64 = (1 << 53) + 1;
        check(json!(large), json!(large), json!(large - 1));
        check(json!({"equals": [large]}), json!([large]), json!([large - 1]));
        check(json!({"contains": large}), json!([large]), json!([large - 1]));
        check(json!({"one_of": [large, 1]}), json!(large), json!(large - 1));
        check(json!({"gt": large - 1}), json!(large), json!(large - 1));
        check(json!(u64::MAX), json!(u64::MAX), json!(u64::MAX - 1));
        check(json!({"lt": u64::MAX}), json!(u64::MAX - 1), json!(u64::MAX));
        check(json!({"lt": u64::MAX}), json!(-1), json!(u64::MAX));
        check(json!({"ge": 2.5}), json!(3), json!(2));
        check(json!(3.0), json!(3), json!(2));
    }

    #[test]
    fn a_check_that_gives_up_is_a_mismatch() {
        let text = json!(format!("{}!", "a".repeat(64)));
        let matches = json!({"matches": "^(?:(?=a)a+)+$"});
        let schema = json!({"conforms": {"pattern": "^(?:(?=a)a+)+$"}});
        for matcher in [
            matches.clone(),
            json!({"not": matches}),
            json!({"not": {"not": matches}}),
            json!({"not": {"any": ["b", matches]}}),
            json!({"not": {"all": [{"is": "string"}, matches]}}),
            schema.clone(),
            json!({"not": schema}),
        ] {
            let found = Matcher::from_json(&matcher).unwrap().check(Some(&text));
            assert_eq!(found.len(), 1, "{matcher}");
        }
        let found = Matcher::from_json(&json!({"not": matches})).unwrap().check(Some(&text));
        let expected = "expected not a string that matches /^(?:(?=a)a+)+$/; gave up after too \
                        many steps on \"aaaa";
        assert!(found[0].message.starts_with(expected), "{}", found[0].message);
        // A certain result stays certain.
        check(json!({"any": [matches, {"ends_with": "!"}]}), text.clone(), json!("b"));
        let neither = Matcher::from_json(&json!({"not": {"all": [matches, "b"]}})).unwrap();
        assert!(neither.matches(Some(&text)));
    }

    #[test]
    fn each_matcher_by_name() {
        check(json!({"equals": {"a": 1}}), json!({"a": 1}), json!({"a": 1, "b": 2}));
        check(json!({"equals": {"gt": 1}}), json!({"gt": 1}), json!(2));
        check(json!({"contains": "b"}), json!("abc"), json!("acd"));
        check(json!({"contains": 2}), json!([1, 2]), json!([1]));
        check(json!({"matches": "^a.c$"}), json!("abc"), json!("abd"));
        check(json!({"starts_with": "a"}), json!("abc"), json!("bc"));
        check(json!({"ends_with": "c"}), json!("abc"), json!(3));
        check(json!({"one_of": [1, 2]}), json!(2), json!(3));
        check(json!({"all": [{"gt": 1}, {"lt": 3}]}), json!(2), json!(3));
        check(json!({"any": [{"gt": 9}, "x"]}), json!("x"), json!(9));
        check(json!({"not": {"contains": "x"}}), json!("abc"), json!("axc"));
        check(json!({"a": {"exists": false}}), json!({}), json!({"a": null}));
        check(json!({"a": {"exists": true}}), json!({"a": null}), json!({}));
        check(json!({"is": "integer"}), json!(2), json!(2.5));
        check(json!({"is": "array"}), json!([]), json!({}));
        check(json!({"len": 3}), json!("zwö"), json!("zw"));
        check(json!({"len": {"ge": 2}}), json!([1, 2]), json!({"a": 1}));
        check(json!({"gt": 1, "le": 2.5}), json!(2.5), json!(1));
        check(json!({"every": {"is": "string"}}), json!(["a"]), json!(["a", 1]));
        check(json!({"has": {"name": "x"}}), json!([{"name": "x", "y": 1}]), json!([]));
        check(
            json!({"conforms": {"type": "object", "required": ["a"]}}),
            json!({"a": 1}),
            json!({}),
        );
    }

    #[test]
    fn a_mismatch_has_a_path_a_message_and_a_diff() {
        let matcher =
            Matcher::from_json(&json!({"a": [{"b": "one\ntwo\n"}], "c": {"gt": 3}})).unwrap();
        let actual = json!({"a": [{"b": "one\n2\n"}], "c": 3});
        let found = matcher.check(Some(&actual));
        assert_eq!(found.len(), 2);
        assert_eq!(found[0].path, "a[0].b");
        let message = found[0].to_string();
        assert!(message.contains("-two") && message.contains("+2"), "{message}");
        assert_eq!(found[1].to_string(), "at c: expected a number > 3, found 3");
        let absent = matcher.check(Some(&json!({"c": 9})))[0].to_string();
        assert_eq!(absent, "at a: expected a list, found nothing");
    }

    #[track_caller]
    fn check_message(matcher: serde_json::Value, value: serde_json::Value, expected: &str) {
        let found = Matcher::from_json(&matcher).unwrap().check(Some(&value));
        assert_eq!(found[0].to_string(), expected);
    }

    #[test]
    fn messages_about_lengths_and_maps() {
        check_message(json!({"len": 2}), json!("abc"), "expected a length of 2, found 3: \"abc\"");
        check_message(
            json!({"len": {"lt": 2}}),
            json!([1, 2]),
            "expected a length < 2, found 2: [1,2]",
        );
        check_message(json!({"len": 1}), json!(1), "expected a length of 1, found 1");
        check_message(json!([1]), json!([1, 2]), "expected 1 item, found 2: [1,2]");
        let has = "expected a list that contains a map with a 1, found [{\"a\":2}]";
        check_message(json!({"has": {"a": 1}}), json!([{"a": 2}]), has);
    }

    #[test]
    fn a_schema_mismatch_has_its_path() {
        let schema = json!({"properties": {"a/b": {"items": {"type": "string"}}}});
        let expected = "at [\"a/b\"][0]: 1 is not of type \"string\"";
        check_message(json!({"conforms": schema}), json!({"a/b": [1]}), expected);
        let expected = "at it[\"a/b\"][0]: 1 is not of type \"string\"";
        check_message(json!({"it": {"conforms": schema}}), json!({"it": {"a/b": [1]}}), expected);
    }
}
