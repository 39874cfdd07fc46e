//! Texts with holes: `${args.city}` is filled when its value is known.
//!
//! `$${` is a literal `${`. A text that is exactly one hole keeps the type of
//! what fills it. `${a:-b}` is `b` where `a` is not there. What else is not
//! there is an error with its place, never an empty text.

mod parse;
mod path;
mod tree;
pub mod url;

use serde_json::Value;

pub use path::{Path, Segment};
pub use tree::{Missing, Tree};

/// Where values come from.
pub trait Scope {
    /// The value at a path.
    ///
    /// # Errors
    /// When there is none; [`Path::find`] says it well.
    fn get(&self, path: &Path) -> Result<Value, Undefined>;
}

/// What is not there, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Undefined(pub String);

impl std::fmt::Display for Undefined {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Undefined {}

/// A text with holes, read once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    pieces: Vec<Piece>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Literal(String),
    Hole { path: Path, default: Option<String> },
}

/// What is wrong with a template, and at which byte of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadTemplate {
    /// Where.
    pub at: usize,
    /// What.
    pub message: String,
}

impl Template {
    /// Reads a text.
    ///
    /// # Errors
    /// When a hole is not closed, or has no path in it.
    pub fn parse(text: &str) -> Result<Self, BadTemplate> {
        parse::template(text)
    }

    /// The text, where it has no hole.
    pub fn literal(&self) -> Option<String> {
        let mut text = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Literal(part) => text.push_str(part),
                Piece::Hole { .. } => return None,
            }
        }
        Some(text)
    }

    /// What its holes ask for, and whether they can do without.
    pub fn holes(&self) -> impl Iterator<Item = (&Path, bool)> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Literal(_) => None,
            Piece::Hole { path, default } => Some((path, default.is_some())),
        })
    }

    /// Fills the holes.
    ///
    /// # Errors
    /// When something is not there.
    pub fn render(&self, scope: &dyn Scope) -> Result<Value, Undefined> {
        if let [Piece::Hole { path, default }] = &self.pieces[..] {
            return fill(path, default.as_deref(), scope);
        }
        self.render_text(scope).map(Value::String)
    }

    /// Fills the holes and gives a text, whatever fills them.
    ///
    /// # Errors
    /// When something is not there.
    pub fn render_text(&self, scope: &dyn Scope) -> Result<String, Undefined> {
        self.put_together(scope, |_, filling| filling)
    }

    /// Fills the holes of a URL. What fills one is percent-encoded where the
    /// literal text before it, without a leading `scheme://`, has a `/`, `?` or
    /// `#`: there it is a part of the path or of what follows. Before that it
    /// may be the whole URL, or its origin, and is put in as it is.
    ///
    /// # Errors
    /// When something is not there.
    pub fn render_url(&self, scope: &dyn Scope) -> Result<String, Undefined> {
        self.put_together(scope, |before, filling| match url::is_behind_origin(before) {
            true => url::encoded(&filling),
            false => filling,
        })
    }

    /// Each filling is put through `encode` with the literal text before it.
    fn put_together(
        &self,
        scope: &dyn Scope,
        encode: impl Fn(&str, String) -> String,
    ) -> Result<String, Undefined> {
        let (mut out, mut literal) = (String::new(), String::new());
        for piece in &self.pieces {
            match piece {
                Piece::Literal(text) => {
                    out.push_str(text);
                    literal.push_str(text);
                }
                Piece::Hole { path, default } => {
                    let filling = match fill(path, default.as_deref(), scope)? {
                        Value::String(text) => text,
                        other => other.to_string(),
                    };
                    out.push_str(&encode(&literal, filling));
                }
            }
        }
        Ok(out)
    }
}

fn fill(path: &Path, default: Option<&str>, scope: &dyn Scope) -> Result<Value, Undefined> {
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
        fn get(&self, path: &Path) -> Result<Value, Undefined> {
            path.find(&self.0, 0).cloned()
        }
    }

    fn scope() -> Values {
        Values(json!({"args": {"city": "Oslo", "n": 3, "list": [1, {"x.y": "deep"}], "no": null},
                      "env": {"HOME": "home"}}))
    }

    fn render(text: &str) -> Result<Value, String> {
        let template = Template::parse(text).map_err(|bad| bad.message)?;
        template.render(&scope()).map_err(|undefined| undefined.to_string())
    }

    #[test]
    fn holes_are_filled() {
        assert_eq!(render("in ${args.city}: ${args.n}"), Ok(json!("in Oslo: 3")));
        assert_eq!(render("${ args.list[1][\"x.y\"] }!"), Ok(json!("deep!")));
        assert_eq!(render("${args.list}-"), Ok(json!("[1,{\"x.y\":\"deep\"}]-")));
        assert_eq!(render("${env:HOME}"), Ok(json!("home")));
        assert_eq!(render("no hole $ { } $$ ${args.n}$"), Ok(json!("no hole $ { } $$ 3$")));
    }

    #[test]
    fn a_text_that_is_one_hole_keeps_the_type() {
        assert_eq!(render("${args.n}"), Ok(json!(3)));
        assert_eq!(render("${args.list}"), Ok(json!([1, {"x.y": "deep"}])));
        assert_eq!(render("${args.no}"), Ok(json!(null)));
        assert_eq!(render(" ${args.n}"), Ok(json!(" 3")));
    }

    #[test]
    fn two_dollars_are_a_literal() {
        assert_eq!(render("$${args.n}"), Ok(json!("${args.n}")));
        assert_eq!(render("$$${args.n}"), Ok(json!("$${args.n}")));
    }

    #[test]
    fn what_is_not_there_is_an_error_or_the_default() {
        assert_eq!(render("${args.units:-metric}"), Ok(json!("metric")));
        assert_eq!(render("${args.city:-x}"), Ok(json!("Oslo")));
        assert_eq!(render("${args.units:-}"), Ok(json!("")));
        let told = render("a ${args.ctiy}").unwrap_err();
        assert_eq!(told, "${args.ctiy}: args has no `ctiy`; did you mean 'city'?");
        let told = render("${args.list[7]}").unwrap_err();
        assert_eq!(told, "${args.list[7]}: args.list has no [7]; it has 2 items");
        let told = render("${args.city.x}").unwrap_err();
        assert_eq!(told, "${args.city.x}: args.city is a text, and has no `x`");
    }

    #[test]
    fn what_fills_a_url_behind_its_origin_is_percent_encoded() {
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
    fn what_is_no_template_is_told_with_its_place() {
        for (wrong, at) in [("a ${b", 2), ("${}", 2), ("${a..b}", 4), ("${a[}", 4), ("${1}", 2)] {
            assert_eq!(Template::parse(wrong).map_err(|bad| bad.at), Err(at), "{wrong}");
        }
    }
}
