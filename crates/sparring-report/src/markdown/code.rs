//! Texts as code, in which nothing has a meaning in Markdown or HTML.

use crate::cut;

/// A text within a line, a table or a summary. Markup and links are not found in
/// character references; mentions and issues are not looked for in code.
pub(super) fn code(text: &str, longest: usize) -> String {
    let mut code = String::from("<code>");
    let mut before = ' ';
    for c in cut::line(text, longest).chars() {
        // A `.` after a `w` may begin a link.
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

/// Lines between fences that none of them can close.
pub(super) fn block(language: &str, lines: &[String]) -> String {
    let longest = lines.iter().map(|line| longest_run(line)).max().unwrap_or_default();
    let fence = "`".repeat((longest + 1).max(3));
    let lines: String = lines.iter().map(|line| format!("{line}\n")).collect();
    format!("{fence}{language}\n{lines}{fence}\n")
}

/// How many backticks stand side by side.
fn longest_run(line: &str) -> usize {
    line.split(|c| c != '`').map(str::len).max().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_code_is_markup() {
        let told = code("a|b `c` <b> @me #1 www.x", 100);
        let right = "<code>a&#124;b &#96;c&#96; &#60;b&#62; &#64;me &#35;1 www&#46;x</code>";
        assert_eq!(told, right);
    }

    #[test]
    fn a_fence_is_longer_than_what_it_holds() {
        let told = block("diff", &["-````".to_owned(), "+`".to_owned()]);
        assert_eq!(told, "`````diff\n-````\n+`\n`````\n");
        assert_eq!(block("", &[]), "```\n```\n");
    }
}
