//! Evaluation of rules of all sources.

use proptest::prelude::*;
use sparring_host::config::{Rules, Scope};
use sparring_host::names::{NameLimit, assign_names};
use sparring_host::permissions::{Permissions, Policy, Rule, Source, Verdict};

use super::{rules, server};

/// A table of the rules for the tool `get_x` of `fs`, by source, and the
/// verdict.
#[test]
fn deny_overrides_ask_and_ask_overrides_allow_for_all_sources() {
    const NOTHING: (&[&str], &[&str], &[&str]) = (&[], &[], &[]);
    const DENY: (&[&str], &[&str], &[&str]) = (&["mcp__fs__get_*"], &[], &[]);
    const ASK: (&[&str], &[&str], &[&str]) = (&[], &["mcp__fs__get_*"], &[]);
    const ALLOW: (&[&str], &[&str], &[&str]) = (&[], &[], &["mcp__fs__get_x"]);
    const ASK_AND_ALLOW: (&[&str], &[&str], &[&str]) =
        (&[], &["mcp__fs"], &["mcp__fs__get_x", "mcp__fs"]);
    const ALL: (&[&str], &[&str], &[&str]) =
        (&["mcp__fs"], &["mcp__fs__get_x"], &["mcp__fs__get_x"]);
    let table = [
        // (the entry, the user, the project, the session, the verdict)
        (NOTHING, NOTHING, NOTHING, NOTHING, "ask"),
        (ALLOW, NOTHING, NOTHING, NOTHING, "allow 'mcp__fs__get_x' in the entry of 'fs' (user)"),
        (NOTHING, ALLOW, NOTHING, NOTHING, "allow 'mcp__fs__get_x' (user)"),
        (NOTHING, NOTHING, ALLOW, NOTHING, "allow 'mcp__fs__get_x' (project)"),
        (NOTHING, NOTHING, NOTHING, ALLOW, "allow 'mcp__fs__get_x' (session)"),
        (ALLOW, ASK, ALLOW, NOTHING, "ask 'mcp__fs__get_*' (user)"),
        (ALLOW, ALLOW, ASK, NOTHING, "ask 'mcp__fs__get_*' (project)"),
        (ASK, ALLOW, ALLOW, NOTHING, "ask 'mcp__fs__get_*' in the entry of 'fs' (user)"),
        (NOTHING, ASK_AND_ALLOW, NOTHING, NOTHING, "ask 'mcp__fs' (user)"),
        (DENY, ALLOW, ALLOW, ALLOW, "deny 'mcp__fs__get_*' in the entry of 'fs' (user)"),
        (ALLOW, DENY, ALLOW, ALLOW, "deny 'mcp__fs__get_*' (user)"),
        (ALLOW, ALLOW, DENY, ALLOW, "deny 'mcp__fs__get_*' (project)"),
        (ALLOW, ALLOW, ALLOW, DENY, "deny 'mcp__fs__get_*' (session)"),
        (NOTHING, ALL, NOTHING, NOTHING, "deny 'mcp__fs' (user)"),
        // The user has just allowed it for this run.
        (NOTHING, ASK, NOTHING, ALLOW, "allow 'mcp__fs__get_x' (session)"),
        (ASK, NOTHING, ASK, ALLOW, "allow 'mcp__fs__get_x' (session)"),
        (NOTHING, ALLOW, NOTHING, ASK_AND_ALLOW, "ask 'mcp__fs' (session)"),
        (NOTHING, ALLOW, NOTHING, ASK, "ask 'mcp__fs__get_*' (session)"),
    ];
    for (entry, user, project, session, expected) in table {
        let mut fs = server("fs", "run");
        fs.rules = rules(entry.0, entry.1, entry.2);
        let [user, project, session] =
            [user, project, session].map(|(deny, ask, allow)| rules(deny, ask, allow));
        let policy = Policy { user, project, session };
        let (permissions, findings) = Permissions::new(&policy, &[server("web", "run"), fs]);
        assert!(findings.is_empty(), "{findings:?}");
        assert_eq!(describe_verdict(&permissions, "fs", "get_x"), expected, "{policy:?}");
        assert_eq!(describe_verdict(&permissions, "web", "get_x"), "ask", "another server");
    }
}

#[test]
fn a_deny_rule_also_matches_the_names_that_clients_see() {
    let long = "x".repeat(80);
    let visible = |tool: &str| {
        let names = assign_names(NameLimit::default(), &[("my.fs", tool)]);
        names.into_iter().next().unwrap()
    };
    for tool in ["rm all", "löschen", long.as_str()] {
        let visible = visible(tool);
        for (deny, expected) in [(&*visible, "deny"), ("mcp__my_fs__other", "ask")] {
            let policy = Policy { user: rules(&[deny], &[], &[]), ..Policy::default() };
            let (permissions, _) = Permissions::new(&policy, &[server("my.fs", "run")]);
            let verdict = describe_verdict(&permissions, "my.fs", tool);
            assert!(verdict.starts_with(expected), "{deny}: {verdict}");
        }
        // The visible names of two tools can be equal, so that allows nothing.
        let policy = Policy { user: rules(&[], &[], &[&visible]), ..Policy::default() };
        let (permissions, _) = Permissions::new(&policy, &[server("my.fs", "run")]);
        assert_eq!(describe_verdict(&permissions, "my.fs", tool), "ask");
    }
}

proptest! {
    #[test]
    fn the_order_and_the_precision_of_rules_do_not_matter(
        rules in prop::collection::vec((0..3usize, 0..3usize, 0..4usize), 0..12),
        seed in any::<u64>(),
    ) {
        let patterns = ["mcp__fs", "mcp__fs__*", "mcp__fs__get_*", "mcp__fs__get_x"];
        let verdict = |rules: &[(usize, usize, usize)]| {
            let mut policy = Policy::default();
            for (source, kind, pattern) in rules {
                let at = [&mut policy.user, &mut policy.project, &mut policy.session];
                let Rules { deny, ask, allow } = at.into_iter().nth(*source).expect("one of three");
                let list = [deny, ask, allow].into_iter().nth(*kind).expect("one of three");
                list.push(patterns[*pattern].to_owned());
            }
            Permissions::new(&policy, &[server("fs", "run")]).0.decide("fs", "get_x").verdict
        };
        let has = |kind, session: bool| rules.iter().any(|it| it.1 == kind && (!session || it.0 == 2));
        let expected = match () {
            () if has(0, false) => Verdict::Deny,
            () if has(1, true) => Verdict::Ask,
            () if has(2, true) => Verdict::Allow,
            () if has(1, false) => Verdict::Ask,
            () if has(2, false) => Verdict::Allow,
            () => Verdict::Ask,
        };
        prop_assert_eq!(verdict(&rules), expected);
        let mut others = rules.clone();
        others.sort_by_key(|rule| (rule.0 + 7 * rule.1 + 31 * rule.2) as u64 ^ seed);
        prop_assert_eq!(verdict(&others), expected);
    }
}

#[test]
fn rules_match_the_servers_own_names_of_tools() {
    let policy = Policy { user: rules(&[], &[], &["mcp__my.fs__a b"]), ..Policy::default() };
    let (permissions, _) = Permissions::new(&policy, &[server("my.fs", "run")]);
    assert_eq!(describe_verdict(&permissions, "my.fs", "a b"), "allow 'mcp__my.fs__a b' (user)");
    for (server, tool) in [("my.fs", "a_b"), ("my_fs", "a b"), ("my.fs", "A b"), ("my.fs", "")] {
        assert_eq!(describe_verdict(&permissions, server, tool), "ask", "{server} {tool}");
    }
}

#[test]
fn rules_in_a_projects_entry_have_the_source_project() {
    let mut fs = server("fs", "run");
    fs.origin.scope = Scope::Project;
    fs.rules = rules(&["rm"], &[], &["get_*"]);
    let (permissions, _) = Permissions::new(&Policy::default(), &[fs]);
    assert_eq!(
        describe_verdict(&permissions, "fs", "rm"),
        "deny 'rm' in the entry of 'fs' (project)"
    );
    assert_eq!(
        describe_verdict(&permissions, "fs", "get_x"),
        "allow 'get_*' in the entry of 'fs' (project)"
    );
}

#[test]
fn a_rule_about_an_unknown_server_is_a_note_and_applies_later() {
    let policy = Policy { user: rules(&["mcp__files"], &[], &[]), ..Policy::default() };
    let (permissions, findings) = Permissions::new(&policy, &[server("filez", "run")]);
    assert_eq!(describe_verdict(&permissions, "filez", "x"), "ask");
    assert_eq!(
        findings.notes,
        ["pattern 'mcp__files' matches no configured server; did you mean 'filez'?"]
    );
    assert!(findings.errors.is_empty());
    let servers = [server("filez", "run"), server("files", "run")];
    let (permissions, findings) = Permissions::new(&policy, &servers);
    assert_eq!(describe_verdict(&permissions, "files", "x"), "deny 'mcp__files' (user)");
    assert!(findings.is_empty());
}

#[test]
fn a_rule_that_matches_two_servers_is_an_error_and_allows_neither() {
    let servers = [server("a", "run"), server("a__b", "run")];
    let check = |rules: Rules, expected: &str| {
        let policy = Policy { session: rules, ..Policy::default() };
        let (permissions, findings) = Permissions::new(&policy, &servers);
        let [(rule, error)] = &findings.errors[..] else { panic!("{findings:?}") };
        assert_eq!((rule.pattern.as_str(), rule.source), ("mcp__a__b", Source::Session));
        assert!(error.to_string().contains("matches 'b' of 'a' and '*' of 'a__b'"), "{error}");
        assert_eq!(describe_verdict(&permissions, "a", "b"), expected);
        assert_eq!(describe_verdict(&permissions, "a__b", "x"), expected);
        assert_eq!(describe_verdict(&permissions, "a", "c"), "ask");
    };
    check(rules(&[], &[], &["mcp__a__b"]), "ask");
    check(rules(&["mcp__a__b"], &[], &[]), "deny 'mcp__a__b' (session)");
    check(rules(&[], &["mcp__a__b"], &[]), "ask 'mcp__a__b' (session)");
}

#[test]
fn an_invalid_rule_is_an_error_that_names_it() {
    let mut fs = server("fs", "run");
    fs.rules = rules(&["mcp__web__x"], &[], &[]);
    let policy = Policy { project: rules(&["rm"], &[], &["mcp__*"]), ..Policy::default() };
    let (_, findings) = Permissions::new(&policy, &[fs, server("web", "run")]);
    let patterns = findings.errors.iter().map(|(rule, _)| rule.pattern.as_str());
    assert_eq!(patterns.collect::<Vec<_>>(), ["mcp__web__x", "rm", "mcp__*"]);
    let (Rule { entry, .. }, _) = &findings.errors[0];
    assert_eq!(entry.as_deref(), Some("fs"));
}

/// The verdict about a tool, as text.
pub(super) fn describe_verdict(permissions: &Permissions, server: &str, tool: &str) -> String {
    let decision = permissions.decide(server, tool);
    let rule = decision.rule.map(|rule| format!(" {rule}")).unwrap_or_default();
    format!("{}{rule}", decision.verdict.name())
}
