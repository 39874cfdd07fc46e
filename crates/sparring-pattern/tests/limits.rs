//! Patterns and texts that are too much for engines that only try and go back.

use sparring_pattern::Pattern;

fn check(pattern: &str, text: &str, expected: bool) {
    let read = Pattern::new(pattern).unwrap_or_else(|why| panic!("{pattern}: {why}"));
    assert_eq!(read.is_in(text), Some(expected), "{pattern}");
}

#[test]
fn plain_patterns_never_take_exponential_time() {
    let many = |text: &str| text.repeat(20_000);
    for pattern in [
        "(a+)+$",
        "(a|a)*b",
        "(.*)*x",
        "(.*?)*?x",
        "(a*)*(a*)*b",
        "((a{0,3}){0,3}){0,3}b",
        "(?:a?){30}a{30}b",
        "(x+x+)+y|(a|aa)+$",
        r"^(([a-z])+.)+[A-Z]([a-z])+$",
        r"(\w+\s?)*;",
    ] {
        check(pattern, &(many("a") + "!"), false);
    }
    check(r"^(([a-z])+.)+[A-Z]([a-z])+$", &(many("ab.") + "Xyz"), true);
    check(r"\s+$", &(many(" ") + "x"), false);
}

#[test]
fn long_texts_are_no_matter() {
    let long = "lorem ipsum ".repeat(90_000);
    check("dolor", &long, false);
    check(r"(\w+ )*dolor", &long, false);
    check(r"^(?:lorem|ipsum|\s)*$", &long, true);
    check(r"^[\s\S]*$", &long, true);
    check(r"^(?=.*sum $)(?!.*x).*$", &long, true);
    check(r"^(\w)*( \w|\w)*", &long, true);
    let replaced = Pattern::new(r"(\w+) (\w+) ").unwrap();
    let replaced = replaced.replace_all(&long, "$2 $1 ").unwrap();
    assert_eq!(replaced, "ipsum lorem ".repeat(90_000));
}

#[test]
fn other_patterns_are_given_up() {
    let text = format!("{}!", "a".repeat(64));
    for pattern in [r"^(?:(?=a)a+)+$", r"^(a+)+\1$", r"(?<=^b(?:a|a)+)!"] {
        assert_eq!(Pattern::of_schema(pattern).unwrap().is_in(&text), None, "{pattern}");
        assert!(!Pattern::new(pattern).unwrap().is_match(&text), "{pattern}");
    }
}

#[test]
fn deep_nesting_is_refused() {
    let nested = |depth: usize| "(".repeat(depth) + "a" + &")*".repeat(depth);
    assert!(Pattern::new(&nested(10)).unwrap().is_match("a"));
    let plain = |depth: usize| "(?:".repeat(depth) + "a" + &")".repeat(depth);
    assert!(Pattern::new(&plain(200)).unwrap().is_match("a"));
    let looks = "(?=".repeat(200) + "a" + &")".repeat(200);
    assert!(Pattern::new(&looks).unwrap().is_match("a"));
    for depth in [201, 100_000] {
        let told = Pattern::new(&plain(depth)).unwrap_err().to_string();
        assert_eq!(told, "its groups are nested too deeply, at character 601");
    }
    let open = Pattern::new(&"(".repeat(100_000)).unwrap_err().to_string();
    assert!(open.starts_with("its groups are nested too deeply"), "{open}");
}

#[test]
fn large_counts_are_taken_or_refused() {
    check("^a{100000}$", &"a".repeat(100_000), true);
    check("^.{0,65536}$", &"\u{e9}".repeat(65_537), false);
    check(r"^(?:ab|c){0,20000}$", &"abc".repeat(9_000), true);
    for pattern in [
        "(?:a{1000}){1000}",
        "(?:){4000000000}",
        "a{99999999999}",
        "(?:(?:(?:a*){99}){99}){99}",
        r"(\p{L}{1,1000}){1,1000}",
    ] {
        let told = Pattern::new(pattern).unwrap_err().to_string();
        assert_eq!(told, "it is too large", "{pattern}");
    }
}

#[test]
fn what_is_read_takes_no_time_that_grows_with_its_depth() {
    let nested = "(a".repeat(150) + &")?".repeat(150);
    assert!(Pattern::new(&format!("^(?:{nested})*$")).unwrap().is_match(&"a".repeat(150)));
}

#[test]
fn large_classes_that_are_repeated_are_refused() {
    let letters: String = (0x4e00..0x7500).step_by(2).filter_map(char::from_u32).collect();
    let told = Pattern::new(&format!("(?:[{letters}]x){{100000}}")).unwrap_err().to_string();
    assert_eq!(told, "it is too large");
}

#[test]
fn loops_with_an_end_are_plain_too() {
    check("[A-Za-z0-9+/]{20,200}!", &"Ab0+".repeat(5_000), false);
    check("[a-z]{1,100};", &("a".repeat(150_000) + ";"), true);
    check(r"\w+(?=: leaked)", &("0a".repeat(750) + " key: leaked"), true);
}

#[test]
fn many_groups_are_no_matter() {
    check("(?:b|c)(?:(?:a?)*){20000}", &"x".repeat(100_000), false);
    let cleared = Pattern::new(&format!("(?=)(?:a|{})*b", "()".repeat(10_000))).unwrap();
    assert_eq!(cleared.is_in(&"a".repeat(10_000)), None, "it is given up in time");
}
