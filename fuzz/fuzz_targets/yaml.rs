//! Fuzzes the YAML loader: any text gives a value with positions inside the text, or problems
//! that can be shown.

#![no_main]

use libfuzzer_sys::fuzz_target;
use sparring_script::{Node, NodeKind, Source};

fn check(node: &Node, length: usize) {
    assert!(node.span.start <= node.span.end && node.span.end <= length, "{:?}", node.span);
    match &node.kind {
        NodeKind::List(items) => items.iter().for_each(|item| check(item, length)),
        NodeKind::Map(entries) => entries.iter().for_each(|entry| {
            assert!(entry.key_span.end <= length);
            check(&entry.value, length);
        }),
        _ => {}
    }
}

fuzz_target!(|text: &str| {
    match Node::parse(&Source::new("fuzz.yaml", text)) {
        Ok(node) => {
            check(&node, text.len());
            let _ = node.to_json();
        }
        Err(problems) => assert!(!problems.to_string().is_empty()),
    }
});
