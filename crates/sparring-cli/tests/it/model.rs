//! Tests `spar agent` at a terminal: signals at any time, the text of a model, and
//! permission questions.

use std::fs;
use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::process::{Command, Stdio};
use std::sync::mpsc;

use rustix::process::Signal;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use serde_json::{Value, json};
use sparring_mock::{LlmMock, LlmTurn};
use tokio::runtime::Runtime;

use crate::process::{Running, SPAR, WAIT_LIMIT, wait_until_gone};

/// An endpoint that logs its requests, and a folder with a server whose process id is in
/// `id`.
struct AgentSetup {
    _runtime: Runtime,
    llm: LlmMock,
    asked: mpsc::Receiver<Value>,
    folder: tempfile::TempDir,
}

impl AgentSetup {
    fn new(turns: impl IntoIterator<Item = LlmTurn>, tools: &str) -> AgentSetup {
        let runtime = Runtime::new().unwrap();
        let llm = turns.into_iter().fold(LlmMock::openai(), |llm, turn| llm.turn(turn));
        let llm = runtime.block_on(llm.start()).unwrap();
        let (sender, asked) = mpsc::channel();
        llm.on_request(move |request| drop(sender.send(request.to_json())));
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a.mock.yaml"), format!("tools: {tools}\n")).unwrap();
        let script = format!("echo $$ > id.new; mv id.new id; exec {SPAR} mock a.mock.yaml");
        let cwd = folder.path().display().to_string();
        let server = json!({"command": "sh", "args": ["-c", script], "cwd": cwd});
        let config = json!({"mcpServers": {"s": server}}).to_string();
        fs::write(folder.path().join("mcp.json"), config).unwrap();
        AgentSetup { _runtime: runtime, llm, asked, folder }
    }

    fn command(&self, more: &[&str]) -> Command {
        let mut command = Command::new(SPAR);
        command.args(["agent", "go", "--llm", &self.llm.url(), "--config", "mcp.json"]).args(more);
        command.current_dir(self.folder.path()).stdin(Stdio::null());
        command.env("HOME", self.folder.path()).env_remove("OPENAI_API_KEY");
        command
    }

    fn start(&self, more: &[&str]) -> Running {
        let mut command = self.command(more);
        command.stdout(Stdio::null()).stderr(Stdio::piped());
        Running::of(command.spawn().unwrap())
    }

    fn next_request(&self) -> Value {
        self.asked.recv_timeout(WAIT_LIMIT).unwrap()
    }

    fn server(&self) -> String {
        fs::read_to_string(self.folder.path().join("id")).unwrap().trim().to_owned()
    }
}

#[test]
fn ctrl_c_while_the_model_thinks_leaves_nothing() {
    let silent = LlmTurn::text("never").with("delay", "300s");
    let stage = AgentSetup::new([silent], "[{name: a, replies: [{text: a}]}]");
    let mut running = stage.start(&[]);
    stage.next_request();
    running.signal(Signal::INT);
    assert_eq!(running.line("error: "), "stopped by SIGINT");
    let server = stage.server();
    assert_eq!(running.exit(), Some(130));
    wait_until_gone(&server);
}

#[test]
fn ctrl_c_during_a_call_leaves_nothing_and_a_second_one_does_not_wait() {
    let call = LlmTurn::call("mcp__s__hang", json!({}));
    let stage = AgentSetup::new([call], "[{name: hang, replies: [{delay: 300s, text: never}]}]");
    let mut running = stage.start(&["--allow", "mcp__s"]);
    assert_eq!(running.line("note: calling "), "mcp__s__hang {}");
    running.signal(Signal::INT);
    assert_eq!(running.line("error: "), "stopped by SIGINT");
    running.signal(Signal::INT);
    let server = stage.server();
    assert_eq!(running.exit(), Some(130));
    wait_until_gone(&server);
}

#[test]
fn the_model_gets_the_loss_of_a_server_during_a_call_as_an_error() {
    let printed =
        json!({"results": [{"text": {"contains": "server `s` was lost during the call"}}]});
    let stage = AgentSetup::new(
        [LlmTurn::call("mcp__s__crash", json!({})), LlmTurn::text("it is gone").expect(printed)],
        "[{name: crash, replies: [{fault: {exit: 3}}]}]",
    );
    let output = crate::process::output(&mut stage.command(&["--allow", "mcp__s"]));
    let printed = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{printed}");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "it is gone\n");
    assert!(
        printed.contains("note: mcp__s__crash failed: server `s` was lost during the call"),
        "{printed}"
    );
}

#[test]
fn prints_the_models_text_piece_by_piece_and_escapes_control_characters() {
    let stage = AgentSetup::new([LlmTurn::text("a\u{1b}[2Jb")], "[]");
    let (terminal, mut screen) = terminal_pair();
    let mut command = stage.command(&["--quiet"]);
    command.stdout(terminal.try_clone().unwrap()).stderr(Stdio::null());
    let running = Running::of(command.spawn().unwrap());
    drop((command, terminal));
    let shown = read_until(&mut screen, "2Jb");
    assert!(shown.contains(r"a\u001b[2Jb"), "{shown:?}");
    assert_eq!(running.exit(), Some(0));
    assert_eq!(stage.next_request()["body"]["stream"], true);
}

#[test]
fn asks_the_user_at_the_terminal_for_permission_to_call_a_tool() {
    for (answer, refused) in [("o\n", false), ("n\n", true)] {
        let stage = AgentSetup::new([call_wipe(), LlmTurn::text("well")], WIPE_TOOL);
        assert_eq!(stage.run_with_answer(answer), "well\n");
        assert_eq!(stage.last_call_was_denied(), refused, "{answer:?}");
    }
}

#[test]
fn a_permanent_grant_needs_no_question_in_the_next_run() {
    let turns = [call_wipe(), LlmTurn::text("one"), call_wipe(), LlmTurn::text("two")];
    let stage = AgentSetup::new(turns, WIPE_TOOL);
    assert_eq!(stage.run_with_answer("a\n"), "one\n");
    let output = crate::process::output(&mut stage.command(&[]));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "two\n");
    assert!(!stage.last_call_was_denied());
}

#[test]
fn asks_the_user_at_the_terminal_for_a_form_and_for_consent_to_sampling() {
    let turns = [
        LlmTurn::call("mcp__s__ask", json!({})),
        LlmTurn::call("mcp__s__think", json!({})),
        LlmTurn::text("fjord"),
        LlmTurn::text("well"),
    ];
    let stage = AgentSetup::new(turns, ASKING_TOOLS);
    let dialog = [("name", "Ada\n"), ("[c]ancel: ", "\n"), ("to default? [y]es, [N]o: ", "y\n")];
    let (printed, shown) = stage.run_at_terminal(&["--allow", "mcp__s"], &dialog);
    assert_eq!(printed, "well\n");
    assert!(shown[0].contains("`s` asks: Who are you?"), "{shown:?}");
    assert!(shown[2].contains("user: A word?"), "{shown:?}");
    let requests = stage.llm.requests();
    let result = |at: usize| requests[at].to_json()["results"][0]["text"].clone();
    assert_eq!((result(1), result(3)), ("accept Ada".into(), "it says fjord".into()));
}

/// Tools that ask for a form and for an answer of the model.
const ASKING_TOOLS: &str = r#"
  - name: ask
    ask: {it: {elicitation: {message: "Who are you?", requested_schema: {type: object, properties: {name: {type: string}}, required: [name]}}}}
    text: "${answers.it.action} ${answers.it.content.name:-nobody}"
  - name: think
    ask: {it: {sampling: {messages: [{role: user, content: {type: text, text: "A word?"}}], max_tokens: 9}}}
    text: "it says ${answers.it.content.text}"
"#;

/// A tool that needs permission.
const WIPE_TOOL: &str = "[{name: wipe, replies: [{text: gone}]}]";

fn call_wipe() -> LlmTurn {
    LlmTurn::call("mcp__s__wipe", json!({"what": "a\u{1b}[2J"}))
}

impl AgentSetup {
    /// Returns the output of a run at a terminal, where the question gets this answer.
    fn run_with_answer(&self, answer: &str) -> String {
        let (printed, shown) = self.run_at_terminal(&[], &[("Allow?", answer)]);
        let asked = &shown[0];
        assert!(asked.contains("'s' wants to run its tool 'wipe'"), "{asked:?}");
        assert!(!asked.contains("\u{1b}[2J"), "{asked:?}");
        printed
    }

    /// Runs at a terminal, where each question gets its answer. Returns the output, and the
    /// text on the screen up to each question.
    fn run_at_terminal(&self, flags: &[&str], dialog: &[(&str, &str)]) -> (String, Vec<String>) {
        let (terminal, mut screen) = terminal_pair();
        let mut command = self.command(flags);
        command.stdin(terminal.try_clone().unwrap()).stderr(terminal.try_clone().unwrap());
        command.stdout(Stdio::piped());
        let mut running = command.spawn().unwrap();
        drop((command, terminal));
        let answer_question = |(question, answer): &(&str, &str)| {
            let shown = read_until(&mut screen, question);
            screen.write_all(answer.as_bytes()).unwrap();
            shown
        };
        let shown = dialog.iter().map(answer_question).collect();
        let mut spoken_text = String::new();
        running.stdout.take().unwrap().read_to_string(&mut spoken_text).unwrap();
        assert_eq!(Running::of(running).exit(), Some(0));
        (spoken_text, shown)
    }

    /// Returns true if the last request contains the denied call as an error.
    fn last_call_was_denied(&self) -> bool {
        let request = self.llm.requests().pop().unwrap().to_json();
        let result = request["results"][0]["text"].as_str().unwrap().to_owned();
        assert!(result == "gone" || result.contains("you answered never"), "{result}");
        result != "gone"
    }
}

/// A pair of terminals that can be read and written.
fn terminal_pair() -> (File, File) {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap().into_string().unwrap();
    let terminal = OpenOptions::new().read(true).write(true).open(name).unwrap();
    (terminal, File::from(master))
}

/// Reads everything up to this word.
fn read_until(screen: &mut File, word: &str) -> String {
    let (mut all, mut some) = (Vec::new(), [0; 4096]);
    loop {
        let shown = String::from_utf8_lossy(&all).into_owned();
        if shown.contains(word) {
            return shown;
        }
        match screen.read(&mut some) {
            Ok(count @ 1..) => all.extend_from_slice(&some[..count]),
            end => panic!("{end:?} before {word:?}: {shown:?}"),
        }
    }
}
