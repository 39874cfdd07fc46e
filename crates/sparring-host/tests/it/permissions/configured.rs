//! Rules from config files.

use sparring_host::permissions::Permissions;

use super::rules;
use super::rules::describe_verdict;
use crate::config::fixture::ConfigFixture;

const USER: &str = "
permissions:
  allow: [mcp__fs, mcp__off__x, mcp__wild]
servers:
  fs: {command: run, permissions: {ask: [rm]}}
  off: {command: run, enabled: false}
";

const PROJECT: &str = "
permissions:
  deny: [mcp__fs__mv]
  allow: [mcp__fs__rm]
servers:
  own: {command: run, permissions: {allow: ['*']}}
";

#[test]
fn rules_of_files_apply_as_far_as_the_files_are_trusted() {
    let fixture = ConfigFixture::with(&[("user", USER), (".spar/mcp.yaml", PROJECT)]);
    let (permissions, findings) = Permissions::from_config(&fixture.read(), rules(&[], &[], &[]));
    assert_eq!(describe_verdict(&permissions, "fs", "rm"), "ask 'rm' in the entry of 'fs' (user)");
    assert_eq!(describe_verdict(&permissions, "fs", "cp"), "allow 'mcp__fs' (user)");
    assert_eq!(describe_verdict(&permissions, "off", "x"), "allow 'mcp__off__x' (user)");
    assert_eq!(describe_verdict(&permissions, "own", "x"), "ask");
    assert!(permissions.fingerprint("own").is_none(), "it cannot be used");
    let note = "pattern 'mcp__wild' matches no configured server";
    assert_eq!((&findings.notes[..], findings.errors.len()), (&[note.to_owned()][..], 0));

    let fixture = fixture.with_trust(&[".spar/mcp.yaml"]);
    let (permissions, _) =
        Permissions::from_config(&fixture.read(), rules(&["mcp__own__y"], &[], &[]));
    assert_eq!(describe_verdict(&permissions, "fs", "mv"), "deny 'mcp__fs__mv' (project)");
    assert_eq!(
        describe_verdict(&permissions, "own", "x"),
        "allow '*' in the entry of 'own' (project)"
    );
    assert_eq!(describe_verdict(&permissions, "own", "y"), "deny 'mcp__own__y' (session)");
}

#[test]
fn a_rule_about_an_unusable_server_is_not_an_error() {
    let user = "permissions: {deny: [mcp__own, mcp__broken]}\nservers: {broken: {args: [x]}}";
    let fixture = ConfigFixture::with(&[("user", user), (".spar/mcp.yaml", PROJECT)]);
    let (_, findings) = Permissions::from_config(&fixture.read(), rules(&[], &[], &[]));
    let notes: Vec<_> = findings.notes.iter().filter(|note| !note.contains("mcp__fs")).collect();
    assert!(notes.is_empty() && findings.errors.is_empty(), "{findings:?}");
}
