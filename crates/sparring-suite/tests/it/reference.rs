//! The reference page of all keys is generated from the grammar.

use std::path::Path;

const PAGE: &str = "docs/suite-keys.md";

/// `SPAR_BLESS=1` rewrites the page.
#[test]
fn the_reference_page_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(PAGE);
    let page = sparring_suite::reference();
    if std::env::var_os("SPAR_BLESS").is_some() {
        std::fs::write(&path, &page).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(written == page, "{PAGE} is not what the language has; SPAR_BLESS=1 writes it anew");
}
