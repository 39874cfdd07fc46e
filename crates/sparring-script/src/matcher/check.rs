//! Holds a value against a rule.

use serde_json::{Number, Value};

use super::mismatch::{Mismatch, short};
use super::{JsonType, Ordering, Rule};
use crate::pattern::any_known;
use crate::schema::Verdict;
use crate::template::{Path, Segment};

/// Adds what does not fit, with its path.
pub(super) fn rule(
    rule: &Rule,
    actual: Option<&Value>,
    path: &mut String,
    found: &mut Vec<Mismatch>,
) {
    if let Rule::Exists(wanted) = rule {
        if *wanted != actual.is_some() {
            let expected = if *wanted { "to be there" } else { "not to be there" };
            found.push(Mismatch::new(path, expected, actual));
        }
        return;
    }
    if let Rule::All(rules) = rule {
        return rules.iter().for_each(|it| self::rule(it, actual, path, found));
    }
    if let Rule::Not(inner) = rule {
        let expected = || format!("not {}", describe(inner));
        return match fits(inner, actual) {
            Some(false) => {}
            Some(true) => found.push(Mismatch::new(path, expected(), actual)),
            None => found.push(given_up(path, &expected(), actual)),
        };
    }
    match (rule, actual) {
        (Rule::Subset(pairs), Some(Value::Object(map))) => {
            for (key, expected) in pairs {
                below(path, &into(key), |path| self::rule(expected, map.get(key), path, found));
            }
        }
        (Rule::Items(rules), Some(Value::Array(items))) => {
            if rules.len() != items.len() {
                let ending = if rules.len() == 1 { "" } else { "s" };
                let expected = format!("{} item{ending}", rules.len());
                found.push(Mismatch::counted(path, expected, items.len(), actual));
            }
            for (index, (expected, item)) in rules.iter().zip(items).enumerate() {
                below(path, &format!("[{index}]"), |path| {
                    self::rule(expected, Some(item), path, found)
                });
            }
        }
        (Rule::Every(expected), Some(Value::Array(items))) => {
            for (index, item) in items.iter().enumerate() {
                below(path, &format!("[{index}]"), |path| {
                    self::rule(expected, Some(item), path, found)
                });
            }
        }
        (Rule::Equals(expected), Some(value)) if !equal(expected, value) => {
            found.push(Mismatch::unequal(path, expected, value));
        }
        (Rule::Conforms(schema), Some(value)) => {
            let mut add = |pointer: &str, message: String, unsure: bool| {
                found.push(Mismatch { path: place(path, pointer), message, diff: None, unsure });
            };
            match schema.check(value, 3) {
                Verdict::Valid => {}
                Verdict::Invalid(all) => {
                    all.into_iter().for_each(|it| add(&it.pointer, it.message, false));
                }
                Verdict::Undecided(reason) => add("", reason, true),
            }
        }
        (rule, Some(value)) => match (holds(rule, value), rule, length(value)) {
            (Some(true), ..) => {}
            (Some(false), Rule::Len(_), Some(length)) => {
                found.push(Mismatch::counted(path, describe(rule), length, actual));
            }
            (Some(false), ..) => found.push(Mismatch::new(path, describe(rule), actual)),
            (None, ..) => found.push(given_up(path, &describe(rule), actual)),
        },
        (rule, None) => found.push(Mismatch::new(path, describe(rule), None)),
    }
}

/// The mismatch of a value for which the check gave up.
fn given_up(path: &str, expected: &str, actual: Option<&Value>) -> Mismatch {
    let actual = actual.map_or("nothing".to_owned(), short);
    let message =
        format!("expected {expected}; gave up, because it takes too many steps on {actual}");
    Mismatch { path: path.to_owned(), message, diff: None, unsure: true }
}

/// Whether a value fits; none where that cannot be found out.
fn fits(rule: &Rule, actual: Option<&Value>) -> Option<bool> {
    let mut found = Vec::new();
    self::rule(rule, actual, &mut String::new(), &mut found);
    match found.is_empty() {
        true => Some(true),
        false => found.iter().any(|it| !it.unsure).then_some(false),
    }
}

/// The rules that are simply true or not; none where that cannot be found out.
fn holds(rule: &Rule, value: &Value) -> Option<bool> {
    Some(match rule {
        Rule::Equals(expected) => equal(expected, value),
        Rule::Contains(part) => match (value, part) {
            (Value::String(text), Value::String(part)) => text.contains(&**part),
            (Value::Array(items), part) => items.iter().any(|item| equal(part, item)),
            _ => false,
        },
        Rule::Matches(pattern) => match value {
            Value::String(text) => return pattern.is_match(text).ok(),
            _ => false,
        },
        Rule::StartsWith(start) => value.as_str().is_some_and(|it| it.starts_with(&**start)),
        Rule::EndsWith(end) => value.as_str().is_some_and(|it| it.ends_with(&**end)),
        Rule::OneOf(rules) | Rule::Any(rules) => {
            return any_known(rules.iter().map(|it| fits(it, Some(value))));
        }
        Rule::Is(json_type) => is(*json_type, value),
        Rule::Len(expected) => match length(value) {
            Some(length) => return fits(expected, Some(&length.into())),
            None => false,
        },
        Rule::Compare(ordering, number) => match value {
            Value::Number(actual) => compare(*ordering, actual, number),
            _ => false,
        },
        Rule::Has(expected) => match value {
            Value::Array(items) => {
                return any_known(items.iter().map(|it| fits(expected, Some(it))));
            }
            _ => false,
        },
        _ => false,
    })
}

/// 1 and 1.0 are one number.
fn equal(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => {
            one == other || one.as_f64().zip(other.as_f64()).is_some_and(|(a, b)| a == b)
        }
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(a, b)| equal(a, b))
        }
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len()
                && one.iter().all(|(key, a)| other.get(key).is_some_and(|b| equal(a, b)))
        }
        _ => one == other,
    }
}

fn is(json_type: JsonType, value: &Value) -> bool {
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

fn compare(ordering: Ordering, actual: &Number, bound: &Number) -> bool {
    let found = match (actual.as_i64(), bound.as_i64()) {
        (Some(actual), Some(bound)) => Some(actual.cmp(&bound)),
        _ => actual.as_f64().zip(bound.as_f64()).and_then(|(a, b)| a.partial_cmp(&b)),
    };
    found.is_some_and(|found| match ordering {
        Ordering::Gt => found.is_gt(),
        Ordering::Ge => found.is_ge(),
        Ordering::Lt => found.is_lt(),
        Ordering::Le => found.is_le(),
    })
}

fn describe(rule: &Rule) -> String {
    let several = |word: &str, rules: &[Rule]| {
        let all: Vec<String> = rules.iter().map(describe).collect();
        format!("{word} {}", all.join(", "))
    };
    match rule {
        Rule::Equals(value) => short(value),
        Rule::Subset(pairs) => {
            let pairs = pairs.iter().map(|(key, rule)| format!("{key} {}", describe(rule)));
            let with = pairs.collect::<Vec<_>>().join(", ");
            if with.is_empty() { "a map".to_owned() } else { format!("a map with {with}") }
        }
        Rule::Items(_) | Rule::Every(_) => "a list".to_owned(),
        Rule::Contains(part) => format!("something that contains {}", short(part)),
        Rule::Matches(pattern) => format!("a text that matches /{pattern}/"),
        Rule::StartsWith(start) => format!("a text that starts with {start:?}"),
        Rule::EndsWith(end) => format!("a text that ends with {end:?}"),
        Rule::OneOf(rules) | Rule::Any(rules) => several("one of", rules),
        Rule::All(rules) => several("all of", rules),
        Rule::Not(inner) => format!("not {}", describe(inner)),
        Rule::Exists(true) => "anything".to_owned(),
        Rule::Exists(false) => "nothing".to_owned(),
        Rule::Is(json_type) => {
            format!("a value of type {}", format!("{json_type:?}").to_lowercase())
        }
        Rule::Len(inner) => match &**inner {
            Rule::Compare(ordering, number) => format!("a length {} {number}", sign(*ordering)),
            inner => format!("a length of {}", describe(inner)),
        },
        Rule::Compare(ordering, number) => format!("a number {} {number}", sign(*ordering)),
        Rule::Has(inner) => format!("a list that has {}", describe(inner)),
        Rule::Conforms(_) => "a value that conforms to the schema".to_owned(),
    }
}

fn sign(ordering: Ordering) -> &'static str {
    match ordering {
        Ordering::Gt => ">",
        Ordering::Ge => ">=",
        Ordering::Lt => "<",
        Ordering::Le => "<=",
    }
}

/// The step of a path that goes into a map.
fn into(key: &str) -> String {
    let step = Path { segments: vec![Segment::Key(key.to_owned())] }.to_string();
    if step.starts_with('[') { step } else { format!(".{step}") }
}

/// A path with what a JSON pointer says below it.
fn place(path: &str, pointer: &str) -> String {
    let mut place = path.to_owned();
    for step in pointer.split('/').skip(1) {
        let step = match step.bytes().all(|byte| byte.is_ascii_digit()) {
            true => format!("[{step}]"),
            false => into(&step.replace("~1", "/").replace("~0", "~")),
        };
        place.push_str(if place.is_empty() { step.trim_start_matches('.') } else { &step });
    }
    place
}

/// Goes one step down, and back.
fn below(path: &mut String, step: &str, work: impl FnOnce(&mut String)) {
    let length = path.len();
    path.push_str(if length == 0 { step.trim_start_matches('.') } else { step });
    work(path);
    path.truncate(length);
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::Matcher;

    #[track_caller]
    fn check(matcher: serde_json::Value, fit: serde_json::Value, unfit: serde_json::Value) {
        let read = Matcher::of(&matcher).unwrap();
        let found = read.check(Some(&fit));
        assert!(found.is_empty(), "{matcher} should take {fit}: {found:?}");
        assert!(!read.fits(Some(&unfit)), "{matcher} should not take {unfit}");
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
    fn what_takes_too_long_to_be_found_out_fits_nothing() {
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
            let found = Matcher::of(&matcher).unwrap().check(Some(&text));
            assert_eq!(found.len(), 1, "{matcher}");
        }
        let told = Matcher::of(&json!({"not": matches})).unwrap().check(Some(&text));
        let expected = "expected not a text that matches /^(?:(?=a)a+)+$/; gave up, because it \
                        takes too many steps on \"aaaa";
        assert!(told[0].message.starts_with(expected), "{}", told[0].message);
        // What is certain is certain all the same.
        check(json!({"any": [matches, {"ends_with": "!"}]}), text.clone(), json!("b"));
        let neither = Matcher::of(&json!({"not": {"all": [matches, "b"]}})).unwrap();
        assert!(neither.fits(Some(&text)));
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
    fn a_mismatch_says_where_what_and_shows_a_difference() {
        let matcher = Matcher::of(&json!({"a": [{"b": "one\ntwo\n"}], "c": {"gt": 3}})).unwrap();
        let actual = json!({"a": [{"b": "one\n2\n"}], "c": 3});
        let found = matcher.check(Some(&actual));
        assert_eq!(found.len(), 2);
        assert_eq!(found[0].path, "a[0].b");
        let shown = found[0].to_string();
        assert!(shown.contains("-two") && shown.contains("+2"), "{shown}");
        assert_eq!(found[1].to_string(), "at c: expected a number > 3, found 3");
        let absent = matcher.check(Some(&json!({"c": 9})))[0].to_string();
        assert_eq!(absent, "at a: expected a list, found nothing");
    }

    #[track_caller]
    fn told(matcher: serde_json::Value, value: serde_json::Value, expected: &str) {
        let found = Matcher::of(&matcher).unwrap().check(Some(&value));
        assert_eq!(found[0].to_string(), expected);
    }

    #[test]
    fn what_was_counted_and_what_a_map_has_is_told() {
        told(json!({"len": 2}), json!("abc"), "expected a length of 2, found 3: \"abc\"");
        told(json!({"len": {"lt": 2}}), json!([1, 2]), "expected a length < 2, found 2: [1,2]");
        told(json!({"len": 1}), json!(1), "expected a length of 1, found 1");
        told(json!([1]), json!([1, 2]), "expected 1 item, found 2: [1,2]");
        let has = "expected a list that has a map with a 1, found [{\"a\":2}]";
        told(json!({"has": {"a": 1}}), json!([{"a": 2}]), has);
    }

    #[test]
    fn what_breaks_a_schema_has_its_place() {
        let schema = json!({"properties": {"a/b": {"items": {"type": "string"}}}});
        let expected = "at [\"a/b\"][0]: 1 is not of type \"string\"";
        told(json!({"conforms": schema}), json!({"a/b": [1]}), expected);
        let expected = "at it[\"a/b\"][0]: 1 is not of type \"string\"";
        told(json!({"it": {"conforms": schema}}), json!({"it": {"a/b": [1]}}), expected);
    }
}
