//! Splits phrases into words, so that "I’m done!" matches in any spelling of
//! apostrophes, capitals and spaces.

/// The words of a text in lower case. An apostrophe joins the letters around it, and
/// every other character except letters and digits separates words. A `/` before a word
/// stays, because it marks a command.
pub fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        match char {
            '\'' | '’' | '‘' | '`' => {}
            '/' if word.is_empty() && chars.peek().is_some_and(|next| next.is_alphanumeric()) => {
                word.push('/');
            }
            '-' | '_' if word.starts_with('/') => word.push('-'),
            char if char.is_alphanumeric() => word.extend(char.to_lowercase()),
            _ if word.is_empty() => {}
            _ => words.push(std::mem::take(&mut word)),
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

/// Returns true if the words of a phrase occur in a text in sequence.
pub fn occurs_in(phrase: &[String], text: &[String]) -> bool {
    !phrase.is_empty() && text.windows(phrase.len()).any(|some| some == phrase)
}

/// The longest prefix of a text that fits into so many bytes.
pub fn truncate(text: &str, bytes: usize) -> &str {
    let fits = |(at, char): &(usize, char)| at + char.len_utf8() <= bytes;
    let end = text.char_indices().take_while(fits).last();
    &text[..end.map_or(0, |(at, char)| at + char.len_utf8())]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn truncates_a_text_at_a_whole_character() {
        assert_eq!(truncate("añb", 2), "a");
        assert_eq!(truncate("añb", 3), "añ");
        assert_eq!(truncate("añb", 9), "añb");
        assert_eq!(truncate("ñ", 1), "");
    }

    fn check(phrase: &str, text: &str, expected: bool) {
        let found = occurs_in(&words(phrase), &words(text));
        assert_eq!(found, expected, "{phrase:?} in {text:?}");
    }

    #[test]
    fn a_phrase_matches_in_any_spelling() {
        check("I'm done", "Well, I’m  DONE!", true);
        check("im done", "i'm done with this task", true);
        check("i'm done", "I'm not done", false);
        check("log", "the catalogue", false);
        check("git push", "git, push", true);
        check("", "anything", false);
        check("anything", "", false);
    }

    #[test]
    fn a_command_keeps_its_slash() {
        check("/pongogo-retro", "/pongogo-retro", true);
        check("/pongogo-retro", "please /Pongogo_Retro now", true);
        check("/pongogo-retro", "/pongogo-retros", false);
        check("retro", "/retro", false);
        check("a/b", "a / b", true);
    }
}
