//! Holds a file against its grammar, finds all that is wrong, and spells every
//! key in the one way that readers look for.

use super::{Object, Shape};
use crate::casing::{camel, snake};
use crate::nearest::did_you_mean;
use crate::node::{Kind, Node};
use crate::problem::Problems;
use crate::quantity::duration;

/// Checks a value; keys in the wire's spelling become those of the grammar.
pub fn check(node: &mut Node, shape: &Shape, problems: &mut Problems) {
    match (shape, &mut node.kind) {
        (Shape::Any, _) => {}
        (Shape::OneOrMany(item), Kind::List(items)) | (Shape::List(item), Kind::List(items)) => {
            items.iter_mut().for_each(|node| check(node, item, problems));
        }
        // A word that is none is told with those that are.
        (Shape::OneOrMany(item @ Shape::Word(_)), Kind::String(_)) => check(node, item, problems),
        (Shape::OneOrMany(item), _) => match begins(item, node) {
            true => check(node, item, problems),
            false => wrong(node, shape, problems),
        },
        (Shape::Map(value), Kind::Map(entries)) => {
            entries.iter_mut().for_each(|entry| check(&mut entry.value, value, problems));
        }
        (Shape::Object(object), Kind::Map(_)) => check_object(node, object, problems),
        (Shape::Either(shapes), _) => {
            // The one that begins alike says best what is wrong further down.
            match shapes.iter().find(|shape| begins(shape, node)) {
                Some(shape) => check(node, shape, problems),
                None => wrong(node, shape, problems),
            }
        }
        (Shape::Duration, Kind::String(text)) => {
            if let Err(why) = duration(text) {
                problems.add(node.span, format!("`{text}` is no time; {why}"));
            }
        }
        (Shape::Word(words), Kind::String(text)) if !words.contains(&&**text) => {
            let help = did_you_mean(text, words.iter().copied());
            let message = format!("expected {}, found `{text}`", shape.what());
            problems.add_with_help(node.span, message, help);
        }
        _ => {
            if !begins(shape, node) {
                wrong(node, shape, problems);
            }
        }
    }
}

/// Whether a value is of the kind that a shape begins with.
fn begins(shape: &Shape, node: &Node) -> bool {
    match (shape, &node.kind) {
        (Shape::Any, _)
        | (Shape::Text | Shape::Duration, Kind::String(_))
        | (Shape::Bool, Kind::Bool(_))
        | (Shape::Number, Kind::Number(_))
        | (Shape::List(_) | Shape::OneOrMany(_), Kind::List(_))
        | (Shape::Map(_) | Shape::Object(_), Kind::Map(_)) => true,
        (Shape::Word(words), Kind::String(text)) => words.contains(&&**text),
        (Shape::Integer(least), Kind::Number(number)) => {
            number.as_i64().map_or(number.is_u64(), |number| number >= *least)
        }
        (Shape::OneOrMany(item), _) => begins(item, node),
        (Shape::Either(shapes), _) => shapes.iter().any(|shape| begins(shape, node)),
        _ => false,
    }
}

fn wrong(node: &Node, shape: &Shape, problems: &mut Problems) {
    let help = match (shape, &node.kind) {
        (Shape::Text, Kind::Number(_) | Kind::Bool(_)) => Some("put it in quotes".to_owned()),
        _ => None,
    };
    let found = match (shape, &node.kind) {
        // Of numbers it is the value that is wrong.
        (Shape::Integer(_), Kind::Number(number)) => number.to_string(),
        _ => node.what().to_owned(),
    };
    problems.add_with_help(node.span, format!("expected {}, found {found}", shape.what()), help);
}

fn check_object(node: &mut Node, object: &Object, problems: &mut Problems) {
    let span = node.span;
    let Kind::Map(entries) = &mut node.kind else { return };
    for at in 0..entries.len() {
        let (written, name) = (&entries[at].key, snake(&entries[at].key));
        let known = object.all_keys().find(|key| key.name == name);
        // As here or as on the wire, and in no third way.
        let known = known.filter(|key| key.name == written || camel(key.name) == *written);
        let Some(key) = known else {
            let entry = &entries[at];
            let help = did_you_mean(&entry.key, object.all_keys().map(|key| key.name));
            let message = format!("unknown key `{}` in {}", entry.key, object.name);
            problems.add_with_help(entry.key_span, message, help);
            continue;
        };
        if entries[..at].iter().any(|entry| entry.key == key.name) {
            let message = match &*entries[at].key {
                // The first was written as on the wire.
                written if written == key.name => format!("`{written}` stands here a second time"),
                written => format!("`{written}` is `{}` a second time", key.name),
            };
            problems.add(entries[at].key_span, message);
        }
        key.name.clone_into(&mut entries[at].key);
        check(&mut entries[at].value, key.shape, problems);
    }
    for key in object.all_keys().filter(|key| key.required) {
        if !entries.iter().any(|entry| entry.key == key.name) {
            problems.add(span, format!("`{}` is missing in {}", key.name, object.name));
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
            Key::new("name", &Shape::Text, "Its name.").required(),
            Key::new("input_schema", &Shape::Map(&Shape::Any), "Its schema."),
            Key::new("delay", &Shape::Duration, "How long it takes."),
            Key::new("mode", &Shape::Word(&["fast", "slow"]), "How it works."),
            Key::new("times", &Shape::Integer(1), "How often."),
            Key::new("days", &Shape::OneOrMany(&Shape::Word(&["monday"])), "When."),
            Key::new("parts", &Shape::OneOrMany(&Shape::Text), "What it has."),
            Key::new("cache", &Shape::Either(&[Shape::Bool, Shape::Duration]), "Whether."),
        ]],
    };

    fn checked(text: &str) -> Result<Node, String> {
        let source = Source::new("a.yaml", text);
        let mut node = Node::parse(&source).unwrap();
        let mut problems = Problems::new(&source);
        check(&mut node, &Shape::Object(&TOOL), &mut problems);
        problems.or(node).map_err(|problems| problems.to_string())
    }

    #[test]
    fn the_wires_spelling_is_taken_for_ours() {
        let node = checked("name: x\ninputSchema: {aB: 1}\nparts: [a]\ncache: 5s\n").unwrap();
        assert!(node.get("input_schema").is_some_and(|it| it.get("aB").is_some()));
        let told = checked("name: x\nInputSchema: {}\n").unwrap_err();
        assert!(told.contains("unknown key `InputSchema`"), "{told}");
    }

    #[test]
    fn everything_wrong_is_told_with_its_place() {
        let told = checked(
            "nmae: x\ntimes: 0\ndays: mondy\nmode: fest\ndelay: 5\nparts: {}\ninput_schema: []\ncache: x\n",
        )
        .unwrap_err();
        for part in [
            "unknown key `nmae` in a tool",
            "did you mean 'name'?",
            "`name` is missing in a tool",
            "a whole number of at least 1, found 0",
            "did you mean 'fast'?",
            "did you mean 'monday'?",
            "a time such as 200ms, found a number",
            "a text or a list, found a map",
            "expected a map, found a list",
            "`x` is no time",
        ] {
            assert!(told.contains(part), "{part} in\n{told}");
        }
        let told = checked("name: 1.5\ninput_schema: {}\ninputSchema: {}\n").unwrap_err();
        assert!(told.contains("put it in quotes"), "{told}");
        assert!(told.contains("`input_schema` a second time"), "{told}");
    }
}
