//! Checks a file against its grammar, reports all problems, and renames keys to the
//! spelling of the grammar.

use super::{Object, Shape};
use crate::casing::{to_camel_case, to_snake_case};
use crate::matcher::check_subject;
use crate::node::{Node, NodeKind};
use crate::problem::Problems;
use crate::quantity::parse_duration;
use crate::suggestion::{did_you_mean, suggest_names};
use crate::template::Template;

/// Checks a value against a shape. Renames keys in the spelling of the wire to those of
/// the grammar.
pub fn check_node(node: &mut Node, shape: &Shape, problems: &mut Problems) {
    match (shape, &mut node.kind) {
        (Shape::Any, _) => {}
        (Shape::OrTemplate(shape), _) => {
            if !is_template(node) {
                check_node(node, shape, problems);
            }
        }
        (Shape::Matcher(subject), _) => check_subject(node, subject, problems),
        (Shape::OneOrMany(_), NodeKind::List(items)) if items.is_empty() => {
            report_empty(node, problems);
        }
        (Shape::NonEmpty(shape), _) => match is_empty(node) {
            true => report_empty(node, problems),
            false => check_node(node, shape, problems),
        },
        (Shape::OneOrMany(item) | Shape::AnyNumber(item), NodeKind::List(items))
        | (Shape::List(item), NodeKind::List(items)) => {
            items.iter_mut().for_each(|node| check_node(node, item, problems));
        }
        // The message about an unknown word lists the known ones.
        (
            Shape::OneOrMany(item @ Shape::Keyword(_)) | Shape::AnyNumber(item @ Shape::Keyword(_)),
            NodeKind::String(_),
        ) => check_node(node, item, problems),
        (Shape::OneOrMany(item) | Shape::AnyNumber(item), _) => match accepts_kind(item, node) {
            true => check_node(node, item, problems),
            false => report_wrong_kind(node, shape, problems),
        },
        (Shape::Map(value), NodeKind::Map(entries)) => {
            entries.iter_mut().for_each(|entry| check_node(&mut entry.value, value, problems));
        }
        (Shape::Object(object), NodeKind::Map(_)) => check_object(node, object, problems),
        (Shape::AnyOf(shapes), _) => {
            // The shape of the same kind gives the best message about nested values.
            match shapes.iter().find(|shape| accepts_kind(shape, node)) {
                Some(shape) => check_node(node, shape, problems),
                None => report_wrong_kind(node, shape, problems),
            }
        }
        (Shape::Duration, NodeKind::String(text)) => {
            if let Err(why) = parse_duration(text) {
                problems.add(node.span, format!("`{text}` is {why}"));
            }
        }
        (Shape::Keyword(words), NodeKind::String(text)) if !words.contains(&&**text) => {
            let help = did_you_mean(text, words.iter().copied());
            let message = format!("expected {}, found `{text}`", shape.describe());
            problems.add_with_help(node.span, message, help);
        }
        _ => {
            if !accepts_kind(shape, node) {
                report_wrong_kind(node, shape, problems);
            }
        }
    }
}

/// Returns true if a shape accepts the type of a value. Does not check nested values.
fn accepts_kind(shape: &Shape, node: &Node) -> bool {
    match (shape, &node.kind) {
        (Shape::Any | Shape::Matcher(_), _)
        | (Shape::String | Shape::Duration, NodeKind::String(_))
        | (Shape::Bool, NodeKind::Bool(_))
        | (Shape::Number, NodeKind::Number(_))
        | (Shape::List(_) | Shape::OneOrMany(_) | Shape::AnyNumber(_), NodeKind::List(_))
        | (Shape::Map(_) | Shape::Object(_), NodeKind::Map(_)) => true,
        (Shape::Keyword(words), NodeKind::String(text)) => words.contains(&&**text),
        (Shape::Integer(least), NodeKind::Number(number)) => {
            number.as_i64().map_or(number.is_u64(), |number| number >= *least)
        }
        (Shape::OrTemplate(shape), _) => is_template(node) || accepts_kind(shape, node),
        (Shape::OneOrMany(shape) | Shape::AnyNumber(shape) | Shape::NonEmpty(shape), _) => {
            accepts_kind(shape, node)
        }
        (Shape::AnyOf(shapes), _) => shapes.iter().any(|shape| accepts_kind(shape, node)),
        _ => false,
    }
}

/// Returns true for a string with a template.
fn is_template(node: &Node) -> bool {
    let template = node.as_str().and_then(|text| Template::parse(text).ok());
    template.is_some_and(|template| template.as_literal().is_none())
}

/// Returns true for a list without items and a map without keys.
fn is_empty(node: &Node) -> bool {
    match &node.kind {
        NodeKind::List(items) => items.is_empty(),
        NodeKind::Map(entries) => entries.is_empty(),
        _ => false,
    }
}

fn report_empty(node: &Node, problems: &mut Problems) {
    let kind = node.describe().trim_start_matches("a ");
    problems.add(node.span, format!("the {kind} is empty, and has no effect here"));
}

fn report_wrong_kind(node: &Node, shape: &Shape, problems: &mut Problems) {
    let help = match (shape, &node.kind) {
        (Shape::String, NodeKind::Number(_) | NodeKind::Bool(_)) => {
            Some("put it in quotes".to_owned())
        }
        _ => None,
    };
    let found = match (shape, &node.kind) {
        // The number is out of range.
        (Shape::Integer(_), NodeKind::Number(number)) => number.to_string(),
        _ => node.describe().to_owned(),
    };
    problems.add_with_help(
        node.span,
        format!("expected {}, found {found}", shape.describe()),
        help,
    );
}

fn check_object(node: &mut Node, object: &Object, problems: &mut Problems) {
    let span = node.span;
    let NodeKind::Map(entries) = &mut node.kind else { return };
    for at in 0..entries.len() {
        let (written, name) = (&entries[at].key, to_snake_case(&entries[at].key));
        let known = object.all_keys().find(|key| key.name == name);
        // Only the spellings of the grammar and of the wire are accepted.
        let known = known.filter(|key| key.name == written || to_camel_case(key.name) == *written);
        let Some(key) = known else {
            let entry = &entries[at];
            let help = suggest_names(&object.nearest_keys(&entry.key));
            let message = format!("unknown key `{}` in {}", entry.key, object.name);
            problems.add_with_help(entry.key_span, message, help);
            continue;
        };
        if entries[..at].iter().any(|entry| entry.key == key.name) {
            let message = match &*entries[at].key {
                // The first one has the spelling of the wire.
                written if written == key.name => format!("duplicate key `{written}`"),
                written => format!("duplicate key: `{written}` is the same as `{}`", key.name),
            };
            problems.add(entries[at].key_span, message);
        }
        key.name.clone_into(&mut entries[at].key);
        check_node(&mut entries[at].value, key.shape, problems);
    }
    for key in object.all_keys().filter(|key| key.required) {
        if !entries.iter().any(|entry| entry.key == key.name) {
            problems.add(span, format!("missing key `{}` in {}", key.name, object.name));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Key;
    use super::*;
    use crate::Source;

    static TOOL: Object = Object {
        name: "a tool",
        keys: &[&[
            Key::new("name", &Shape::String, "Its name.").required(),
            Key::new("input_schema", &Shape::Map(&Shape::Any), "Its schema."),
            Key::new("delay", &Shape::Duration, "How long it takes."),
            Key::new("mode", &Shape::Keyword(&["fast", "slow"]), "How it works."),
            Key::new("times", &Shape::Integer(1), "How often."),
            Key::new("days", &Shape::OneOrMany(&Shape::Keyword(&["monday"])), "When."),
            Key::new("with", &Shape::Any, "Its arguments.").synonyms(&["args", "my_params"]),
            Key::new("parts", &Shape::OneOrMany(&Shape::String), "What it has."),
            Key::new("roots", &Shape::AnyNumber(&Shape::String), "Its roots."),
            Key::new("env", &Shape::NonEmpty(&Shape::Map(&Shape::String)), "Its variables."),
            Key::new("steps", &Shape::NonEmpty(&Shape::List(&Shape::String)), "Its steps."),
            Key::new("speed", &Shape::OrTemplate(&Shape::Keyword(&["high", "low"])), "Its speed."),
            Key::new("cache", &Shape::AnyOf(&[Shape::Bool, Shape::Duration]), "Whether."),
        ]],
    };

    fn checked(text: &str) -> Result<Node, String> {
        let source = Source::new("a.yaml", text);
        let mut node = Node::parse(&source).unwrap();
        let mut problems = Problems::new(&source);
        check_node(&mut node, &Shape::Object(&TOOL), &mut problems);
        problems.into_result(node).map_err(|problems| problems.to_string())
    }

    #[test]
    fn accepts_the_spelling_of_the_wire() {
        let node = checked("name: x\ninputSchema: {aB: 1}\nparts: [a]\ncache: 5s\n").unwrap();
        assert!(node.get("input_schema").is_some_and(|it| it.get("aB").is_some()));
        let message = checked("name: x\nInputSchema: {}\n").unwrap_err();
        assert!(message.contains("unknown key `InputSchema`"), "{message}");
    }

    #[test]
    fn reports_an_empty_list_or_map_where_something_is_chosen() {
        for empty in ["parts: []", "days: []", "env: {}", "steps: []"] {
            let message = checked(&format!("name: x\n{empty}\n")).unwrap_err();
            assert!(message.contains("is empty, and has no effect here"), "{empty}: {message}");
        }
        for fine in ["roots: []", "roots: a", "env: {A: b}", "steps: [a]", "input_schema: {}"] {
            checked(&format!("name: x\n{fine}\n")).unwrap();
        }
        let message = checked("name: x\nenv: {A: 1}\nsteps: a\nroots: 1\n").unwrap_err();
        assert_eq!(message.matches("error:").count(), 3, "{message}");
    }

    #[test]
    fn a_template_can_stand_for_a_value_of_some_keys() {
        for fine in ["high", "\"${speed}\"", "\"${a}-${b}\""] {
            checked(&format!("name: x\nspeed: {fine}\n")).unwrap();
        }
        for wrong in ["hihg", "$${high}", "5"] {
            let message = checked(&format!("name: x\nspeed: {wrong}\n")).unwrap_err();
            assert!(message.contains("expected one of high, low, found"), "{message}");
        }
        let message = checked("name: x\nmode: \"${mode}\"\n").unwrap_err();
        assert!(message.contains("expected one of fast, slow"), "{message}");
    }

    #[test]
    fn reports_every_problem() {
        let message = checked(
            "nmae: x\ntimes: 0\ndays: mondy\nmode: fest\ndelay: 5\nparts: {}\ninput_schema: []\ncache: x\n",
        )
        .unwrap_err();
        for part in [
            "unknown key `nmae` in a tool",
            "did you mean 'name'?",
            "missing key `name` in a tool",
            "an integer of at least 1, found 0",
            "did you mean 'fast'?",
            "did you mean 'monday'?",
            "a duration such as 200ms, found a number",
            "a string or a list, found a map",
            "expected a map, found a list",
            "`x` is not a duration (try `200ms` or `2s`)",
        ] {
            assert!(message.contains(part), "{part} in\n{message}");
        }
        let message = checked("name: x\nargs: {}\n").unwrap_err();
        assert!(message.contains("did you mean 'with'?"), "{message}");
        let message = checked("name: x\nmyParams: {}\n").unwrap_err();
        assert!(message.contains("did you mean 'with'?"), "{message}");
        let message = checked("name: 1.5\ninput_schema: {}\ninputSchema: {}\n").unwrap_err();
        assert!(message.contains("put it in quotes"), "{message}");
        assert!(message.contains("`inputSchema` is the same as `input_schema`"), "{message}");
    }
}
