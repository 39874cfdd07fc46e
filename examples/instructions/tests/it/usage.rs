//! The usage from the server's specification, in memory, over stdio and in a container.

use instructions::test_support::{
    assert_contains_instruction, assert_routing_success, checklist, ids, learning_loop, work_log,
};
use serde_json::json;
use sparring::{Content, everywhere};

use crate::generated::{GetInstructions, RouteInstructions, SearchInstructions, SwitchEngine};
use crate::project::{Project, clients_of_every_kind};

#[tokio::test]
async fn routes_a_question_to_its_instruction() {
    let project = Project::with_samples();
    for client in clients_of_every_kind(&project).await {
        let message = "how do I conduct a retrospective?";
        let response =
            client.route_instructions(RouteInstructions::new(message)).untyped().await.unwrap();
        assert_routing_success(&response);
        assert_eq!(ids(&response)[0], "learning/retrospective");
        response.assert_content("retrospective");
    }
}

#[tokio::test]
async fn routes_a_message_over_every_transport_and_in_every_revision() {
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
async fn lists_all_four_tools_with_schemas() {
    let project = Project::with_samples();
    for client in clients_of_every_kind(&project).await {
        let tools = client.client.list_tools().await.unwrap();
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
async fn routes_a_message_about_finished_work_to_the_learning_loop() {
    let project = Project::with_samples();
    for client in clients_of_every_kind(&project).await {
        let working = "I just finished implementing the new feature";
        let response =
            client.route_instructions(RouteInstructions::new(working)).untyped().await.unwrap();
        response.assert_content(learning_loop());
        let done = "I'm done with this task";
        let response =
            client.route_instructions(RouteInstructions::new(done)).untyped().await.unwrap();
        response.assert_content(learning_loop());
        assert_contains_instruction(&response, "learning/learning-loop");
        assert_contains_instruction(&response, "learning/retrospective");
        assert_eq!(ids(&response)[0], "learning/learning-loop");
    }
}

#[tokio::test]
async fn routes_the_retro_command_to_the_retrospective() {
    let project = Project::with_samples();
    for client in clients_of_every_kind(&project).await {
        let response = client
            .route_instructions(RouteInstructions::new("/pongogo-retro"))
            .untyped()
            .await
            .unwrap();
        assert_eq!(ids(&response)[0], "learning/retrospective");
        response.assert_content(["what went well", "what could improve"]);
    }
}

#[tokio::test]
async fn the_error_for_an_unknown_tool_lists_all_tools() {
    let project = Project::with_samples();
    for client in clients_of_every_kind(&project).await {
        let response =
            client.client.call_tool("nonexistent_tool", json!({"arg": "value"})).await.unwrap();
        assert!(!response.success());
        let expected = "unknown tool `nonexistent_tool`; available: route_instructions, \
                    get_instructions, search_instructions, switch_engine";
        response.assert_error(-32602, Content::exactly(expected));
    }
}

#[tokio::test]
async fn the_error_for_wrong_arguments_names_them() {
    let project = Project::with_samples();
    let long = "x".repeat(20_001);
    for client in clients_of_every_kind(&project).await {
        for (tool, arguments, expected) in [
            (
                "route_instructions",
                json!({"invalid_param": 123}),
                "route_instructions: unknown argument `invalid_param`; expected message, \
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
                "get_instructions: unknown argument `topics`; did you mean `topic`?",
            ),
            (
                "switch_engine",
                json!({"engine_version": "durian-9"}),
                "switch_engine: unknown engine `durian-9`; available: durian-0.5, durian-0.6",
            ),
        ] {
            let response = client.client.call_tool(tool, arguments).await.unwrap();
            assert!(!response.success(), "{tool}");
            response.assert_tool_error(Content::exactly(expected));
        }
    }
}

#[tokio::test]
async fn generated_methods_omit_absent_arguments() {
    let project = Project::with_samples();
    for client in clients_of_every_kind(&project).await {
        // The arguments of the last call.
        let sent = || {
            let entries = client.client.transcript().entries();
            let mut calls = entries.iter().filter(|it| it.frame.method() == Some("tools/call"));
            let params = calls.next_back().and_then(|it| it.frame.params()).unwrap();
            params.get("arguments").unwrap().text().into_owned()
        };
        let routed = client.route_instructions(RouteInstructions::new("write that down"));
        routed.untyped().await.unwrap().assert_content(work_log());
        assert_eq!(sent(), r#"{"message":"write that down"}"#);
        let arguments = RouteInstructions::new("ready to ship").limit(1);
        let arguments = arguments.context([("category", "planning")]);
        let routed = client.route_instructions(arguments.clone()).await.unwrap();
        assert_eq!(routed.instructions[0].id, "planning/checklist");
        let whole = r#"{"message":"ready to ship","context":{"category":"planning"},"limit":1}"#;
        assert_eq!(sent(), whole);
        let again = client.route_instructions(arguments).untyped().await.unwrap();
        again.assert_content(checklist());
        let got = client.get_instructions(GetInstructions::new().category("safety")).await.unwrap();
        assert_eq!(sent(), r#"{"category":"safety"}"#);
        assert_eq!(got.total, 2);
        let exact = GetInstructions::new().topic("git").exact_match(true);
        let got = client.get_instructions(exact).await.unwrap();
        assert_eq!(sent(), r#"{"exact_match":true,"topic":"git"}"#);
        assert_eq!((got.total, &*got.topics[0]), (0, "code-review"));
        let found = client.search_instructions(SearchInstructions::new("force push"));
        assert_eq!(found.await.unwrap().instructions[0].id, "safety/git-safety");
        assert_eq!(sent(), r#"{"query":"force push"}"#);
        let switched = client.switch_engine(SwitchEngine::new("durian-0.5")).await.unwrap();
        assert_eq!((&*switched.engine, &*switched.previous), ("durian-0.5", "durian-0.6"));
        let violations = client.client.transcript().violations();
        assert!(violations.is_empty(), "{violations:?}");
    }
}
