//! No text makes a parser panic: it is parsed, or reported as a problem.

use proptest::prelude::*;
use serde_json::Value;
use sparring_script::{
    Key, Matcher, Node, Object, Path, Problems, Scope, Shape, Source, Span, Template, TemplateTree,
    UndefinedPath, build_input_schema, grammar, parse_duration,
};

static ANY: Object = Object {
    name: "a thing",
    keys: &[&[
        Key::new("a", &Shape::String, "").required(),
        Key::new("b", &Shape::List(&Shape::Object(&ANY)), ""),
        Key::new("c_d", &Shape::OneOrMany(&Shape::Duration), ""),
        Key::new("e", &Shape::AnyOf(&[Shape::Integer(0), Shape::Map(&Shape::Number)]), ""),
    ]],
};

struct Nothing;

impl Scope for Nothing {
    fn get(&self, path: &Path) -> Result<Value, UndefinedPath> {
        Err(path.undefined_at(0, &Value::Null))
    }
}

/// Generates texts that look like YAML.
fn yaml() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "a", "b", "cD", "e", ": ", "- ", "\n", "  ", "[", "]", "{", "}", ", ", "\"", "'", "|\n",
        ">\n", "&x ", "*x", "#", "${", "}", "$${", "1", "-2.5", "true", "~", "200ms", "ä", "\t",
        "matches", "gt", "is", "!!str ", "---\n", "? ", "<<: ",
    ]);
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

/// Parses a text with every parser. Each problem must be within the text.
fn parse_with_all(text: &str) {
    let source = Source::new("any.yaml", text);
    let mut problems = Problems::new(&source);
    match Node::parse(&source) {
        Ok(mut node) => {
            let tree = TemplateTree::from_node(&node, &mut problems);
            let _ = tree.render(&Nothing);
            let matcher = Matcher::from_node(&node, &mut problems);
            let _ = matcher.check(Some(&node.to_json()));
            build_input_schema(&node, &mut problems);
            grammar::check_node(&mut node, &Shape::Object(&ANY), &mut problems);
        }
        Err(found) => assert!(!found.to_string().is_empty()),
    }
    for problem in problems.iter() {
        assert!(source.location(problem.span).starts_with("any.yaml:"));
    }
    let _ = problems.render(true);
}

proptest! {
    #[test]
    fn any_text_is_parsed_or_reported(text in "\\PC*") {
        parse_with_all(&text);
    }

    #[test]
    fn any_yaml_like_text_is_parsed_or_reported(text in yaml()) {
        parse_with_all(&text);
    }

    #[test]
    fn any_span_is_rendered(
        text in "([ab\u{e9}\u{65e5}\u{200d}\u{301}\t\u{1b}]{0,9}(\r|\n|\r\n)?){0,9}",
        start in 0..60_usize,
        length in 0..60_usize,
    ) {
        let mut problems = Problems::new(&Source::new("any.yaml", &*text));
        problems.add(Span { start, end: start + length }, "wrong");
        let rendered = problems.to_string();
        prop_assert!(rendered.contains("--> any.yaml:") && rendered.contains('^'), "{rendered}");
        prop_assert!(!rendered.contains(|c: char| c != '\n' && c.is_control()), "{rendered:?}");
    }

    #[test]
    fn any_template_is_parsed_or_reported(text in "[$\\{\\}a-c.\\[\\]\"0-9:\\- ]{0,30}") {
        if let Ok(template) = Template::parse(&text) {
            let _ = template.render(&Nothing);
        }
        let _ = parse_duration(&text);
    }
}

#[test]
fn deep_nesting_is_refused() {
    for text in ["[".repeat(100_000), "- ".repeat(100_000), "{a: ".repeat(50_000)] {
        assert!(Node::parse(&Source::new("deep.yaml", &*text)).is_err());
    }
}

#[test]
fn an_alias_of_aliases_does_not_explode() {
    let mut text = "a: &a [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for (name, of) in
        ["b", "c", "d", "e", "f", "g", "h"].iter().zip(["a", "b", "c", "d", "e", "f", "g"])
    {
        let all = vec![format!("*{of}"); 10].join(", ");
        text += &format!("{name}: &{name} [{all}]\n");
    }
    assert!(Node::parse(&Source::new("many.yaml", &*text)).is_err());
}
