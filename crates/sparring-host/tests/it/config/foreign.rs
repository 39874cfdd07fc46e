//! Files of other programs.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use sparring_transport::http::HttpTransport;

use super::fixture::{ConfigFixture, child, http, names, ready};

#[test]
fn an_mcp_servers_map_is_read() {
    let text = r#"{"mcpServers": {
        "a": {"type": "stdio", "command": "npx", "args": ["-y", "x"], "env": {"K": "${K}", "N": 5, "Z": null}},
        "b": {"type": "streamable-http", "url": "http://h/mcp", "headers": {"A": "${K:-none}"}},
        "c": {"type": "sse", "url": "http://h/sse"},
        "d": {"url": "http://h/mcp"},
        "e": {"command": "x", "disabled": true}
    }}"#;
    for file in [".mcp.json", ".cursor/mcp.json"] {
        let fixture = ConfigFixture::with(&[(file, text)]).variable("K", "v").with_trust(&[file]);
        let config = fixture.read();
        assert_eq!(names(&config), ["a", "b", "c", "d", "e"], "{:?}", config.faults);
        let a = child(&config, "a");
        assert_eq!((&*a.env["K"], &*a.env["N"], a.env.len()), ("v", "5", 2));
        assert_eq!(a.cwd, Some(fixture.project()));
        assert_eq!(http(&config, "b").transport, HttpTransport::Streamable);
        assert_eq!(http(&config, "b").headers[0].1, "v");
        assert_eq!(http(&config, "c").transport, HttpTransport::Sse);
        assert_eq!(http(&config, "d").transport, HttpTransport::Auto);
        assert!(!ready(&config, "e").enabled);
    }
}

#[test]
fn unknown_keys_of_other_programs_are_notes() {
    let text = "{\"mcpServers\": {\n\"a\": {\"command\": \"x\", \"autoApprove\": [\"*\"], \
                \"disabledTools\": [], \"auth\": {\"CLIENT_ID\": \"x\"}},\n\
                \"b\": {\"url\": \"http://h\", \"env\": {}}}, \"mcpservers\": 1}";
    let config = ConfigFixture::with(&[(".mcp.json", text)]).with_trust(&[".mcp.json"]).read();
    assert_eq!(config.ready().count(), 2);
    assert!(config.is_valid());
    let notes = config.notes.join("\n");
    for expected in [
        ".mcp.json:2:23: server `a`: unknown key `autoApprove` ignored",
        "server `a`: unknown key `disabledTools` ignored",
        "server `a`: unknown key `auth` ignored",
        "server `b`: `env` ignored: it does not apply to `url`",
        "unknown key `mcpservers` ignored; did you mean 'mcpServers'?",
    ] {
        assert!(notes.contains(expected), "{expected} in\n{notes}");
    }
    assert!(ready(&config, "a").rules.allow.is_empty(), "nothing is granted by another's word");
}

const VS_CODE: &str = r#"{
    // Each input is asked for once.
    "inputs": [
        {"type": "promptString", "id": "key", "description": "API key", "password": true},
        {"type": "pickString", "id": "region", "options": ["eu", {"label": "x", "value": "us"}], "default": "eu"},
        {"type": "command", "id": "cmd", "command": "x"},
    ],
    "servers": {
        "a": {"command": "x", "args": ["--key=${input:key}", "${input:region}", "${workspaceFolder}/y"],},
        "b": {"type": "http", "url": "http://h/${input:cmd}"},
        "c": {"command": "${env:HOME}/x", "args": ["${userHome}", "${workspaceFolderBasename}"]},
        "d": {"command": "x", "args": ["${input:regoin}"]}
    },
}"#;

#[test]
fn the_inputs_of_vs_code_are_asked_for() {
    let fixture = ConfigFixture::with(&[(".vscode/mcp.json", VS_CODE)]).variable("HOME", "/h");
    let mut fixture = fixture.with_trust(&[".vscode/mcp.json"]);
    let asked = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&asked);
    fixture.context.ask = Arc::new(move |question| {
        counted.fetch_add(1, Ordering::Relaxed);
        assert_eq!(question.server, "a");
        match &*question.id {
            "key" => assert!(question.is_secret && question.description == "API key"),
            _ => assert_eq!(
                (question.options.join(" "), question.default.as_deref()),
                ("eu us".to_owned(), Some("eu"))
            ),
        }
        Some(format!("<{}>", question.id))
    });
    let config = fixture.read();
    let folder = fixture.project();
    let expected = ["--key=<key>", "<region>", &format!("{}/y", folder.display())];
    assert_eq!(child(&config, "a").args, expected);
    assert_eq!(asked.load(Ordering::Relaxed), 2);
    let c = child(&config, "c");
    assert_eq!(c.program, "/h/x");
    let home = fixture.context.home.clone().unwrap();
    assert_eq!(c.args, [home.display().to_string(), "project".to_owned()]);
    let message = fixture.problems();
    assert!(message.contains("the input `cmd`, which only VS Code can provide"), "{message}");
    assert!(
        message.contains("the input `regoin`, which the file's `inputs` do not define"),
        "{message}"
    );
    assert!(message.contains("did you mean 'region'?"), "{message}");
}

#[test]
fn an_input_that_cannot_be_asked_for_is_an_error_of_its_server() {
    let fixture = ConfigFixture::with(&[(".vscode/mcp.json", VS_CODE)]).variable("HOME", "/h");
    let fixture = fixture.with_trust(&[".vscode/mcp.json"]);
    let message = fixture.problems();
    let expected = "server `a`: `args[0]` needs the input `key`, but this run cannot ask for it";
    assert!(message.contains(expected), "{message}");
    assert_eq!(fixture.read().ready().map(|it| &*it.name).collect::<Vec<_>>(), ["c"]);
}

#[test]
fn problems_of_files_of_other_programs_are_reported() {
    for (file, text, expected) in [
        (".mcp.json", "{", "not valid JSON: unterminated object"),
        (".mcp.json", "[]", "expected a map with `mcpServers`"),
        (".mcp.json", "{\"mcpServers\": []}", "expected a map of servers, found a list"),
        (
            ".mcp.json",
            "{\"mcpServers\": {\"a\": null}}",
            "expected a map for the server, found null",
        ),
        (".mcp.json", "{\"mcpServers\": {\"a\": {\"type\": \"ws\"}}}", "found `ws`"),
        (
            ".mcp.json",
            "{\"mcpServers\": {\"a\": {\"command\": 1}}}",
            "expected a string, found a number",
        ),
        (
            ".mcp.json",
            "{\"mcpServers\": {\"a\": {\"command\": \"x\", \"disabled\": 1}}}",
            "`disabled` must be true or false",
        ),
        (
            ".mcp.json",
            "{\"mcpServers\": {\"a\": {\"command\": \"x\", \"type\": \"stdio\", \"transport\": \"stdio\"}}}",
            "`transport` is set twice",
        ),
        (".vscode/mcp.json", "{\"inputs\": {}}", "expected a list of inputs, found a map"),
        (".vscode/mcp.json", "{\"inputs\": [{}]}", "an input needs an `id`"),
        (".spar/mcp.yaml", "x", "expected a map with `servers`"),
        (".spar/mcp.yaml", "servers: {\"\": {command: x}}", "the server's name is empty"),
        (".spar/mcp.yaml", "servers: {\"a\\e\": {command: x}}", "contains control characters"),
        (".spar/mcp.yaml", "server: {}", "did you mean 'servers'?"),
    ] {
        let fixture = ConfigFixture::with(&[(file, text)]).with_answers();
        let message = fixture.problems();
        assert!(
            message.contains(expected) && message.contains(&format!("{file}:1:")),
            "{text}: {message}"
        );
    }
}
