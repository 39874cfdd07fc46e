//! Results of all kinds, taken by a store.

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
    place: TempDir,
    store: Store,
}

impl Fixture {
    fn new(settings: Settings) -> Fixture {
        let place = tempfile::tempdir().expect("a folder");
        let store = Store::new(place.path().join("artifacts"), settings);
        Fixture { place, store }
    }

    fn take(&self, result: &Value) -> Taken {
        let arguments = RawJson::from(json!({"token": "hunter2"}));
        let call = Call { server: "data", tool: "get_data", arguments: &arguments };
        self.store.take(call, RawJson::from(result).view())
    }

    fn folder(&self) -> std::path::PathBuf {
        self.place.path().join("artifacts")
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

/// Each piece: its place, kind, status, and file.
fn told(taken: &Taken) -> Vec<String> {
    let each = taken.artifacts.iter().map(|artifact| {
        let file = artifact.file().map(name).unwrap_or_default();
        let Artifact { place, kind, status, .. } = artifact;
        format!("{place} {} {} {file}", kind.name(), status.name()).trim_end().to_owned()
    });
    each.collect()
}

/// What becomes of this content with the usual settings.
fn check(content: Value, expected: &[&str]) -> Fixture {
    let fixture = Fixture::new(Settings::default());
    let taken = fixture.take(&json!({"content": content}));
    assert_eq!(told(&taken), expected, "{content}");
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
    // With nothing around them they are all there is.
    let text = format!("```json\n[1]\n```\n\n```\n{CSV}\n```\n");
    let fixture = check(
        json!([{"type": "text", "text": text}]),
        &[
            "content[0] block 0 json saved get_data-1.json",
            "content[0] block 1 csv saved get_data-2.csv",
        ],
    );
    let taken = fixture.take(&json!({"content": [{"type": "text", "text": text}]}));
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
fn metadata_says_where_a_file_is_from_and_no_secrets() {
    let fixture = Fixture::new(Settings::default());
    fixture.take(&json!({"content": [{"type": "text", "text": "[]"}], "isError": true}));
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
    fixture.take(&json!({"content": [{"type": "text", "text": "[]"}]}));
    assert_eq!(fixture.metadata("get_data-1.json")["arguments"], json!({"token": "hunter2"}));
}

#[test]
fn bytes_that_are_not_what_they_say_are_what_they_are_and_it_is_told() {
    let fixture = check(
        json!([image(b"\xff\xd8\xff\xe0", "image/png"), image(b"?", "image/png")]),
        &["content[0] jpeg saved get_data-1.jpg", "content[1] png saved get_data-2.png"],
    );
    let metadata = fixture.metadata("get_data-1.jpg");
    assert_eq!(metadata["differs"], "it says image/png, and the bytes are image/jpeg");
    assert_eq!(metadata["declared_mime_type"], "image/png");
    assert_eq!(metadata["mime_type"], "image/jpeg");
    let metadata = fixture.metadata("get_data-2.png");
    assert_eq!(metadata["differs"], "it says image/png, and the bytes do not begin like that");
}

#[test]
fn structured_content_is_an_artifact_unless_a_text_says_the_same() {
    let fixture = Fixture::new(Settings::default());
    let text = json!([{"type": "text", "text": "{\"b\":2,  \"a\":1.0}"}]);
    let taken = fixture.take(&json!({"content": text, "structuredContent": {"a": 1.0, "b": 2}}));
    assert_eq!(told(&taken), ["content[0] json saved get_data-1.json"]);
    let taken = fixture.take(&json!({"content": [], "structuredContent": {"a": 2}}));
    assert_eq!(told(&taken), ["structuredContent json saved get_data-2.json"]);
    assert_eq!(taken.for_model, "{\"a\":2}\n[saved as get_data-2.json]");
}

#[test]
fn without_processing_a_result_is_one_raw_file() {
    let settings = Settings { enable_intelligent_processing: false, ..Settings::default() };
    let fixture = Fixture::new(settings);
    let result = json!({"content": [image(PNG, "image/png"), {"type": "text", "text": CSV}]});
    let taken = fixture.take(&result);
    assert_eq!(told(&taken), ["result json raw get_data-1.raw.json"]);
    assert_eq!(taken.artifacts[0].status.why(), None);
    let [(_, bytes)] = &fixture.files()[..] else { panic!("one file") };
    assert_eq!(serde_json::from_slice::<Value>(bytes).expect("JSON"), result);
}

/// Content that cannot be used, and why.
fn broken() -> Vec<(Value, &'static str)> {
    vec![
        (json!([{"type": "image", "data": "%%%", "mimeType": "image/png"}]), "is no Base64"),
        (json!([{"type": "image", "data": "AA==\n", "mimeType": "image/png"}]), "is no Base64"),
        (json!([{"type": "audio", "data": 7, "mimeType": "audio/wav"}]), "`data` is no string"),
        (json!([{"type": "image", "data": "AA=="}]), "`mimeType` is missing"),
        (json!([{"type": "text", "text": {"a": 1}}]), "`text` is no string"),
        (json!([{"type": "hologram"}]), "there is no content of type \"hologram\""),
        (json!([{"text": "x"}]), "the item has no `type`"),
        (json!([7]), "the item is integer and no object"),
        (json!("text"), "`content` is string and no list"),
        (json!([{"type": "text", "text": "{", "mimeType": "application/json"}]), "is no JSON"),
        (json!([{"type": "text", "text": "```json\n{\n```"}]), "says `json` and is no JSON"),
        (
            json!([{"type": "resource", "resource": {"uri": "x:y", "text": "{]",
            "mimeType": "application/vnd.x+json"}}]),
            "and is no JSON",
        ),
        (
            json!([{"type": "resource", "resource": {"uri": "x:y", "blob": "//8=",
            "mimeType": "text/plain"}}]),
            "and is no UTF-8",
        ),
        (json!([{"type": "resource", "resource": {"uri": "x:y"}}]), "neither `text` nor `blob`"),
        (json!([{"type": "resource", "resource": {"uri": "x", "text": "", "blob": ""}}]), "both"),
        (json!([{"type": "resource", "resource": []}]), "`resource` is not as it must be"),
    ]
}

#[test]
fn with_fallback_what_is_malformed_is_saved_raw_and_the_status_says_why() {
    for (content, why) in broken() {
        let fixture = Fixture::new(Settings::default());
        let taken = fixture.take(&json!({"content": content}));
        let [Artifact { status: status @ Status::Raw { .. }, .. }] = &taken.artifacts[..] else {
            panic!("{content}: {taken:?}")
        };
        assert!(status.why().is_some_and(|told| told.contains(why)), "{content}: {status:?}");
        let [(file, bytes)] = &fixture.files()[..] else { panic!("one file: {content}") };
        let expected = match &content {
            // Of a block it is what stands between the fences.
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
fn without_fallback_what_is_malformed_fails_and_the_others_do_not() {
    let settings = Settings { fallback_to_raw_on_error: false, ..Settings::default() };
    for (content, why) in broken() {
        let fixture = Fixture::new(settings.clone());
        let taken = fixture.take(&json!({"content": content}));
        let [Artifact { status: Status::Failed { why: told }, .. }] = &taken.artifacts[..] else {
            panic!("{content}: {taken:?}")
        };
        assert!(told.contains(why), "{content}: {told}");
        assert!(fixture.files().is_empty());
        assert!(taken.for_model.contains(why));
    }
    let fixture = Fixture::new(settings);
    let taken = fixture.take(&json!({"content": [{"type": "x"}, {"type": "text", "text": "[]"}]}));
    assert_eq!(told(&taken), ["content[0] json failed", "content[1] json saved get_data-1.json"]);
}

#[test]
fn a_result_that_is_no_object_is_malformed_and_an_empty_one_is_nothing() {
    let fixture = Fixture::new(Settings::default());
    assert_eq!(told(&fixture.take(&json!(7))), ["result json raw get_data-1.raw.json"]);
    assert_eq!(told(&fixture.take(&json!({}))), [""; 0]);
    assert_eq!(told(&fixture.take(&json!({"content": [], "structuredContent": null}))), [""; 0]);
}

#[test]
fn short_text_stays_inline_unless_asked_and_long_text_is_saved() {
    let (short, long) = ("word ".repeat(10), "word ".repeat(500));
    let content = json!([{"type": "text", "text": short}, {"type": "text", "text": long}]);
    check(content.clone(), &["content[0] text inline", "content[1] text saved get_data-1.txt"]);
    let fixture = Fixture::new(Settings { save_text_above: 0, ..Settings::default() });
    let taken = fixture.take(&json!({"content": content}));
    assert_eq!(told(&taken)[0], "content[0] text saved get_data-1.txt");
}

#[test]
fn a_text_that_is_cut_for_the_model_says_how_much_and_where_the_whole_is() {
    let settings = Settings { model_bytes: 20, ..Settings::default() };
    let fixture = Fixture::new(settings);
    let content =
        json!([{"type": "text", "text": "short"}, {"type": "text", "text": "é".repeat(20)}]);
    let taken = fixture.take(&json!({"content": content}));
    assert_eq!(told(&taken), ["content[0] text inline", "content[1] text saved get_data-1.txt"]);
    assert_eq!(
        taken.for_model,
        format!(
            "short\n{}\n[… 26 of 40 bytes left out; the whole is in get_data-1.txt]",
            "é".repeat(7)
        )
    );
}

#[test]
fn the_model_is_told_of_an_image_without_its_bytes() {
    let fixture = Fixture::new(Settings::default());
    let taken = fixture.take(&json!({"content": [image(PNG, "image/gif")]}));
    assert_eq!(
        taken.for_model,
        "[content[0]: image/png, 16 bytes, saved as get_data-1.png; \
         it says image/gif, and the bytes are image/png]"
    );
}

#[test]
fn there_are_only_so_many_files_and_bytes() {
    let item = || json!({"type": "text", "text": "[1]"});
    let fixture = Fixture::new(Settings { max_files: 2, ..Settings::default() });
    let taken = fixture.take(&json!({"content": [item(), item(), item(), item()]}));
    assert_eq!(taken.artifacts.len(), 2);
    assert!(taken.for_model.ends_with("[2 more pieces, of which nothing was kept]"));
    let taken = fixture.take(&json!({"content": [item()]}));
    assert_eq!(taken.artifacts[0].status.why(), Some("there are 2 artifacts already"));
    let fixture = Fixture::new(Settings { max_bytes: 5, ..Settings::default() });
    let taken = fixture.take(&json!({"content": [item(), item()]}));
    let why = "all artifacts would have more than 5 bytes";
    assert_eq!(taken.artifacts[1].status.why(), Some(why));
    assert_eq!(fixture.files().len(), 1);
    assert!(taken.for_model.contains("[1]") && taken.for_model.contains(why));
}

#[test]
fn of_very_many_pieces_the_model_gets_the_first_and_all_are_kept() {
    let items: Vec<_> = (0..40).map(|n| json!({"type": "text", "text": format!("n{n}")})).collect();
    let fixture = Fixture::new(Settings::default());
    let taken = fixture.take(&json!({"content": items}));
    assert!(taken.for_model.ends_with("n31\n[8 more pieces, 8 of them saved]"));
    assert_eq!(fixture.files().len(), 8);
}

#[test]
fn a_folder_that_cannot_be_written_fails_the_piece_and_the_model_still_has_the_text() {
    let place = tempfile::tempdir().expect("a folder");
    let path = place.path().join("file");
    fs::write(&path, "").expect("written");
    let store = Store::new(&path, Settings::default());
    let (arguments, result) =
        (RawJson::empty_object(), json!({"content": [{"type": "text", "text": "[1]"}]}));
    let call = Call { server: "s", tool: "t", arguments: &arguments };
    let taken = store.take(call, RawJson::from(&result).view());
    assert_eq!(told(&taken), ["content[0] json failed"]);
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
        let taken = fixture.take(&json!({"content": items.collect::<Vec<_>>()}));
        for artifact in &taken.artifacts {
            let file = artifact.file().expect("it is saved");
            prop_assert!(file.parent() == Some(&*fixture.folder()), "{}", file.display());
        }
        let outside = fs::read_dir(fixture.place.path()).expect("a folder").count();
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
        let taken = fixture.take(&json!({"content": [{"type": "text", "text": text}]}));
        prop_assert!(!taken.artifacts.is_empty());
        let notes = 200 * taken.artifacts.len();
        prop_assert!(taken.for_model.len() <= room + notes, "{}", taken.for_model);
        let Artifact { status, bytes, .. } = &taken.artifacts[0];
        if *status == Status::Inline {
            prop_assert!(taken.for_model.starts_with(&text) && *bytes as usize <= room);
        }
    }
}
