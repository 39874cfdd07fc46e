//! The reference page of all keys is generated from the grammar.

use std::path::Path;

use super::fixture::{ConfigFixture, names};

const PAGE: &str = "docs/config-keys.md";

/// `SPAR_BLESS=1` writes the page again.
#[test]
fn the_reference_page_matches_the_grammar() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(PAGE);
    let page = sparring_host::config::reference();
    if std::env::var_os("SPAR_BLESS").is_some() {
        std::fs::write(&path, &page).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(written == page, "{PAGE} does not match the grammar; SPAR_BLESS=1 writes it again");
}

#[test]
fn the_example_in_the_docs_is_valid() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/host.md");
    let page = std::fs::read_to_string(path).unwrap();
    let example = page.split("```yaml\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let fixture = ConfigFixture::with_user_file(example).variable("API_TOKEN", "x");
    assert_eq!(fixture.problems(), "");
    assert_eq!(names(&fixture.read()), ["api", "files", "inside"]);
}
