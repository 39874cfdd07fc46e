//! Fingerprints of servers.

use std::collections::BTreeSet;

use sparring_host::config::{Scope, ServerConfig};
use sparring_host::permissions::Fingerprint;
use sparring_transport::http::HttpTarget;
use sparring_transport::{ChildTarget, Target};

use super::server;

#[test]
fn another_command_or_url_changes_the_fingerprint() {
    let first = server("s", "run");
    let known = Fingerprint::from_server(&first);
    assert_eq!(known.as_str().len(), 64);
    let with = |change: &dyn Fn(&mut ServerConfig)| {
        let mut server = first.clone();
        change(&mut server);
        Fingerprint::from_server(&server)
    };
    let child = |change: &dyn Fn(&mut ChildTarget)| {
        with(&|server| {
            let Target::Child(child) = &mut server.target else { unreachable!() };
            change(child);
        })
    };
    let others = [
        child(&|child| child.program = "run2".to_owned()),
        child(&|child| child.args = vec!["-a".to_owned(), "b".to_owned()]),
        child(&|child| child.args = vec!["-ab".to_owned()]),
        child(&|child| child.cwd = Some("/tmp".into())),
        child(&|child| drop(child.env.insert("LD_PRELOAD".to_owned(), "x".to_owned()))),
        with(&|server| server.origin.scope = Scope::Project),
        with(&|server| {
            server.origin.scope = Scope::Project;
            server.origin.file = "/elsewhere".into();
        }),
        with(&|server| server.target = Target::Http(HttpTarget::new("http://localhost/run"))),
    ];
    let all: BTreeSet<_> = others.iter().chain([&known]).collect();
    assert_eq!(all.len(), others.len() + 1);
}

#[test]
fn secrets_and_settings_do_not_change_the_fingerprint() {
    let mut first = server("s", "run");
    let Target::Child(child) = &mut first.target else { unreachable!() };
    child.env.insert("TOKEN".to_owned(), "a".to_owned());
    let mut second = first.clone();
    second.enabled = false;
    second.timeout *= 2;
    second.rules.allow.push("*".to_owned());
    second.origin.line += 7;
    let Target::Child(child) = &mut second.target else { unreachable!() };
    child.env.insert("TOKEN".to_owned(), "b".to_owned());
    child.max_line *= 2;
    assert_eq!(Fingerprint::from_server(&first), Fingerprint::from_server(&second));

    let mut http = HttpTarget::new("http://localhost/mcp");
    first.target = Target::Http(http.clone());
    http.headers.push(("X-Key".to_owned(), "secret".to_owned()));
    second.target = Target::Http(http);
    assert_eq!(Fingerprint::from_server(&first), Fingerprint::from_server(&second));
}
