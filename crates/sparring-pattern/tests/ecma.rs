//! What ECMA-262 says of patterns, and what JSON Schemas may have in them.

use sparring_pattern::Pattern;

fn check(pattern: &str, fits: &[&str], others: &[&str]) {
    let read = Pattern::of_schema(pattern).unwrap_or_else(|why| panic!("{pattern}: {why}"));
    for text in fits {
        assert_eq!(read.is_in(text), Some(true), "{pattern} in {text:?}");
    }
    for text in others {
        assert_eq!(read.is_in(text), Some(false), "{pattern} in {text:?}");
    }
}

#[test]
fn classes_of_characters_are_those_of_ecma() {
    check(r"^\d+$", &["12"], &["\u{0661}", "1\n", ""]);
    check(r"^\D$", &["\u{0661}", "a", "\n"], &["1"]);
    check(r"^\w\W$", &["a\u{e9}", "_-"], &["\u{e9}a"]);
    check(r"^\s+$", &[" \t\u{b}\u{feff}\u{a0}\u{2029}"], &["\u{200b}", "\u{85}"]);
    check(r"^\S$", &["\u{85}", "\u{180e}"], &["\u{2000}"]);
    check(r"^.$", &["\u{1f600}", "\u{85}"], &["\n", "\r", "\u{2028}", ""]);
    check(r"^[^]$", &["\n", "\u{1f600}"], &["", "ab"]);
    check(r"[]", &[], &["", "a"]);
    check(r"\ba\b", &["a", "-a-", "\u{e9}a"], &["ba", "a1"]);
    check(r"a\B", &["ab"], &["a", "a-"]);
    check(r"^\p{Letter}\p{Lu}\P{L}$", &["\u{e9}\u{c9}1"], &["11a"]);
    check(r"^\p{Script=Greek}+$", &["\u{3b1}"], &["a"]);
}

#[test]
fn escapes_are_those_of_ecma() {
    check(r"^\/\.\-\#\ \<$", &["/.-# <"], &["a"]);
    check(r"^\cA\cz\t\v\0\x41\u0042$", &["\u{1}\u{1a}\t\u{b}\0AB"], &[]);
    check(r"^\uD83D\uDE00\u{1F600}$", &["\u{1f600}\u{1f600}"], &[]);
    check(r"\uD83D", &[], &["\u{1f600}"]);
    check(r"^[\b\d\-\]\uD83D\uDE00]+$", &["\u{8}1-]\u{1f600}"], &["b"]);
    check(r"^(a)\1$", &["aa"], &["a"]);
    check(r"^(?<it>a|b)\k<it>$", &["aa", "bb"], &["ab"]);
    check(r"^(?:(a)|b)\1c$", &["aac", "bc"], &["ac", "bac"]);
    check(r"^\k<it>(?<it>a)$", &["a"], &["aa"]);
    check(r"^(?i:a)b(?-i:c)$", &["ab\u{63}", "Abc"], &["aBc", "abC"]);
}

#[test]
fn classes_have_no_syntax_of_their_own_inside() {
    check(r"^[a-c[&&~~]+$", &["abc[&~"], &["]", "d"]);
    check(r"^[\w-.]+$", &["a-."], &[" "]);
    check(r"^[-a]+$", &["-a"], &["b"]);
    check(r"^[a-]+$", &["-a"], &["b"]);
    check(r"^[^\d\s]+$", &["a-"], &["1", " "]);
    check(r"^[\Da]$", &["a", "b"], &["1"]);
    check(r"^[\uD800-\uFFFF]$", &["\u{fffd}"], &["a"]);
    check(r"^[!-~]$", &["a", "[", "]"], &[" "]);
}

#[test]
fn what_is_around_is_looked_at() {
    check(r"^(?=.*\d)(?!.*x)[a-z\d]+$", &["a1"], &["a", "a1x"]);
    check(r"(?<=\$)\d+(?<!0)$", &["$12"], &["12", "$0"]);
    check(r"(?<=a+b?)c", &["aabc", "ac"], &["bc"]);
    let email = r"^(?!\.)(?!.*\.\.)([A-Za-z0-9_'+\-\.]*)[A-Za-z0-9_+-]@([A-Za-z0-9][A-Za-z0-9\-]*\.)+[A-Za-z]{2,}$";
    check(email, &["a.b@example.com"], &["a..b@example.com", "a@b", ".a@b.cd"]);
}

#[test]
fn braces_that_count_nothing_stand_for_themselves() {
    check(r"^{a}]{2,3}?$", &["{a}]]"], &["{a}]"]);
    check(r"^a{,2}$", &["a{,2}"], &["aa"]);
    check(r"a{0}b", &["b"], &[]);
}

#[test]
fn letters_of_all_scripts_may_be_many() {
    check(r"^[\p{L}\p{Z}\p{N}_.:/=+\-@]{0,256}$", &["", "\u{e9} 1"], &["\n"]);
    check(r"^[\s\S]{0,65536}$", &["", "a\n"], &[]);
}

#[test]
fn what_is_no_pattern_is_told() {
    for (pattern, expected) in [
        ("a++", "nothing to repeat"),
        ("^*", "nothing to repeat"),
        ("(", "parenthesis"),
        ("[a", "a class is not closed"),
        ("[z-a]", "`z-a` is in the wrong order"),
        (r"\Z", r"`\Z` is no escape"),
        (r"\u12", r"`\u` wants four digits"),
        ("a\\", "a backslash is the last"),
        (r"\p{Nope}", r"`\p{Nope}` is no property of Unicode that is known, at character 1"),
        ("a{2,1}", "`{2,1}` is in the wrong order, at character 2"),
        (r"(a)\2", "there is no group 2, at character 4"),
        (r"\k<a>", "there is no group `a`"),
        ("(?<a>b)(?<a>c)", "the group `a` is there twice, at character 8"),
        ("ab)", "a parenthesis is closed that was not opened, at character 3"),
        ("(?=a)*", "nothing to repeat before `*`"),
        ("(?i)a", "`(?i)` begins no group of ECMA-262, at character 1"),
        ("(?x:a)", "`(?x` begins no group of ECMA-262"),
        ("(?P<a>b)", "`(?P` begins no group of ECMA-262"),
        ("(?>a)", "`(?>` begins no group of ECMA-262"),
        (r"\Aa", r"`\A` is no escape of ECMA-262"),
        (r"a\z", r"`\z` is no escape of ECMA-262"),
        (r"\pL", r"`\p` wants the name of a property in braces"),
        (r"^(\p{L}{1,1000}){1,1000}$", "it is too large"),
    ] {
        let why = Pattern::of_schema(pattern).expect_err(pattern);
        let why = why.to_string();
        assert!(why.contains(expected), "{pattern}: {why}");
    }
}

#[test]
fn a_pattern_that_takes_too_long_is_given_up() {
    let pattern = Pattern::of_schema(r"^(?:(?=a)a+)+$").unwrap();
    assert_eq!(pattern.is_in(&format!("{}!", "a".repeat(64))), None);
}
