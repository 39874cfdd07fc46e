//! Invalid and oversized files.

use std::fs;
use std::time::{Duration, Instant};

use super::fixture::ConfigFixture;

const GOOD: &str = "servers: {good: {command: x}}\n";

/// The problems of a file with these bytes beside a valid one.
fn problems_of(bytes: &[u8]) -> String {
    let fixture = ConfigFixture::with(&[("user", GOOD), (".spar/mcp.yaml", "")]);
    fs::write(fixture.path(".spar/mcp.yaml"), bytes).unwrap();
    assert_eq!(fixture.read().ready().count(), 1, "the other goes on");
    fixture.problems()
}

#[test]
fn binary_oversized_and_deeply_nested_files_are_reported() {
    let check_message = |bytes: &[u8], expected: &str| {
        let message = problems_of(bytes);
        assert!(message.contains(expected), "{expected}: {message}");
    };
    check_message(b"servers:\n  a: \xff\n", "mcp.yaml: line 2 is not UTF-8");
    check_message(&vec![b'#'; 2 * 1024 * 1024], "mcp.yaml: larger than 1 MiB");
    check_message(b"servers:\n  a: {command: x\0y}\n", "invalid YAML");
    let deep = format!("servers: {}{}", "[".repeat(10_000), "]".repeat(10_000));
    check_message(deep.as_bytes(), "invalid YAML");
    check_message(b"servers: {a: &a [*a]}", "invalid YAML");
    let many = "a: &a [x,x,x,x,x,x,x,x,x]\n".to_owned()
        + &(0..9).fold(String::new(), |text, at| {
            let from = if at == 0 { "a".to_owned() } else { format!("b{}", at - 1) };
            text + &format!("b{at}: &b{at} [{}]\n", vec![format!("*{from}"); 9].join(","))
        });
    check_message(many.as_bytes(), "invalid YAML");
    assert!(
        problems_of(b"\xef\xbb\xbfservers: {}\n").is_empty(),
        "a mark at the beginning is fine"
    );
}

#[cfg(unix)]
#[test]
fn a_path_that_is_not_a_regular_file_is_reported() {
    use std::os::unix::fs::symlink;
    let fixture = ConfigFixture::with(&[("user", GOOD)]);
    let path = fixture.path(".mcp.json");
    let check = |expected: &str| {
        let message = fixture.problems();
        assert!(message.contains(expected), "{expected}: {message}");
        assert_eq!(fixture.read().ready().count(), 1);
    };
    fs::create_dir(&path).unwrap();
    check(".mcp.json: not a regular file");
    fs::remove_dir(&path).unwrap();
    let made = std::process::Command::new("mkfifo").arg(&path).status().unwrap();
    assert!(made.success());
    check(".mcp.json: not a regular file");
    fs::remove_file(&path).unwrap();
    symlink(&path, &path).unwrap();
    check(".mcp.json: Too many levels of symbolic links");
    fs::remove_file(&path).unwrap();
    symlink("/dev/zero", &path).unwrap();
    check(".mcp.json: not a regular file");
    fs::remove_file(&path).unwrap();
    symlink("nowhere", &path).unwrap();
    assert_eq!(fixture.problems(), "", "one that leads nowhere is none");
}

#[test]
fn a_damaged_trust_store_is_reported_and_trusts_no_file() {
    let fixture =
        ConfigFixture::with(&[(".mcp.json", "{\"mcpServers\": {\"a\": {\"command\": \"x\"}}}")]);
    let fixture = fixture.with_trust(&[".mcp.json"]);
    assert_eq!(fixture.read().ready().count(), 1);
    fs::write(fixture.context.trust.clone().unwrap(), "{").unwrap();
    assert!(fixture.problems().contains("trust.json: "), "{}", fixture.problems());
    assert_eq!(fixture.read().ready().count(), 0);
}

#[test]
fn the_largest_file_is_read_quickly() {
    let began = Instant::now();
    let servers: Vec<String> = (0..15_000).map(|at| format!("s{at}: {{command: x}}")).collect();
    for text in [
        format!("servers:\n  {}\n", servers.join("\n  ")),
        format!("servers: {{{}}}\n", servers.join(", ")),
    ] {
        assert_eq!(ConfigFixture::with_user_file(&text).read().ready().count(), 15_000);
    }
    let keys: Vec<String> = (0..15_000).map(|at| format!("\"k{at}\": 1")).collect();
    let text = format!("{{\"mcpServers\": {{\"a\": {{{}}}}}}}", keys.join(","));
    assert_eq!(ConfigFixture::with(&[(".mcp.json", &text)]).read().notes.len(), 101);
    let text = format!("servers: {{a: {{{}}}}}", keys.join(","));
    assert!(!ConfigFixture::with_user_file(&text).read().is_valid());
    assert!(began.elapsed() < Duration::from_secs(30), "{:?}", began.elapsed());
}
