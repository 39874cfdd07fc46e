//! The usage that the server was specified by, in memory, over stdio and in a
//! container.

use serde_json::json;
use sparring::{Content, everywhere};

use crate::client::{ids, structured};
use crate::kit::{
    assert_contains_instruction, assert_routing_success, checklist, learning_loop, work_log,
};
use crate::project::{Project, in_every_place};

#[tokio::test]
async fn a_question_is_routed_to_its_instruction() {
    let project = Project::with_samples();
    for client in in_every_place(&project).await {
        let message = "how do I conduct a retrospective?";
        let response = client.route_instructions(message, None, None).await.unwrap();
        assert_routing_success(&response);
        assert_eq!(ids(&response)[0], "learning/retrospective");
        response.assert_content("retrospective");
    }
}

#[tokio::test]
async fn a_message_is_routed_over_every_transport_and_in_every_revision() {
    let project = Project::with_samples();
    let server = project.server();
    everywhere(move || server.clone())
        .command(project.child())
        .run(async |client| {
            let arguments = json!({"message": "I'm done", "limit": 1});
            let response = client.call_tool("route_instructions", arguments).await.unwrap();
            response.assert_content(learning_loop());
            assert_eq!(ids(&response), ["learning/learning-loop"]);
            let violations = client.transcript().violations();
            assert!(violations.is_empty(), "{violations:?}");
        })
        .await;
}

#[tokio::test]
async fn all_four_tools_are_listed_with_schemas() {
    let project = Project::with_samples();
    for client in in_every_place(&project).await {
        let tools = client.list_tools().await.unwrap();
        for (name, required) in [
            ("route_instructions", &["message"][..]),
            ("get_instructions", &[]),
            ("search_instructions", &["query"]),
            ("switch_engine", &["engine_version"]),
        ] {
            let tool = tools.assert_tool(name).find_tool(name);
            tool.assert_description(Content::not_empty());
            tool.assert_required(required.iter().copied());
            assert_eq!(tool.output_schema.as_ref().unwrap()["type"], "object", "{name}");
        }
        tools.assert_count(4);
    }
}

#[tokio::test]
async fn who_is_done_is_offered_the_learning_loop() {
    let project = Project::with_samples();
    for client in in_every_place(&project).await {
        let working = "I just finished implementing the new feature";
        let response = client.route_instructions(working, None, None).await.unwrap();
        response.assert_content(learning_loop());
        let done = "I'm done with this task";
        let response = client.route_instructions(done, None, None).await.unwrap();
        response.assert_content(learning_loop());
        assert_contains_instruction(&response, "learning/learning-loop");
        assert_contains_instruction(&response, "learning/retrospective");
        assert_eq!(ids(&response)[0], "learning/learning-loop");
    }
}

#[tokio::test]
async fn the_command_for_a_retrospective_gives_one() {
    let project = Project::with_samples();
    for client in in_every_place(&project).await {
        let response = client.route_instructions("/pongogo-retro", None, None).await.unwrap();
        assert_eq!(ids(&response)[0], "learning/retrospective");
        response.assert_content(["what went well", "what could improve"]);
    }
}

#[tokio::test]
async fn an_unknown_tool_is_a_failure_that_lists_those_there_are() {
    let project = Project::with_samples();
    for client in in_every_place(&project).await {
        let response = client.call_tool("nonexistent_tool", json!({"arg": "value"})).await.unwrap();
        assert!(!response.success());
        let told = "there is no tool `nonexistent_tool`; there are route_instructions, \
                    get_instructions, search_instructions, switch_engine";
        response.assert_error(-32602, Content::exactly(told));
    }
}

#[tokio::test]
async fn wrong_arguments_are_a_failure_that_names_them() {
    let project = Project::with_samples();
    let long = "x".repeat(20_001);
    for client in in_every_place(&project).await {
        for (tool, arguments, told) in [
            (
                "route_instructions",
                json!({"invalid_param": 123}),
                "route_instructions: there is no argument `invalid_param`; there are message, \
                 context, limit; the argument `message` is missing",
            ),
            (
                "route_instructions",
                json!({"message": 5, "context": [], "limit": 51}),
                "route_instructions: the argument `message` is wrong: it is not of type \"string\"; \
                 the argument `context` is wrong: it is not of types \"null\", \"object\"; \
                 the argument `limit` is wrong: it is greater than the maximum of 50",
            ),
            (
                "route_instructions",
                json!({"message": long}),
                "route_instructions: the argument `message` is wrong: it is longer than 20000 \
                 characters",
            ),
            (
                "search_instructions",
                json!({"query": "", "limit": 0}),
                "search_instructions: the argument `query` is wrong: it is shorter than 1 \
                 character; the argument `limit` is wrong: it is less than the minimum of 1",
            ),
            (
                "search_instructions",
                json!({"query": "git", "limit": 1.5}),
                "search_instructions: the argument `limit` is wrong: it is not of type \"integer\"",
            ),
            (
                "get_instructions",
                json!({"topics": "git"}),
                "get_instructions: there is no argument `topics`, but `topic`",
            ),
            (
                "switch_engine",
                json!({"engine_version": "durian-9"}),
                "switch_engine: there is no engine `durian-9`; there are durian-0.5, durian-0.6",
            ),
        ] {
            let response = client.call_tool(tool, arguments).await.unwrap();
            assert!(!response.success(), "{tool}");
            response.assert_tool_error(Content::exactly(told));
        }
    }
}

#[tokio::test]
async fn a_method_for_each_tool_leaves_out_what_is_not_given() {
    let project = Project::with_samples();
    for client in in_every_place(&project).await {
        let sent = || {
            client.transcript().entries().iter().rev().find_map(|entry| {
                let params =
                    entry.frame.params().filter(|_| entry.frame.method() == Some("tools/call"))?;
                params.get("arguments").map(|it| it.text().into_owned())
            })
        };
        let response = client.route_instructions("write that down", None, None).await.unwrap();
        response.assert_content(work_log());
        assert_eq!(sent().unwrap(), r#"{"message":"write that down"}"#);
        let context = Some(json!({"category": "planning"}));
        let response = client.route_instructions("ready to ship", context, Some(1)).await.unwrap();
        response.assert_content(checklist());
        assert_eq!(ids(&response), ["planning/checklist"]);
        let response = client.get_instructions(None, Some("safety"), None).await.unwrap();
        assert_eq!(sent().unwrap(), r#"{"category":"safety"}"#);
        assert_eq!(ids(&response), ["safety/git-safety", "safety/secrets"]);
        let response = client.get_instructions(Some("git"), None, Some(true)).await.unwrap();
        assert!(ids(&response).is_empty());
        let response = client.search_instructions("force push", None).await.unwrap();
        assert_eq!(sent().unwrap(), r#"{"query":"force push"}"#);
        assert_eq!(ids(&response)[0], "safety/git-safety");
        let switched = structured(&client.switch_engine("durian-0.5").await.unwrap());
        assert_eq!(
            (&switched["engine"], &switched["previous"]),
            (&json!("durian-0.5"), &json!("durian-0.6"))
        );
        let violations = client.transcript().violations();
        assert!(violations.is_empty(), "{violations:?}");
    }
}
