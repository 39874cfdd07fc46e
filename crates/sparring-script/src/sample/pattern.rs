//! Generates a short text that matches a regular expression.
//!
//! It does not support look-around and backreferences, and ignores anchors. The caller
//! checks the text.

use regex_syntax::hir::{Class, Hir, HirKind};

/// The maximum length of a text in bytes.
const MAX_LENGTH: usize = 1_000;

/// The maximum number of steps to generate it. A part that is repeated can be empty.
const MAX_STEPS: usize = 100_000;

/// The characters to choose from a class, best first.
const PREFERRED_CHARS: [char; 4] = ['a', 'A', '1', '0'];

/// Returns a text for a pattern that has at least this many characters if the pattern allows
/// it. Returns nothing if the pattern is not supported.
pub(super) fn matching_text(pattern: &str, least: usize) -> Option<String> {
    let hir = regex_syntax::parse(pattern).ok()?;
    let mut steps = MAX_STEPS;
    let mut text_with = |extra: u32| {
        let mut text = String::new();
        append(&hir, extra, &mut text, &mut steps).map(|()| text)
    };
    let shortest = text_with(0)?;
    let most = u32::try_from(least.min(MAX_LENGTH)).unwrap_or_default();
    let mut texts = (0..=most).map_while(text_with);
    Some(texts.find(|text| text.chars().count() >= least).unwrap_or(shortest))
}

/// Appends a text that repeats each part more often than necessary, `extra` times if possible.
fn append(hir: &Hir, extra: u32, text: &mut String, steps: &mut usize) -> Option<()> {
    *steps = steps.checked_sub(1)?;
    if text.len() > MAX_LENGTH {
        return None;
    }
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => {}
        HirKind::Literal(literal) => text.push_str(std::str::from_utf8(&literal.0).ok()?),
        HirKind::Class(class) => text.push(choose(class)?),
        HirKind::Capture(capture) => append(&capture.sub, extra, text, steps)?,
        HirKind::Concat(parts) => {
            parts.iter().try_for_each(|part| append(part, extra, text, steps))?;
        }
        HirKind::Alternation(choices) => append(choices.first()?, extra, text, steps)?,
        HirKind::Repetition(repetition) => {
            // Once where nothing is possible too: an empty value is rarely meant.
            let least = repetition.min.max(repetition.max.unwrap_or(1).min(1));
            let times = least.saturating_add(extra).min(repetition.max.unwrap_or(u32::MAX));
            for _ in 0..times {
                append(&repetition.sub, extra, text, steps)?;
            }
        }
    }
    Some(())
}

/// Returns the best character of a class.
fn choose(class: &Class) -> Option<char> {
    let ranges: Vec<(char, char)> = match class {
        Class::Unicode(class) => class.iter().map(|it| (it.start(), it.end())).collect(),
        Class::Bytes(class) => {
            class.iter().map(|it| (it.start().into(), it.end().into())).collect()
        }
    };
    let has = |c: char| ranges.iter().any(|(start, end)| (*start..=*end).contains(&c));
    let printable = || (' '..='~').find(|c| has(*c));
    let preferred = PREFERRED_CHARS.into_iter().find(|c| has(*c));
    preferred.or_else(printable).or_else(|| ranges.first().map(|(start, _)| *start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generates_a_text_that_matches() {
        for pattern in [
            "^[0-9]{4}$",
            "^(open|closed)$",
            r"^[a-z]+(-[a-z]+)*$",
            r"^\d{4}-\d{2}-\d{2}$",
            "^#?[0-9A-F]{6}$",
            ".*",
            "^[^a-zA-Z0-9]x$",
        ] {
            let text = matching_text(pattern, 0).expect(pattern);
            let matches = crate::Pattern::new(pattern).unwrap().is_match(&text);
            assert_eq!(matches, Ok(true), "{pattern}: {text}");
        }
        assert_eq!(matching_text("^[0-9]{4}$", 0).as_deref(), Some("1111"));
    }

    #[test]
    fn gives_up_on_look_around_and_on_long_texts() {
        assert_eq!(matching_text("^(?!a)b$", 0), None);
        assert_eq!(matching_text("(a{900}){900}", 0), None);
        assert_eq!(matching_text("((|b){4000000000}){4000000000}", 0), None);
    }
}
