//! A mock written in Rust is the same as one written in YAML.

use serde_json::json;
use sparring_mock::{MockServer, PromptMock, Reply, ResourceMock, TemplateMock, ToolMock};
use sparring_wire::Revision;

use crate::fixture::{call, connect, said};

#[tokio::test]
async fn everything_can_be_said_in_rust() {
    let weather = ToolMock::new("weather")
        .described("The weather of a city.")
        .input(json!({"city": "string"}))
        .reply(Reply::text("cloudy").when_args(json!({"city": "London"})))
        .reply(Reply::json(json!({"city": "${args.city}"})).times(1))
        .reply(Reply::structured(json!({"n": 1})).times(1))
        .reply(Reply::failure("no idea").times(1).with("delay", "1ms"))
        .reply(Reply::error(7, "stop"));
    let mock = MockServer::builder()
        .server("built", "1.0.0")
        .with("page_size", 1)
        .tool(weather)
        .resource(ResourceMock::new("a://b").reply(Reply::text("read")))
        .template(TemplateMock::new("a://{x}/y").reply(Reply::text("${args.x}")))
        .prompt(PromptMock::new("p").with("text", "say"))
        .build()
        .unwrap();
    for revision in [Revision::LATEST_LEGACY, Revision::LATEST] {
        let client = connect(&mock, revision).await;
        assert_eq!(client.list_tools().await.unwrap()[0].name, "weather");
        assert_eq!(said(&client, "weather", json!({"city": "London"})).await, "cloudy");
        let read = client.read_resource("a://z/y").await.unwrap();
        assert_eq!(read.contents[0].text.as_deref(), Some("z"));
        assert!(client.read_resource("a://b").await.is_ok());
        assert!(client.get_prompt("p", json!({})).await.is_ok());
    }
    let client = connect(&mock, Revision::LATEST).await;
    let oslo = || json!({"city": "Oslo"});
    assert_eq!(said(&client, "weather", oslo()).await, "{\"city\":\"Oslo\"}");
    assert_eq!(said(&client, "weather", oslo()).await, "{\"n\":1}");
    assert!(call(&client, "weather", oslo()).await.is_error());
    assert_eq!(call(&client, "weather", oslo()).await.error_code(), Some(7));
}

#[test]
fn what_is_wrong_is_told_as_in_a_file() {
    let built = MockServer::builder().tool(ToolMock::new("a").with("txt", "x")).build();
    let told = built.unwrap_err().to_string();
    assert!(told.contains("unknown key `txt` in a tool"), "{told}");
    assert!(told.contains("--> builder:"), "{told}");
}
