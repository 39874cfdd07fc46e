//! Characters that differ in case only, by the simple case folding of Unicode.

use std::sync::LazyLock;

/// Where characters with another case are.
const BLOCKS: [(u32, u32); 26] = [
    (0x41, 0x7A),
    (0xB5, 0x2AF),
    (0x345, 0x345),
    (0x370, 0x587),
    (0x10A0, 0x10FF),
    (0x13A0, 0x13FD),
    (0x1C80, 0x1CBF),
    (0x1D79, 0x1D8E),
    (0x1E00, 0x1FFF),
    (0x2126, 0x2188),
    (0x24B6, 0x24E9),
    (0x2C00, 0x2D2D),
    (0xA640, 0xA69B),
    (0xA722, 0xA7FF),
    (0xAB53, 0xABBF),
    (0xFB05, 0xFB06),
    (0xFF21, 0xFF5A),
    (0x10400, 0x1044F),
    (0x104B0, 0x104FB),
    (0x10570, 0x105BC),
    (0x10C80, 0x10CF2),
    (0x10D50, 0x10D85),
    (0x118A0, 0x118DF),
    (0x16E40, 0x16E7F),
    (0x16EA0, 0x16ED3),
    (0x1E900, 0x1E943),
];

/// All of them, in the order of what they fold to.
static FOLDS: LazyLock<Vec<(char, char)>> = LazyLock::new(|| {
    let all = BLOCKS.iter().flat_map(|(first, last)| *first..=*last);
    let mut folds: Vec<(char, char)> =
        all.filter_map(char::from_u32).map(|it| (fold(it), it)).collect();
    folds.sort_unstable();
    folds
});

/// What stands for a character and all that differ from it in case only.
pub(crate) fn fold(character: char) -> char {
    if character.is_ascii() {
        return character.to_ascii_lowercase();
    }
    match character {
        // Its upper case is that of `i`, which it is not.
        '\u{131}' => character,
        // Simple folds of which the standard library knows nothing.
        '\u{1FD3}' => '\u{390}',
        '\u{1FE3}' => '\u{3B0}',
        '\u{FB05}' => '\u{FB06}',
        _ => lower(upper(character)),
    }
}

/// All that differ from a character in case only.
pub(crate) fn alike(character: char) -> impl Iterator<Item = char> {
    let wanted = fold(character);
    let start = FOLDS.partition_point(|(folded, _)| *folded < wanted);
    FOLDS[start..].iter().take_while(move |(folded, _)| *folded == wanted).map(|(_, it)| *it)
}

/// In upper case, where that is one character.
fn upper(character: char) -> char {
    let mut all = character.to_uppercase();
    match (all.next(), all.next()) {
        (Some(one), None) => one,
        _ => character,
    }
}

fn lower(character: char) -> char {
    let mut all = character.to_lowercase();
    match (all.next(), all.next()) {
        (Some(one), None) => one,
        _ => character,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_are_alike_whatever_their_case() {
        let alike = |character| alike(character).collect::<String>();
        assert_eq!(alike('k'), "Kk\u{212a}");
        assert_eq!(alike('\u{3c3}'), "\u{3a3}\u{3c2}\u{3c3}");
        assert_eq!(alike('\u{1e9e}'), "\u{df}\u{1e9e}");
        assert_eq!(alike('\u{131}'), "\u{131}");
        assert_eq!(alike('\u{4e00}'), "");
    }

    #[test]
    fn no_character_with_a_case_is_left_out() {
        for character in '\0'..=char::MAX {
            let folded = fold(character);
            assert_eq!(fold(folded), folded, "{character:?}");
            let known = alike(character).any(|it| it == character);
            assert!(known || folded == character, "{character:?}");
        }
    }
}
