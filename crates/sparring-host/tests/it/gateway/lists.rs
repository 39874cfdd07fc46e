//! Lists of the gateway, their names and their permissions.

use serde_json::{Value, json};
use sparring_peer::client::Error;
use sparring_wire::code;

use super::{
    DESK_SCRIPT, ERAS, GatewayFixture, call, list, names, plain, put_script, server_in_revision,
    start_desk,
};
use crate::manager::fixture::{TestConnector, within};

#[tokio::test]
async fn tools_and_prompts_of_all_servers_are_listed_in_both_eras() {
    let connector = TestConnector::default();
    put_script(&connector, "desk", DESK_SCRIPT);
    put_script(
        &connector,
        "shelf",
        "tools: [{name: echo, text: dust}]\nprompts: [{name: greet, text: Hm.}]",
    );
    let servers = [server_in_revision("desk", ERAS[0]), server_in_revision("shelf", ERAS[1])];
    let fixture = GatewayFixture::open(&connector, &servers).await;
    for era in ERAS {
        let client = fixture.connect(plain(era)).await;
        let tools = list(&client, "tools/list", "tools").await;
        assert_eq!(names(&tools, "name")[0], "mcp__desk__echo");
        assert_eq!(names(&tools, "name").last().unwrap(), "mcp__shelf__echo");
        assert_eq!(tools[0]["description"], "says it again");
        let schema = json!({"message": {"type": "string"}});
        assert_eq!(tools[0]["inputSchema"]["properties"], schema);
        let prompts = list(&client, "prompts/list", "prompts").await;
        assert_eq!(names(&prompts, "name"), ["mcp__desk__greet", "mcp__shelf__greet"]);
        assert_eq!(call(&client, "mcp__shelf__echo").await, "dust");
        let got = within(client.get_prompt("mcp__shelf__greet", json!({}))).await.unwrap();
        assert_eq!(serde_json::to_value(&got).unwrap()["messages"][0]["content"]["text"], "Hm.");
        assert!(client.transcript().violations().is_empty(), "{:?}", client.transcript());
    }
}

#[tokio::test]
async fn denied_tools_are_hidden_and_refused() {
    let (connector, mock, servers) = start_desk(ERAS[0]);
    let fixture =
        GatewayFixture::with(&connector, &servers, &["mcp__desk__fail"], &["mcp__desk__[ef]*"])
            .await;
    let client = fixture.connect(plain(ERAS[1])).await;
    // Patterns have no character classes, so this one allows nothing.
    assert!(list(&client, "tools/list", "tools").await.is_empty());
    drop(fixture);
    let fixture = GatewayFixture::with(
        &connector,
        &servers,
        &["mcp__desk__fail"],
        &["mcp__desk__e*", "mcp__desk__f*"],
    )
    .await;
    let client = fixture.connect(plain(ERAS[1])).await;
    let tools = list(&client, "tools/list", "tools").await;
    assert_eq!(names(&tools, "name"), ["mcp__desk__echo"]);
    for (tool, why) in [
        ("mcp__desk__fail", "the tool 'fail' of 'desk' is denied by rule 'mcp__desk__fail'"),
        ("mcp__desk__count", "no rule allows the tool 'count' of 'desk'"),
        ("echo", "no tool named 'echo'; did you mean 'mcp__desk__echo'?"),
    ] {
        let answer = within(client.call_tool(tool, json!({})).into_future()).await.unwrap();
        let error = answer.error().unwrap();
        assert_eq!(error.code, code::INVALID_PARAMS);
        assert!(error.message.starts_with(why), "{}", error.message);
    }
    assert!(mock.received_for("fail").is_empty());
}

#[tokio::test]
async fn arguments_of_prompts_and_templates_are_completed_by_their_server() {
    let (connector, _, servers) = start_desk(ERAS[0]);
    let fixture = GatewayFixture::open(&connector, &servers).await;
    for era in ERAS {
        let client = fixture.connect(plain(era)).await;
        let of = json!({"type": "ref/prompt", "name": "mcp__desk__greet"});
        let completion = within(client.complete(of, "name", "")).await.unwrap();
        assert_eq!(completion.values, ["Ada", "Grace"]);
        let of = json!({"type": "ref/prompt", "name": "greet"});
        let refused = within(client.complete(of, "name", "")).await.unwrap_err();
        assert!(matches!(refused, Error::ErrorResponse { .. }), "{refused}");
    }
}

#[tokio::test]
async fn instructions_of_servers_are_passed_on() {
    let (connector, _, servers) = start_desk(ERAS[0]);
    let fixture = GatewayFixture::open(&connector, &servers).await;
    // Clients that connect later get it.
    fixture.server.refresh_description();
    let client = fixture.connect(plain(ERAS[1])).await;
    let session = client.session().unwrap();
    assert_eq!(session.instructions.as_deref(), Some("# desk\n\nBe brief."));
    let info: Value = serde_json::to_value(&session.server_info).unwrap();
    assert_eq!(info["name"], "spar-serve");
}
