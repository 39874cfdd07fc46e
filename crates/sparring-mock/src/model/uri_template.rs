//! URI templates (RFC 6570), matched in reverse: finds the variables of a given URI.

use percent_encoding::percent_decode_str;
use regex::{Regex, escape};
use serde_json::{Map, Value};

/// The maximum length of a URI that is compared with templates.
pub(crate) const MAX_URI_BYTES: usize = 64 * 1024;

/// A URI template such as `file:///{+path}{?lines}`.
#[derive(Debug)]
pub(crate) struct UriTemplate {
    regex: Regex,
    /// The variables in the order of the groups; those of a query share one group.
    variables: Vec<Variable>,
}

#[derive(Debug)]
enum Variable {
    One(String),
    Query(Vec<String>),
}

impl UriTemplate {
    /// Parses a template.
    ///
    /// # Errors
    /// If a brace is not closed, or the braces contain no valid name.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let mut regex = "^".to_owned();
        let mut variables = Vec::new();
        let mut rest = text;
        while let Some((literal, after)) = rest.split_once('{') {
            regex += &escape(literal);
            let Some((expression, after)) = after.split_once('}') else {
                return Err("a brace is not closed".to_owned());
            };
            let (piece, names) = compile_expression(expression)?;
            regex += &piece;
            variables.extend(names);
            rest = after;
        }
        regex += &escape(rest);
        regex.push('$');
        let regex = Regex::new(&regex).map_err(|error| error.to_string())?;
        Ok(UriTemplate { regex, variables })
    }

    /// Returns the names of the variables.
    pub(crate) fn variable_names(&self) -> impl Iterator<Item = &str> {
        self.variables
            .iter()
            .flat_map(|variable| match variable {
                Variable::One(name) => std::slice::from_ref(name).iter(),
                Variable::Query(names) => names.iter(),
            })
            .map(String::as_str)
    }

    /// Returns the variables of a URI that matches.
    pub(crate) fn match_uri(&self, uri: &str) -> Option<Value> {
        if uri.len() > MAX_URI_BYTES {
            return None;
        }
        let found = self.regex.captures(uri)?;
        let mut values = Map::new();
        for (index, variable) in self.variables.iter().enumerate() {
            let text = found.get(index + 1).map_or("", |group| group.as_str());
            match variable {
                Variable::One(name) => {
                    values.insert(name.clone(), decode(text));
                }
                Variable::Query(names) => {
                    let pairs = text.trim_start_matches(['?', '&']).split('&');
                    let pairs = pairs.filter_map(|pair| pair.split_once('='));
                    let known = pairs.filter(|(name, _)| names.iter().any(|known| known == name));
                    values.extend(known.map(|(name, value)| (name.to_owned(), decode(value))));
                }
            }
        }
        Some(Value::Object(values))
    }
}

/// Returns the regular expression of an expression in braces, and its variables.
fn compile_expression(text: &str) -> Result<(String, Vec<Variable>), String> {
    let operator = text.chars().next().filter(|c| "+#./?&;".contains(*c));
    let names = text.trim_start_matches(['+', '#', '.', '/', '?', '&', ';']).split(',');
    let names: Vec<String> = names.map(|name| name.trim_end_matches('*').to_owned()).collect();
    let is_name = |name: &String| {
        !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "_.%".contains(c))
    };
    if let Some(bad) = names.iter().find(|name| !is_name(name)) {
        return Err(format!("`{bad}` is not a variable name"));
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

fn decode(text: &str) -> Value {
    percent_decode_str(text).decode_utf8_lossy().into_owned().into()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(regex: &str, uri: &str, expected: Option<Value>) {
        assert_eq!(UriTemplate::parse(regex).unwrap().match_uri(uri), expected, "{regex} {uri}");
    }

    #[test]
    fn finds_variables_in_a_uri() {
        check("test://t/{id}/data", "test://t/12%203/data", Some(json!({"id": "12 3"})));
        check("test://t/{id}/data", "test://t/1/2/data", None);
        check("file:///{+path}", "file:///a/b.txt", Some(json!({"path": "a/b.txt"})));
        check("a://{x,y}", "a://1,2", Some(json!({"x": "1", "y": "2"})));
        check("a://b{/x,y}", "a://b/1/2", Some(json!({"x": "1", "y": "2"})));
        check("a://b{?q,n}", "a://b?n=2&z=3", Some(json!({"n": "2"})));
        check("a://b{?q}", "a://b", Some(json!({})));
        check("a.b://{x}", "aXb://1", None);
        let longest = format!("a://{}", "b".repeat(MAX_URI_BYTES - 4));
        assert!(UriTemplate::parse("a://{x}").unwrap().match_uri(&longest).is_some());
        check("a://{x}", &(longest + "b"), None);
    }

    #[test]
    fn rejects_invalid_templates() {
        for wrong in ["a://{x", "a://{}", "a://{x y}", "a://{;x}"] {
            assert!(UriTemplate::parse(wrong).is_err(), "{wrong}");
        }
    }
}
