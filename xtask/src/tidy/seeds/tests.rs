//! Tests of the check of `docs/seeds.md`.

use super::super::file;
use super::{PAGE, all_ids, check, exists};

/// Checks a page with this row of 0.1 at line 3; all other rows have a test.
fn check_row(row: &str, expected: &[&str]) {
    let mut text = format!("| id | what | tests |\n|---|---|---|\n{row}");
    for id in &all_ids()[1..] {
        text += &format!("\n| {id} | it works | `a::holds` |");
    }
    let code = file("crates/a/src/lib.rs", "#[test]\nfn holds() {}\n");
    assert_eq!(check(&[file(PAGE, &text), code]), expected, "{row}");
}

#[test]
fn knows_112_ids() {
    let ids = all_ids();
    assert_eq!(ids.len(), 112);
    assert_eq!([&ids[0], &ids[41], &ids[111]], ["0.1", "3.11", "4.12.4"]);
}

#[test]
fn accepts_rows_whose_tests_exist() {
    check_row("| 0.1 | x | `a::holds` |", &[]);
    check_row("| 0.1 | x | `a::holds`, `a::holds` |", &[]);
    let open = ["docs/seeds.md:3: 0.1: open is not a test in backticks"];
    check_row("| 0.1 | x | open |", &open);
    check_row("| 0.1 | x | `a::holds`, open |", &open);
}

#[test]
fn requires_the_page_and_every_row_once() {
    assert_eq!(check(&[]), ["docs/seeds.md: no such file"]);
    check_row("", &["docs/seeds.md: no row for 0.1"]);
    check_row(
        "| 0.1 | x | `a::holds` |\n| 0.1 | x | `a::holds` |\n| 5.1 | x | `a::holds` |\n| 0.1 | open |",
        &[
            "docs/seeds.md:4: a second row for 0.1",
            "docs/seeds.md:5: unknown id `5.1`",
            "docs/seeds.md:6: a row must be `| id | what | tests |`",
        ],
    );
}

#[test]
fn rejects_a_row_without_tests_or_with_a_missing_test() {
    check_row("| 0.1 | x | |", &["docs/seeds.md:3: 0.1: no tests"]);
    check_row(
        "| 0.1 | x | `a::breaks`, later |",
        &[
            "docs/seeds.md:3: 0.1: no such test: `a::breaks`",
            "docs/seeds.md:3: 0.1: later is not a test in backticks",
        ],
    );
}

#[test]
fn finds_tests_in_every_candidate_file() {
    let places = [
        ("a::holds", "crates/a/src/lib.rs"),
        ("a::m::holds", "crates/a/src/m.rs"),
        ("a::m::n::holds", "crates/a/src/m/n/mod.rs"),
        ("a::m::n::holds", "crates/a/src/m/n/tests.rs"),
        ("a::it::holds", "crates/a/tests/it/main.rs"),
        ("a::it::m::holds", "crates/a/tests/it/m.rs"),
        ("a::it::m::holds", "crates/a/tests/it/m/mod.rs"),
        ("xtask::tidy::holds", "xtask/src/tidy.rs"),
        ("a::it::m::holds", "examples/a/tests/it/m.rs"),
    ];
    for (test, path) in places {
        let files = [file(path, "    #[test]\n    fn holds() {\n")];
        assert!(exists(test, &files), "{test} in {path}");
        assert!(!exists("b::m::holds", &files), "b::m::holds in {path}");
    }
}

#[test]
fn finds_cases_of_transcripts() {
    let files = [
        file("crates/a/tests/golden/m/n.txt", "Cases.\n\n== holds\n$ true\n"),
        file("crates/a/tests/golden/m/m.txt", "== holds\n$ true\n\\== breaks\n"),
        file("crates/a/tests/support/cases.rs", "[(\"over-http\", Way::Json)]\n"),
    ];
    for case in ["m::n::holds", "m::holds", "m::n::holds::over-http"] {
        assert!(exists(&format!("a::golden::{case}"), &files), "{case}");
    }
    for case in ["holds", "m::n::breaks", "m::breaks", "n::holds", "m::n::holds::over-tls"] {
        assert!(!exists(&format!("a::golden::{case}"), &files), "{case}");
    }
}

#[test]
fn recognizes_a_test_by_its_attribute() {
    let check = |text: &str, expected: bool| {
        let files = [file("crates/a/src/lib.rs", text)];
        assert_eq!(exists("a::holds", &files), expected, "{text}");
    };
    check("#[tokio::test]\nasync fn holds() {", true);
    check("#[tokio::test(\n  a = true\n)]\nasync fn holds() {", true);
    check("#[test]\n// Not so;\n#[should_panic]\nfn holds() {", true);
    check("fn holds() {", false);
    check("#[test]\nfn holds_more() {", false);
    check("#[test]\nfn other() {\n}\nfn holds() {", false);
    check("#[test]\n// fn holds() {", false);
    check("#[test_case(1)]\nfn holds() {", false);
}
