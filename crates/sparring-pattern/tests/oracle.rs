//! Random patterns on random texts, held against other engines: `regress`, which
//! is ECMA-262 to the letter, and `regex`, which never takes long.

use std::ops::Range;

use proptest::prelude::*;
use proptest::sample::select;
use sparring_pattern::Pattern;

/// Where the groups of the first match are.
type Found = Option<Vec<Option<Range<usize>>>>;

fn ours(pattern: &Pattern, groups: usize, text: &str) -> Found {
    let found = pattern.captures(text)?;
    Some((0..groups).map(|number| found.range(number)).collect())
}

/// Things that take one character or none.
const ATOMS: [&str; 30] = [
    "a",
    "a",
    "b",
    "b",
    ".",
    "[ab]",
    "a",
    "b",
    "c",
    "a",
    "b",
    ".",
    r"\d",
    r"\w",
    r"\W",
    r"\s",
    r"\S",
    "[ab]",
    "[^a]",
    "[a-c1]",
    r"[^\d\sb]",
    "\u{e9}",
    r"\u{1F600}",
    r"\p{L}",
    r"\P{Lu}",
    r"[\p{Ll}_]",
    r"[]",
    r"[^]",
    "_",
    r"\D",
];

const ASSERTIONS: [&str; 4] = ["^", "$", r"\b", r"\B"];

const QUANTIFIERS: [&str; 14] = [
    "*", "+", "?", "*?", "+?", "??", "{2}", "{0,2}", "{1,3}", "{2,}", "{1,2}?", "{0}", "{0,2}?",
    "{1,}?",
];

/// Patterns of ECMA-262, with three groups at the end, so that there is always
/// something to refer to.
fn ecma() -> impl Strategy<Value = String> {
    tree(3, true).prop_map(|it| format!("{it}(?:(x)(y)(z))?"))
}

/// Groups of groups. What is repeated has no groups in it that are repeated too, of
/// which `regress` does not always find the end.
fn tree(depth: u32, repeats: bool) -> BoxedStrategy<String> {
    let atom = select(&ATOMS[..]);
    let many = select(&QUANTIFIERS[..]);
    if depth == 0 {
        return prop_oneof![
            8 => atom.clone().prop_map(str::to_owned),
            2 => (atom, many).prop_map(|(it, many)| format!("{it}{many}")),
            1 => select(&ASSERTIONS[..]).prop_map(str::to_owned),
            1 => select(&["\\1", "\\2", "\\3"][..]).prop_map(str::to_owned),
        ]
        .boxed();
    }
    let around = select(&["(", "(?:", "(", "(?=", "(?!", "(?<=", "(?<!"][..]);
    let inner = tree(depth - 1, repeats);
    let several = prop::collection::vec(inner.clone(), 1..4);
    let all = prop_oneof![
        1 => tree(0, false),
        3 => several.clone().prop_map(|all| all.concat()),
        3 => several.prop_map(|all| format!("(?:{})", all.join("|"))),
        3 => (around, inner).prop_map(|(start, it)| format!("{start}{it})")),
    ];
    if !repeats {
        return all.boxed();
    }
    let inner = tree(depth - 1, false);
    let round = prop_oneof![
        inner.clone(),
        (inner.clone(), inner).prop_map(|(one, other)| format!("({one})|{other}")),
    ];
    let repeated =
        (round, select(&QUANTIFIERS[..])).prop_map(|(it, many)| format!("(?:{it}){many}"));
    prop_oneof![1 => all, 1 => repeated].boxed()
}

/// Patterns that mean the same to `regex`: what is repeated takes a character in
/// each round and has no groups.
fn linear() -> impl Strategy<Value = String> {
    let frames = ["(%)", "(%)?", "(%)|", "(?:%)*", "(?:%)+?", "%", "^(%)", "%$", r"\b%"];
    let part = (solid(3), select(frames.to_vec())).prop_map(|(it, frame)| frame.replace('%', &it));
    prop::collection::vec(part, 1..4).prop_map(|all| all.concat())
}

/// What takes at least one character.
fn solid(depth: u32) -> BoxedStrategy<String> {
    // The class of nothing is refused where others read another class.
    let atoms: Vec<&str> = ATOMS.iter().copied().filter(|it| !["[]", "[^]"].contains(it)).collect();
    let atom = select(atoms).prop_map(str::to_owned);
    if depth == 0 {
        return atom.boxed();
    }
    let several = prop::collection::vec(solid(depth - 1), 1..4);
    let often = select(&["+", "+?", "{2}", "{1,3}", "{2,}", "{1,2}?"][..]);
    prop_oneof![
        1 => atom.clone(),
        3 => several.clone().prop_map(|all| all.concat()),
        2 => several.prop_map(|all| format!("(?:{})", all.join("|"))),
        2 => (solid(depth - 1), often).prop_map(|(it, many)| format!("(?:{it}){many}")),
        2 => (solid(depth - 1), atom, select(&QUANTIFIERS[..]))
            .prop_map(|(it, atom, many)| format!("{it}{atom}{many}")),
    ]
    .boxed()
}

fn text() -> impl Strategy<Value = String> {
    let characters =
        vec!['a', 'a', 'a', 'b', 'b', 'c', 'A', '1', ' ', '\n', '_', '\u{e9}', '\u{1f600}', 'x'];
    prop::collection::vec(select(characters), 0..8).prop_map(|all| all.into_iter().collect())
}

proptest! {
    #[test]
    fn patterns_mean_what_ecma_says(pattern in ecma(), texts in prop::collection::vec(text(), 4)) {
        let Ok(other) = regress::Regex::with_flags(&pattern, "u") else {
            prop_assert!(Pattern::of_schema(&pattern).is_err(), "{pattern} is no pattern");
            return Ok(());
        };
        let read = Pattern::of_schema(&pattern).map_err(|why| TestCaseError::fail(format!("{pattern}: {why}")))?;
        for text in &texts {
            let expected = other.find(text).map(|it| it.groups().collect::<Vec<_>>());
            let groups = expected.as_ref().map_or(0, Vec::len);
            prop_assert_eq!(read.is_in(text), Some(expected.is_some()), "{} in {:?}", pattern, text);
            prop_assert_eq!(ours(&read, groups, text), expected, "{} in {:?}", pattern, text);
        }
    }

    #[test]
    fn case_is_what_ecma_says(pattern in ecma(), texts in prop::collection::vec(text(), 4)) {
        let Ok(other) = regress::Regex::with_flags(&pattern, "ui") else { return Ok(()) };
        // The class of nothing is refused where others read another class.
        let Ok(read) = Pattern::in_any_case(&pattern) else { return Ok(()) };
        for text in &texts {
            let expected = other.find(text).map(|it| it.groups().collect::<Vec<_>>());
            let groups = expected.as_ref().map_or(0, Vec::len);
            prop_assert_eq!(ours(&read, groups, text), expected, "{} in {:?}", pattern, text);
        }
    }

    #[test]
    fn plain_patterns_find_what_others_find(pattern in linear(), texts in prop::collection::vec(text(), 4)) {
        let ascii = [(r"\d", "[0-9]"), (r"\D", "[^0-9]"), (r"\w", "[A-Za-z0-9_]"), (r"\W", "[^A-Za-z0-9_]")];
        let theirs = ascii.iter().fold(pattern.clone(), |it, (from, to)| it.replace(from, to));
        let theirs = theirs.replace(r"\b", r"(?-u:\b)");
        let other = regex::Regex::new(&theirs).map_err(|why| TestCaseError::fail(why.to_string()))?;
        let read = Pattern::new(&pattern).map_err(|why| TestCaseError::fail(format!("{pattern}: {why}")))?;
        for text in &texts {
            let expected = other.captures(text).map(|found| {
                found.iter().map(|it| it.map(|it| it.range())).collect::<Vec<_>>()
            });
            let found = ours(&read, other.captures_len(), text);
            prop_assert_eq!(found, expected, "{} in {:?}", pattern, text);
            let replaced = read.replace_all(text, "<$0>").unwrap();
            prop_assert_eq!(replaced, other.replace_all(text, "<$0>"), "{} in {:?}", pattern, text);
        }
    }
}
