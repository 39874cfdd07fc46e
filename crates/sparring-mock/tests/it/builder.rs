//! A mock built in Rust has the features of one in YAML.

use serde_json::json;
use sparring_mock::{MockServer, PromptMock, Reply, ResourceMock, TemplateMock, ToolMock};
use sparring_wire::Revision;

use crate::fixture::{call, call_text, connect};

#[tokio::test]
async fn the_builder_has_all_features() {
    let weather = ToolMock::new("weather")
        .description("The weather of a city.")
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
        assert_eq!(call_text(&client, "weather", json!({"city": "London"})).await, "cloudy");
        let read = client.read_resource("a://z/y").await.unwrap();
        assert_eq!(read.contents[0].text.as_deref(), Some("z"));
        assert!(client.read_resource("a://b").await.is_ok());
        assert!(client.get_prompt("p", json!({})).await.is_ok());
    }
    let client = connect(&mock, Revision::LATEST).await;
    let oslo = || json!({"city": "Oslo"});
    assert_eq!(call_text(&client, "weather", oslo()).await, "{\"city\":\"Oslo\"}");
    assert_eq!(call_text(&client, "weather", oslo()).await, "{\"n\":1}");
    assert!(call(&client, "weather", oslo()).await.is_error());
    assert_eq!(call(&client, "weather", oslo()).await.error_code(), Some(7));
}

#[test]
fn the_builder_reports_problems_like_a_file() {
    let built = MockServer::builder().tool(ToolMock::new("a").with("txt", "x")).build();
    let reported = built.unwrap_err().to_string();
    assert!(reported.contains("unknown key `txt` in a tool"), "{reported}");
    assert!(reported.contains("--> builder:"), "{reported}");
}
