//! Patterns of users: their syntax, and their limits.

use std::time::{Duration, Instant};

use sparring_script::{Pattern, escape_pattern};

#[track_caller]
fn check(pattern: &str, matching: &[&str], others: &[&str]) {
    let compiled = Pattern::new(pattern).unwrap_or_else(|why| panic!("{pattern}: {why}"));
    for text in matching {
        assert_eq!(compiled.is_match(text), Ok(true), "{pattern} in {text:?}");
    }
    for text in others {
        assert_eq!(compiled.is_match(text), Ok(false), "{pattern} in {text:?}");
    }
}

#[test]
fn flags_are_understood() {
    check("(?i)ab", &["AB", "ab"], &["ac"]);
    check("(?i:a)b", &["Ab"], &["aB"]);
    check("(?i)a(?-i)b", &["Ab"], &["aB"]);
    check("^(?s).$", &["\n"], &[]);
    check("(?m)^b$", &["a\nb\nc"], &["ab"]);
    check("(?x) a  b+ # two letters\n c [ d ]", &["abbcd"], &["a b c d"]);
    let pattern = Pattern::case_insensitive("oslo|(?-i:Rome)").unwrap();
    assert_eq!(pattern.is_match("OSLO"), Ok(true));
    assert_eq!(pattern.is_match("rome"), Ok(false));
    assert_eq!(pattern.as_str(), "oslo|(?-i:Rome)");
}

#[test]
fn classes_match_unicode() {
    check(r"^\d+$", &["12", "\u{0661}"], &["a"]);
    check(r"^\w+$", &["\u{e9}_1"], &["-"]);
    check(r"\bcaf\u{e9}\b", &["un caf\u{e9} noir"], &["caf\u{e9}s"]);
    check(r"^[0-9]+$", &["12"], &["\u{0661}"]);
    check("(?i)^\u{e4}\u{3c3}$", &["\u{c4}\u{3c2}"], &["a\u{3c3}"]);
    check(r"^\p{Greek}\p{L}\P{L}$", &["\u{3b1}a1"], &["aa1"]);
    check("^[[:alpha:]]+$", &["ab"], &["1"]);
    check("^[a-z&&[^b]]+$", &["ac"], &["b"]);
}

#[test]
fn look_around_and_backreferences_work() {
    check(r"^(?=.*\d)(?!.*x)[a-z\d]+$", &["a1"], &["a", "a1x"]);
    check(r"(?<=\$)\d+(?<!0)$", &["$12"], &["12", "$0"]);
    check(r"^(a|b)\1$", &["aa", "bb"], &["ab"]);
    check(r"^(?<it>a|b)\k<it>$", &["aa", "bb"], &["ab"]);
    check(r"\Aab\z", &["ab"], &["ab\n", "cab"]);
}

#[test]
fn all_matches_are_replaced() {
    for (pattern, text, by, expected) in [
        ("(build) [0-9]+", "build 12, build 7", "$1 [n]", "build [n], build [n]"),
        (r"(?<a>\w)(\w)", "abcd", "${2}${a}", "badc"),
        ("b", "abc", "$$", "a$c"),
        ("a*", "baac", "-", "-b-c-"),
        ("x", "abc", "y", "abc"),
    ] {
        let read = Pattern::new(pattern).unwrap();
        assert_eq!(read.replace_all(text, by).unwrap(), expected, "{pattern} in {text}");
    }
}

#[test]
fn groups_are_found_by_number_and_name() {
    let pattern = Pattern::new(r"(?<day>\d+)\. (\w+)( \d+)?").unwrap();
    let found = pattern.captures("on 7. May").unwrap().unwrap();
    assert_eq!(found.name("day").unwrap().as_str(), "7");
    assert_eq!(found.get(2).unwrap().as_str(), "May");
    assert!(found.get(3).is_none());
    assert!(pattern.captures("never").unwrap().is_none());
}

#[test]
fn an_escaped_text_matches_itself_alone() {
    for text in [r"\.+*?()|[]{}^$#&-~", "a b-c", "\u{e9}\n", ""] {
        check(&format!("^{}$", escape_pattern(text)), &[text], &["x"]);
    }
}

#[test]
fn invalid_patterns_are_explained_in_one_line() {
    for (pattern, expected) in [
        ("(", "opening parenthesis without closing parenthesis"),
        ("[z-a]", "invalid character class range"),
        (r"\p{Nope}", "unicode property not found"),
        (r"(a)\2", "invalid back reference"),
        ("*", "target of repeat operator is invalid"),
        ("(?:a{1000}){1000}{1000}", "too large when compiled"),
    ] {
        let why = Pattern::new(pattern).expect_err(pattern).to_string();
        assert!(why.contains(expected) && !why.contains('\n'), "{pattern}: {why}");
    }
}

#[test]
fn plain_patterns_take_linear_time() {
    let started = Instant::now();
    let many = "a".repeat(200_000) + "!";
    for pattern in ["(a+)+$", "^(a+)+$", "(a|a)*b", "(.*)*x", "(x+x+)+y|(a|aa)+$", r"(\w+\s?)*;"] {
        check(pattern, &[], &[&many]);
    }
    assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
}

#[test]
fn other_patterns_give_up_with_an_error_that_names_them() {
    let text = format!("{}!", "a".repeat(64));
    for pattern in [r"^(?:(?=a)a+)+$", r"^(?:(a|aa)+)+\1!b$"] {
        let read = Pattern::new(pattern).unwrap();
        let error = read.is_match(&text).unwrap_err().to_string();
        let expected = format!("gave up on pattern /{pattern}/: too many backtracking steps");
        assert_eq!(error, expected);
        assert!(read.replace_all(&text, "x").is_err() && read.captures(&text).is_err());
    }
}
