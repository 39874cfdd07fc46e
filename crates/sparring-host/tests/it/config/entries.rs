//! Entries of our own files, and their problems.

use std::path::{Path, PathBuf};
use std::time::Duration;

use sparring_host::config::{Reconnect, Rules, Scope};
use sparring_peer::Protocol;
use sparring_transport::Target;
use sparring_transport::http::{ClientAuth, Credentials, Grant, HttpTransport};
use sparring_wire::Revision;

use super::fixture::{ConfigFixture, child, http, names, ready};

#[test]
fn a_stdio_server_is_loaded() {
    let fixture = ConfigFixture::with_user_file(
        "servers:\n  filesystem:\n    transport: stdio\n    command: npx\n    \
         args: [\"-y\", \"@anthropic/mcp-filesystem\"]\n",
    );
    let config = fixture.read();
    assert_eq!(names(&config), ["filesystem"]);
    assert_eq!(config.servers["filesystem"].transport, "stdio");
    assert_eq!(config.servers["filesystem"].spelled, "npx -y @anthropic/mcp-filesystem");
    let child = child(&config, "filesystem");
    assert_eq!((&*child.program, child.args.len()), ("npx", 2));
    let origin = &ready(&config, "filesystem").origin;
    assert_eq!((origin.scope, origin.line, origin.column), (Scope::User, 2, 3));
    assert_eq!(origin.file, fixture.path("user"));
    assert!(config.is_valid());
}

#[test]
fn an_http_server_is_loaded() {
    let config = ConfigFixture::with_user_file(
        "servers:\n  remote:\n    transport: http\n    url: https://mcp.example.com\n    \
         headers:\n      Authorization: \"Bearer token\"\n",
    )
    .read();
    assert_eq!(names(&config), ["remote"]);
    assert_eq!(config.servers["remote"].transport, "http");
    let http = http(&config, "remote");
    assert_eq!(http.url, "https://mcp.example.com");
    assert_eq!(http.transport, HttpTransport::Streamable);
    assert_eq!(http.headers, [("Authorization".to_owned(), "Bearer token".to_owned())]);
}

#[test]
fn environment_variables_are_expanded() {
    let fixture = ConfigFixture::with_user_file(
        "servers:\n  a:\n    command: x\n    args: [\"$${K}\", \"${NOT:-none}-${env:K}\"]\n    \
         env: {API_KEY: \"${MCP_API_KEY}\", TWICE: \"${K}\"}\n",
    );
    let fixture = fixture.variable("MCP_API_KEY", "secret123").variable("K", "${MCP_API_KEY}");
    let config = fixture.read();
    let child = child(&config, "a");
    assert_eq!(child.env["API_KEY"], "secret123");
    assert_eq!(child.env["TWICE"], "${MCP_API_KEY}", "what fills a hole is not looked at again");
    assert_eq!(child.args, ["${K}", "none-${MCP_API_KEY}"]);
}

#[test]
fn keys_and_values_that_are_not_text_are_not_expanded() {
    let fixture = ConfigFixture::with_user_file(
        "servers:\n  \"${K}\":\n    command: x\n    env: {\"${K}\": y}\n",
    );
    let config = fixture.variable("K", "v").read();
    assert_eq!(child(&config, "${K}").env["${K}"], "y");
}

#[test]
fn a_stdio_server_without_a_command_is_an_error() {
    let message = ConfigFixture::with_user_file("servers:\n  a: {transport: stdio}\n").problems();
    assert!(message.contains("server `a`: `transport: stdio` needs a `command`"), "{message}");
    assert!(message.contains("mcp.yaml:2:3"), "{message}");
}

#[test]
fn an_http_server_without_a_url_is_an_error() {
    for transport in ["http", "sse"] {
        let text = format!("servers:\n  a: {{transport: {transport}}}\n");
        let message = ConfigFixture::with_user_file(&text).problems();
        let expected = format!("server `a`: `transport: {transport}` needs a `url`");
        assert!(message.contains(&expected), "{message}");
    }
}

#[test]
fn every_key_has_its_effect() {
    let fixture = ConfigFixture::with_user_file(
        "servers:\n  a:\n    command: ~/bin/server\n    cwd: work\n    pass_env: [TOKEN]\n    \
         protocol: 2025-06-18\n    enabled: false\n    settings:\n      timeout: 5s\n      \
         reconnect_attempts: 7\n      reconnect_delay: 200ms\n      auto_connect: false\n    \
         permissions: {allow: [get_*], ask: [put], deny: [mcp__a__wipe]}\n    max_output: 1MiB\n  \
         b: {command: x, container: web, engine: sudo podman, cwd: /srv, pass_env: [TOKEN, NOPE]}\n  \
         c: {url: \"http://h/mcp\", transport: sse, max_output: 2kB, auto_connect: false}\n",
    );
    let fixture = fixture.variable("TOKEN", "t");
    let config = fixture.read();
    let (a, home) = (ready(&config, "a"), fixture.context.home.clone().unwrap());
    assert_eq!(a.protocol, Protocol::Only(Revision::V2025_06_18));
    assert!(!a.enabled && !a.auto_connect && config.ready().all(|it| it.name != "a"));
    assert_eq!(a.timeout, Duration::from_secs(5));
    let reconnect = Reconnect { attempts: 7, delay: Duration::from_millis(200) };
    assert_eq!(a.reconnect, reconnect);
    let list = |text: &str| vec![text.to_owned()];
    let rules = Rules { deny: list("mcp__a__wipe"), ask: list("put"), allow: list("get_*") };
    assert_eq!(a.rules, rules);
    let child = child(&config, "a");
    assert_eq!(Path::new(&child.program), home.join("bin/server"));
    assert_eq!((child.cwd.clone(), child.max_line), (Some(home.join("work")), 1 << 20));
    let inherit = child.inherit.as_ref().unwrap();
    assert!(["PATH", "HOME", "LC_*", "TOKEN"].iter().all(|name| inherit.contains(&(*name).into())));
    assert!(!inherit.contains(&"SSH_AUTH_SOCK".to_owned()));
    let Target::Container(b) = &ready(&config, "b").target else { panic!("b is in a container") };
    assert_eq!((&*b.name, &b.engine[..]), ("web", &["sudo".to_owned(), "podman".to_owned()][..]));
    assert_eq!(
        (b.command.cwd.clone(), &b.flags[..]),
        (Some("/srv".into()), &list("--env=TOKEN")[..])
    );
    let c = http(&config, "c");
    assert_eq!((c.transport, c.max_message), (HttpTransport::Sse, 2_000));
    assert!(!ready(&config, "c").auto_connect && ready(&config, "c").enabled);
}

#[test]
fn a_project_has_its_folder_and_a_user_has_none() {
    let fixture = ConfigFixture::with(&[
        ("user", "servers: {u: {command: x}}\n"),
        (".spar/mcp.yaml", "servers: {p: {command: ./run, cwd: sub}, q: {command: x}}\n"),
    ]);
    let fixture = fixture.with_trust(&[".spar/mcp.yaml"]);
    let config = fixture.read();
    assert_eq!(child(&config, "u").cwd, None);
    assert_eq!(child(&config, "q").cwd, Some(fixture.project()));
    let p = child(&config, "p");
    assert_eq!(PathBuf::from(&p.program), fixture.project().join("./run"));
    assert_eq!(p.cwd, Some(fixture.project().join("sub")));
}

#[test]
fn credentials_are_the_same_as_those_of_the_flags() {
    let fixture = ConfigFixture::with_user_file(
        "servers:\n  a: {url: \"http://h\", auth: {bearer: \"${T}\"}}\n  \
         b: {url: \"http://h\", auth: {basic: \"me:${T}\"}}\n  \
         c: {url: \"http://h\", auth: {oauth: true}}\n  \
         d: {url: \"http://h\", auth: {oauth: {grant: client_credentials, client: me, \
         secret: \"${T}\", issuer: \"https://i\", scopes: [x], redirect: \"http://localhost/\", \
         timeout: 1m, local: true}}}\n  \
         e: {url: \"http://h\", auth: {oauth: false}}\n  \
         f: {url: \"http://h\", auth: {oauth: {document: \"https://d/x\", key: key.pem}}}\n",
    );
    let mut fixture = fixture.variable("T", "hunter2");
    fixture.context.credentials = Some("/kept".into());
    std::fs::write(fixture.context.home.clone().unwrap().join("key.pem"), "pem").unwrap();
    let config = fixture.read();
    let credentials = |name| http(&config, name).credentials.clone();
    assert_eq!(credentials("a"), Some(Credentials::Bearer("hunter2".into())));
    assert_eq!(credentials("b"), Some(Credentials::Basic("me:hunter2".into())));
    assert_eq!(credentials("e"), None);
    let oauth = |name| match credentials(name) {
        Some(Credentials::OAuth(oauth)) => *oauth,
        other => panic!("{name}: {other:?}"),
    };
    let c = oauth("c");
    assert_eq!((c.grant, c.store_path), (Grant::Code, Some("/kept".into())));
    assert!(!c.allow_local);
    let d = oauth("d");
    assert_eq!((d.grant, d.client_id.as_deref()), (Grant::ClientCredentials, Some("me")));
    assert_eq!(d.client_auth, ClientAuth::Secret("hunter2".into()));
    assert_eq!((d.issuer.as_deref(), d.scopes), (Some("https://i"), vec!["x".to_owned()]));
    assert_eq!((&*d.redirect_url, d.login_timeout), ("http://localhost/", Duration::from_secs(60)));
    assert!(d.allow_local);
    let f = oauth("f");
    assert_eq!(
        (f.client_auth, f.client_metadata_url.as_deref()),
        (ClientAuth::Key("pem".to_owned()), Some("https://d/x"))
    );
    let again = fixture.read();
    assert_eq!(http(&again, "c"), http(&config, "c"), "what is read twice is the same");
}

#[test]
fn a_problem_is_reported_for_its_entry_only() {
    let good = "  good: {command: x}\n";
    for (entry, expected) in [
        ("{command: x, url: \"http://h\"}", "has both `command` and `url`"),
        ("{args: [x]}", "needs a `command` or a `url`"),
        (
            "{transport: websocket, url: \"http://h\"}",
            "expected one of stdio, http, sse, found `websocket`",
        ),
        ("{transport: stdio, url: \"http://h\"}", "`transport: stdio` needs a `command`"),
        ("{transport: http, command: x}", "`transport: http` needs a `url`"),
        ("{comand: x}", "did you mean 'command'"),
        (
            "{command: x, headers: {A: b}}",
            "`headers` needs `url` and cannot be used with `command`",
        ),
        ("{url: \"http://h\", env: {A: b}}", "`env` needs `command` and cannot be used with `url`"),
        ("{url: \"ftp://h\"}", "invalid `url`: unknown scheme ftp"),
        ("{url: \"http://h\", headers: {\"a b\": c}}", "invalid name in `headers`"),
        (
            "{url: \"http://h\", headers: {a: \"x\\ny\"}}",
            "`headers.a` contains characters that headers cannot have",
        ),
        (
            "{url: \"http://h\", auth: {}}",
            "`auth` must have exactly one of `bearer`, `basic` and `oauth`",
        ),
        ("{url: \"http://h\", auth: {basic: x}}", "must have the form USER:PASSWORD"),
        ("{url: \"http://h\", auth: {bearer: \"\"}}", "`auth.bearer` is empty"),
        (
            "{url: \"http://h\", auth: {bearer: x}, headers: {authorization: y}}",
            "credentials are set twice",
        ),
        (
            "{url: \"http://h\", auth: {oauth: {grant: client_credentials}}}",
            "needs a `client` with a `secret` or a `key`",
        ),
        ("{url: \"http://h\", auth: {oauth: {client: c, secret: s, key: k}}}", ", not both"),
        (
            "{url: \"http://h\", auth: {oauth: {document: d, key: none}}}",
            "cannot read `auth.oauth.key`",
        ),
        ("{url: \"http://h\", auth: {oauth: {secret: s}}}", "need a `client`"),
        ("{url: \"http://h\", auth: {oauth: {issuer: i}}}", "`issuer` needs a `client`"),
        (
            "{url: \"http://h\", transport: sse, protocol: 2026-07-28}",
            "does not exist in 2026-07-28",
        ),
        ("{command: \"\"}", "`command` is empty"),
        ("{command: x, env: {\"a=b\": c}}", "invalid name in `env`"),
        ("{command: x, pass_env: [\"\"]}", "invalid name of a variable"),
        ("{command: \"a\\0b\"}", "`command` contains a NUL character"),
        ("{command: x, engine: podman}", "`engine` needs a `container`"),
        ("{command: x, container: -it}", "`container` is empty or begins with `-`"),
        ("{command: x, container: a, engine: \"'\"}", "`engine` is not a valid command line"),
        ("{command: x, settings: {timeout: 0s}}", "`timeout` must be greater than 0"),
        ("{command: x, auto_connect: true, settings: {auto_connect: true}}", "is set twice"),
        ("{command: x, max_output: 8}", "expected a string, found a number"),
        ("{command: x, max_output: \"8\"}", "not a size (try"),
        (
            "{command: x, args: [\"${NOPE}\"]}",
            "`args[0]` needs the environment variable `NOPE`, which is not set",
        ),
        ("{command: x, args: [\"${a.b}\"]}", "needs `a.b`, which is not the name of a variable"),
        ("{command: x, args: [\"${\"]}", "`args[0]` is not a valid template"),
        ("{command: x, args: [\"${input:a}\"]}", "which the file's `inputs` do not define"),
        ("[]", "expected a map for the server, found a list"),
    ] {
        let fixture = ConfigFixture::with_user_file(&format!("servers:\n  bad: {entry}\n{good}"));
        let message = fixture.problems();
        assert!(
            message.contains(expected) && message.contains("mcp.yaml:2:"),
            "{entry}: {message}"
        );
        assert!(!message.contains("good:"), "{entry}: {message}");
        let config = fixture.read();
        let fine: Vec<&str> = config.ready().map(|it| &*it.name).collect();
        assert_eq!(fine, ["good"], "{entry}");
        assert!(!config.is_valid());
    }
}

#[test]
fn no_message_and_no_debug_shows_a_value() {
    let fixture = ConfigFixture::with_user_file(
        "servers:\n  a: {command: \"${T}\", args: [\"${T}\"], env: {A: \"${T}\"}, cwd: \"${T}\"}\n  \
         b: {url: \"http://u:${T}@h/${T}?k=${T}\", headers: {A: \"${T}\"}}\n  \
         c: {url: \"${T}\", headers: {A: \"literal-hunter2\", B: \"${NOPE}\"}}\n  \
         d: {url: \"http://h\", auth: {bearer: \"${T}\"}}\n  \
         e: {url: \"http://h\", auth: {basic: \"${T}\"}, env: {A: literal-hunter2}}\n",
    );
    let fixture = fixture.variable("T", "hunter2");
    let (message, config) = (fixture.problems(), fixture.read());
    let shown = format!("{message}{config:?}{:?}", fixture.context);
    assert!(!shown.contains("hunter2"), "{shown}");
    assert!(message.contains("server `c`") && message.contains("server `e`"), "{message}");
}
