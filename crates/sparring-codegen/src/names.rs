//! Derives Rust identifiers from arbitrary names: splits them into words, and encodes or
//! drops other characters.

use std::collections::HashMap;

/// The maximum length of the name of a field, a method or a parameter, so that lines fit.
const MAX_SNAKE_LEN: usize = 34;

/// The maximum length of the name of a type.
const MAX_CAMEL_LEN: usize = 48;

/// Keywords of Rust, reserved words, and names that generated modules use.
const KEYWORDS: [&str; 53] = [
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "crate",
    "do", "dyn", "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl",
    "in", "let", "loop", "macro", "match", "mod", "move", "mut", "override", "priv", "pub", "ref",
    "return", "self", "static", "struct", "super", "trait", "true", "try", "type", "typeof",
    "unsafe", "unsized", "use", "virtual", "where", "while", "yield", "union",
    // The constructor of every struct.
    "new",
];

/// Types and variants that a generated module uses, and those of the prelude.
pub(crate) const RESERVED_TYPES: [&str; 40] = [
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

/// Allocates unique names.
#[derive(Debug, Default)]
pub(crate) struct NameAllocator {
    /// The last number for each allocated name.
    taken: HashMap<String, usize>,
}

impl NameAllocator {
    /// Creates an allocator that never returns these names.
    pub(crate) fn with_reserved(reserved: &[&str]) -> Self {
        NameAllocator { taken: reserved.iter().map(|name| ((*name).to_owned(), 1)).collect() }
    }

    /// Returns the name, with a number if it is taken.
    pub(crate) fn allocate(&mut self, wanted: &str) -> String {
        let mut name = wanted.to_owned();
        let mut number = self.taken.get(wanted).copied().unwrap_or_default();
        while self.taken.contains_key(&name) {
            number += 1;
            // Separates the number from a digit before it.
            let separator = if wanted.ends_with(|c: char| c.is_ascii_digit()) { "_" } else { "" };
            name = format!("{wanted}{separator}{number}");
        }
        self.taken.insert(wanted.to_owned(), number.max(1));
        self.taken.entry(name.clone()).or_insert(1);
        name
    }
}

/// Returns a unique name of a field, method or parameter for each text. A text that is a
/// valid name already keeps it.
pub(crate) fn unique_snake_names(texts: &[&str], fallback: &str) -> Vec<String> {
    let mut names = NameAllocator::default();
    let wanted: Vec<String> = texts.iter().map(|text| snake_name(text, fallback)).collect();
    let mut taken: Vec<Option<String>> = Vec::with_capacity(texts.len());
    for (text, name) in texts.iter().zip(&wanted) {
        taken.push((text == name).then(|| names.allocate(name)));
    }
    let both = taken.into_iter().zip(&wanted);
    both.map(|(taken, name)| taken.unwrap_or_else(|| names.allocate(name))).collect()
}

/// Derives the name of a field, a method or a parameter, or `fallback` if the text has no
/// word.
pub(crate) fn snake_name(text: &str, fallback: &str) -> String {
    let mut name = split_words(text).join("_");
    if name.is_empty() {
        name = fallback.to_owned();
    }
    if name.starts_with(|c: char| c.is_ascii_digit()) {
        name.insert(0, 'n');
    }
    let mut name = truncate_name(&name, MAX_SNAKE_LEN).trim_end_matches('_').to_owned();
    if KEYWORDS.contains(&&*name) {
        name.push('_');
    }
    name
}

/// Derives the name of a type or a variant, or `fallback` if the text has no word.
pub(crate) fn camel_name(text: &str, fallback: &str) -> String {
    let mut name = String::new();
    for word in split_words(text) {
        // Keeps the numbers in `2024-11-05` separate.
        let digits = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
        if digits(name.chars().next_back()) && digits(word.chars().next()) {
            name.push('_');
        }
        let mut letters = word.chars();
        name.extend(letters.next().into_iter().flat_map(char::to_uppercase));
        name.extend(letters);
    }
    if name.is_empty() {
        name = fallback.to_owned();
    }
    if name.starts_with(|c: char| c.is_ascii_digit()) {
        name.insert(0, 'N');
    }
    truncate_name(&name, MAX_CAMEL_LEN).trim_end_matches('_').to_owned()
}

/// Derives the name of a type inside another. If the name is too long, the outer one is
/// truncated.
pub(crate) fn nested_camel_name(name: &str, part: &str) -> String {
    let part = camel_name(part, "Part");
    let part = truncate_name(&part, MAX_CAMEL_LEN / 2);
    let name = truncate_name(name, MAX_CAMEL_LEN - part.len()).trim_end_matches('_');
    format!("{name}{part}")
}

/// Returns true if a text is a valid name of a type: letters and digits, the first one a
/// capital letter.
pub fn is_type_name(name: &str) -> bool {
    let plain = name.chars().all(|c| c.is_ascii_alphanumeric());
    let begins = name.starts_with(|c: char| c.is_ascii_uppercase());
    plain && begins && name.len() <= MAX_CAMEL_LEN && !RESERVED_TYPES.contains(&name)
}

/// Splits a name into words in lower case.
fn split_words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let letters: Vec<char> = text.chars().take(10 * MAX_CAMEL_LEN).collect();
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
            // The code point keeps names distinct. The letter itself may look like another
            // or have two encodings, about which the compiler warns, and formatters disagree
            // about its width.
            c => word.push_str(&format!("u{:x}", u32::from(c))),
        }
    }
    words.extend((!word.is_empty()).then_some(word));
    words
}

fn truncate_name(name: &str, max_len: usize) -> &str {
    &name[..name.len().min(max_len)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_and_methods_are_in_snake_case() {
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
            assert_eq!(snake_name(name, "other"), expected, "{name}");
        }
    }

    #[test]
    fn types_and_variants_are_in_camel_case() {
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
            assert_eq!(camel_name(name, "Other"), expected, "{name}");
        }
    }

    #[test]
    fn a_nested_type_is_named_after_the_outer_one() {
        assert_eq!(nested_camel_name("GetWeather", "days"), "GetWeatherDays");
        assert_eq!(nested_camel_name(&"A".repeat(48), "days"), format!("{}Days", "A".repeat(44)));
        assert_eq!(nested_camel_name(&"A".repeat(48), &"b".repeat(99)).len(), 48);
    }

    #[test]
    fn names_are_unique() {
        let mut names = NameAllocator::with_reserved(&["Vec"]);
        let taken = ["a", "a", "a2", "a", "Vec", "v1", "v1"].map(|name| names.allocate(name));
        assert_eq!(taken, ["a", "a2", "a2_2", "a3", "Vec2", "v1", "v1_2"]);
        assert_eq!(unique_snake_names(&["a-b", "aB", "a_b"], "x"), ["a_b2", "a_b3", "a_b"]);
    }

    #[test]
    fn ten_thousand_equal_names_are_numbered_quickly() {
        let mut names = NameAllocator::default();
        let last = (0..10_000).map(|_| names.allocate("a")).last();
        assert_eq!(last.as_deref(), Some("a10000"));
    }

    #[test]
    fn long_names_are_truncated() {
        assert_eq!(snake_name(&"a".repeat(1_000), "x").len(), MAX_SNAKE_LEN);
        assert_eq!(camel_name(&"城".repeat(1_000), "X").len(), MAX_CAMEL_LEN);
    }

    #[test]
    fn only_valid_type_names_are_accepted() {
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
