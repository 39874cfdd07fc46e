//! What suites and tests may have in their patterns beside ECMA-262, and what is
//! done with matches.

use sparring_pattern::{Pattern, escape};

fn check(pattern: &str, fits: &[&str], others: &[&str]) {
    let read = Pattern::new(pattern).unwrap_or_else(|why| panic!("{pattern}: {why}"));
    for text in fits {
        assert!(read.is_match(text), "{pattern} in {text:?}");
    }
    for text in others {
        assert!(!read.is_match(text), "{pattern} in {text:?}");
    }
}

#[test]
fn flags_are_for_the_rest_of_a_group() {
    check("(?i)ab", &["AB", "ab"], &["ac"]);
    check("a(?i)b|c", &["aB", "C"], &["Ab"]);
    check("(a(?i)b)c", &["aBc"], &["abC"]);
    check("(?i:a)b", &["Ab"], &["aB"]);
    check("(?i)a(?-i)b", &["Ab"], &["aB"]);
    check("^(?s).$", &["\n"], &[]);
    check("(?m)^b$", &["a\nb\r\nc"], &["ab"]);
    check("(?im-s)^B$.", &[], &["a\nb\n"]);
    check("(?x) a  b+ # two letters\n c [ d ]", &["abbcd"], &["a b c d"]);
    check(r"(?x)a\ b", &["a b"], &["ab"]);
}

#[test]
fn case_is_that_of_all_scripts() {
    check("(?i)^\u{e4}\u{3c3}k$", &["\u{c4}\u{3c2}\u{212a}"], &["a\u{3c3}k"]);
    check("(?i)^[a-c\u{3a9}]+$", &["ABC\u{3c9}"], &["d"]);
    check("(?i)^[^a]$", &["b"], &["a", "A"]);
    check(r"(?i)^\W$", &["-"], &["k", "s", "S"]);
    check(r"(?i)^(a)\1$", &["aA"], &["ab"]);
    let pattern = Pattern::in_any_case("oslo|(?-i:Rome)").unwrap();
    assert!(pattern.is_match("OSLO") && !pattern.is_match("rome"));
    assert_eq!(pattern.as_str(), "oslo|(?-i:Rome)");
}

#[test]
fn other_ways_to_write_it_are_known() {
    check(r"\Aab\z", &["ab"], &["ab\n", "cab"]);
    check(r"(?P<it>a)\k<it>", &["aa"], &["a"]);
    check(r"^\x{e9}\pL\PL$", &["\u{e9}a1"], &["\u{e9}1a"]);
    check(
        r"^\p{Greek}\p{greek}\p{sc=Grek}\p{scx=Greek}$",
        &["\u{3b1}\u{3b2}\u{3b3}\u{3b4}"],
        &["abcd"],
    );
}

#[test]
fn properties_are_known_by_their_names() {
    for (name, has, has_not) in [
        ("Lu", 'A', 'a'),
        ("Uppercase_Letter", '\u{c4}', '\u{e4}'),
        ("gc=Nd", '\u{661}', 'a'),
        ("General_Category=Punctuation", '!', '+'),
        ("Cased_Letter", 'a', '\u{4e00}'),
        ("Alphabetic", '\u{4e00}', '1'),
        ("Lowercase", '\u{aa}', 'A'),
        ("White_Space", '\u{85}', '\u{200b}'),
        ("ASCII", '~', '\u{e9}'),
        ("Any", '\0', '\0'),
        ("Assigned", 'a', '\u{378}'),
        ("Emoji", '\u{1f600}', 'a'),
        ("ID_Start", '\u{2118}', '1'),
        ("ID_Continue", '\u{b7}', '-'),
        ("AHex", 'f', 'g'),
        ("Script=Han", '\u{4e00}', '1'),
        ("Script_Extensions=Hira", '\u{30fc}', '1'),
        ("Script=Hira", '\u{3042}', '\u{30fc}'),
        ("scx=Common", '1', 'a'),
        ("sc=Old_Italic", '\u{10300}', 'a'),
    ] {
        let pattern = Pattern::of_schema(&format!(r"^\p{{{name}}}$")).unwrap();
        assert!(pattern.is_match(&has.to_string()), "{name} {has:?}");
        assert!(has == has_not || !pattern.is_match(&has_not.to_string()), "{name} {has_not:?}");
    }
}

/// But for characters that are newer than what these know.
#[test]
fn properties_are_those_that_others_know() {
    let assigned = regex::Regex::new(r"\p{Assigned}").unwrap();
    for name in [
        "L",
        "Lu",
        "Mn",
        "N",
        "P",
        "S",
        "Zs",
        "Cf",
        "Alphabetic",
        "Lowercase",
        "Emoji",
        "ID_Start",
        "ID_Continue",
        "sc=Greek",
        "scx=Cyrl",
        "sc=Zyyy",
        "scx=Zyyy",
        "White_Space",
    ] {
        let ours = Pattern::new(&format!(r"^\p{{{name}}}$")).unwrap();
        let theirs = regex::Regex::new(&format!(r"^\p{{{name}}}$")).unwrap();
        for character in ('\0'..'\u{250}')
            .chain('\u{300}'..'\u{500}')
            .filter(|it| assigned.is_match(&it.to_string()))
        {
            let text = character.to_string();
            assert_eq!(ours.is_match(&text), theirs.is_match(&text), "{name} {character:?}");
        }
    }
}

#[test]
fn what_means_something_else_to_others_is_refused() {
    for (pattern, expected) in [
        ("[[:alpha:]]", "a `[` in a class wants a backslash, at character 2"),
        ("[a&&b]", "`&&` in a class wants backslashes, at character 3"),
        ("[ --a]", "`--` in a class wants backslashes, at character 3"),
        ("[]a]", "a `]` as the first of a class wants a backslash, at character 2"),
        (r"\<a\>", r"`\<` is no escape, at character 1"),
        (r"a\Z", r"`\Z` is no escape, at character 2"),
        ("(?U)a", "`(?U` begins no group, at character 1"),
        ("\u{e9}(", "a parenthesis is not closed, at character 2"),
        ("(?<a", "a group wants a name and a `>`, at character 4"),
        (r"\x{110000}", "there is no character 110000, at character 1"),
    ] {
        assert_eq!(Pattern::new(pattern).unwrap_err().to_string(), expected, "{pattern}");
    }
}

#[test]
fn groups_are_found_by_number_and_name() {
    let pattern = Pattern::new(r"(?<day>\d+)\. (\w+)( \d+)?").unwrap();
    let found = pattern.captures("on 7. May").unwrap();
    assert_eq!(found.get(0), Some("7. May"));
    assert_eq!(found.name("day"), Some("7"));
    assert_eq!(found.get(2), Some("May"));
    assert_eq!(found.range(2), Some(6..9));
    assert_eq!((found.get(3), found.get(4), found.name("month")), (None, None, None));
    assert!(pattern.captures("never").is_none());
}

#[test]
fn all_matches_are_replaced() {
    for (pattern, text, by, expected) in [
        ("(build) [0-9]+", "build 12, build 7", "$1 [n]", "build [n], build [n]"),
        (r"(?<a>\w)(\w)", "abcd", "${2}${a}", "badc"),
        ("b", "abc", "$$$0$", "a$b$c"),
        ("b", "abc", "$1x${nope}${", "a${c"),
        ("", "\u{e9}b", "-", "-\u{e9}-b-"),
        ("a*", "baac", "-", "-b-c-"),
        (r"\b", "a b", "|", "|a| |b|"),
        ("x", "abc", "y", "abc"),
    ] {
        let read = Pattern::new(pattern).unwrap();
        assert_eq!(read.replace_all(text, by).unwrap(), expected, "{pattern} in {text}");
    }
}

#[test]
fn an_escaped_text_matches_itself_alone() {
    for text in [r"\.+*?()|[]{}^$#&-~", "a b-c", "\u{e9}\n", ""] {
        check(&format!("^{}$", escape(text)), &[text], &["x"]);
    }
    assert_eq!(escape("a.b"), r"a\.b");
}

#[test]
fn blanks_in_a_class_say_nothing_with_x() {
    for (pattern, fits, unfit) in
        [(r"(?x)^[a - z]$", "m", "-"), (r"(?x)^[a- ]b$", "-b", "bb"), (r"(?x)^[ a ]$", "a", " ")]
    {
        let read = Pattern::new(pattern).unwrap();
        assert!(read.is_match(fits) && !read.is_match(unfit), "{pattern}");
    }
}
