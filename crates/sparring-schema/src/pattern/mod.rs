//! Patterns: regular expressions as ECMA-262 has them, which is what JSON Schema
//! says that they are.

mod class;
mod escape;
mod translate;

use fancy_regex::{Regex, RegexBuilder};

/// How many steps a match may take back before it is given up.
const MOST_STEPS: usize = 1_000_000;

/// The most bytes that a pattern may take: letters of all scripts, some hundred times,
/// take millions.
const LARGEST: usize = 64 << 20;

/// A pattern, ready to be used.
#[derive(Debug)]
pub(crate) struct Pattern {
    pub(crate) source: String,
    regex: Regex,
}

impl Pattern {
    /// Reads a pattern.
    ///
    /// # Errors
    /// When it is none; the text says why.
    pub(crate) fn new(source: &str) -> Result<Pattern, String> {
        let translated = translate::translate(source)?;
        let mut builder = RegexBuilder::new(&translated);
        match builder.backtrack_limit(MOST_STEPS).delegate_size_limit(LARGEST).build() {
            Ok(regex) => Ok(Pattern { source: source.to_owned(), regex }),
            Err(error) => Err(why(&error.to_string())),
        }
    }

    /// Whether it is found in a text, or `None` where that takes too long.
    pub(crate) fn is_in(&self, text: &str) -> Option<bool> {
        self.regex.is_match(text).ok()
    }
}

/// The last line of an error, which others say over several lines.
fn why(error: &str) -> String {
    // All that keeps a pattern from being built that could be read.
    if error.contains("building NFA") {
        return "it is too large".to_owned();
    }
    let last = error.lines().last().unwrap_or(error).trim();
    last.strip_prefix("error: ").unwrap_or(last).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(pattern: &str, fits: &[&str], others: &[&str]) {
        let read = Pattern::new(pattern).unwrap_or_else(|why| panic!("{pattern}: {why}"));
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
            (r"\p{Nope}", "property"),
            (r"^(\p{L}{1,1000}){1,1000}$", "it is too large"),
        ] {
            let why = Pattern::new(pattern).expect_err(pattern);
            assert!(why.to_lowercase().contains(&expected.to_lowercase()), "{pattern}: {why}");
        }
    }

    #[test]
    fn a_pattern_that_takes_too_long_is_given_up() {
        let pattern = Pattern::new(r"^(?:(?=a)a+)+$").unwrap();
        assert_eq!(pattern.is_in(&format!("{}!", "a".repeat(64))), None);
    }
}
