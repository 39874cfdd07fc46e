//! Texts in which all matches are replaced.

use std::borrow::Cow;

use crate::Pattern;
use crate::captures::Captures;
use crate::machine::Machine;

impl Pattern {
    /// A text with something else for each match: `$1` and `${name}` are what groups
    /// have matched, `$$` is a dollar. `None` where that takes too long.
    ///
    /// ```
    /// # use sparring_pattern::Pattern;
    /// let pattern = Pattern::new(r"(?<word>\w+) (\d+)")?;
    /// assert_eq!(pattern.replace_all("build 7", "$2. ${word}").unwrap(), "7. build");
    /// # Ok::<(), sparring_pattern::BadPattern>(())
    /// ```
    pub fn replace_all<'t>(&self, text: &'t str, by: &str) -> Option<Cow<'t, str>> {
        self.replace_with(text, &mut |found| expand(by, found))
    }

    /// A text with what is said of each match in its place. `None` where that takes
    /// too long.
    pub fn replace_with<'t>(
        &self,
        text: &'t str,
        by: &mut dyn FnMut(&Captures<'_, 't>) -> String,
    ) -> Option<Cow<'t, str>> {
        let mut machine = Machine::new(&self.program, text, true);
        let (mut out, mut copied, mut next) = (String::new(), 0, 0);
        let mut last = None;
        while next <= text.len() {
            let Some(slots) = machine.find(next).ok()? else { break };
            let found = self.found(text, slots);
            let range = found.whole();
            // One that is empty goes on with the next character, and stands at no
            // place where another has just ended.
            let is_empty = range.is_empty();
            if !(is_empty && last == Some(range.end)) {
                out.push_str(&text[copied..range.start]);
                out.push_str(&by(&found));
                (copied, last) = (range.end, Some(range.end));
            }
            let after = text[range.end..].chars().next().map_or(1, char::len_utf8);
            next = range.end + if is_empty { after } else { 0 };
        }
        if last.is_none() {
            return Some(Cow::Borrowed(text));
        }
        out.push_str(&text[copied..]);
        Some(Cow::Owned(out))
    }
}

/// What stands for a match; a group that is not there is empty.
fn expand(template: &str, found: &Captures<'_, '_>) -> String {
    let mut out = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('$') {
        out.push_str(before);
        let is_part = |it: char| it.is_ascii_alphanumeric() || it == '_';
        let end = after.find(|it| !is_part(it)).unwrap_or(after.len());
        let in_braces = after.strip_prefix('{').and_then(|it| it.split_once('}'));
        let (name, left) = match in_braces {
            Some((name, left)) => (name, left),
            None => after.split_at(end),
        };
        rest = match after.strip_prefix('$') {
            Some(left) => {
                out.push('$');
                left
            }
            None if name.is_empty() => {
                out.push('$');
                after
            }
            None => {
                let group = match name.parse() {
                    Ok(number) => found.get(number),
                    Err(_) => found.name(name),
                };
                out.push_str(group.unwrap_or_default());
                left
            }
        };
    }
    out + rest
}
