//! Templates: texts with placeholders such as `${args.city}`.
//!
//! `$${` is a literal `${`. A template that is exactly one placeholder keeps the type of
//! its value. `${a:-b}` is `b` if `a` is undefined. Any other undefined placeholder is an
//! error with its span, never an empty text.

mod parse;
mod path;
mod tree;
pub mod url;

use serde_json::Value;

pub use path::{Path, Segment};
pub use tree::{RenderError, TemplateTree};

/// Provides the values of placeholders.
pub trait Scope {
    /// Returns the value at a path.
    ///
    /// # Errors
    /// Returns an error if the path is undefined. [`Path::find`] makes a good message.
    fn get(&self, path: &Path) -> Result<Value, UndefinedPath>;
}

/// The error of an undefined placeholder: its message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UndefinedPath(pub String);

impl std::fmt::Display for UndefinedPath {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for UndefinedPath {}

/// A parsed template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    pieces: Vec<Piece>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Literal(String),
    Placeholder { path: Path, default: Option<String> },
}

/// A syntax error in a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TemplateError {
    /// The byte of the template at which the error is.
    pub offset: usize,
    /// The description of the error.
    pub message: String,
}

impl Template {
    /// Parses a template.
    ///
    /// # Errors
    /// Returns an error if a placeholder is not closed or does not contain a path.
    pub fn parse(text: &str) -> Result<Self, TemplateError> {
        parse::parse_template(text)
    }

    /// Returns the text if the template has no placeholder.
    pub fn as_literal(&self) -> Option<String> {
        let mut text = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Literal(part) => text.push_str(part),
                Piece::Placeholder { .. } => return None,
            }
        }
        Some(text)
    }

    /// Returns the path of each placeholder, and true if it has a default.
    pub fn placeholders(&self) -> impl Iterator<Item = (&Path, bool)> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Literal(_) => None,
            Piece::Placeholder { path, default } => Some((path, default.is_some())),
        })
    }

    /// Replaces the placeholders by their values.
    ///
    /// # Errors
    /// Returns an error if a placeholder is undefined.
    pub fn render(&self, scope: &dyn Scope) -> Result<Value, UndefinedPath> {
        if let [Piece::Placeholder { path, default }] = &self.pieces[..] {
            return resolve(path, default.as_deref(), scope);
        }
        self.render_text(scope).map(Value::String)
    }

    /// Replaces the placeholders by their values and always returns a text.
    ///
    /// # Errors
    /// Returns an error if a placeholder is undefined.
    pub fn render_text(&self, scope: &dyn Scope) -> Result<String, UndefinedPath> {
        self.join_pieces(scope, |_, value| value)
    }

    /// Replaces the placeholders of a URL by their values. A value after the origin is
    /// percent-encoded: the literal text before it, without a leading `scheme://`, has a
    /// `/`, `?` or `#`. A value before that may be the whole URL or its origin, and is not
    /// encoded.
    ///
    /// # Errors
    /// Returns an error if a placeholder is undefined.
    pub fn render_url(&self, scope: &dyn Scope) -> Result<String, UndefinedPath> {
        self.join_pieces(scope, |before, value| match url::is_after_origin(before) {
            true => url::percent_encode(&value),
            false => value,
        })
    }

    /// Joins the pieces. `encode` gets the literal text before a value, and the value.
    fn join_pieces(
        &self,
        scope: &dyn Scope,
        encode: impl Fn(&str, String) -> String,
    ) -> Result<String, UndefinedPath> {
        let (mut out, mut literal) = (String::new(), String::new());
        for piece in &self.pieces {
            match piece {
                Piece::Literal(text) => {
                    out.push_str(text);
                    literal.push_str(text);
                }
                Piece::Placeholder { path, default } => {
                    let value = match resolve(path, default.as_deref(), scope)? {
                        Value::String(text) => text,
                        other => other.to_string(),
                    };
                    out.push_str(&encode(&literal, value));
                }
            }
        }
        Ok(out)
    }
}

fn resolve(path: &Path, default: Option<&str>, scope: &dyn Scope) -> Result<Value, UndefinedPath> {
    match (scope.get(path), default) {
        (Err(_), Some(default)) => Ok(Value::from(default)),
        (found, _) => found,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    struct Values(Value);

    impl Scope for Values {
        fn get(&self, path: &Path) -> Result<Value, UndefinedPath> {
            path.find(&self.0, 0).cloned()
        }
    }

    fn scope() -> Values {
        Values(json!({"args": {"city": "Oslo", "n": 3, "list": [1, {"x.y": "deep"}], "no": null},
                      "env": {"HOME": "home"}}))
    }

    fn render(text: &str) -> Result<Value, String> {
        let template = Template::parse(text).map_err(|error| error.message)?;
        template.render(&scope()).map_err(|undefined| undefined.to_string())
    }

    #[test]
    fn placeholders_are_replaced_by_their_values() {
        assert_eq!(render("in ${args.city}: ${args.n}"), Ok(json!("in Oslo: 3")));
        assert_eq!(render("${ args.list[1][\"x.y\"] }!"), Ok(json!("deep!")));
        assert_eq!(render("${args.list}-"), Ok(json!("[1,{\"x.y\":\"deep\"}]-")));
        assert_eq!(render("${env:HOME}"), Ok(json!("home")));
        assert_eq!(render("no hole $ { } $$ ${args.n}$"), Ok(json!("no hole $ { } $$ 3$")));
    }

    #[test]
    fn a_single_placeholder_keeps_the_type_of_its_value() {
        assert_eq!(render("${args.n}"), Ok(json!(3)));
        assert_eq!(render("${args.list}"), Ok(json!([1, {"x.y": "deep"}])));
        assert_eq!(render("${args.no}"), Ok(json!(null)));
        assert_eq!(render(" ${args.n}"), Ok(json!(" 3")));
    }

    #[test]
    fn two_dollar_signs_make_a_literal() {
        assert_eq!(render("$${args.n}"), Ok(json!("${args.n}")));
        assert_eq!(render("$$${args.n}"), Ok(json!("$${args.n}")));
    }

    #[test]
    fn an_undefined_placeholder_is_an_error_or_its_default() {
        assert_eq!(render("${args.units:-metric}"), Ok(json!("metric")));
        assert_eq!(render("${args.city:-x}"), Ok(json!("Oslo")));
        assert_eq!(render("${args.units:-}"), Ok(json!("")));
        let message = render("a ${args.ctiy}").unwrap_err();
        assert_eq!(message, "${args.ctiy}: args has no key `ctiy`; did you mean 'city'?");
        let message = render("${args.list[7]}").unwrap_err();
        assert_eq!(message, "${args.list[7]}: args.list has no item [7], only 2 items");
        let message = render("${args.city.x}").unwrap_err();
        assert_eq!(message, "${args.city.x}: args.city is a string and has no key `x`");
    }

    #[test]
    fn values_after_the_origin_of_a_url_are_percent_encoded() {
        let scope = Values(json!({
            "origin": "http://a:1/b?c=d", "host": "127.0.0.1", "odd": "é/ü ?&#%", "n": 3,
        }));
        let url = |text| Template::parse(text).unwrap().render_url(&scope).unwrap();
        let odd = "%C3%A9%2F%C3%BC%20%3F%26%23%25";
        assert_eq!(url("${origin}"), "http://a:1/b?c=d");
        assert_eq!(url("${origin}&e=${n}"), "http://a:1/b?c=d&e=3");
        assert_eq!(url("http://${host}:${n}/mcp"), "http://127.0.0.1:3/mcp");
        assert_eq!(url("${origin}/x/${odd}"), format!("http://a:1/b?c=d/x/{odd}"));
        assert_eq!(url("http://a?q=${odd}"), format!("http://a?q={odd}"));
        assert_eq!(url("a://b#${odd}"), format!("a://b#{odd}"));
        assert_eq!(url("${host}/${odd}"), format!("127.0.0.1/{odd}"));
        assert_eq!(url("memo:${odd}"), "memo:é/ü ?&#%");
        assert_eq!(url("file://${odd}/a"), "file://é/ü ?&#%/a");
    }

    #[test]
    fn a_syntax_error_has_its_offset() {
        for (wrong, offset) in [("a ${b", 2), ("${}", 2), ("${a..b}", 4), ("${a[}", 4), ("${1}", 2)]
        {
            assert_eq!(
                Template::parse(wrong).map_err(|error| error.offset),
                Err(offset),
                "{wrong}"
            );
        }
    }
}
