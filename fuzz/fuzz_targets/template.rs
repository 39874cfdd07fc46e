//! Fuzzes templates: `${…}` is parsed and rendered, and the matcher of URI templates against a slow and
//! obvious one. The first line is the template, the second the URI.

#![no_main]

use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use sparring_script::{Path, Scope, Template, UndefinedPath};

#[path = "../../crates/sparring-host/src/gateway/uri_template.rs"]
mod uri_template;

/// Defines the paths whose text has an even length.
struct EvenPaths;

impl Scope for EvenPaths {
    fn get(&self, path: &Path) -> Result<Value, UndefinedPath> {
        let text = path.to_string();
        match text.len() % 2 {
            0 => Ok(Value::String(text)),
            _ => Err(UndefinedPath(text)),
        }
    }
}

fn check_rendering(template: &Template, text: &str) {
    let rendered = template.render_text(&EvenPaths);
    let url = template.render_url(&EvenPaths);
    assert_eq!(rendered.is_ok(), url.is_ok(), "{text:?}");
    if let Some(literal) = template.as_literal() {
        assert_eq!(rendered.as_deref(), Ok(&*literal), "{text:?}");
        assert_eq!(template.placeholders().count(), 0);
    }
    for (path, _) in template.placeholders() {
        assert_eq!(Path::parse(&path.to_string()).as_ref(), Ok(path), "{text:?}");
    }
}

/// Tries all ways to divide the URI.
fn matches(template: &str, uri: &str) -> Option<bool> {
    let Some((literal, rest)) = template.split_once('{') else { return Some(template == uri) };
    let (expression, rest) = rest.split_once('}')?;
    let plain = expression.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
    // The rest must be valid, whether the start matches or not.
    matches(rest, "")?;
    let Some(value) = uri.strip_prefix(literal) else { return Some(false) };
    let ends = (0..=value.len()).filter(|end| value.is_char_boundary(*end));
    let fits = |end: &usize| !plain || *end > 0 && !value[..*end].contains('/');
    let found = ends.filter(fits).any(|end| matches(rest, &value[end..]) == Some(true));
    Some(found)
}

fuzz_target!(|text: &str| {
    if let Ok(template) = Template::parse(text) {
        check_rendering(&template, text);
    }
    let (template, uri) = text.split_once('\n').unwrap_or((text, ""));
    let found = uri_template::TemplateMatcher::new(uri).matches(template);
    // The obvious matcher takes exponential time.
    if template.matches('{').count() <= 3 && uri.len() <= 32 {
        assert_eq!(found, matches(template, uri).unwrap_or(false), "{template:?} {uri:?}");
    }
});
