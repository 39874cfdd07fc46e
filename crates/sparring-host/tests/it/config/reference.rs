//! The page of all keys is made from the language itself.

use std::path::Path;

use super::place::{Place, names};

const PAGE: &str = "docs/config-keys.md";

/// `SPAR_BLESS=1` writes the page anew.
#[test]
fn the_page_of_all_keys_is_what_the_language_has() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(PAGE);
    let page = sparring_host::config::reference();
    if std::env::var_os("SPAR_BLESS").is_some() {
        std::fs::write(&path, &page).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(written == page, "{PAGE} is not what the language has; SPAR_BLESS=1 writes it anew");
}

#[test]
fn the_example_in_the_docs_is_good() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/host.md");
    let page = std::fs::read_to_string(path).unwrap();
    let example = page.split("```yaml\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let place = Place::of_user(example).variable("API_TOKEN", "x");
    assert_eq!(place.told(), "");
    assert_eq!(names(&place.read()), ["api", "files", "inside"]);
}
