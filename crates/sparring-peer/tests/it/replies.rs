//! Results that the server sends: members that the revision requires are added,
//! and results of other servers are forwarded.

use sparring_peer::client::Response;
use sparring_peer::server::{Context, HandlerResult, Reply};
use sparring_peer::{Handler, Incoming, Server};
use sparring_wire::types::{Implementation, ServerCapabilities};
use sparring_wire::{Frame, Json, RawJson};

use crate::core_fixture::CoreFixture;
use crate::fixture::within;

/// A server that answers every request with the same result.
struct FixedReplyServer(Reply);

impl Handler for FixedReplyServer {
    fn info(&self) -> Implementation {
        Implementation::new("parrot", "1")
    }

    fn capabilities(&self) -> ServerCapabilities {
        ServerCapabilities::none().tools()
    }

    async fn list_tools(&self, _: Option<&str>, _: &Context) -> HandlerResult {
        Ok(self.0.clone())
    }

    async fn call_tool(&self, _: &str, _: Json<'_>, _: &Context) -> HandlerResult {
        Ok(self.0.clone())
    }
}

const INFO: &str = r#""io.modelcontextprotocol/serverInfo":{"name":"parrot","version":"1"}"#;

/// Returns the result that a client of 2026-07-28 receives.
async fn sent_result(reply: Reply, method: &str) -> String {
    let request = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{"name":"any","_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{{}}}}}}}}"#
    );
    let mut session = Server::new(FixedReplyServer(reply)).session();
    let answer = within(session.process_request(Frame::parse(request))).await.expect("an answer");
    let result = answer.result().unwrap_or_else(|| panic!("{answer:?}"));
    result.text().into_owned()
}

async fn check(result: &str, method: &str, expected: &str) {
    let reply = Reply::from(RawJson::parse(result).unwrap());
    assert_eq!(sent_result(reply, method).await, expected.replace("INFO", INFO), "{result}");
}

/// Returns another server's response as a client receives it.
fn response(line: &[u8]) -> Response {
    let mut fixture = CoreFixture::connected();
    let id = fixture.request("tools/call");
    let text = line.splitn(2, |byte| *byte == b'#').collect::<Vec<_>>();
    let line = [text[0], id.to_string().as_bytes(), text[1]].concat();
    fixture.core.receive(fixture.now, Incoming::from_shared_channel(Frame::parse(line)));
    fixture.completed().expect("an answer").expect("a response")
}

#[tokio::test]
async fn missing_members_of_a_result_are_added() {
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
async fn members_that_the_handler_has_set_are_kept() {
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
    // A result that is not complete has no time to live.
    check(
        r#"{"resultType":"input_required"}"#,
        "tools/list",
        r#"{"resultType":"input_required","_meta":{INFO}}"#,
    )
    .await;
}

#[tokio::test]
async fn results_of_other_servers_are_forwarded_as_spelled() {
    let response = response(br#"{"jsonrpc":"2.0","id":#,"result":{ "n":1.50, "content":[] }}"#);
    let reply = Reply::from_response(response).expect("a result");
    assert_eq!(reply.json().text(), r#"{ "n":1.50, "content":[] }"#);
    assert_eq!(reply, RawJson::parse(r#"{ "n":1.50, "content":[] }"#).unwrap().into());
    assert_eq!(
        sent_result(reply, "tools/call").await,
        r#"{ "n":1.50, "content":[] ,"resultType":"complete","_meta":{INFO}}"#
            .replace("INFO", INFO)
    );
}

#[tokio::test]
async fn results_of_several_lines_are_forwarded_in_one() {
    let response =
        response(b"{\"jsonrpc\":\"2.0\",\n\"id\":#,\"result\":{\r\n  \"content\": []\n}}");
    let reply = Reply::from_response(response).expect("a result");
    let sent = sent_result(reply, "tools/call").await;
    assert!(sent.starts_with(r#"{    "content": [] ,"resultType""#), "{sent}");
}

#[test]
fn invalid_utf8_is_replaced_in_forwarded_results() {
    let garbled = response(b"{\"jsonrpc\":\"2.0\",\"id\":#,\"result\":{\"content\":\"\xff\"}}");
    let reply = Reply::from_response(garbled).expect("a result");
    assert_eq!(reply.json().bytes(), "{\"content\":\"\u{fffd}\"}".as_bytes());
    let error = response(br#"{"jsonrpc":"2.0","id":#,"error":{"code":1,"message":"no"}}"#);
    assert_eq!(Reply::from_response(error.clone()), Err(error));
}
