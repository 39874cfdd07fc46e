//! Renders texts as code, so that they contain no active Markdown or HTML.

use crate::truncate;

/// Renders a text as inline code for a line, a table or a summary. Special characters become
/// character references, and GitHub finds no mentions or issues in code.
pub(super) fn code(text: &str, max_bytes: usize) -> String {
    let mut code = String::from("<code>");
    let mut before = ' ';
    for c in truncate::one_line(text, max_bytes).chars() {
        // A `.` after a `w` may begin a link, as in `www.`.
        let is_markup =
            "&<>\"'`*_[]{}|\\~!#@:$^".contains(c) || c == '.' && before.eq_ignore_ascii_case(&'w');
        match is_markup {
            true => code.push_str(&format!("&#{};", u32::from(c))),
            false => code.push(c),
        }
        before = c;
    }
    code.push_str("</code>");
    code
}

/// Renders a code block with fences that no line can close.
pub(super) fn block(language: &str, lines: &[String]) -> String {
    let longest = lines.iter().map(|line| longest_backtick_run(line)).max().unwrap_or_default();
    let fence = "`".repeat((longest + 1).max(3));
    let lines: String = lines.iter().map(|line| format!("{line}\n")).collect();
    format!("{fence}{language}\n{lines}{fence}\n")
}

/// Returns the largest number of consecutive backticks.
fn longest_backtick_run(line: &str) -> usize {
    line.split(|c| c != '`').map(str::len).max().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inline_code_contains_no_markup() {
        let rendered = code("a|b `c` <b> @me #1 www.x", 100);
        let expected = "<code>a&#124;b &#96;c&#96; &#60;b&#62; &#64;me &#35;1 www&#46;x</code>";
        assert_eq!(rendered, expected);
    }

    #[test]
    fn a_fence_is_longer_than_the_backticks_inside() {
        let rendered = block("diff", &["-````".to_owned(), "+`".to_owned()]);
        assert_eq!(rendered, "`````diff\n-````\n+`\n`````\n");
        assert_eq!(block("", &[]), "```\n```\n");
    }
}
