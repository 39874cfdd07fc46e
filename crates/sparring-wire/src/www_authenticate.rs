//! Parses `WWW-Authenticate`, the challenge of a server that requires authorization (RFC 9110,
//! 11.6.1; RFC 6750, 3; RFC 9728, 5.1).

/// One challenge.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Challenge {
    /// The scheme, such as `Bearer`, as the server spells it.
    pub scheme: String,
    /// The names and values of the parameters, in order.
    pub parameters: Vec<(String, String)>,
}

/// Parses the challenges of one header, which may contain several.
pub fn parse_challenges(text: &str) -> Vec<Challenge> {
    let mut found: Vec<Challenge> = Vec::new();
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches([' ', '\t', ',']);
        let end = rest.find(|c: char| !is_token_char(c)).unwrap_or(rest.len());
        if end == 0 {
            return found;
        }
        let (name, after) = rest.split_at(end);
        match after.trim_start().strip_prefix('=') {
            // A scheme may be followed by a token that ends with equals signs.
            Some(value) if !found.is_empty() && !value.starts_with('=') => {
                let (value, after) = parse_value(value.trim_start());
                if let Some(challenge) = found.last_mut() {
                    challenge.parameters.push((name.to_owned(), value));
                }
                rest = after;
            }
            Some(after) => rest = after.trim_start_matches('='),
            None => {
                found.push(Challenge { scheme: name.to_owned(), parameters: Vec::new() });
                rest = after;
            }
        }
    }
}

/// Parses a value with or without quotes; also returns the rest.
fn parse_value(text: &str) -> (String, &str) {
    let Some(quoted) = text.strip_prefix('"') else {
        let (value, rest) = text.split_at(text.find([',', ' ', '\t']).unwrap_or(text.len()));
        return (value.to_owned(), rest);
    };
    let mut value = String::new();
    let mut chars = quoted.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return (value, &quoted[at + 1..]),
            '\\' => value.extend(chars.next().map(|(_, escaped)| escaped)),
            c => value.push(c),
        }
    }
    (value, "")
}

fn is_token_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~/".contains(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Renders each challenge as its scheme and its parameters, each in brackets.
    fn parse(text: &str) -> Vec<String> {
        let render = |challenge: Challenge| {
            let parameters = challenge.parameters.iter();
            let parameters = parameters.map(|(name, value)| format!("[{name}={value}]"));
            format!("{}{}", challenge.scheme, parameters.collect::<String>())
        };
        parse_challenges(text).into_iter().map(render).collect()
    }

    #[test]
    fn parameters_are_read_with_and_without_quotes() {
        assert_eq!(
            parse(r#"Bearer error=invalid_token, scope="a b",resource_metadata = "http://x/y""#),
            ["Bearer[error=invalid_token][scope=a b][resource_metadata=http://x/y]"]
        );
        assert_eq!(
            parse(r#"Bearer error_description="no \"scope=x\", no", error="e""#),
            [r#"Bearer[error_description=no "scope=x", no][error=e]"#]
        );
    }

    #[test]
    fn one_header_has_several_challenges() {
        assert_eq!(
            parse(r#"Basic realm="a, b", scope="no", bearer scope=yes"#),
            ["Basic[realm=a, b][scope=no]", "bearer[scope=yes]"]
        );
        let found = parse(r#"Negotiate abc==, Bearer scope="yes""#);
        assert_eq!(found.last().unwrap(), "Bearer[scope=yes]");
    }

    #[test]
    fn ignores_anything_else() {
        for value in ["", ",", "=", "\"", "Bearer", "Bearer =", "scope=x", "a=b=c"] {
            let found = parse_challenges(value);
            assert!(found.iter().all(|it| it.parameters.is_empty()), "{value}: {found:?}");
        }
    }
}
