//! The results of the index: their order, their matches and their snippets.

use instructions::test_support::{ids, structured};

use crate::generated::{GetInstructions, RouteInstructions, SearchInstructions};
use crate::project::Project;

#[tokio::test]
async fn a_word_in_a_title_counts_more_than_one_in_a_text() {
    let project = Project::with_files(&[
        ("a.md", b"---\ntitle: Cooking\n---\nBread, and a pinch of chemistry. Much more text."),
        ("b.md", b"---\ntitle: Chemistry\n---\nAcids, bases and much else that is of interest."),
        ("c.md", b"---\ntitle: Music\n---\nScales and chords."),
    ]);
    let client = project.in_memory().await;
    let found =
        client.search_instructions(SearchInstructions::new("chemistry")).untyped().await.unwrap();
    assert_eq!(ids(&found), ["b", "a"]);
    let answer = structured(&found);
    let scores = answer["instructions"].as_array().unwrap().iter();
    let scores: Vec<f64> = scores.map(|it| it["score"].as_f64().unwrap()).collect();
    assert!(scores[0] > scores[1] && scores[1] > 0.0, "{scores:?}");
}

#[tokio::test]
async fn a_result_lists_its_matching_words_with_a_snippet() {
    let project = Project::with_samples();
    let client = project.in_memory().await;
    let found = client
        .search_instructions(SearchInstructions::new("estimating parts").limit(1))
        .untyped()
        .await
        .unwrap();
    let answer = structured(&found);
    let first = &answer["instructions"][0];
    assert_eq!(first["id"], "planning/estimate");
    // The index finds a word in all its forms.
    let word = |parts: &[&str], word| serde_json::json!({"word": word, "parts": parts});
    let expected =
        [word(&["title", "topic", "tags", "body"], "estimating"), word(&["body"], "parts")];
    assert_eq!(first["matches"].as_array().unwrap()[..], expected);
    let snippet = first["snippet"].as_str().unwrap();
    assert!(snippet.contains("**parts**") || snippet.contains("**part**"), "{snippet}");
    assert!(found.content().contains(snippet));
}

#[tokio::test]
async fn a_quoted_phrase_must_occur_as_it_is() {
    let project = Project::with_files(&[
        ("a.md", b"red apples, green pears"),
        ("b.md", b"green apples; pears and kiwis"),
    ]);
    let client = project.in_memory().await;
    for (query, expected) in [
        ("green apples", &["a", "b"][..]),
        ("\"green apples\"", &["b"]),
        ("\"red pears\"", &[]),
        ("\"red", &["a"]),
        ("\"pears and kiwis\"", &["b"]),
        ("apples \"green pears\"", &["a"]),
        ("\"pears kiwis\"", &[]),
    ] {
        let found =
            client.search_instructions(SearchInstructions::new(query)).untyped().await.unwrap();
        assert_eq!(ids(&found), expected, "{query}");
    }
}

#[tokio::test]
async fn a_limit_bounds_the_results_with_ten_as_the_default() {
    let files: Vec<(String, Vec<u8>)> =
        (0..60).map(|number| (format!("{number:02}.md"), b"the same words".to_vec())).collect();
    let files: Vec<(&str, &[u8])> = files.iter().map(|(name, text)| (&**name, &**text)).collect();
    let client = Project::with_files(&files).in_memory().await;
    for (limit, expected) in [(None, 10), (Some(1), 1), (Some(50), 50)] {
        let found = client
            .search_instructions(SearchInstructions { limit, ..SearchInstructions::new("words") })
            .untyped()
            .await
            .unwrap();
        assert_eq!(ids(&found).len(), expected);
    }
    // Hits with the same score come in the order of their ids.
    let found = client
        .search_instructions(SearchInstructions::new("words").limit(3))
        .untyped()
        .await
        .unwrap();
    assert_eq!(ids(&found), ["00", "01", "02"]);
    let routed =
        client.route_instructions(RouteInstructions::new("words")).untyped().await.unwrap();
    assert_eq!(ids(&routed), ["00", "01", "02", "03", "04"]);
    let got = client.get_instructions(GetInstructions::new()).untyped().await.unwrap();
    assert_eq!((ids(&got).len(), &structured(&got)["total"]), (50, &60.into()));
}

#[tokio::test]
async fn the_server_survives_any_query() {
    let project = Project::with_samples();
    let client = project.in_memory().await;
    let deep = "(".repeat(1_000);
    let many = "git ".repeat(250);
    for (query, finds) in [
        ("the of and", false),
        ("xyzzy", false),
        ("***", false),
        ("/", false),
        ("\"\"\"", false),
        (&*deep, false),
        ("title:git AND NOT (", true),
        ("-git +git git~2 git* [a TO z]", true),
        (&*many, true),
        ("gît", true),
        ("GIT", true),
        ("日本語 🦀", false),
    ] {
        let found =
            client.search_instructions(SearchInstructions::new(query)).untyped().await.unwrap();
        assert_eq!(!ids(&found).is_empty(), finds, "{query}");
    }
    assert!(client.client.transcript().violations().is_empty());
}

#[tokio::test]
async fn tools_truncate_a_long_text_and_the_resource_does_not() {
    let long = "ä ".repeat(20_000);
    let client = Project::with_files(&[("long.md", long.as_bytes())]).in_memory().await;
    let got = structured(&client.get_instructions(GetInstructions::new()).untyped().await.unwrap());
    let content = got["instructions"][0]["content"].as_str().unwrap();
    let expected = "[43616 more bytes are in instructions:///long]";
    assert!(content.ends_with(expected), "{}", &content[content.len() - 60..]);
    let read = client.client.read_resource("instructions:///long").await.unwrap();
    read.assert_text(long.trim_end());
}
