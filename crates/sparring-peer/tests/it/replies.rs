//! Results on their way out: what a revision wants in them is added where the
//! handler has not said it, and what another server has said is passed on.

use sparring_peer::client::Response;
use sparring_peer::server::{Answer, Context, Reply};
use sparring_peer::{Handler, Incoming, Server};
use sparring_wire::types::{Implementation, ServerCapabilities};
use sparring_wire::{Frame, Json, RawJson};

use crate::fixture::within;
use crate::stage::Stage;

/// Says the same whatever is asked.
struct Parrot(Reply);

impl Handler for Parrot {
    fn info(&self) -> Implementation {
        Implementation::new("parrot", "1")
    }

    fn capabilities(&self) -> ServerCapabilities {
        ServerCapabilities::none().tools()
    }

    async fn list_tools(&self, _: Option<&str>, _: &Context) -> Answer {
        Ok(self.0.clone())
    }

    async fn call_tool(&self, _: &str, _: Json<'_>, _: &Context) -> Answer {
        Ok(self.0.clone())
    }
}

const INFO: &str = r#""io.modelcontextprotocol/serverInfo":{"name":"parrot","version":"1"}"#;

/// What a client of 2026-07-28 gets for a result.
async fn said(reply: Reply, method: &str) -> String {
    let request = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{"name":"any","_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{{}}}}}}}}"#
    );
    let mut session = Server::new(Parrot(reply)).session();
    let answer = within(session.process_request(Frame::parse(request))).await.expect("an answer");
    let result = answer.result().unwrap_or_else(|| panic!("{answer:?}"));
    result.text().into_owned()
}

async fn check(result: &str, method: &str, expected: &str) {
    let reply = Reply::from(RawJson::parse(result).unwrap());
    assert_eq!(said(reply, method).await, expected.replace("INFO", INFO), "{result}");
}

/// An answer of another server, as a client gets it.
fn response(line: &[u8]) -> Response {
    let mut stage = Stage::connected();
    let id = stage.request("tools/call");
    let text = line.splitn(2, |byte| *byte == b'#').collect::<Vec<_>>();
    let line = [text[0], id.to_string().as_bytes(), text[1]].concat();
    stage.core.receive(stage.now, Incoming::on_shared_channel(Frame::parse(line)));
    stage.settled().expect("an answer").expect("a response")
}

#[tokio::test]
async fn what_a_handler_has_not_said_is_added() {
    check("{}", "tools/call", r#"{"resultType":"complete","_meta":{INFO}}"#).await;
    check(
        r#"{"tools": []}"#,
        "tools/list",
        r#"{"tools": [],"resultType":"complete","_meta":{INFO},"ttlMs":0,"cacheScope":"private"}"#,
    )
    .await;
    check(
        r#"{"content":[],"_meta":{"a":1}}"#,
        "tools/call",
        r#"{"content":[],"_meta":{"a":1,INFO},"resultType":"complete"}"#,
    )
    .await;
}

#[tokio::test]
async fn what_a_handler_has_said_stays_as_it_is() {
    for whole in [
        r#"{"_meta":{INFO}, "resultType":"complete"}"#,
        r#"{"_meta":7,"resultType":"complete"}"#,
        r#"{"resultType":"other","_meta":{"io.modelcontextprotocol/serverInfo":0}}"#,
    ] {
        check(&whole.replace("INFO", INFO), "tools/call", whole).await;
    }
    check(
        r#"{"cacheScope":"public","ttlMs":9,"tools":[]}"#,
        "tools/list",
        r#"{"cacheScope":"public","ttlMs":9,"tools":[],"resultType":"complete","_meta":{INFO}}"#,
    )
    .await;
    // What is not the end has no time to live.
    check(
        r#"{"resultType":"input_required"}"#,
        "tools/list",
        r#"{"resultType":"input_required","_meta":{INFO}}"#,
    )
    .await;
}

#[tokio::test]
async fn what_another_server_has_said_is_passed_on_as_it_was_spelled() {
    let response = response(br#"{"jsonrpc":"2.0","id":#,"result":{ "n":1.50, "content":[] }}"#);
    let reply = Reply::passed_on(response).expect("a result");
    assert_eq!(reply.json().text(), r#"{ "n":1.50, "content":[] }"#);
    assert_eq!(reply, RawJson::parse(r#"{ "n":1.50, "content":[] }"#).unwrap().into());
    assert_eq!(
        said(reply, "tools/call").await,
        r#"{ "n":1.50, "content":[] ,"resultType":"complete","_meta":{INFO}}"#
            .replace("INFO", INFO)
    );
}

#[tokio::test]
async fn what_stood_in_several_lines_is_passed_on_in_one() {
    let response =
        response(b"{\"jsonrpc\":\"2.0\",\n\"id\":#,\"result\":{\r\n  \"content\": []\n}}");
    let reply = Reply::passed_on(response).expect("a result");
    let said = said(reply, "tools/call").await;
    assert!(said.starts_with(r#"{    "content": [] ,"resultType""#), "{said}");
}

#[test]
fn what_is_no_text_is_not_passed_on_as_it_is() {
    let garbled = response(b"{\"jsonrpc\":\"2.0\",\"id\":#,\"result\":{\"content\":\"\xff\"}}");
    let reply = Reply::passed_on(garbled).expect("a result");
    assert_eq!(reply.json().bytes(), "{\"content\":\"\u{fffd}\"}".as_bytes());
    let error = response(br#"{"jsonrpc":"2.0","id":#,"error":{"code":1,"message":"no"}}"#);
    assert_eq!(Reply::passed_on(error.clone()), Err(error));
}
