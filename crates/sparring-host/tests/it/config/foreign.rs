//! What the files of other programs say.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use sparring_transport::http::HttpTransport;

use super::place::{Place, child, http, names, ready};

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
        let place = Place::with(&[(file, text)]).variable("K", "v").trusting(&[file]);
        let config = place.read();
        assert_eq!(names(&config), ["a", "b", "c", "d", "e"], "{:?}", config.faults);
        let a = child(&config, "a");
        assert_eq!((&*a.env["K"], &*a.env["N"], a.env.len()), ("v", "5", 2));
        assert_eq!(a.cwd, Some(place.project()));
        assert_eq!(http(&config, "b").transport, HttpTransport::Streamable);
        assert_eq!(http(&config, "b").headers[0].1, "v");
        assert_eq!(http(&config, "c").transport, HttpTransport::Sse);
        assert_eq!(http(&config, "d").transport, HttpTransport::Auto);
        assert!(!ready(&config, "e").enabled);
    }
}

#[test]
fn keys_that_are_somebody_elses_are_noted_and_no_error() {
    let text = "{\"mcpServers\": {\n\"a\": {\"command\": \"x\", \"autoApprove\": [\"*\"], \
                \"timeout\": 60, \"auth\": {\"CLIENT_ID\": \"x\"}},\n\
                \"b\": {\"url\": \"http://h\", \"env\": {}}}, \"mcpservers\": 1}";
    let config = Place::with(&[(".mcp.json", text)]).trusting(&[".mcp.json"]).read();
    assert_eq!(config.ready().count(), 2);
    assert!(config.is_sound());
    let notes = config.notes.join("\n");
    for expected in [
        ".mcp.json:2:23: server `a`: `autoApprove` is not used",
        "server `a`: `timeout` is not used",
        "server `a`: `auth` is not used",
        "server `b`: `env` does not go with `url`, and is not used",
        "`mcpservers` is not used; did you mean 'mcpServers'?",
    ] {
        assert!(notes.contains(expected), "{expected} in\n{notes}");
    }
    assert!(ready(&config, "a").rules.allow.is_empty(), "nothing is granted by another's word");
}

const VS_CODE: &str = r#"{
    // What is asked once.
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
    let place = Place::with(&[(".vscode/mcp.json", VS_CODE)]).variable("HOME", "/h");
    let mut place = place.trusting(&[".vscode/mcp.json"]);
    let asked = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&asked);
    place.surroundings.ask = Arc::new(move |question| {
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
    let config = place.read();
    let folder = place.project();
    let expected = ["--key=<key>", "<region>", &format!("{}/y", folder.display())];
    assert_eq!(child(&config, "a").args, expected);
    assert_eq!(asked.load(Ordering::Relaxed), 2);
    let c = child(&config, "c");
    assert_eq!(c.program, "/h/x");
    let home = place.surroundings.home.clone().unwrap();
    assert_eq!(c.args, [home.display().to_string(), "project".to_owned()]);
    let told = place.told();
    assert!(told.contains("the input `cmd`, which only VS Code can get"), "{told}");
    assert!(told.contains("the input `regoin`, which is not among"), "{told}");
    assert!(told.contains("did you mean 'region'?"), "{told}");
}

#[test]
fn an_input_that_nobody_can_be_asked_for_is_an_error_of_its_server() {
    let place = Place::with(&[(".vscode/mcp.json", VS_CODE)]).variable("HOME", "/h");
    let place = place.trusting(&[".vscode/mcp.json"]);
    let told = place.told();
    let expected = "server `a`: `args[0]` needs the input `key`, and nobody is there to be asked";
    assert!(told.contains(expected), "{told}");
    assert_eq!(place.read().ready().map(|it| &*it.name).collect::<Vec<_>>(), ["c"]);
}

#[test]
fn what_is_wrong_with_a_file_of_others_is_told() {
    for (file, text, expected) in [
        (".mcp.json", "{", "this is not JSON: unterminated object"),
        (".mcp.json", "[]", "expected a map with `mcpServers`"),
        (".mcp.json", "{\"mcpServers\": []}", "expected a map of servers, found a list"),
        (".mcp.json", "{\"mcpServers\": {\"a\": null}}", "which is a map, found nothing"),
        (".mcp.json", "{\"mcpServers\": {\"a\": {\"type\": \"ws\"}}}", "found `ws`"),
        (
            ".mcp.json",
            "{\"mcpServers\": {\"a\": {\"command\": 1}}}",
            "expected a text, found a number",
        ),
        (
            ".mcp.json",
            "{\"mcpServers\": {\"a\": {\"command\": \"x\", \"disabled\": 1}}}",
            "`disabled` is true or false",
        ),
        (
            ".mcp.json",
            "{\"mcpServers\": {\"a\": {\"command\": \"x\", \"type\": \"stdio\", \"transport\": \"stdio\"}}}",
            "`transport` is said twice",
        ),
        (".vscode/mcp.json", "{\"inputs\": {}}", "expected a list of inputs, found a map"),
        (".vscode/mcp.json", "{\"inputs\": [{}]}", "an input needs an `id`"),
        (".spar/mcp.yaml", "x", "expected a map with `servers`"),
        (".spar/mcp.yaml", "servers: {\"\": {command: x}}", "a server needs a name"),
        (".spar/mcp.yaml", "servers: {\"a\\e\": {command: x}}", "has no control characters"),
        (".spar/mcp.yaml", "server: {}", "did you mean 'servers'?"),
    ] {
        let place = Place::with(&[(file, text)]).answering();
        let told = place.told();
        assert!(told.contains(expected) && told.contains(&format!("{file}:1:")), "{text}: {told}");
    }
}
