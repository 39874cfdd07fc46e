//! Characters that a user cannot see, that change the direction of text, or that control a
//! terminal.

use std::fmt::Write as _;

use sparring_wire::Rule;

use super::texts::Text;
use crate::probes::definition_findings::DefinitionFindings;

/// The number of different characters that a finding names.
const MAX_NAMED: usize = 6;

/// The number of characters of the text before and after the first one that a finding shows.
const CONTEXT: usize = 24;

const JOINER: char = '\u{200D}';
const NON_JOINER: char = '\u{200C}';

/// Checks the characters of one text.
pub(super) fn check(text: &Text, findings: &mut DefinitionFindings) {
    if text.text.bytes().all(|byte| byte.is_ascii() && !byte.is_ascii_control()) {
        return;
    }
    let chars: Vec<char> = text.text.chars().collect();
    let places = |is_bad: &dyn Fn(usize) -> bool| -> Vec<usize> {
        (0..chars.len()).filter(|at| is_bad(*at)).collect()
    };
    let is_rtl = chars.iter().any(|it| is_right_to_left(*it));
    let mut report = |rule: Rule, expected: &str, bad: Vec<usize>| {
        if !bad.is_empty() {
            let message = format!("expected {expected}; {}", describe(&text.place, &chars, &bad));
            findings.add(rule, &text.subject, message);
        }
    };
    let hidden = places(&|at| is_hidden(&chars, at));
    report(Rule::HiddenCharacters, "no characters that a user cannot see", hidden);
    let direction = places(&|at| changes_direction(chars[at], is_rtl));
    report(Rule::DirectionCharacters, "no characters that change the direction of text", direction);
    if !text.is_data {
        let control =
            places(&|at| chars[at].is_control() && !matches!(chars[at], '\t' | '\n' | '\r'));
        report(Rule::ControlCharacters, "no control characters", control);
    }
}

/// Returns true if a user cannot see the character, and no script or emoji needs it.
fn is_hidden(chars: &[char], at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|before| chars.get(before)).copied();
    let after = chars.get(at + 1).copied();
    match chars[at] {
        // Soft hyphen, combining grapheme joiner, Hangul fillers, Khmer vowels, Mongolian
        // separator.
        '\u{AD}' | '\u{34F}' | '\u{115F}' | '\u{1160}' | '\u{17B4}' | '\u{17B5}' | '\u{180E}'
        | '\u{3164}' | '\u{FFA0}' => true,
        // Scripts such as Thai, which have no spaces, use it between words.
        '\u{200B}' => !before.is_some_and(has_no_spaces) || !after.is_some_and(has_no_spaces),
        // Invisible operators, deprecated format characters, byte order mark.
        '\u{2060}'..='\u{2065}' | '\u{206A}'..='\u{206F}' | '\u{FEFF}' => true,
        // Annotations and musical format characters.
        '\u{FFF9}'..='\u{FFFB}' | '\u{1D173}'..='\u{1D17A}' => true,
        // Scripts such as Persian and Hindi need joiners, and emoji too.
        NON_JOINER | JOINER => !before.is_some_and(can_join) && !after.is_some_and(can_join),
        // A variation selector chooses the form of one symbol or ideograph.
        '\u{FE00}'..='\u{FE0F}' => match before {
            None => true,
            Some(it) if is_selector(it) || it.is_ascii_alphabetic() => true,
            Some(_) => false,
        },
        '\u{E0100}'..='\u{E01EF}' => !before.is_some_and(is_ideograph),
        // The flags of regions such as Scotland are spelled with tags.
        '\u{E0000}'..='\u{E007F}' => !is_in_flag(chars, at),
        _ => false,
    }
}

/// Returns true if a joiner beside this character has an effect.
fn can_join(it: char) -> bool {
    let is_letter = it.is_alphabetic() && u32::from(it) >= 0x590;
    is_letter || is_mark(it) || is_selector(it) || is_emoji(it)
}

/// Returns true for the vowel signs of the scripts of India, and similar.
fn is_mark(it: char) -> bool {
    matches!(u32::from(it), 0x610..=0x61A | 0x64B..=0x65F | 0x900..=0xDFF | 0xE30..=0xEFF | 0x1000..=0x109F)
}

/// Returns true for Thai, Lao, Tibetan, Burmese and Khmer.
fn has_no_spaces(it: char) -> bool {
    matches!(u32::from(it), 0xE00..=0x109F | 0x1780..=0x17FF | 0x19E0..=0x19FF)
}

fn is_emoji(it: char) -> bool {
    matches!(u32::from(it), 0x2190..=0x2BFF | 0x1F000..=0x1FAFF | 0xE0020..=0xE007F)
}

fn is_selector(it: char) -> bool {
    matches!(it, '\u{FE00}'..='\u{FE0F}' | '\u{E0100}'..='\u{E01EF}')
}

fn is_ideograph(it: char) -> bool {
    matches!(u32::from(it), 0x3400..=0x9FFF | 0xF900..=0xFAFF | 0x20000..=0x3FFFF)
}

/// Returns true for a tag in the sequence of a flag: a black flag, tags, and the end tag.
fn is_in_flag(chars: &[char], at: usize) -> bool {
    let is_tag = |it: &char| ('\u{E0020}'..='\u{E007F}').contains(it);
    let start = chars[..at].iter().rposition(|it| !is_tag(it));
    let tags =
        start.map_or(0, |start| chars[start + 1..].iter().take_while(|it| is_tag(it)).count());
    // A longer sequence is a hidden text after a flag.
    start.is_some_and(|start| chars[start] == '\u{1F3F4}') && tags <= 7
}

/// Marks and isolates are normal in texts with right-to-left scripts; overrides are not.
fn changes_direction(it: char, is_rtl: bool) -> bool {
    match it {
        '\u{202D}' | '\u{202E}' => true,
        '\u{61C}' | '\u{200E}' | '\u{200F}' => !is_rtl,
        '\u{202A}'..='\u{202C}' | '\u{2066}'..='\u{2069}' => !is_rtl,
        _ => false,
    }
}

fn is_right_to_left(it: char) -> bool {
    let is_letter = it.is_alphabetic();
    is_letter
        && matches!(u32::from(it),
            0x590..=0x8FF | 0xFB1D..=0xFDFF | 0xFE70..=0xFEFE | 0x10800..=0x10FFF | 0x1E800..=0x1EFFF)
}

/// Names the characters, and shows the text around the first one.
fn describe(place: &str, chars: &[char], bad: &[usize]) -> String {
    let mut counts: Vec<(char, usize)> = Vec::new();
    for it in bad.iter().map(|at| chars[*at]) {
        match counts.iter_mut().find(|(known, _)| *known == it) {
            Some((_, count)) => *count += 1,
            None => counts.push((it, 1)),
        }
    }
    let names = counts.iter().take(MAX_NAMED).map(|(it, count)| match count {
        1 => character_name(*it),
        count => format!("{} ({count} times)", character_name(*it)),
    });
    let mut message = format!("{place} has {}", names.collect::<Vec<_>>().join(", "));
    if counts.len() > MAX_NAMED {
        let _ = write!(message, " and {} more", counts.len() - MAX_NAMED);
    }
    let first = bad[0];
    let end = (first + CONTEXT).min(chars.len());
    let shown = chars[first.saturating_sub(CONTEXT)..end].iter().map(|it| visible(*it));
    let _ = write!(message, " in {:?}", shown.collect::<String>());
    let spelled: String = bad.iter().filter_map(|at| tag_letter(chars[*at])).collect();
    if !spelled.is_empty() {
        let _ = write!(message, "; the hidden text is {spelled:?}");
    }
    message
}

/// Returns the ASCII character that a tag spells.
fn tag_letter(it: char) -> Option<char> {
    let code = u32::from(it).checked_sub(0xE0000)?;
    u8::try_from(code).ok().map(char::from).filter(|it| matches!(it, ' '..='~'))
}

fn visible(it: char) -> String {
    let is_bad = is_hidden(&[it], 0) || changes_direction(it, false) || it.is_control();
    match is_bad {
        true => format!("<U+{:04X}>", u32::from(it)),
        false => it.to_string(),
    }
}

fn character_name(it: char) -> String {
    let name = match it {
        '\u{AD}' => "soft hyphen",
        '\u{1B}' => "escape",
        '\u{200B}' => "zero width space",
        NON_JOINER => "zero width non-joiner",
        JOINER => "zero width joiner",
        '\u{200E}' => "left-to-right mark",
        '\u{200F}' => "right-to-left mark",
        '\u{202A}' | '\u{202B}' => "embedding",
        '\u{202C}' => "pop directional formatting",
        '\u{202D}' => "left-to-right override",
        '\u{202E}' => "right-to-left override",
        '\u{2060}' => "word joiner",
        '\u{2066}'..='\u{2068}' => "isolate",
        '\u{2069}' => "pop directional isolate",
        '\u{FE00}'..='\u{FE0F}' | '\u{E0100}'..='\u{E01EF}' => "variation selector",
        '\u{FEFF}' => "byte order mark",
        '\u{E0000}'..='\u{E007F}' => "tag",
        _ => "",
    };
    let code = format!("U+{:04X}", u32::from(it));
    if name.is_empty() { code } else { format!("{code} {name}") }
}

#[cfg(test)]
mod tests {
    use super::super::texts::text;
    use super::*;

    #[track_caller]
    fn check_text(content: &str, expected: &[Rule]) {
        let mut findings = DefinitionFindings::default();
        check(&text(content), &mut findings);
        let rules: Vec<Rule> = findings.found().into_iter().map(|(rule, _)| rule).collect();
        assert_eq!(rules, expected, "{content:?}: {:?}", findings.messages());
    }

    #[test]
    fn finds_characters_that_a_user_cannot_see() {
        for content in [
            "Repeats\u{200B} a text",
            "Repeats a text\u{2060}",
            "a\u{200D}b",
            "pay\u{200C}ment",
            "\u{FEFF}Repeats",
            "Repeats\u{E0069}\u{E0067}\u{E006E}",
            "\u{1F3F4}\u{E0069}\u{E0067}\u{E006E}\u{E006F}\u{E0072}\u{E0065}\u{E0020}\u{E007F}",
            "\u{1F600}\u{FE01}\u{FE02}\u{E0101}",
            "a\u{3164}b",
        ] {
            check_text(content, &[Rule::HiddenCharacters]);
        }
    }

    #[test]
    fn emoji_and_scripts_are_normal() {
        for content in [
            "\u{1F468}\u{200D}\u{1F469}\u{200D}\u{1F467} \u{2764}\u{FE0F}\u{200D}\u{1F525} \u{26A0}\u{FE0F}",
            "\u{1F3F4}\u{E0067}\u{E0062}\u{E0073}\u{E0063}\u{E0074}\u{E007F} 1\u{FE0F}\u{20E3} \u{A9}\u{FE0F}",
            "\u{1F9D1}\u{1F3FD}\u{200D}\u{1F4BB}",
            "می\u{200C}خواهم می\u{200C} رود",
            "क्\u{200D}ष",
            "שלום \u{200E}(a)\u{200F} \u{2067}שלום\u{2069}",
            "مرحبا",
            "สวัสดี\u{200B}ครับ",
            "葛\u{E0100}",
            "検索\tA\r\nB\u{A0}C…",
        ] {
            check_text(content, &[]);
        }
    }

    #[test]
    fn finds_characters_that_change_direction_or_control_a_terminal() {
        check_text("abc\u{202E}cba", &[Rule::DirectionCharacters]);
        check_text("שלום\u{202E}cba", &[Rule::DirectionCharacters]);
        check_text("abc\u{2067}cba\u{2069}", &[Rule::DirectionCharacters]);
        check_text("abc\u{200F}", &[Rule::DirectionCharacters]);
        for content in ["\u{1B}[31mred", "a\u{0}b", "a\u{8}b", "a\u{9B}b", "a\u{7F}"] {
            check_text(content, &[Rule::ControlCharacters]);
        }
    }

    #[test]
    fn shows_the_characters() {
        let mut findings = DefinitionFindings::default();
        check(&text("Repeats\u{200B} a\u{200B} text"), &mut findings);
        check(&text("a\u{E0068}\u{E0069}"), &mut findings);
        assert_eq!(
            findings.messages(),
            [
                "expected no characters that a user cannot see; /description has U+200B zero \
                 width space (2 times) in \"Repeats<U+200B> a<U+200B> text\"",
                "expected no characters that a user cannot see; /description has U+E0068 tag, \
                 U+E0069 tag in \"a<U+E0068><U+E0069>\"; the hidden text is \"hi\"",
            ]
        );
    }
}
