//! Files that are none, or too much.

use std::fs;
use std::time::{Duration, Instant};

use super::place::Place;

const GOOD: &str = "servers: {good: {command: x}}\n";

/// What is told of a file with these bytes beside a good one.
fn told(bytes: &[u8]) -> String {
    let place = Place::with(&[("user", GOOD), (".spar/mcp.yaml", "")]);
    fs::write(place.path(".spar/mcp.yaml"), bytes).unwrap();
    assert_eq!(place.read().ready().count(), 1, "the other goes on");
    place.told()
}

#[test]
fn a_file_that_is_no_text_or_too_long_or_too_deep_is_told() {
    let told_of = |bytes: &[u8], expected: &str| {
        let told = told(bytes);
        assert!(told.contains(expected), "{expected}: {told}");
    };
    told_of(b"servers:\n  a: \xff\n", "mcp.yaml cannot be read: line 2 is not UTF-8");
    told_of(&vec![b'#'; 2 * 1024 * 1024], "cannot be read: it is longer than 1 MiB");
    told_of(b"servers:\n  a: {command: x\0y}\n", "this is not YAML");
    let deep = format!("servers: {}{}", "[".repeat(10_000), "]".repeat(10_000));
    told_of(deep.as_bytes(), "this is not YAML");
    told_of(b"servers: {a: &a [*a]}", "this is not YAML");
    let many = "a: &a [x,x,x,x,x,x,x,x,x]\n".to_owned()
        + &(0..9).fold(String::new(), |text, at| {
            let from = if at == 0 { "a".to_owned() } else { format!("b{}", at - 1) };
            text + &format!("b{at}: &b{at} [{}]\n", vec![format!("*{from}"); 9].join(","))
        });
    told_of(many.as_bytes(), "this is not YAML");
    assert!(told(b"\xef\xbb\xbfservers: {}\n").is_empty(), "a mark at the beginning is fine");
}

#[cfg(unix)]
#[test]
fn what_is_no_file_is_told_at_once() {
    use std::os::unix::fs::symlink;
    let place = Place::with(&[("user", GOOD)]);
    let path = place.path(".mcp.json");
    let told = |expected: &str| {
        let told = place.told();
        assert!(told.contains(expected), "{expected}: {told}");
        assert_eq!(place.read().ready().count(), 1);
    };
    fs::create_dir(&path).unwrap();
    told(".mcp.json cannot be read: it is no file");
    fs::remove_dir(&path).unwrap();
    let made = std::process::Command::new("mkfifo").arg(&path).status().unwrap();
    assert!(made.success());
    told(".mcp.json cannot be read: it is no file");
    fs::remove_file(&path).unwrap();
    symlink(&path, &path).unwrap();
    told(".mcp.json cannot be read: Too many levels of symbolic links");
    fs::remove_file(&path).unwrap();
    symlink("/dev/zero", &path).unwrap();
    told(".mcp.json cannot be read: it is no file");
    fs::remove_file(&path).unwrap();
    symlink("nowhere", &path).unwrap();
    assert_eq!(place.told(), "", "one that leads nowhere is none");
}

#[test]
fn a_broken_store_of_trust_is_told_and_trusts_nobody() {
    let place = Place::with(&[(".mcp.json", "{\"mcpServers\": {\"a\": {\"command\": \"x\"}}}")]);
    let place = place.trusting(&[".mcp.json"]);
    assert_eq!(place.read().ready().count(), 1);
    fs::write(place.surroundings.trust.clone().unwrap(), "{").unwrap();
    assert!(place.told().contains("trust.json cannot be read"), "{}", place.told());
    assert_eq!(place.read().ready().count(), 0);
}

#[test]
fn the_longest_file_is_read_in_no_time() {
    let began = Instant::now();
    let servers: Vec<String> = (0..15_000).map(|at| format!("s{at}: {{command: x}}")).collect();
    for text in [
        format!("servers:\n  {}\n", servers.join("\n  ")),
        format!("servers: {{{}}}\n", servers.join(", ")),
    ] {
        assert_eq!(Place::of_user(&text).read().ready().count(), 15_000);
    }
    let keys: Vec<String> = (0..15_000).map(|at| format!("\"k{at}\": 1")).collect();
    let text = format!("{{\"mcpServers\": {{\"a\": {{{}}}}}}}", keys.join(","));
    assert_eq!(Place::with(&[(".mcp.json", &text)]).read().notes.len(), 101);
    let text = format!("servers: {{a: {{{}}}}}", keys.join(","));
    assert!(!Place::of_user(&text).read().is_sound());
    assert!(began.elapsed() < Duration::from_secs(30), "{:?}", began.elapsed());
}
