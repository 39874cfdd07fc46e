//! Unusual names, and very many tools.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use sparring_wire::RawJson;
use sparring_wire::types::Tool;

use super::{CallRecorder, names, open, tools};

#[tokio::test]
async fn every_name_that_a_server_gives_can_be_called() {
    let long = "x".repeat(500);
    let unusual_names =
        ["__", "", "🦀", "a\nb", "a b", "a.b", &long, "*", "mcp__fs__x", "..", "%s\0", "é"];
    let registry = open(&["fs"]);
    assert_eq!(registry.register("fs", tools(&unusual_names)), unusual_names.len());
    let names = names(&registry);
    assert_eq!(names.iter().collect::<HashSet<_>>().len(), unusual_names.len(), "{names:?}");
    for (name, tool) in names.iter().zip(unusual_names) {
        let plain = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
        assert!(name.len() <= 64 && name.chars().all(plain), "{name}");
        let recorder = CallRecorder::default();
        registry.execute(&recorder, name, RawJson::empty_object()).await.unwrap();
        assert_eq!(recorder.calls()[0].1, tool, "as its server calls it");
    }
}

#[test]
fn a_tool_that_is_listed_twice_is_one() {
    let registry = open(&["fs"]);
    let second = Tool::new("a").described("the second");
    assert_eq!(registry.register("fs", [tools(&["a"]), vec![Arc::new(second)]].concat()), 1);
    assert_eq!(names(&registry), ["mcp__fs__a"]);
    assert_eq!(registry.tools()[0].tool.description, None);
}

#[test]
fn long_texts_of_a_server_are_truncated() {
    let registry = open(&["fs"]);
    let mut tool = Tool::new("a").described("é".repeat(1 << 20));
    tool.rest.insert("title".to_owned(), "t".repeat(1 << 20).into());
    registry.register("fs", [Arc::new(tool)]);
    let tool = &registry.tools()[0].tool;
    let description = tool.description.as_deref().unwrap();
    assert_eq!(description.chars().count(), 10_000);
    assert!(description.ends_with("é…"));
    assert_eq!(tool.rest["title"].as_str().unwrap().chars().count(), 10_000);
}

/// This takes seconds only if tools are not compared with each other.
#[tokio::test]
async fn a_hundred_thousand_tools_are_registered_quickly() {
    let servers: Vec<String> = (0..1_000).map(|number| format!("server-{number}")).collect();
    let servers: Vec<&str> = servers.iter().map(String::as_str).collect();
    let registry = open(&servers);
    // Two fifths of them are too long, and others collide.
    let own: Vec<String> = (0..100)
        .map(|number| match number % 5 {
            0 | 1 => format!("{}-{number}", "x".repeat(60)),
            2 => format!("same.{}", number / 10),
            3 => format!("same {}", number / 10),
            _ => format!("tool-{number}"),
        })
        .collect();
    let own: Vec<&str> = own.iter().map(String::as_str).collect();
    let begun = Instant::now();
    for server in &servers {
        registry.register(server, tools(&own));
    }
    let listed = names(&registry);
    assert_eq!(listed.iter().collect::<HashSet<_>>().len(), listed.len());
    for name in listed.iter().step_by(100) {
        registry.execute(&CallRecorder::default(), name, RawJson::empty_object()).await.unwrap();
    }
    assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
    assert!(listed.len() > 50_000, "{}", listed.len());
}
