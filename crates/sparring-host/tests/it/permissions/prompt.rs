//! The text prompt: questions and answers.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use sparring_host::permissions::{
    Answer, Asker as _, Call, PermissionGate, PermissionGateOptions, Permissions, Policy, Question,
    Rule, Source, TextPrompt,
};
use sparring_wire::RawJson;
use tokio::io::{
    AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream,
};

use super::server;

const ALLOW: &str = "Allow? [o]nce, [a]lways, [n]ever, Enter for not now: ";

fn question(tool: &str, arguments: &str) -> Question {
    Question {
        server: "fs".to_owned(),
        tool: tool.to_owned(),
        arguments: RawJson::parse(arguments).expect("JSON"),
        rule: None,
    }
}

/// A prompt, the writer of typed text, and the reader of shown text.
fn prompt_with_streams()
-> (TextPrompt<BufReader<DuplexStream>, DuplexStream>, DuplexStream, DuplexStream) {
    let (keyboard, typed) = tokio::io::duplex(1 << 16);
    let (screen, seen) = tokio::io::duplex(1 << 16);
    (TextPrompt::new(BufReader::new(typed), screen), keyboard, seen)
}

/// The shown text up to the request for an answer.
async fn read_until_question(seen: &mut (impl AsyncRead + Unpin)) -> String {
    let mut text = Vec::new();
    while !text.ends_with(ALLOW.as_bytes()) {
        text.push(seen.read_u8().await.expect("it is asked"));
    }
    String::from_utf8(text).expect("text")
}

#[tokio::test(start_paused = true)]
async fn a_line_is_an_answer() {
    for (typed, expected) in [
        ("o\n", Some(Answer::Once)),
        ("Yes\r\n", Some(Answer::Once)),
        ("always\n", Some(Answer::Always)),
        (" N \n", Some(Answer::Never)),
        ("no\n", None),
        ("\n", None),
        ("what?\nalwayss\na\n", Some(Answer::Always)),
        ("1\n2\n3\na\n", None),
        (&format!("{}\no\n", "a".repeat(30_000)), Some(Answer::Once)),
    ] {
        let (prompt, mut keyboard, mut seen) = prompt_with_streams();
        let person = async {
            read_until_question(&mut seen).await;
            keyboard.write_all(typed.as_bytes()).await.expect("it is read");
        };
        let (answer, ()) = tokio::join!(prompt.ask(question("rm", "{}")), person);
        assert_eq!(answer.expect("both ends are there"), expected, "{typed:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_end_of_input_is_not_an_answer() {
    let (prompt, mut keyboard, mut seen) = prompt_with_streams();
    let person = async {
        read_until_question(&mut seen).await;
        keyboard.write_all(b"a").await.expect("it is read");
        drop(keyboard);
    };
    let (answer, ()) = tokio::join!(prompt.ask(question("rm", "{}")), person);
    assert_eq!(answer.expect("it can be written"), None);
    drop(seen);
    let message = prompt.ask(question("rm", "{}")).await.expect_err("the question cannot be shown");
    assert_eq!(message.kind(), std::io::ErrorKind::BrokenPipe);
}

#[tokio::test(start_paused = true)]
async fn a_question_shows_server_tool_and_arguments() {
    let (prompt, _keyboard, mut seen) = prompt_with_streams();
    let long = "x".repeat(5_000);
    let arguments =
        json!({"path": "/tmp/\u{1b}[2J\u{202e}", "content": long, "n": [1, {"a": null}]});
    let asked = Question {
        rule: Some(Arc::new(Rule {
            pattern: "mcp__fs__*".to_owned(),
            source: Source::User,
            entry: None,
        })),
        ..question("rm\r\nallow", &arguments.to_string())
    };
    let text = tokio::select! {
        text = read_until_question(&mut seen) => text,
        _ = prompt.ask(asked) => panic!("no answer was given"),
    };
    let content = "x".repeat(198);
    assert_eq!(
        text,
        format!(
            "'fs' wants to run its tool 'rm\\u{{d}}\\u{{a}}allow'\n  \
             path: \"/tmp/\\u001b[2J\\u{{202e}}\"\n  \
             content: \"{content}… (5002 characters)\n  \
             n: [1,{{\"a\":null}}]\n  \
             required by rule 'mcp__fs__*' (user)\n{ALLOW}"
        )
    );
}

#[tokio::test(start_paused = true)]
async fn odd_arguments_are_shown_too() {
    let many: serde_json::Map<_, _> = (0..23).map(|n| (format!("k{n}"), json!(n))).collect();
    for (arguments, expected) in [
        ("{}".to_owned(), "  without arguments\n"),
        ("[1]".to_owned(), "  [1]\n"),
        (json!(many).to_string(), "  k19: 19\n  and 3 more arguments\n"),
        (r#"{"p": "/safe", "p": "\u002fetc"}"#.to_owned(), "  p: \"/safe\"\n  p: \"/etc\"\n"),
    ] {
        let (prompt, _keyboard, mut seen) = prompt_with_streams();
        let text = tokio::select! {
            text = read_until_question(&mut seen) => text,
            _ = prompt.ask(question("rm", &arguments)) => panic!("no answer was given"),
        };
        assert!(text.ends_with(&format!("{expected}{ALLOW}")), "{text}");
    }
}

#[tokio::test(start_paused = true)]
async fn input_typed_before_the_question_is_discarded() {
    let (prompt, mut keyboard, mut seen) = prompt_with_streams();
    keyboard.write_all(b"always\na").await.expect("there is room");
    let person = async {
        read_until_question(&mut seen).await;
        keyboard.write_all(b"n\n").await.expect("it is read");
    };
    let (answer, ()) = tokio::join!(prompt.ask(question("rm", "{}")), person);
    assert_eq!(answer.expect("both ends are there"), Some(Answer::Never));
}

#[tokio::test(start_paused = true)]
async fn a_question_after_an_abandoned_one_begins_a_new_line() {
    let (prompt, mut keyboard, mut seen) = prompt_with_streams();
    let permissions = Permissions::new(&Policy::default(), &[server("fs", "run")]).0;
    let deadline = Duration::from_secs(5);
    let options = PermissionGateOptions {
        asker: Some(Arc::new(prompt)),
        deadline,
        ..PermissionGateOptions::default()
    };
    let gate = PermissionGate::new(permissions, options);
    let arguments = RawJson::empty_object();
    let call = Call { id: "1", server: "fs", tool: "rm", arguments: arguments.view() };
    gate.check(call).await.expect_err("no answer");
    read_until_question(&mut seen).await;
    let person = async {
        let text = read_until_question(&mut seen).await;
        keyboard.write_all(b"o\n").await.expect("it is read");
        text
    };
    let (called, text) = tokio::join!(gate.check(call), person);
    called.expect("it is allowed");
    assert!(text.starts_with("\n'fs' wants to run its tool 'rm'\n"), "{text:?}");
}

#[cfg(unix)]
#[tokio::test]
async fn the_prompt_works_on_a_terminal() {
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    use tokio::fs::{File, OpenOptions};

    let master =
        openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).expect("a terminal");
    grantpt(&master).expect("ours");
    unlockpt(&master).expect("ours");
    let name = ptsname(&master, Vec::new()).expect("its name").into_string().expect("text");
    let mut options = OpenOptions::new();
    options.read(true).write(true);
    let read = options.open(&name).await.expect("it is there");
    let write = options.open(&name).await.expect("it is there");
    let prompt = TextPrompt::new(BufReader::new(read), write);

    let mut person = File::from_std(std::fs::File::from(master));
    let mut seen = BufReader::new(person.try_clone().await.expect("it can be shared"));
    let person = async {
        let mut text = String::new();
        for _ in 0..2 {
            seen.read_line(&mut text).await.expect("it is written");
        }
        person.write_all(b"a\n").await.expect("it is read");
        person.flush().await.expect("it is read");
        text
    };
    let asked = prompt.ask(question("rm", r#"{"path": "\u001b]0;title\u0007"}"#));
    let (answer, text) = tokio::join!(asked, person);
    assert_eq!(answer.expect("both ends are there"), Some(Answer::Always));
    assert_eq!(text, "'fs' wants to run its tool 'rm'\r\n  path: \"\\u001b]0;title\\u0007\"\r\n");
}
