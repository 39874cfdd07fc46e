//! The instructions that the engines choose, and their reasons.

use instructions::test_support::{ids, structured};
use serde_json::{Value, json};

use crate::generated::{GetInstructions, InstructionsClient, RouteInstructions, SwitchEngine};
use crate::project::Project;

/// The members of an object.
fn members(object: Value) -> serde_json::Map<String, Value> {
    object.as_object().unwrap().clone()
}

/// The reasons for an instruction, as `kind: matched`.
async fn reasons(client: &InstructionsClient, message: &str, id: &str) -> Vec<String> {
    let routed = structured(
        &client.route_instructions(RouteInstructions::new(message)).untyped().await.unwrap(),
    );
    let all = routed["instructions"].as_array().unwrap();
    let one = all.iter().find(|it| it["id"] == id).unwrap_or_else(|| panic!("no {id} in {all:?}"));
    let reasons = one["reasons"].as_array().unwrap();
    let sum: f64 = reasons.iter().map(|it| it["score"].as_f64().unwrap()).sum();
    let score = one["score"].as_f64().unwrap();
    assert!((sum - score).abs() < 0.01, "{score} is not the sum of {reasons:?}");
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    reasons.iter().map(|it| format!("{}: {}", text(&it["kind"]), text(&it["matched"]))).collect()
}

#[tokio::test]
async fn the_newest_engine_routes_until_a_client_switches() {
    let project = Project::with_samples();
    let client = project.in_memory().await;
    // No trigger matches this message, but a text does.
    let message = "nobody else has a copy of it";
    let routed =
        client.route_instructions(RouteInstructions::new(message)).untyped().await.unwrap();
    assert_eq!(structured(&routed)["engine"], "durian-0.6");
    assert_eq!(ids(&routed)[0], "safety/git-safety");
    client.switch_engine(SwitchEngine::new("durian-0.5")).untyped().await.unwrap().assert_success();
    let routed =
        client.route_instructions(RouteInstructions::new(message)).untyped().await.unwrap();
    assert_eq!(structured(&routed)["engine"], "durian-0.5");
    assert!(ids(&routed).is_empty());
    assert_eq!(routed.content(), "No instruction fits this message (durian-0.5).");
    // Switching to an unknown engine changes nothing.
    let refused = client.switch_engine(SwitchEngine::new("durian")).untyped().await.unwrap();
    assert!(refused.is_error());
    let routed =
        client.route_instructions(RouteInstructions::new(message)).untyped().await.unwrap();
    assert_eq!(structured(&routed)["engine"], "durian-0.5");
}

#[tokio::test]
async fn both_engines_route_phrases_and_commands() {
    let project = Project::with_samples();
    let client = project.in_memory().await;
    for engine in ["durian-0.5", "durian-0.6"] {
        client.switch_engine(SwitchEngine::new(engine)).untyped().await.unwrap().assert_success();
        for message in ["I'm done", "Well, I’m DONE!", "we're done here", "I just finished it"] {
            let routed =
                client.route_instructions(RouteInstructions::new(message)).untyped().await.unwrap();
            assert_eq!(ids(&routed)[0], "learning/learning-loop", "{engine}: {message}");
        }
        let routed =
            client.route_instructions(RouteInstructions::new("/retro")).untyped().await.unwrap();
        assert_eq!(ids(&routed)[0], "learning/retrospective", "{engine}");
        let routed = client
            .route_instructions(RouteInstructions::new("I'm not done").limit(1))
            .untyped()
            .await
            .unwrap();
        assert_ne!(ids(&routed), ["learning/learning-loop"], "{engine}");
    }
}

#[tokio::test]
async fn reasons_name_the_match_and_add_up_to_the_score() {
    let project = Project::with_samples();
    let client = project.in_memory().await;
    let message = "may I force push this branch?";
    let found = reasons(&client, message, "safety/git-safety").await;
    assert_eq!(found[..2], ["phrase: force push", "tag: branch"]);
    assert!(found[2].starts_with("text: branch (tags, body), force (body)"), "{found:?}");
    let found = reasons(&client, "I'm done", "learning/retrospective").await;
    assert_eq!(found, ["related: learning-loop", "text: done (body)"]);
    client.switch_engine(SwitchEngine::new("durian-0.5")).untyped().await.unwrap().assert_success();
    let found = reasons(&client, message, "safety/git-safety").await;
    assert_eq!(found, ["phrase: force push", "tag: branch"]);
}

#[tokio::test]
async fn the_context_decides_if_the_message_does_not() {
    let project = Project::with_samples();
    let client = project.in_memory().await;
    let first = async |context: Value| {
        let message = "and what is this?";
        let routed = client
            .route_instructions(RouteInstructions::new(message).context(members(context)))
            .untyped()
            .await
            .unwrap();
        ids(&routed).first().cloned()
    };
    assert_eq!(first(json!({})).await, None);
    assert_eq!(first(json!({"topic": "Git safety"})).await.as_deref(), Some("safety/git-safety"));
    let files = json!({"open": [{"file": "passwords.txt"}, 5, null]});
    assert_eq!(first(files).await.as_deref(), Some("safety/secrets"));
    let routed = client
        .client
        .call_tool("route_instructions", json!({"message": "git", "context": null}))
        .await
        .unwrap();
    assert_eq!(ids(&routed)[0], "safety/git-safety");
}

#[tokio::test]
async fn the_priority_decides_between_equal_scores() {
    let file =
        |priority| format!("---\ntriggers: {{phrases: [go on]}}\npriority: {priority}\n---\n");
    let (low, high) = (file(1), file(2));
    let files = [("a.md", low.as_bytes()), ("b.md", high.as_bytes()), ("c.md", low.as_bytes())];
    let client = Project::with_files(&files).in_memory().await;
    let routed =
        client.route_instructions(RouteInstructions::new("go on")).untyped().await.unwrap();
    assert_eq!(ids(&routed), ["b", "a", "c"]);
}

#[tokio::test]
async fn gets_instructions_by_topic_and_category() {
    let project = Project::with_samples();
    let client = project.in_memory().await;
    for (topic, category, exact, expected) in [
        (Some("git"), None, None, &["safety/git-safety"][..]),
        (Some("Git Safety"), Some("safety"), None, &["safety/git-safety"]),
        (Some("git"), None, Some(true), &[]),
        (Some("git-safety"), None, Some(true), &["safety/git-safety"]),
        (Some("git-safety"), Some("Safety"), Some(true), &[]),
        (None, Some("SAFETY"), Some(false), &["safety/git-safety", "safety/secrets"]),
        (Some("git"), Some("learning"), None, &[]),
        (Some(""), None, None, &[]),
    ] {
        let got = client
            .get_instructions(GetInstructions {
                topic: topic.map(str::to_owned),
                category: category.map(str::to_owned),
                exact_match: exact,
            })
            .untyped()
            .await
            .unwrap();
        assert_eq!(ids(&got), expected, "{topic:?} {category:?} {exact:?}");
    }
    let none =
        client.get_instructions(GetInstructions::new().topic("cooking")).untyped().await.unwrap();
    let text = none.content();
    assert!(text.starts_with("There is no such instruction.\nTopics: code-review, debugging, "));
    assert!(text.ends_with("Categories: learning, logging, planning, quality, safety"), "{text}");
}
