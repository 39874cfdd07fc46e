//! What several files come to together, and whom the user trusts.

use sparring_host::config::{Refusal, Rules, State, Why};

use super::place::{Place, child, names, ready};

#[test]
fn the_servers_of_user_and_project_are_both_there() {
    let place = Place::with(&[
        ("user", "servers: {A: {command: x}}\n"),
        (".spar/mcp.yaml", "servers: {B: {command: x}}\n"),
    ]);
    let config = place.trusting(&[".spar/mcp.yaml"]).read();
    assert_eq!(names(&config), ["A", "B"]);
    assert_eq!(config.ready().count(), 2);
}

#[test]
fn an_entry_of_the_project_takes_the_whole_place_of_the_users() {
    let place = Place::with(&[
        ("user", "servers: {shared: {command: old, args: [a], env: {TOKEN: t}, enabled: false}}\n"),
        (".spar/mcp.yaml", "servers: {shared: {command: new}}\n"),
    ]);
    let config = place.trusting(&[".spar/mcp.yaml"]).read();
    let shared = child(&config, "shared");
    assert_eq!(shared.program, "new");
    assert!(shared.args.is_empty() && shared.env.is_empty(), "fields never mix");
    assert!(ready(&config, "shared").enabled);
    let unused: Vec<_> = config.unused.iter().map(|it| (&*it.name, &*it.spelled, it.why)).collect();
    assert_eq!(unused, [("shared", "old a", Why::Overridden)]);
}

#[test]
fn files_go_before_each_other_in_one_order() {
    let json = |command| format!("{{\"mcpServers\": {{\"s\": {{\"command\": \"{command}\"}}}}}}");
    let vs = "{\"servers\": {\"s\": {\"command\": \"vscode\"}}}";
    let files = [
        ("user", "servers: {s: {command: user}}\n".to_owned(), "user"),
        (".cursor/mcp.json", json("cursor"), "cursor"),
        (".vscode/mcp.json", vs.to_owned(), "vscode"),
        (".mcp.json", json("mcp"), "mcp"),
        (".spar/mcp.yaml", "servers: {s: {command: spar}}\n".to_owned(), "spar"),
    ];
    let place = Place::with(&[]);
    for (file, text, command) in &files {
        place.write(file, text);
        if *file != "user" {
            place.trust(file);
        }
        assert_eq!(child(&place.read(), "s").program, *command);
    }
    assert_eq!(place.read().unused.len(), files.len() - 1);
}

#[test]
fn what_is_not_trusted_starts_nothing_and_grants_nothing() {
    let text = "servers: {p: {command: x, permissions: {allow: [\"*\"]}}}\n\
                permissions: {allow: [mcp__u__*], deny: [mcp__u__wipe]}\n";
    let place = Place::with(&[("user", "servers: {u: {command: x}}\n"), (".spar/mcp.yaml", text)]);
    let config = place.read();
    assert!(matches!(config.servers["p"].state, State::Untrusted(_)));
    assert_eq!(config.ready().map(|it| &*it.name).collect::<Vec<_>>(), ["u"]);
    let deny = Rules { deny: vec!["mcp__u__wipe".to_owned()], ..Rules::default() };
    assert_eq!(config.rules[0].rules, deny);
    assert_eq!(config.by_consent("p").unwrap().name, "p");

    let place = place.trusting(&[".spar/mcp.yaml"]);
    let config = place.read();
    assert_eq!(config.ready().count(), 2);
    assert_eq!(config.rules[0].rules.allow, ["mcp__u__*"]);

    place.write(".spar/mcp.yaml", &text.replace("command: x", "command: y"));
    let config = place.read();
    assert!(matches!(config.servers["p"].state, State::Untrusted(_)), "it asks again");
    assert!(config.files.iter().any(|it| it.is_there && !it.is_trusted));
}

#[test]
fn who_is_not_trusted_does_not_take_the_place_of_who_is() {
    let place = Place::with(&[
        ("user", "servers: {github: {command: mine}}\n"),
        (".cursor/mcp.json", "{\"mcpServers\": {\"github\": {\"command\": \"trusted\"}}}"),
        (".mcp.json", "{\"mcpServers\": {\"github\": {\"command\": \"theirs\"}}}"),
    ]);
    let config = place.read();
    assert_eq!(child(&config, "github").program, "mine", "or naming it would start theirs");
    assert_eq!(config.unused.len(), 2);
    assert!(config.unused.iter().all(|it| it.why == Why::Untrusted));
    let config = place.trusting(&[".cursor/mcp.json"]).read();
    assert_eq!(child(&config, "github").program, "trusted");
    let unused: Vec<_> = config.unused.iter().map(|it| (&*it.spelled, it.why)).collect();
    assert_eq!(unused, [("mine", Why::Overridden), ("theirs", Why::Untrusted)]);
}

#[test]
fn names_that_are_one_among_tools_are_an_error_for_both() {
    let place =
        Place::of_user("servers:\n  a.b: {command: x}\n  a b: {command: x}\n  c: {command: x}\n");
    let told = place.told();
    let expected = "server `a.b`: it is called `a_b` among the names of tools, and so is `a b`";
    assert!(told.contains(expected) && told.contains("mcp.yaml:2:3"), "{told}");
    assert!(told.contains("and so is `a.b`") && told.contains("mcp.yaml:3:3"), "{told}");
    assert_eq!(place.read().ready().count(), 1);
}

#[test]
fn a_name_that_is_not_trusted_breaks_none_that_is() {
    let place = Place::with(&[
        ("user", "servers: {a.b: {command: x}}\n"),
        (".spar/mcp.yaml", "servers: {a-b: {command: x}, a_b: {command: x}}\n"),
    ]);
    let config = place.read();
    assert_eq!(config.ready().map(|it| &*it.name).collect::<Vec<_>>(), ["a.b"]);
    assert!(matches!(config.servers["a_b"].state, State::Broken(_)));
    assert!(matches!(config.servers["a-b"].state, State::Untrusted(_)));
}

#[test]
fn who_is_named_and_cannot_be_had_is_told_why() {
    let place = Place::of_user(
        "servers:\n  github: {command: x}\n  off: {command: x, enabled: false}\n  bad: {}\n",
    );
    let config = place.read();
    let told = |name: &str| config.by_consent(name).unwrap_err().to_string();
    let unknown = told("gihtub");
    let expected =
        "no server is called `gihtub`; there is bad, github, off; did you mean 'github'?";
    assert_eq!(unknown, expected);
    assert!(told("off").contains("the server `off` is not enabled in"));
    assert!(matches!(config.by_consent("bad"), Err(Refusal::Broken(_))));
    let nothing = Place::with(&[]).read().by_consent("x").unwrap_err().to_string();
    assert_eq!(nothing, "no server is called `x`; none is configured");
}

#[test]
fn where_rules_cannot_be_read_nothing_is_allowed_without_asking() {
    let allowing = "servers: {s: {command: x, permissions: {allow: [get]}}}\n\
                    permissions: {allow: [mcp__s]}\n";
    for broken in ["servers: [\n", "permissions: {denny: [mcp__s]}\n", "permissions: {deny: [1]}\n"]
    {
        let place = Place::with(&[("user", allowing), (".spar/mcp.yaml", broken)]);
        let config = place.read();
        assert!(!config.is_sound());
        assert_eq!(config.rules[0].rules.ask, ["mcp__s"], "{broken}");
        assert!(config.rules[0].rules.allow.is_empty(), "{broken}");
        assert_eq!(ready(&config, "s").rules.ask, ["get"], "{broken}");
    }
}
