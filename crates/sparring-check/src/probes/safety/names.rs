//! Names that mix alphabets, or that look like other names.

use std::collections::HashMap;

use serde_json::Value;
use sparring_wire::Rule;
use unicode_security::skeleton;

use crate::probes::definition_findings::{DefinitionFindings, name_of, shown};

/// An alphabet whose letters look like those of others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Alphabet {
    Latin,
    Greek,
    Cyrillic,
    Armenian,
    Cherokee,
    /// Letters of mathematics, of full width or in circles, that look like Latin ones.
    Symbols,
}

/// Checks the names of definitions of one kind.
pub(super) fn check(definitions: &[Value], kind: &str, findings: &mut DefinitionFindings) {
    let mut seen: HashMap<String, &str> = HashMap::new();
    for name in definitions.iter().map(name_of) {
        if let Some(found) = mixture(name) {
            let name = shown(name);
            let message =
                format!("expected a name in one alphabet; the {kind} {name:?} has {found}");
            findings.add(Rule::LookalikeName, name, message);
        }
        match seen.insert(skeleton(name).collect(), name) {
            Some(other) if other != name => {
                let message = format!(
                    "expected names that look different; {} looks like {}",
                    spelled(shown(name)),
                    spelled(shown(other))
                );
                findings.add(Rule::LookalikeName, shown(name), message);
            }
            _ => {}
        }
    }
}

/// Returns the letters of an alphabet that does not fit the others of the name.
fn mixture(name: &str) -> Option<String> {
    let letters: Vec<(char, Alphabet)> =
        name.chars().filter_map(|it| Some((it, Alphabet::of(it)?))).collect();
    let main = Alphabet::Latin;
    let is_mixed = letters.iter().any(|(_, it)| *it != letters[0].1);
    let symbol = letters.iter().any(|(_, it)| *it == Alphabet::Symbols);
    if !is_mixed && !symbol {
        return None;
    }
    let mut strange: Vec<char> =
        letters.into_iter().filter(|(_, it)| *it != main).map(|(letter, _)| letter).collect();
    strange.dedup();
    let strange = strange.iter().map(|it| format!("U+{:04X} ({it})", u32::from(*it)));
    Some(strange.collect::<Vec<_>>().join(", "))
}

impl Alphabet {
    fn of(letter: char) -> Option<Alphabet> {
        let is_letter = letter.is_alphabetic();
        Some(match u32::from(letter) {
            0x1D400..=0x1D7FF
            | 0xFF10..=0xFF19
            | 0xFF21..=0xFF3A
            | 0xFF41..=0xFF5A
            | 0x249C..=0x24E9
            | 0x2100..=0x214F
                if letter != '\u{2122}' =>
            {
                Alphabet::Symbols
            }
            _ if !is_letter => return None,
            0x41..=0x24F | 0x1E00..=0x1EFF if !matches!(letter, 'µ' | 'ª' | 'º') => {
                Alphabet::Latin
            }
            0x370..=0x3FF | 0x1F00..=0x1FFF => Alphabet::Greek,
            0x400..=0x52F | 0x1C80..=0x1C8F | 0x2DE0..=0x2DFF | 0xA640..=0xA69F => {
                Alphabet::Cyrillic
            }
            0x530..=0x58F => Alphabet::Armenian,
            0x13A0..=0x13FF | 0xAB70..=0xABBF => Alphabet::Cherokee,
            _ => return None,
        })
    }
}

/// Returns the name with the codes of the characters that are not ASCII.
fn spelled(name: &str) -> String {
    let codes = name.chars().filter(|it| !it.is_ascii());
    let codes: Vec<String> = codes.map(|it| format!("U+{:04X}", u32::from(it))).collect();
    match codes.is_empty() {
        true => format!("{name:?}"),
        false => format!("{name:?} with {}", codes.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn messages(names: &[&str]) -> Vec<String> {
        let tools: Vec<Value> = names.iter().map(|name| json!({"name": name})).collect();
        let mut findings = DefinitionFindings::default();
        check(&tools, "tool", &mut findings);
        findings.messages().into_iter().map(str::to_owned).collect()
    }

    #[test]
    fn finds_names_that_mix_alphabets_or_look_alike() {
        assert_eq!(
            messages(&["\u{435}cho"]),
            ["expected a name in one alphabet; the tool \"\u{435}cho\" has U+0435 (\u{435})"]
        );
        for names in [
            &["g\u{3BF}t"][..],
            &["\u{FF45}cho"],
            &["get_\u{440}\u{430}\u{441}\u{435}"],
            &["echo", "\u{435}\u{441}\u{4BB}\u{43E}"],
            &["tool_l", "tool_1"],
            &["echo", "echo\u{200B}"],
        ] {
            assert_eq!(messages(names).len(), 1, "{names:?}");
        }
    }

    #[test]
    fn names_in_one_alphabet_are_normal() {
        for names in [
            &["echo", "add", "getÄpfel", "kayıt_sil", "list2", "list3"][..],
            &["поиск", "добавить"],
            &["検索_api", "search_データ", "검색_api", "سجل_x"],
            &["read-file", "read_file", "µ-service", "a b ✅"],
        ] {
            assert!(messages(names).is_empty(), "{names:?}: {:?}", messages(names));
        }
    }
}
