//! Rust's names out of names that may be anything: words are found in them, and
//! what cannot stand in an identifier is spelled out or left out.

use std::collections::HashMap;

/// The longest name of a field, a method or a parameter, so that every line has
/// its place.
const LONGEST_SNAKE: usize = 34;

/// The longest name of a type.
const LONGEST_CAMEL: usize = 48;

/// Words that mean something to Rust, now or some day, and to our modules.
const KEYWORDS: [&str; 53] = [
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "crate",
    "do", "dyn", "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl",
    "in", "let", "loop", "macro", "match", "mod", "move", "mut", "override", "priv", "pub", "ref",
    "return", "self", "static", "struct", "super", "trait", "true", "try", "type", "typeof",
    "unsafe", "unsized", "use", "virtual", "where", "while", "yield", "union",
    // The constructor of every struct.
    "new",
];

/// Types and variants that a module names, and those that everybody knows.
pub(crate) const KNOWN_TYPES: [&str; 40] = [
    "AsMut",
    "AsRef",
    "BTreeMap",
    "Box",
    "Call",
    "Client",
    "Clone",
    "Copy",
    "Debug",
    "Default",
    "Deserialize",
    "Drop",
    "Eq",
    "Err",
    "Error",
    "Fn",
    "FnMut",
    "FnOnce",
    "From",
    "FromIterator",
    "Future",
    "Hash",
    "Into",
    "IntoFuture",
    "IntoIterator",
    "Iterator",
    "None",
    "Ok",
    "Option",
    "Ord",
    "PartialEq",
    "PartialOrd",
    "Result",
    "Self",
    "Serialize",
    "Some",
    "String",
    "TypedCall",
    "Value",
    "Vec",
];

/// Names of which none is given twice.
#[derive(Debug, Default)]
pub(crate) struct Names {
    /// How often each was asked for.
    taken: HashMap<String, usize>,
}

impl Names {
    /// Names but these.
    pub(crate) fn without(reserved: &[&str]) -> Self {
        Names { taken: reserved.iter().map(|name| ((*name).to_owned(), 1)).collect() }
    }

    /// The name, with a number where it is taken.
    pub(crate) fn take(&mut self, wanted: &str) -> String {
        let mut name = wanted.to_owned();
        let mut number = self.taken.get(wanted).copied().unwrap_or_default();
        while self.taken.contains_key(&name) {
            number += 1;
            // Between digits, so that it does not become another one.
            let between = if wanted.ends_with(|c: char| c.is_ascii_digit()) { "_" } else { "" };
            name = format!("{wanted}{between}{number}");
        }
        self.taken.insert(wanted.to_owned(), number.max(1));
        self.taken.entry(name.clone()).or_insert(1);
        name
    }
}

/// Names of fields, methods or parameters, one for each text. What is a name
/// already gets that one, whatever else would become the same.
pub(crate) fn all_snake(texts: &[&str], otherwise: &str) -> Vec<String> {
    let mut names = Names::default();
    let wanted: Vec<String> = texts.iter().map(|text| snake(text, otherwise)).collect();
    let mut taken: Vec<Option<String>> = Vec::with_capacity(texts.len());
    for (text, name) in texts.iter().zip(&wanted) {
        taken.push((text == name).then(|| names.take(name)));
    }
    let both = taken.into_iter().zip(&wanted);
    both.map(|(taken, name)| taken.unwrap_or_else(|| names.take(name))).collect()
}

/// The name of a field, a method or a parameter; `otherwise` where there is no
/// word in it.
pub(crate) fn snake(text: &str, otherwise: &str) -> String {
    let mut name = words(text).join("_");
    if name.is_empty() {
        name = otherwise.to_owned();
    }
    if name.starts_with(|c: char| c.is_ascii_digit()) {
        name.insert(0, 'n');
    }
    let mut name = cut(&name, LONGEST_SNAKE).trim_end_matches('_').to_owned();
    if KEYWORDS.contains(&&*name) {
        name.push('_');
    }
    name
}

/// The name of a type or a variant; `otherwise` where there is no word in it.
pub(crate) fn camel(text: &str, otherwise: &str) -> String {
    let mut name = String::new();
    for word in words(text) {
        // `2024-11-05` must not become another number.
        let digits = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
        if digits(name.chars().next_back()) && digits(word.chars().next()) {
            name.push('_');
        }
        let mut letters = word.chars();
        name.extend(letters.next().into_iter().flat_map(char::to_uppercase));
        name.extend(letters);
    }
    if name.is_empty() {
        name = otherwise.to_owned();
    }
    if name.starts_with(|c: char| c.is_ascii_digit()) {
        name.insert(0, 'N');
    }
    cut(&name, LONGEST_CAMEL).trim_end_matches('_').to_owned()
}

/// The name of a type that is a part of another: the part is kept whole, the
/// other cut where both are too long.
pub(crate) fn camel_below(name: &str, part: &str) -> String {
    let part = camel(part, "Part");
    let part = cut(&part, LONGEST_CAMEL / 2);
    let name = cut(name, LONGEST_CAMEL - part.len()).trim_end_matches('_');
    format!("{name}{part}")
}

/// Whether a type can be called so: letters and digits, the first a capital.
pub fn is_type_name(name: &str) -> bool {
    let plain = name.chars().all(|c| c.is_ascii_alphanumeric());
    let begins = name.starts_with(|c: char| c.is_ascii_uppercase());
    plain && begins && name.len() <= LONGEST_CAMEL && !KNOWN_TYPES.contains(&name)
}

/// The words of a name, in small letters.
fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let letters: Vec<char> = text.chars().take(10 * LONGEST_CAMEL).collect();
    for (index, &c) in letters.iter().enumerate() {
        let before = index.checked_sub(1).map(|index| letters[index]);
        let after = letters.get(index + 1);
        // `getUser` and `HTTPServer` have two words each.
        let begins = c.is_uppercase()
            && before.is_some_and(|before| {
                before.is_lowercase()
                    || before.is_ascii_digit()
                    || before.is_uppercase() && after.is_some_and(|after| after.is_lowercase())
            });
        if (begins || c.is_ascii() && !c.is_ascii_alphanumeric()) && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        match c {
            c if c.is_ascii_alphanumeric() => word.push(c.to_ascii_lowercase()),
            c if c.is_ascii() => {}
            // No two names become the same by what cannot be shown. Some letters look
            // like others or have two spellings, which the compiler warns of, and a
            // formatter counts their columns in more than one way.
            c => word.push_str(&format!("u{:x}", u32::from(c))),
        }
    }
    words.extend((!word.is_empty()).then_some(word));
    words
}

fn cut(name: &str, most: usize) -> &str {
    &name[..name.len().min(most)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_and_methods_are_words_in_small_letters() {
        for (name, expected) in [
            ("message", "message"),
            ("maxResults", "max_results"),
            ("get-sum", "get_sum"),
            ("HTTPServer2Go", "http_server2_go"),
            ("a.b/c d", "a_b_c_d"),
            ("type", "type_"),
            ("new", "new_"),
            ("Self", "self_"),
            ("2fa", "n2fa"),
            ("größe", "gruf6udfe"),
            ("город", "u433u43eu440u43eu434"),
            ("_meta", "meta"),
            ("__", "other"),
            ("", "other"),
            ("\"; drop()", "drop"),
            ("*/ fn main() {}", "fn_main"),
        ] {
            assert_eq!(snake(name, "other"), expected, "{name}");
        }
    }

    #[test]
    fn types_and_variants_are_words_with_capitals() {
        for (name, expected) in [
            ("route_instructions", "RouteInstructions"),
            ("get-sum", "GetSum"),
            ("USD", "Usd"),
            ("2024-11-05", "N2024_11_05"),
            ("v1.2", "V1_2"),
            (">=", "Other"),
            ("self", "Self"),
            ("ßeta", "Udfeta"),
        ] {
            assert_eq!(camel(name, "Other"), expected, "{name}");
        }
    }

    #[test]
    fn a_part_is_named_after_the_whole() {
        assert_eq!(camel_below("GetWeather", "days"), "GetWeatherDays");
        assert_eq!(camel_below(&"A".repeat(48), "days"), format!("{}Days", "A".repeat(44)));
        assert_eq!(camel_below(&"A".repeat(48), &"b".repeat(99)).len(), 48);
    }

    #[test]
    fn a_name_is_given_once() {
        let mut names = Names::without(&["Vec"]);
        let taken = ["a", "a", "a2", "a", "Vec", "v1", "v1"].map(|name| names.take(name));
        assert_eq!(taken, ["a", "a2", "a2_2", "a3", "Vec2", "v1", "v1_2"]);
        assert_eq!(all_snake(&["a-b", "aB", "a_b"], "x"), ["a_b2", "a_b3", "a_b"]);
    }

    #[test]
    fn ten_thousand_equal_names_are_told_apart_at_once() {
        let mut names = Names::default();
        let last = (0..10_000).map(|_| names.take("a")).last();
        assert_eq!(last.as_deref(), Some("a10000"));
    }

    #[test]
    fn long_names_are_cut() {
        assert_eq!(snake(&"a".repeat(1_000), "x").len(), LONGEST_SNAKE);
        assert_eq!(camel(&"城".repeat(1_000), "X").len(), LONGEST_CAMEL);
    }

    #[test]
    fn only_what_can_name_a_type_is_taken_as_its_name() {
        for (name, expected) in [
            ("Everything", true),
            ("E2", true),
            ("everything", false),
            ("2E", false),
            ("A b", false),
            ("Vec", false),
            ("", false),
        ] {
            assert_eq!(is_type_name(name), expected, "{name}");
        }
    }
}
