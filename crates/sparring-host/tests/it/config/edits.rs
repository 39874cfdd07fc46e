//! Changes to a file that leave everything else in it unchanged.

use std::fs;

use serde_json::{Value, json};
use sparring_host::config::{Change, EditError, Edited, edit};

use super::fixture::ConfigFixture;

fn add(name: &str, entry: Value) -> Change {
    Change::Add { name: name.to_owned(), entry }
}

fn remove(name: &str) -> Change {
    Change::Remove { name: name.to_owned() }
}

fn enable(name: &str, enabled: bool) -> Change {
    Change::Enable { name: name.to_owned(), enabled }
}

fn try_edit(fixture: &ConfigFixture, file: &str, change: &Change) -> Result<Edited, EditError> {
    let at = fixture.locations().0.into_iter().find(|it| it.file == fixture.path(file)).unwrap();
    edit(&at, change, &fixture.context)
}

/// Checks the contents of a file after a change.
fn check(file: &str, before: &str, change: &Change, after: &str) {
    let fixture = ConfigFixture::with(&[(file, before)]);
    let edited = try_edit(&fixture, file, change);
    let found = fs::read_to_string(fixture.path(file)).unwrap();
    assert_eq!(found, after, "{before}\n{change:?}: {edited:?}");
    assert_eq!(edited.unwrap() == Edited::Unchanged, before == after);
}

const YAML: &str = "\
# My servers.
servers:
  # The first one.
  one:   # why
    # how
    command: npx
    args: [-y, one]   # odd

  two: {command: x, env: {A: b}}
  three:
    url: http://h
    headers:
      A: |
        long
        # no comment
    # below three

  # above the end
# The end.
permissions: {deny: [mcp__one]}
";

#[test]
fn comments_and_order_survive_a_change() {
    let check =
        |change, from: &str, to: &str| check("user", YAML, &change, &YAML.replace(from, to));
    check(enable("one", true), "", "");
    check(enable("one", false), "one:   # why\n", "one:   # why\n    enabled: false\n");
    check(enable("two", false), "two: {", "two: {enabled: false, ");
    check(remove("two"), "  two: {command: x, env: {A: b}}\n", "");
    let one = YAML.find("  one:").unwrap()..YAML.find("\n  two").unwrap();
    check(remove("one"), &YAML[one], "");
    let three = YAML.find("  three:").unwrap()..YAML.find("\n  # above").unwrap();
    check(remove("three"), &YAML[three], "");
    let entry =
        json!({"command": "npx", "args": ["-y", "a b", "x:y"], "env": {"K": "${K}", "M": "5"}});
    let written = "    # below three
  four:
    command: npx
    args: [\"-y\", \"a b\", \"x:y\"]
    env:
      K: \"${K}\"
      M: \"5\"
";
    check(add("four", entry), "    # below three\n", written);
}

#[test]
fn a_change_keeps_the_style_of_the_file() {
    let entry = json!({"command": "x"});
    for (before, after) in [
        ("", "servers:\n  a:\n    command: x\n"),
        ("# only this", "# only this\nservers:\n  a:\n    command: x\n"),
        ("servers:\n", "servers:\n  a:\n    command: x\n"),
        (
            "servers:  # mine\npermissions: {}\n",
            "servers:  # mine\n  a:\n    command: x\npermissions: {}\n",
        ),
        ("servers: {}\npermissions: {}\n", "servers:\n  a:\n    command: x\npermissions: {}\n"),
        ("servers: {b: {command: y}}\n", "servers: {a: {\"command\":\"x\"}, b: {command: y}}\n"),
        ("{permissions: {}}\n", "{servers: {a: {\"command\":\"x\"}}, permissions: {}}\n"),
        ("{\"servers\": {}}\n", "{\"servers\": {a: {\"command\":\"x\"}}}\n"),
        (
            "{\"servers\": {\n}, permissions: {}}\n",
            "{\"servers\": {a: {\"command\":\"x\"}}, permissions: {}}\n",
        ),
        (
            "servers:\r\n    b: {command: y}\r\n",
            "servers:\r\n    b: {command: y}\r\n    a:\r\n      command: x\r\n",
        ),
        (
            "servers:\n  b:\n    command: y",
            "servers:\n  b:\n    command: y\n  a:\n    command: x\n",
        ),
        ("permissions: {}\n", "permissions: {}\nservers:\n  a:\n    command: x\n"),
        ("{}", "servers:\n  a:\n    command: x\n"),
    ] {
        check("user", before, &add("a", entry.clone()), after);
    }
    for (before, after) in [
        ("servers:\n  a:\n    command: x\n", "servers: {}\n"),
        ("servers: {a: {command: x}}\n", "servers: {}\n"),
        (
            "servers: {a: {command: x, env: {A: \"}\"}}, b: {command: y}}\n",
            "servers: {b: {command: y}}\n",
        ),
        (
            "servers: {b: {command: y}, a: {command: x, env: {A: \"}\"}}}\n",
            "servers: {b: {command: y}}\n",
        ),
        (
            "servers:\n  a: {\n    command: x\n  }\n  b: {command: y}\n",
            "servers:\n  b: {command: y}\n",
        ),
    ] {
        check("user", before, &remove("a"), after);
    }
    check("user", "servers: {a: {}}\n", &enable("a", false), "servers: {a: {enabled: false}}\n");
    let before = "servers:\n  a:\n    command: x\n    enabled: false # for now\n";
    check("user", before, &enable("a", true), &before.replace("false", "true"));
}

#[test]
fn names_and_values_that_look_like_something_else_are_quoted() {
    for name in ["yes", "1", "a: b", "ä", "- x", "#", "a\"b", "null", "~", "*x", "a b "] {
        let fixture = ConfigFixture::with_user_file("servers: {z: {command: y}}\n# end\n");
        let entry = json!({"command": name, "args": [name], "env": {name.replace('=', ""): name}});
        try_edit(&fixture, "user", &add(name, entry)).unwrap();
        let config = fixture.read();
        let child = super::fixture::child(&config, name);
        assert_eq!((&*child.program, &*child.args[0]), (name, name));
        try_edit(&fixture, "user", &remove(name)).unwrap();
        assert_eq!(super::fixture::names(&fixture.read()), ["z"]);
    }
}

const JSONC: &str = "{
\t// All of them.
\t\"servers\": {
\t\t\"one\": { \"command\": \"x\" }, // odd
\t\t/* two */
\t\t\"two\": {
\t\t\t\"url\": \"http://h\",
\t\t\t\"disabled\": true,
\t\t},
\t},
}
";

#[test]
fn json_with_comments_keeps_them() {
    let file = ".vscode/mcp.json";
    let check =
        |change, from: &str, to: &str| check(file, JSONC, &change, &JSONC.replace(from, to));
    check(enable("two", true), "true", "false");
    check(
        enable("one", false),
        "{ \"command\": \"x\" }",
        "{\n\t\t\t\"command\": \"x\",\n\t\t\t\"disabled\": true\n\t\t}",
    );
    check(enable("one", true), "", "");
    let two = JSONC.find("\t\t/* two").unwrap()..JSONC.find("\t},\n}").unwrap();
    let three = "\t\t\"three\": {\n\t\t\t\"command\": \"y\",\n\t\t\t\"type\": \"stdio\",\n\t\t},\n";
    check(
        add("three", json!({"command": "y"})),
        &JSONC[two.clone()],
        &format!("{}{three}", &JSONC[two]),
    );
    super::edits::check(
        ".mcp.json",
        "",
        &add("a", json!({"transport": "sse", "url": "http://h", "enabled": false})),
        "{\n  \"mcpServers\": {\n    \"a\": {\n      \"type\": \"sse\",\n      \"url\": \"http://h\",\n      \"disabled\": true\n    }\n  }\n}\n",
    );
}

#[test]
fn an_impossible_change_is_an_error_and_changes_nothing() {
    let entry = json!({"command": "x"});
    for (file, before, change, expected) in [
        (
            "user",
            "servers: {a: {command: x}}\n",
            add("a", entry.clone()),
            "already has a server named `a`",
        ),
        ("user", "servers: {}\n", remove("a"), "has no server named `a`"),
        ("user", "servers: {}\n", enable("a", true), "has no server named `a`"),
        ("user", "servers: [\n", add("a", entry.clone()), "invalid YAML"),
        ("user", "servers: 5\n", add("a", entry.clone()), "without changing more of it"),
        (
            "user",
            "servers: {b: &b {command: x}, a: *b}\n",
            remove("b"),
            "without changing more of it",
        ),
        ("user", "", add("a", json!({"url": "ftp://h"})), "invalid `url`"),
        ("user", "", add("a", json!({"command": "x", "url": "http://h"})), "has both"),
        (".mcp.json", "{", add("a", entry.clone()), "not valid JSON"),
        (
            ".mcp.json",
            "",
            add("a", json!({"command": "x", "pass_env": ["K"]})),
            "has no key `pass_env`",
        ),
    ] {
        let fixture = ConfigFixture::with(&[(file, before)]);
        let message = try_edit(&fixture, file, &change).unwrap_err().to_string();
        assert!(message.contains(expected), "{before}: {message}");
        assert_eq!(fs::read_to_string(fixture.path(file)).unwrap(), before);
        let around = fs::read_dir(fixture.path(file).parent().unwrap()).unwrap();
        let names: Vec<_> = around.map(|it| it.unwrap().file_name()).collect();
        assert!(names.iter().all(|it| !it.to_string_lossy().contains(".new")), "{names:?}");
    }
}

#[test]
fn an_entry_with_variables_that_are_not_set_yet_is_written() {
    let fixture = ConfigFixture::with_user_file("");
    let entry =
        json!({"url": "${URL}", "auth": {"basic": "${PAIR}"}, "headers": {"A": "${env:B}"}});
    try_edit(&fixture, "user", &add("a", entry)).unwrap();
    assert!(fixture.problems().contains("needs the environment variable `URL`"));
}

#[test]
fn a_change_keeps_the_trust_of_a_file_as_it_was() {
    let file = ".spar/mcp.yaml";
    let fixture = ConfigFixture::with(&[]);
    try_edit(&fixture, file, &add("a", json!({"command": "x"}))).unwrap();
    assert_eq!(fixture.read().ready().count(), 1, "a file that the user writes is trusted");
    try_edit(&fixture, file, &enable("a", false)).unwrap();
    try_edit(&fixture, file, &enable("a", true)).unwrap();
    assert_eq!(fixture.read().ready().count(), 1);
    fixture.write(file, "servers: {b: {command: y}}\n");
    try_edit(&fixture, file, &add("a", json!({"command": "x"}))).unwrap();
    assert_eq!(fixture.read().ready().count(), 0, "somebody else wrote it");
}

#[cfg(unix)]
#[test]
fn a_change_keeps_the_mode_and_a_symbolic_link() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let fixture = ConfigFixture::with(&[(".mcp.json", "{}"), ("real.json", "{}")]);
    let mode = |name: &str| fs::metadata(fixture.path(name)).unwrap().permissions().mode() & 0o777;
    for wanted in [0o600, 0o640, 0o664] {
        fs::set_permissions(fixture.path(".mcp.json"), PermissionsExt::from_mode(wanted)).unwrap();
        let name = format!("{wanted:o}");
        try_edit(&fixture, ".mcp.json", &add(&name, json!({"command": "x"}))).unwrap();
        assert_eq!(mode(".mcp.json"), wanted);
    }
    try_edit(&fixture, "user", &add("a", json!({"command": "x"}))).unwrap();
    assert_eq!(mode("user"), 0o600, "it may have secrets");
    fs::remove_file(fixture.path(".mcp.json")).unwrap();
    symlink("real.json", fixture.path(".mcp.json")).unwrap();
    try_edit(&fixture, ".mcp.json", &add("a", json!({"command": "x"}))).unwrap();
    assert!(fixture.path(".mcp.json").is_symlink());
    assert!(fs::read_to_string(fixture.path("real.json")).unwrap().contains("\"a\""));
}

#[test]
fn many_changes_at_once_lose_nothing() {
    let fixture = ConfigFixture::with_user_file("servers: {}\n");
    std::thread::scope(|scope| {
        for at in 0..8 {
            let fixture = &fixture;
            let change = add(&format!("s{at}"), json!({"command": "x"}));
            scope.spawn(move || try_edit(fixture, "user", &change).unwrap());
        }
    });
    assert_eq!(fixture.read().ready().count(), 8);
}
