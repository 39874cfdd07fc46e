//! Merging of several files, and trust.

use sparring_host::config::{EntryState, LookupError, Rules, UnusedReason};

use super::fixture::{ConfigFixture, child, names, ready};

#[test]
fn the_servers_of_user_and_project_are_merged() {
    let fixture = ConfigFixture::with(&[
        ("user", "servers: {A: {command: x}}\n"),
        (".spar/mcp.yaml", "servers: {B: {command: x}}\n"),
    ]);
    let config = fixture.with_trust(&[".spar/mcp.yaml"]).read();
    assert_eq!(names(&config), ["A", "B"]);
    assert_eq!(config.ready().count(), 2);
}

#[test]
fn a_projects_entry_overrides_the_users_whole_entry() {
    let fixture = ConfigFixture::with(&[
        ("user", "servers: {shared: {command: old, args: [a], env: {TOKEN: t}, enabled: false}}\n"),
        (".spar/mcp.yaml", "servers: {shared: {command: new}}\n"),
    ]);
    let config = fixture.with_trust(&[".spar/mcp.yaml"]).read();
    let shared = child(&config, "shared");
    assert_eq!(shared.program, "new");
    assert!(shared.args.is_empty() && shared.env.is_empty(), "fields never mix");
    assert!(ready(&config, "shared").enabled);
    let unused: Vec<_> = config.unused.iter().map(|it| (&*it.name, &*it.spelled, it.why)).collect();
    assert_eq!(unused, [("shared", "old a", UnusedReason::Overridden)]);
}

#[test]
fn files_override_each_other_in_a_fixed_order() {
    let json = |command| format!("{{\"mcpServers\": {{\"s\": {{\"command\": \"{command}\"}}}}}}");
    let vs = "{\"servers\": {\"s\": {\"command\": \"vscode\"}}}";
    let files = [
        ("user", "servers: {s: {command: user}}\n".to_owned(), "user"),
        (".cursor/mcp.json", json("cursor"), "cursor"),
        (".vscode/mcp.json", vs.to_owned(), "vscode"),
        (".mcp.json", json("mcp"), "mcp"),
        (".spar/mcp.yaml", "servers: {s: {command: spar}}\n".to_owned(), "spar"),
    ];
    let fixture = ConfigFixture::with(&[]);
    for (file, text, command) in &files {
        fixture.write(file, text);
        if *file != "user" {
            fixture.trust(file);
        }
        assert_eq!(child(&fixture.read(), "s").program, *command);
    }
    assert_eq!(fixture.read().unused.len(), files.len() - 1);
}

#[test]
fn an_untrusted_file_starts_and_allows_nothing() {
    let text = "servers: {p: {command: x, permissions: {allow: [\"*\"]}}}\n\
                permissions: {allow: [mcp__u__*], deny: [mcp__u__wipe]}\n";
    let fixture =
        ConfigFixture::with(&[("user", "servers: {u: {command: x}}\n"), (".spar/mcp.yaml", text)]);
    let config = fixture.read();
    assert!(matches!(config.servers["p"].state, EntryState::Untrusted(_)));
    assert_eq!(config.ready().map(|it| &*it.name).collect::<Vec<_>>(), ["u"]);
    let deny = Rules { deny: vec!["mcp__u__wipe".to_owned()], ..Rules::default() };
    assert_eq!(config.rules[0].rules, deny);
    assert_eq!(config.server_by_name("p").unwrap().name, "p");

    let fixture = fixture.with_trust(&[".spar/mcp.yaml"]);
    let config = fixture.read();
    assert_eq!(config.ready().count(), 2);
    assert_eq!(config.rules[0].rules.allow, ["mcp__u__*"]);

    fixture.write(".spar/mcp.yaml", &text.replace("command: x", "command: y"));
    let config = fixture.read();
    assert!(matches!(config.servers["p"].state, EntryState::Untrusted(_)), "it asks again");
    assert!(config.files.iter().any(|it| it.is_there && !it.is_trusted));
}

#[test]
fn an_untrusted_entry_does_not_override_a_trusted_one() {
    let fixture = ConfigFixture::with(&[
        ("user", "servers: {github: {command: mine}}\n"),
        (".cursor/mcp.json", "{\"mcpServers\": {\"github\": {\"command\": \"trusted\"}}}"),
        (".mcp.json", "{\"mcpServers\": {\"github\": {\"command\": \"theirs\"}}}"),
    ]);
    let config = fixture.read();
    assert_eq!(child(&config, "github").program, "mine", "or naming it would start theirs");
    assert_eq!(config.unused.len(), 2);
    assert!(config.unused.iter().all(|it| it.why == UnusedReason::Untrusted));
    let config = fixture.with_trust(&[".cursor/mcp.json"]).read();
    assert_eq!(child(&config, "github").program, "trusted");
    let unused: Vec<_> = config.unused.iter().map(|it| (&*it.spelled, it.why)).collect();
    assert_eq!(unused, [("mine", UnusedReason::Overridden), ("theirs", UnusedReason::Untrusted)]);
}

#[test]
fn servers_with_equal_sanitized_names_are_errors() {
    let fixture = ConfigFixture::with_user_file(
        "servers:\n  a.b: {command: x}\n  a b: {command: x}\n  c: {command: x}\n",
    );
    let message = fixture.problems();
    let expected =
        "server `a.b`: its tools would have the same names `mcp__a_b__…` as those of `a b`";
    assert!(message.contains(expected) && message.contains("mcp.yaml:2:3"), "{message}");
    assert!(message.contains("as those of `a.b`") && message.contains("mcp.yaml:3:3"), "{message}");
    assert_eq!(fixture.read().ready().count(), 1);
}

#[test]
fn an_untrusted_name_does_not_invalidate_a_trusted_one() {
    let fixture = ConfigFixture::with(&[
        ("user", "servers: {a.b: {command: x}}\n"),
        (".spar/mcp.yaml", "servers: {a-b: {command: x}, a_b: {command: x}}\n"),
    ]);
    let config = fixture.read();
    assert_eq!(config.ready().map(|it| &*it.name).collect::<Vec<_>>(), ["a.b"]);
    assert!(matches!(config.servers["a_b"].state, EntryState::Invalid(_)));
    assert!(matches!(config.servers["a-b"].state, EntryState::Untrusted(_)));
}

#[test]
fn selecting_an_unusable_server_is_an_error_with_the_reason() {
    let fixture = ConfigFixture::with_user_file(
        "servers:\n  github: {command: x}\n  off: {command: x, enabled: false}\n  bad: {}\n",
    );
    let config = fixture.read();
    let message = |name: &str| config.server_by_name(name).unwrap_err().to_string();
    let unknown = message("gihtub");
    let expected = "no server named `gihtub`; configured: bad, github, off; did you mean 'github'?";
    assert_eq!(unknown, expected);
    assert!(message("off").contains("server `off` is disabled in"));
    assert!(matches!(config.server_by_name("bad"), Err(LookupError::Invalid(_))));
    let nothing = ConfigFixture::with(&[]).read().server_by_name("x").unwrap_err().to_string();
    assert_eq!(nothing, "no server named `x`; no servers are configured");
}

#[test]
fn unreadable_rules_turn_allow_into_ask() {
    let allowing = "servers: {s: {command: x, permissions: {allow: [get]}}}\n\
                    permissions: {allow: [mcp__s]}\n";
    for broken in ["servers: [\n", "permissions: {denny: [mcp__s]}\n", "permissions: {deny: [1]}\n"]
    {
        let fixture = ConfigFixture::with(&[("user", allowing), (".spar/mcp.yaml", broken)]);
        let config = fixture.read();
        assert!(!config.is_valid());
        assert_eq!(config.rules[0].rules.ask, ["mcp__s"], "{broken}");
        assert!(config.rules[0].rules.allow.is_empty(), "{broken}");
        assert_eq!(ready(&config, "s").rules.ask, ["get"], "{broken}");
    }
}
