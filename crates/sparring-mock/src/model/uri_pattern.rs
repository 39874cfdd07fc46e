//! Patterns of URIs (RFC 6570), read backwards: which variables made this URI?

use percent_encoding::percent_decode_str;
use regex::{Regex, escape};
use serde_json::{Map, Value};

/// A pattern such as `file:///{+path}{?lines}`.
#[derive(Debug)]
pub(crate) struct UriPattern {
    pattern: Regex,
    /// The variables, in the order of the groups; a query's are one group.
    variables: Vec<Variable>,
}

#[derive(Debug)]
enum Variable {
    One(String),
    Query(Vec<String>),
}

impl UriPattern {
    /// Reads a pattern.
    ///
    /// # Errors
    /// When a brace is not closed, or what stands in braces is no name.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let mut pattern = "^".to_owned();
        let mut variables = Vec::new();
        let mut rest = text;
        while let Some((literal, after)) = rest.split_once('{') {
            pattern += &escape(literal);
            let Some((expression, after)) = after.split_once('}') else {
                return Err("a brace is not closed".to_owned());
            };
            let (piece, names) = expression_of(expression)?;
            pattern += &piece;
            variables.extend(names);
            rest = after;
        }
        pattern += &escape(rest);
        pattern.push('$');
        let pattern = Regex::new(&pattern).map_err(|error| error.to_string())?;
        Ok(UriPattern { pattern, variables })
    }

    /// The variables of a URI that has this pattern.
    pub(crate) fn read(&self, uri: &str) -> Option<Value> {
        let found = self.pattern.captures(uri)?;
        let mut values = Map::new();
        for (index, variable) in self.variables.iter().enumerate() {
            let text = found.get(index + 1).map_or("", |group| group.as_str());
            match variable {
                Variable::One(name) => {
                    values.insert(name.clone(), decoded(text));
                }
                Variable::Query(names) => {
                    let pairs = text.trim_start_matches(['?', '&']).split('&');
                    let pairs = pairs.filter_map(|pair| pair.split_once('='));
                    let known = pairs.filter(|(name, _)| names.iter().any(|known| known == name));
                    values.extend(known.map(|(name, value)| (name.to_owned(), decoded(value))));
                }
            }
        }
        Some(Value::Object(values))
    }
}

/// The regular expression of what stands in braces, and its variables.
fn expression_of(text: &str) -> Result<(String, Vec<Variable>), String> {
    let operator = text.chars().next().filter(|c| "+#./?&;".contains(*c));
    let names = text.trim_start_matches(['+', '#', '.', '/', '?', '&', ';']).split(',');
    let names: Vec<String> = names.map(|name| name.trim_end_matches('*').to_owned()).collect();
    let is_name = |name: &String| {
        !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "_.%".contains(c))
    };
    if let Some(bad) = names.iter().find(|name| !is_name(name)) {
        return Err(format!("`{bad}` is no name of a variable"));
    }
    let (before, value, between) = match operator {
        Some('?' | '&') => {
            return Ok((r"((?:[?&][^#]*)?)".to_owned(), vec![Variable::Query(names)]));
        }
        Some('+') => ("", "(.+)", ","),
        Some('#') => ("#", "(.+)", ","),
        Some('.') => (r"\.", "([^/.]+)", r"\."),
        Some('/') => ("/", "([^/]+)", "/"),
        Some(';') => return Err("path-style parameters are not supported".to_owned()),
        _ => ("", "([^/?#&,]+)", ","),
    };
    let all = vec![value; names.len()].join(between);
    Ok((format!("{before}{all}"), names.into_iter().map(Variable::One).collect()))
}

fn decoded(text: &str) -> Value {
    percent_decode_str(text).decode_utf8_lossy().into_owned().into()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(pattern: &str, uri: &str, expected: Option<Value>) {
        assert_eq!(UriPattern::parse(pattern).unwrap().read(uri), expected, "{pattern} {uri}");
    }

    #[test]
    fn variables_are_found_in_a_uri() {
        check("test://t/{id}/data", "test://t/12%203/data", Some(json!({"id": "12 3"})));
        check("test://t/{id}/data", "test://t/1/2/data", None);
        check("file:///{+path}", "file:///a/b.txt", Some(json!({"path": "a/b.txt"})));
        check("a://{x,y}", "a://1,2", Some(json!({"x": "1", "y": "2"})));
        check("a://b{/x,y}", "a://b/1/2", Some(json!({"x": "1", "y": "2"})));
        check("a://b{?q,n}", "a://b?n=2&z=3", Some(json!({"n": "2"})));
        check("a://b{?q}", "a://b", Some(json!({})));
        check("a.b://{x}", "aXb://1", None);
    }

    #[test]
    fn what_is_no_pattern_is_refused() {
        for wrong in ["a://{x", "a://{}", "a://{x y}", "a://{;x}"] {
            assert!(UriPattern::parse(wrong).is_err(), "{wrong}");
        }
    }
}
