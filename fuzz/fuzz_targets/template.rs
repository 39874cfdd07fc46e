//! Fuzzes templates: the parser of `${…}`, and the matcher of URI templates against a slow and
//! obvious one. The first line is the template, the second the URI.

#![no_main]

use libfuzzer_sys::fuzz_target;
use sparring_script::Template;

#[path = "../../crates/sparring-host/src/gateway/uri_template.rs"]
mod uri_template;

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
    let _ = Template::parse(text).map(|template| template.as_literal());
    let (template, uri) = text.split_once('\n').unwrap_or((text, ""));
    let found = uri_template::TemplateMatcher::new(uri).matches(template);
    // The obvious matcher takes exponential time.
    if template.matches('{').count() <= 3 && uri.len() <= 64 {
        assert_eq!(found, matches(template, uri).unwrap_or(false), "{template:?} {uri:?}");
    }
});
