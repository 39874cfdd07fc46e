//! The program: its flags, its exit codes, and its stdin and stdout.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdout, Command, Output, Stdio};

use serde_json::{Value, json};
use sparring::{ChildTarget, Client};
use sql::{ServingMode, serve};

use crate::fixture::{rows, settings, shop, structured_result};

const PROGRAM: &str = env!("CARGO_BIN_EXE_sql-server");

fn run(args: &[&str]) -> (Option<i32>, String) {
    let mut command = Command::new(PROGRAM);
    let output: Output = command.args(args).stdin(Stdio::null()).output().unwrap();
    assert!(output.stdout.is_empty(), "stdout is for the protocol alone");
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn a_flag_refuses_to_serve_anything() {
    let expected = "error: serving is disabled by the settings (--disable-serving)\n";
    let shop = shop();
    for more in [&[][..], &["--init", &shop], &["--database", "/no/such/folder/x.db"]] {
        let args = [&["--disable-serving"], more].concat();
        assert_eq!(run(&args), (Some(3), expected.to_owned()), "{args:?}");
    }
}

#[test]
fn reports_wrong_flags_and_exits_with_2() {
    for (args, expected) in [
        (&["--deny", "attach"][..], "unknown kind of statement `attach`; expected select, "),
        (&["--allow", "select,drip"], "unknown kind of statement `drip`"),
        (&["--max-rows", "0"], "it must be an integer of at least 1"),
        (&["--timeout=-1"], "it must be a number of seconds above 0"),
        (&["--timeout", "soon"], "it must be a number of seconds above 0"),
        (&["--http", "127.0.0.1:0"], "--token-env"),
        (&["--http", "here", "--token-env", "X"], "invalid socket address"),
        (
            &["--http", "127.0.0.1:0", "--token-env", "SPARRING_NO_SUCH_TOKEN"],
            "error: the variable SPARRING_NO_SUCH_TOKEN of --token-env has no token",
        ),
    ] {
        let (code, error) = run(args);
        assert_eq!(code, Some(2), "{args:?}: {error}");
        assert!(error.contains(expected), "{args:?}: {error}");
    }
}

#[test]
fn a_database_that_cannot_be_opened_exits_with_1() {
    let (code, error) = run(&["--database", "/no/such/folder/x.db"]);
    assert_eq!(code, Some(1), "{error}");
    let expected = "error: the database /no/such/folder/x.db cannot be opened: unable to open";
    assert!(error.starts_with(expected), "{error}");
}

/// The program, with a test that writes and reads its lines directly.
struct RawProgram {
    child: Child,
    out: BufReader<ChildStdout>,
}

impl RawProgram {
    fn start(args: &[&str]) -> Self {
        let mut command = Command::new(PROGRAM);
        command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        let mut this = RawProgram { child, out };
        let params = json!({"protocolVersion": "2025-11-25", "capabilities": {},
                            "clientInfo": {"name": "by hand", "version": "1"}});
        this.write(&[request(0, "initialize", params)]);
        assert_eq!(this.read()["result"]["serverInfo"]["name"], "sql");
        this.write(&[json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string()]);
        this
    }

    fn write(&mut self, lines: &[String]) {
        let stdin = self.child.stdin.as_mut().unwrap();
        stdin.write_all((lines.join("\n") + "\n").as_bytes()).unwrap();
    }

    fn read(&mut self) -> Value {
        let mut line = String::new();
        self.out.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }
}

fn request(id: u32, method: &str, params: Value) -> String {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string()
}

fn call(id: u32, sql: &str) -> String {
    request(id, "tools/call", json!({"name": "query", "arguments": {"sql": sql}}))
}

#[test]
fn reports_a_line_that_is_not_a_message_and_goes_on() {
    let mut program = RawProgram::start(&[]);
    program.write(&["{\"jsonrpc\": \"2.0\", \"id\": 1,".to_owned()]);
    assert_eq!(program.read()["error"]["code"], -32700);
    program.write(&[call(2, "select 'a\nb'"), call(3, "select 3")]);
    let (two, three) = (program.read(), program.read());
    assert_eq!(two["result"]["structuredContent"]["rows"], json!([["a\nb"]]));
    assert_eq!(three["result"]["structuredContent"]["rows"], json!([[3]]));
}

#[test]
fn answers_all_requests_before_the_end_of_input_and_exits_with_0() {
    let mut program = RawProgram::start(&[]);
    program.write(&[call(1, "select 1"), call(2, "select 2")]);
    drop(program.child.stdin.take());
    assert_eq!((program.read()["id"].clone(), program.read()["id"].clone()), (json!(1), json!(2)));
    assert_eq!(program.child.wait().unwrap().code(), Some(0));
}

#[test]
fn in_the_background_only_a_signal_ends_the_program() {
    let start = |background: &str| {
        let mut command = Command::new(PROGRAM);
        command.env("SQL_SERVER_BACKGROUND", background).stdin(Stdio::null());
        command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
    };
    for foreground in ["", "0"] {
        assert_eq!(start(foreground).wait().unwrap().code(), Some(0), "{foreground:?}");
    }
    let mut child = start("1");
    let mut line = String::new();
    BufReader::new(child.stderr.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "serving in the background\n");
    // The end of input was there from the beginning.
    assert_eq!(child.try_wait().unwrap(), None);
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(0));
    let wrong = start("yes").wait_with_output().unwrap();
    assert_eq!(wrong.status.code(), Some(2));
    let expected = "error: SQL_SERVER_BACKGROUND: expected 0 or 1, found `yes`\n";
    assert_eq!(String::from_utf8(wrong.stderr).unwrap(), expected);
}

#[tokio::test]
async fn a_server_in_the_background_leaves_its_caller_free_and_can_be_stopped() {
    let mode = ServingMode::from_variable(Some("1".as_ref())).unwrap();
    let server = serve(&settings()).unwrap();
    let (link, other_end) = sparring::memory(sparring::LinkKind::Shared);
    let task = mode.serve(&server, other_end).await.unwrap();
    let client = Client::connect(link).await.unwrap();
    assert_eq!(rows(&client, "select 1").await, json!([[1]]));
    assert!(task.is_running());
    task.stop().await;
    client.closed().await;
    assert!(!client.is_connected());
    // In the foreground the caller waits for the end of input.
    let mode = ServingMode::from_variable(None).unwrap();
    let (link, other_end) = sparring::memory(sparring::LinkKind::Shared);
    let asking = async {
        let client = Client::connect(link).await.unwrap();
        assert_eq!(rows(&client, "select 2").await, json!([[2]]));
        client.close().await;
    };
    let (ended, ()) = tokio::join!(mode.serve(&server, other_end), asking);
    assert!(ended.is_none());
}

#[test]
fn a_signal_ends_the_program_with_0_even_during_an_endless_statement() {
    let mut program = RawProgram::start(&["--timeout", "3600"]);
    let endless = "with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) \
                   from n";
    program.write(&[
        request(1, "ping", json!({})),
        call(2, endless),
        request(3, "ping", json!({})),
    ]);
    // The second ping is answered while the statement runs.
    assert_eq!((program.read()["id"].clone(), program.read()["id"].clone()), (json!(1), json!(3)));
    let id = program.child.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
    assert_eq!(program.child.wait().unwrap().code(), Some(0));
}

#[tokio::test]
async fn large_messages_arrive_complete_in_both_directions() {
    let target = ChildTarget::new(PROGRAM).args(["--init", &shop()]);
    let client = Client::connect(target).await.unwrap();
    let large = "é".repeat(1_000_000);
    let insert = "insert into customers (name) values (?)";
    let call = json!({"sql": insert, "params": [large]});
    structured_result(&client.call_tool("execute", call).await.unwrap());
    let found = rows(&client, "select name from customers order by id desc limit 1").await;
    assert_eq!(found, json!([[large]]));
    assert_eq!(client.transcript().violations(), []);
}

#[tokio::test]
async fn a_file_keeps_its_rows_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("shop.db").display().to_string();
    let target = ChildTarget::new(PROGRAM).args(["--database", &path, "--init", &shop()]);
    let client = Client::connect(target).await.unwrap();
    let call = json!({"sql": "delete from orders where customer = 1"});
    structured_result(&client.call_tool("execute", call).await.unwrap());
    client.close().await;
    let flags = ["--database", &path, "--read-only", "--max-rows", "5"];
    let client = Client::connect(ChildTarget::new(PROGRAM).args(flags)).await.unwrap();
    assert_eq!(rows(&client, "select customer from orders").await, json!([[2]]));
    let info = structured_result(&client.call_tool("database_info", json!({})).await.unwrap());
    assert_eq!((&info["read_only"], &info["max_rows"]), (&json!(true), &json!(5)));
}
