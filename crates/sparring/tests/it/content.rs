//! Expectations of texts, and their mismatches.

use sparring::Content;

use crate::failure::failure;

/// Checks which texts match: `+` marks those that do.
#[track_caller]
fn check(content: impl Into<Content>, texts: &[&str]) {
    let content = content.into();
    for text in texts {
        let (sign, text) = text.split_at(1);
        assert_eq!(content.fits(text), sign == "+", "{content} on {text:?}");
        assert_eq!(content.matches(text).is_ok(), sign == "+");
    }
}

/// Checks the message of a mismatch.
#[track_caller]
fn check_mismatch(content: impl Into<Content>, text: &str, expected: &str) {
    assert_eq!(content.into().matches(text).unwrap_err().to_string(), expected);
}

#[test]
fn all_strings_must_be_contained_ignoring_case() {
    check("Learning Loop", &["+the LEARNING loop", "-a loop", "-"]);
    check(["learning loop", "retrospective"], &["+Retrospective: Learning Loop", "-retrospective"]);
    check(vec!["ÄRGER".to_owned()], &["+ärger", "-arger"]);
    check(Content::all(["a", "b"]).case_sensitive(), &["+ba", "-bA"]);
}

#[test]
fn regular_expressions_combine_with_strings() {
    check(Content::regex(r"^\d+ degrees$"), &["+15 Degrees", "-15 degrees or so"]);
    check(Content::regex("^Oslo").case_sensitive(), &["+Oslo", "-oslo"]);
    check([Content::regex(r"v\d"), "release".into()], &["+Release v2", "-release"]);
}

#[test]
fn a_regular_expression_that_takes_too_long_matches_neither_way() {
    let slow = || Content::regex("^(?:(?=a)a+)+$");
    let text = format!("{}!", "a".repeat(64));
    let (fits, unfit) = (format!("+{text}"), format!("-{text}"));
    for content in [slow(), !slow(), !(slow() | "b"), !(slow() & "a"), slow() & "a"] {
        check(content, &[&unfit]);
    }
    check(slow() | "!", &[&fits]);
    check(!(slow() & "b"), &[&fits]);
}

#[test]
fn and_or_and_not_combine() {
    check(Content::from("a") & "b", &["+ab", "-a"]);
    check(Content::from("a") | "b" | Content::number(), &["+xb", "+1", "-c"]);
    check(!Content::from("error"), &["+fine", "+", "-An Error"]);
    check(!!Content::from("a"), &["+a", "-b"]);
    check(Content::any(["a", "b"]).and(!Content::any(["c", "d"])), &["+a", "-ad", "-e"]);
    check((Content::from("a") & "b") | "c", &["+ab", "+c", "-a"]);
    check((Content::from("a") | "b").case_sensitive(), &["+a", "-B"]);
}

#[test]
fn predefined_expectations_match_common_texts() {
    check(Content::json(), &["+{\"a\": [1]}", "+null", "-{a: 1}", "-"]);
    check(Content::number(), &["+1", "+-2.5e3", "+ 7\n", "-seven", "-", "-NaN", "-inf"]);
    check(Content::empty(), &["+", "- "]);
    check(Content::not_empty(), &["+x", "- \n"]);
    check(Content::exactly("Ok"), &["+Ok", "-ok", "-Ok "]);
    check(Content::starts_with("# "), &["+# A", "-A # "]);
    check(Content::ends_with("END"), &["+the end", "-the end."]);
    check(Content::lines(2), &["+a\nb\n", "-a", "-a\n\nb"]);
}

#[test]
fn a_mismatch_names_the_parts_that_failed_and_shows_the_start_of_the_content() {
    check_mismatch(
        ["learning loop", "retrospective"],
        "A learning loop.",
        "expected \"learning loop\" and \"retrospective\"\n\
         missing: \"retrospective\"\nfound: \"A learning loop.\"",
    );
    check_mismatch("a", "b", "expected \"a\"\nfound: \"b\"");
    check_mismatch(
        (Content::from("a") | "b") & !Content::from("c") & Content::from("d").case_sensitive(),
        "cD",
        "expected (\"a\" or \"b\") and not \"c\" and \"d\" (case-sensitive)\n\
         missing: \"a\" or \"b\", \"d\" (case-sensitive)\nunwanted: \"c\"\nfound: \"cD\"",
    );
    check_mismatch(Content::exactly("one"), "two", "expected: \"one\"\n   found: \"two\"");
    check_mismatch(
        Content::exactly("one\ntwo\n"),
        "one\n2\n",
        "expected (-) and found (+):\n    one\n  - two\n  + 2",
    );
    let long = Content::from("x").matches(&"a".repeat(1_000)).unwrap_err().to_string();
    assert!(long.ends_with("aaa\"… (1000 bytes)") && long.len() < 700, "{long}");
}

#[test]
fn an_expectation_that_would_match_any_text_matches_none() {
    check("", &["-", "-text"]);
    check(Content::all::<&str>([]), &["-", "-text"]);
    check(!Content::from(""), &["-", "-text"]);
    check(Content::from("a") | "", &["-a"]);
    check_mismatch(
        "",
        "text",
        "expected \"\", but an empty expectation matches any text\nfound: \"text\"",
    );
    let expected =
        "expected an empty list, but an empty expectation matches any text\nfound: \"text\"";
    check_mismatch(Content::all::<&str>([]), "text", expected);
}

#[test]
fn an_invalid_regular_expression_fails_at_its_line() {
    let line = line!() + 1;
    let failure = failure(|| Content::regex("a("));
    assert_eq!(failure.at, format!("tests/it/content.rs:{line}"));
    assert!(failure.message.starts_with("invalid regular expression \"a(\": "), "{failure:?}");
}

#[test]
fn an_expectation_checks_any_text_without_a_client() {
    Content::from("checklist").assert_matches("A Checklist");
    let failure = failure(|| Content::from("checklist").assert_matches("A list"));
    assert_eq!(failure.message, "expected \"checklist\"\nfound: \"A list\"");
    assert!(failure.at.starts_with("tests/it/content.rs:"), "{failure:?}");
}
