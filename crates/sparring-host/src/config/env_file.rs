//! Parses the file of `env_file`: one `NAME=value` a line, as VS Code reads it.
//!
//! A value may be quoted. Nothing is expanded, so a value cannot read other variables.

/// Parses the variables of a file.
///
/// # Errors
/// The number of a line that is neither empty, nor a comment, nor `NAME=value`. The line
/// itself may be a secret.
pub(super) fn parse_env_file(text: &str) -> Result<Vec<(String, String)>, usize> {
    let mut variables = Vec::new();
    for (at, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let line = line.strip_prefix("export ").unwrap_or(line);
        let (name, value) = line.split_once('=').ok_or(at + 1)?;
        let name = name.trim();
        if name.is_empty() || name.contains(|c: char| c.is_whitespace() || c == '\0') {
            return Err(at + 1);
        }
        variables.push((name.to_owned(), parse_value(value.trim()).ok_or(at + 1)?));
    }
    Ok(variables)
}

/// Parses a value; `None` if a quotation mark is not closed. A comment may follow the value.
fn parse_value(text: &str) -> Option<String> {
    let mut chars = text.chars();
    let quote = match chars.next() {
        Some(quote @ ('"' | '\'')) => quote,
        _ => {
            let end = text.find(" #").unwrap_or(text.len());
            return Some(text[..end].trim_end().to_owned());
        }
    };
    let mut value = String::new();
    while let Some(c) = chars.next() {
        match c {
            c if c == quote => return Some(value),
            '\\' if quote == '"' => match chars.next()? {
                'n' => value.push('\n'),
                'r' => value.push('\r'),
                't' => value.push('\t'),
                escaped @ ('"' | '\\') => value.push(escaped),
                other => value.extend(['\\', other]),
            },
            c => value.push(c),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Result<&[(&str, &str)], usize>) {
        let owned = |pairs: &[(&str, &str)]| {
            pairs.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect::<Vec<_>>()
        };
        assert_eq!(parse_env_file(text), expected.map(owned), "{text}");
    }

    #[test]
    fn reads_quoted_and_plain_values_and_skips_comments() {
        check(
            "# all\n\nA=1\r\nexport B = two words # and more\n",
            Ok(&[("A", "1"), ("B", "two words")]),
        );
        check(r#"A="x \"y\"\nz" # it"#, Ok(&[("A", "x \"y\"\nz")]));
        check("A='${B} \\n'\nB=${A}\nC=", Ok(&[("A", "${B} \\n"), ("B", "${A}"), ("C", "")]));
        check("A=x#y", Ok(&[("A", "x#y")]));
    }

    #[test]
    fn names_the_line_that_is_no_variable() {
        check("A=1\nsecret", Err(2));
        check("A=\"1", Err(1));
        check("=1", Err(1));
        check("A B=1", Err(1));
    }
}
