//! Tests of the store with all kinds of results.

use std::fs;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use proptest::prelude::*;
use serde_json::{Value, json};
use sparring_wire::RawJson;
use tempfile::TempDir;

use super::*;

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR";
const CSV: &str = "name,age\nAnn,3\nBob,4";

struct Fixture {
    temp_dir: TempDir,
    store: Store,
}

impl Fixture {
    fn new(settings: Settings) -> Fixture {
        let temp_dir = tempfile::tempdir().expect("a folder");
        let store = Store::new(temp_dir.path().join("artifacts"), settings);
        Fixture { temp_dir, store }
    }

    fn process(&self, result: &Value) -> ProcessedResult {
        let arguments = RawJson::from(json!({"token": "hunter2"}));
        let call = Call { server: "data", tool: "get_data", arguments: &arguments };
        self.store.process(call, RawJson::from(result).view())
    }

    fn folder(&self) -> std::path::PathBuf {
        self.temp_dir.path().join("artifacts")
    }

    /// The files without their metadata, each with its bytes.
    fn files(&self) -> Vec<(String, Vec<u8>)> {
        let Ok(entries) = fs::read_dir(self.folder()) else { return Vec::new() };
        let mut files: Vec<_> = entries
            .map(|entry| entry.expect("an entry").path())
            .filter(|path| !path.to_string_lossy().ends_with(".meta.json"))
            .map(|path| (name(&path), fs::read(&path).expect("a file")))
            .collect();
        files.sort();
        files
    }

    fn metadata(&self, file: &str) -> Value {
        let path = self.folder().join(format!("{file}.meta.json"));
        serde_json::from_slice(&fs::read(path).expect("metadata")).expect("JSON")
    }
}

fn name(path: &Path) -> String {
    path.file_name().expect("a name").to_string_lossy().into_owned()
}

fn image(bytes: &[u8], mime: &str) -> Value {
    json!({"type": "image", "data": STANDARD.encode(bytes), "mimeType": mime})
}

/// Each piece: its location, kind, status, and file.
fn describe(taken: &ProcessedResult) -> Vec<String> {
    let each = taken.artifacts.iter().map(|artifact| {
        let file = artifact.file().map(name).unwrap_or_default();
        let Artifact { place, kind, status, .. } = artifact;
        format!("{place} {} {} {file}", kind.name(), status.name()).trim_end().to_owned()
    });
    each.collect()
}

/// Checks how this content is saved with the default settings.
fn check(content: Value, expected: &[&str]) -> Fixture {
    let fixture = Fixture::new(Settings::default());
    let taken = fixture.process(&json!({"content": content}));
    assert_eq!(describe(&taken), expected, "{content}");
    fixture
}

#[test]
fn json_and_csv_in_one_response_become_two_artifacts() {
    let fixture = check(
        json!([{"type": "text", "text": "{\"a\": 1}"}, {"type": "text", "text": CSV}]),
        &["content[0] json saved get_data-1.json", "content[1] csv saved get_data-2.csv"],
    );
    let files = fixture.files();
    assert_eq!(files[0], ("get_data-1.json".to_owned(), b"{\"a\": 1}".to_vec()));
    assert_eq!(files[1], ("get_data-2.csv".to_owned(), CSV.as_bytes().to_vec()));
    let metadata = fixture.metadata("get_data-2.csv");
    assert_eq!(metadata["mime_type"], "text/csv");
    assert_eq!(metadata["found_by"], "content");
    assert_eq!(metadata["place"], "content[1]");
}

#[test]
fn json_and_csv_in_blocks_of_one_text_become_two_artifacts_and_prose_stays_inline() {
    let text = format!("Here they are:\n```json\n[1]\n```\nand\n```csv\n{CSV}\n```\n");
    let fixture = check(
        json!([{"type": "text", "text": text}]),
        &[
            "content[0] markdown inline",
            "content[0] block 0 json saved get_data-1.json",
            "content[0] block 1 csv saved get_data-2.csv",
        ],
    );
    assert_eq!(fixture.files()[1].1, CSV.as_bytes());
    // Without text around them, the blocks are all pieces.
    let text = format!("```json\n[1]\n```\n\n```\n{CSV}\n```\n");
    let fixture = check(
        json!([{"type": "text", "text": text}]),
        &[
            "content[0] block 0 json saved get_data-1.json",
            "content[0] block 1 csv saved get_data-2.csv",
        ],
    );
    let taken = fixture.process(&json!({"content": [{"type": "text", "text": text}]}));
    assert!(taken.for_model.starts_with("[1]\n[saved as get_data-3.json]\nname,age"));
}

#[test]
fn images_sounds_and_resources_are_typed_and_named() {
    let fixture = check(
        json!([
            image(PNG, "image/png"),
            {"type": "audio", "data": STANDARD.encode(b"OggS\0"), "mimeType": "audio/ogg"},
            {"type": "resource", "resource": {"uri": "file:///a/report.md", "text": "hi",
                "mimeType": "text/markdown"}},
            {"type": "resource", "resource": {"uri": "x:logo", "blob": STANDARD.encode(b"GIF89a")}},
            {"type": "resource", "resource": {"uri": "x:a.pdf", "blob": STANDARD.encode(b"%PDF-1"),
                "mimeType": "application/pdf"}},
            {"type": "resource_link", "uri": "file:///b.csv", "name": "The table"},
            {"type": "resource", "resource": {"uri": "x:settings", "text": "a: 1\nb: 2"}},
        ]),
        &[
            "content[0] png saved get_data-1.png",
            "content[1] ogg saved get_data-2.ogg",
            "content[2] markdown saved report.md",
            "content[3] gif saved logo.gif",
            "content[4] bytes saved a_pdf.bin",
            "content[5] link saved The_table.link.json",
            "content[6] yaml saved settings.yaml",
        ],
    );
    assert!(fixture.files().contains(&("get_data-1.png".to_owned(), PNG.to_vec())));
    assert_eq!(fixture.metadata("a_pdf.bin")["mime_type"], "application/pdf");
    assert_eq!(fixture.metadata("report.md")["uri"], "file:///a/report.md");
    assert_eq!(fixture.metadata("The_table.link.json")["name"], "The table");
}

#[test]
fn metadata_contains_the_origin_of_a_file_and_no_secrets() {
    let fixture = Fixture::new(Settings::default());
    fixture.process(&json!({"content": [{"type": "text", "text": "[]"}], "isError": true}));
    let mut metadata = fixture.metadata("get_data-1.json");
    let saved = metadata["saved"].take();
    assert!(saved.as_str().is_some_and(|saved| saved.parse::<jiff::Timestamp>().is_ok()));
    assert_eq!(
        metadata,
        json!({"file": "get_data-1.json", "status": "saved", "kind": "json",
            "mime_type": "application/json", "found_by": "content", "bytes": 2,
            "sha256": "4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945",
            "server": "data", "tool": "get_data", "is_error": true, "place": "content[0]",
            "saved": null})
    );
    let fixture = Fixture::new(Settings { keep_arguments: true, ..Settings::default() });
    fixture.process(&json!({"content": [{"type": "text", "text": "[]"}]}));
    assert_eq!(fixture.metadata("get_data-1.json")["arguments"], json!({"token": "hunter2"}));
}

#[test]
fn secrets_are_masked_in_files_metadata_and_the_text_for_the_model() {
    let secrets = sparring_transport::Secrets::default();
    secrets.add("hunter2");
    let settings = Settings { keep_arguments: true, ..Settings::default() };
    let Fixture { temp_dir, store } = Fixture::new(settings);
    let fixture = Fixture { temp_dir, store: store.masking(secrets) };
    let text = r#"{"token": "hunter2"}"#;
    let processed = fixture.process(&json!({"content": [{"type": "text", "text": text}]}));
    assert!(processed.for_model.contains("(hidden)"), "{}", processed.for_model);
    let files = fixture.files();
    assert_eq!(files, [("get_data-1.json".to_owned(), br#"{"token": "(hidden)"}"#.to_vec())]);
    assert_eq!(fixture.metadata("get_data-1.json")["arguments"], json!({"token": "(hidden)"}));
}

#[test]
fn magic_bytes_take_precedence_over_a_wrong_mime_type_which_is_reported() {
    let fixture = check(
        json!([image(b"\xff\xd8\xff\xe0", "image/png"), image(b"?", "image/png")]),
        &["content[0] jpeg saved get_data-1.jpg", "content[1] png saved get_data-2.png"],
    );
    let metadata = fixture.metadata("get_data-1.jpg");
    assert_eq!(metadata["differs"], "declared as image/png, but the bytes are image/jpeg");
    assert_eq!(metadata["declared_mime_type"], "image/png");
    assert_eq!(metadata["mime_type"], "image/jpeg");
    let metadata = fixture.metadata("get_data-2.png");
    assert_eq!(metadata["differs"], "declared as image/png, but the bytes do not begin like that");
}

#[test]
fn structured_content_is_an_artifact_unless_a_text_contains_the_same() {
    let fixture = Fixture::new(Settings::default());
    let text = json!([{"type": "text", "text": "{\"b\":2,  \"a\":1.0}"}]);
    let taken = fixture.process(&json!({"content": text, "structuredContent": {"a": 1.0, "b": 2}}));
    assert_eq!(describe(&taken), ["content[0] json saved get_data-1.json"]);
    let taken = fixture.process(&json!({"content": [], "structuredContent": {"a": 2}}));
    assert_eq!(describe(&taken), ["structuredContent json saved get_data-2.json"]);
    assert_eq!(taken.for_model, "{\"a\":2}\n[saved as get_data-2.json]");
}

#[test]
fn without_processing_a_result_is_one_raw_file() {
    let settings = Settings { enable_intelligent_processing: false, ..Settings::default() };
    let fixture = Fixture::new(settings);
    let result = json!({"content": [image(PNG, "image/png"), {"type": "text", "text": CSV}]});
    let taken = fixture.process(&result);
    assert_eq!(describe(&taken), ["result json raw get_data-1.raw.json"]);
    assert_eq!(taken.artifacts[0].status.why(), None);
    let [(_, bytes)] = &fixture.files()[..] else { panic!("one file") };
    assert_eq!(serde_json::from_slice::<Value>(bytes).expect("JSON"), result);
}

/// Invalid content, each with the expected problem.
fn broken() -> Vec<(Value, &'static str)> {
    vec![
        (json!([{"type": "image", "data": "%%%", "mimeType": "image/png"}]), "is not valid Base64"),
        (
            json!([{"type": "image", "data": "AA==\n", "mimeType": "image/png"}]),
            "is not valid Base64",
        ),
        (json!([{"type": "audio", "data": 7, "mimeType": "audio/wav"}]), "`data` is not a string"),
        (json!([{"type": "image", "data": "AA=="}]), "`mimeType` is missing"),
        (json!([{"type": "text", "text": {"a": 1}}]), "`text` is not a string"),
        (json!([{"type": "hologram"}]), "unknown content type \"hologram\""),
        (json!([{"text": "x"}]), "the item has no `type`"),
        (json!([7]), "the item is integer, not an object"),
        (json!("text"), "`content` is string, not an array"),
        (
            json!([{"type": "text", "text": "{", "mimeType": "application/json"}]),
            "is not valid JSON",
        ),
        (
            json!([{"type": "text", "text": "```json\n{\n```"}]),
            "a `json` block that is not valid JSON",
        ),
        (
            json!([{"type": "resource", "resource": {"uri": "x:y", "text": "{]",
            "mimeType": "application/vnd.x+json"}}]),
            "but is not valid JSON",
        ),
        (
            json!([{"type": "resource", "resource": {"uri": "x:y", "blob": "//8=",
            "mimeType": "text/plain"}}]),
            "but is not valid UTF-8",
        ),
        (json!([{"type": "resource", "resource": {"uri": "x:y"}}]), "neither `text` nor `blob`"),
        (json!([{"type": "resource", "resource": {"uri": "x", "text": "", "blob": ""}}]), "both"),
        (json!([{"type": "resource", "resource": []}]), "`resource` is malformed"),
    ]
}

#[test]
fn with_fallback_invalid_items_are_saved_raw_and_the_status_contains_the_problem() {
    for (content, why) in broken() {
        let fixture = Fixture::new(Settings::default());
        let taken = fixture.process(&json!({"content": content}));
        let [Artifact { status: status @ ArtifactStatus::Raw { .. }, .. }] = &taken.artifacts[..]
        else {
            panic!("{content}: {taken:?}")
        };
        assert!(status.why().is_some_and(|problem| problem.contains(why)), "{content}: {status:?}");
        let [(file, bytes)] = &fixture.files()[..] else { panic!("one file: {content}") };
        let expected = match &content {
            // For a block it is the text between the fences.
            content if content.to_string().contains("```") => json!("{"),
            content if content.is_array() => content[0].clone(),
            content => content.clone(),
        };
        assert_eq!(serde_json::from_slice::<Value>(bytes).expect("JSON"), expected);
        let metadata = fixture.metadata(file);
        assert_eq!(metadata["status"], "raw");
        assert_eq!(metadata["why"].as_str(), status.why());
        assert!(taken.for_model.contains(why) && taken.for_model.contains(file.as_str()));
    }
}

#[test]
fn without_fallback_invalid_items_fail_and_the_others_do_not() {
    let settings = Settings { fallback_to_raw_on_error: false, ..Settings::default() };
    for (content, why) in broken() {
        let fixture = Fixture::new(settings.clone());
        let taken = fixture.process(&json!({"content": content}));
        let [Artifact { status: ArtifactStatus::Failed { why: problem }, .. }] =
            &taken.artifacts[..]
        else {
            panic!("{content}: {taken:?}")
        };
        assert!(problem.contains(why), "{content}: {problem}");
        assert!(fixture.files().is_empty());
        assert!(taken.for_model.contains(why));
    }
    let fixture = Fixture::new(settings);
    let taken =
        fixture.process(&json!({"content": [{"type": "x"}, {"type": "text", "text": "[]"}]}));
    assert_eq!(
        describe(&taken),
        ["content[0] json failed", "content[1] json saved get_data-1.json"]
    );
}

#[test]
fn a_result_that_is_not_an_object_is_malformed_and_an_empty_one_has_no_pieces() {
    let fixture = Fixture::new(Settings::default());
    assert_eq!(describe(&fixture.process(&json!(7))), ["result json raw get_data-1.raw.json"]);
    assert_eq!(describe(&fixture.process(&json!({}))), [""; 0]);
    assert_eq!(
        describe(&fixture.process(&json!({"content": [], "structuredContent": null}))),
        [""; 0]
    );
}

#[test]
fn short_text_stays_inline_unless_asked_and_long_text_is_saved() {
    let (short, long) = ("word ".repeat(10), "word ".repeat(500));
    let content = json!([{"type": "text", "text": short}, {"type": "text", "text": long}]);
    check(content.clone(), &["content[0] text inline", "content[1] text saved get_data-1.txt"]);
    let fixture = Fixture::new(Settings { save_text_above: 0, ..Settings::default() });
    let taken = fixture.process(&json!({"content": content}));
    assert_eq!(describe(&taken)[0], "content[0] text saved get_data-1.txt");
}

#[test]
fn a_text_that_is_cut_for_the_model_has_a_note_with_the_size_and_the_file() {
    let settings = Settings { model_bytes: 20, ..Settings::default() };
    let fixture = Fixture::new(settings);
    let content =
        json!([{"type": "text", "text": "short"}, {"type": "text", "text": "é".repeat(20)}]);
    let taken = fixture.process(&json!({"content": content}));
    assert_eq!(
        describe(&taken),
        ["content[0] text inline", "content[1] text saved get_data-1.txt"]
    );
    assert_eq!(
        taken.for_model,
        format!("short\n{}\n[… 26 of 40 bytes omitted; complete in get_data-1.txt]", "é".repeat(7))
    );
}

#[test]
fn the_model_gets_a_description_of_an_image_without_its_bytes() {
    let fixture = Fixture::new(Settings::default());
    let taken = fixture.process(&json!({"content": [image(PNG, "image/gif")]}));
    assert_eq!(
        taken.for_model,
        "[content[0]: image/png, 16 bytes, saved as get_data-1.png; \
        declared as image/gif, but the bytes are image/png]"
    );
}

#[test]
fn the_numbers_of_files_and_bytes_are_limited() {
    let item = || json!({"type": "text", "text": "[1]"});
    let fixture = Fixture::new(Settings { max_files: 2, ..Settings::default() });
    let taken = fixture.process(&json!({"content": [item(), item(), item(), item()]}));
    assert_eq!(taken.artifacts.len(), 2);
    assert!(taken.for_model.ends_with("[2 more pieces, none of them saved]"));
    let taken = fixture.process(&json!({"content": [item()]}));
    assert_eq!(taken.artifacts[0].status.why(), Some("limit of 2 artifacts reached"));
    let fixture = Fixture::new(Settings { max_bytes: 5, ..Settings::default() });
    let taken = fixture.process(&json!({"content": [item(), item()]}));
    let why = "limit of 5 bytes of artifacts reached";
    assert_eq!(taken.artifacts[1].status.why(), Some(why));
    assert_eq!(fixture.files().len(), 1);
    assert!(taken.for_model.contains("[1]") && taken.for_model.contains(why));
}

#[test]
fn of_very_many_pieces_the_model_gets_the_first_and_all_are_saved() {
    let items: Vec<_> = (0..40).map(|n| json!({"type": "text", "text": format!("n{n}")})).collect();
    let fixture = Fixture::new(Settings::default());
    let taken = fixture.process(&json!({"content": items}));
    assert!(taken.for_model.ends_with("n31\n[8 more pieces, 8 of them saved]"));
    assert_eq!(fixture.files().len(), 8);
}

#[test]
fn a_folder_that_cannot_be_written_fails_the_piece_and_the_model_still_has_the_text() {
    let temp_dir = tempfile::tempdir().expect("a folder");
    let path = temp_dir.path().join("file");
    fs::write(&path, "").expect("written");
    let store = Store::new(&path, Settings::default());
    let (arguments, result) =
        (RawJson::empty_object(), json!({"content": [{"type": "text", "text": "[1]"}]}));
    let call = Call { server: "s", tool: "t", arguments: &arguments };
    let taken = store.process(call, RawJson::from(&result).view());
    assert_eq!(describe(&taken), ["content[0] json failed"]);
    assert!(taken.for_model.starts_with("[1]\n[content[0]: cannot write"), "{}", taken.for_model);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn hostile_names_stay_in_the_folder_and_overwrite_nothing(
        names in proptest::collection::vec(
            "(\\PC|[./\\\\\u{0}\u{1b}\u{202e}:*?\"<>| ]|\\.\\./|CON|nul|x){0,120}", 1..6),
    ) {
        let fixture = Fixture::new(Settings::default());
        fs::create_dir(fixture.folder()).expect("a folder");
        fs::write(fixture.folder().join("x.txt"), "mine").expect("written");
        let items = names.iter().flat_map(|name| [
            json!({"type": "resource", "resource": {"uri": name, "text": name}}),
            json!({"type": "resource_link", "uri": format!("file:///{name}"), "name": name}),
        ]);
        let taken = fixture.process(&json!({"content": items.collect::<Vec<_>>()}));
        for artifact in &taken.artifacts {
            let file = artifact.file().expect("it is saved");
            prop_assert!(file.parent() == Some(&*fixture.folder()), "{}", file.display());
        }
        let outside = fs::read_dir(fixture.temp_dir.path()).expect("a folder").count();
        prop_assert_eq!(outside, 1);
        let files = fixture.files();
        prop_assert_eq!(files.len(), names.len() * 2 + 1);
        let lower: std::collections::HashSet<_> =
            files.iter().map(|(name, _)| name.to_ascii_lowercase()).collect();
        prop_assert_eq!(lower.len(), files.len());
        prop_assert_eq!(fs::read(fixture.folder().join("x.txt")).expect("it is there"), b"mine");
    }

    #[test]
    fn any_text_is_taken_and_the_model_gets_no_more_than_it_has_room_for(
        text in "(\\PC|[\n`#|,:{}\"\\[\\]-]|```json\n|\n```\n){0,400}",
        room in 0usize..300,
    ) {
        let fixture = Fixture::new(Settings { model_bytes: room, ..Settings::default() });
        let taken = fixture.process(&json!({"content": [{"type": "text", "text": text}]}));
        prop_assert!(!taken.artifacts.is_empty());
        let notes = 200 * taken.artifacts.len();
        prop_assert!(taken.for_model.len() <= room + notes, "{}", taken.for_model);
        let Artifact { status, bytes, .. } = &taken.artifacts[0];
        if *status == ArtifactStatus::Inline {
            prop_assert!(taken.for_model.starts_with(&text) && *bytes as usize <= room);
        }
    }
}
