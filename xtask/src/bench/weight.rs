//! What the library and the program weigh: how many crates each tier of features brings,
//! how long a clean build takes beside that of rmcp, and how large the program is.
//!
//! What is compared is built in folders of its own, as whoever depends on it would build
//! it, and from the versions that are locked here. Seconds are those of the processors:
//! how many there are, and what else they do, counts for little.

#![expect(clippy::print_stdout, reason = "a benchmark prints its findings")]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};

use super::measure::{megabytes, met, output, seconds};
use crate::command::{command, run as run_command, show};

/// The tiers of the library: their features, what they are for, and how many crates they
/// may bring, the library's own included.
pub(crate) const TIERS: [(&str, &str, usize); 4] = [
    ("", "memory and stdio", 45),
    ("mock", "with schemas and YAML", 100),
    ("mock,http", "with HTTP", 150),
    ("mock,http,oauth", "with OAuth", 220),
];

/// What is built beside rmcp: what it has too, a client and a server over HTTP, and the
/// same with mocks.
const BUILT: [&str; 2] = ["http", "mock,http"];

/// How many of rmcp's seconds a build may take.
const BUILD: f64 = 0.6;

/// The client and the server of rmcp over HTTP and over stdio, with TLS and child processes,
/// which ours have.
const RMCP: [&str; 7] = [
    "client",
    "reqwest",
    "server",
    "transport-child-process",
    "transport-io",
    "transport-streamable-http-client-reqwest",
    "transport-streamable-http-server",
];

/// What its server needs to be reached over HTTP: it is a service for somebody else's server,
/// and ours is a server.
const SERVED_BY: &str =
    "axum = { version = \"0.8\", default-features = false, features = [\"http1\", \"tokio\"] }";

/// The most bytes that the program may have.
const PROGRAM: u64 = 15_000_000;

/// Measures, prints, and says whether the limits are met.
pub(super) fn run(root: &Path) -> Result<bool> {
    let mut all = true;
    for (features, what, most) in TIERS {
        let count = crates(root, features)?;
        println!("crates {what}: {count}, at most {most} wanted: {}", met(count <= most));
        all &= count <= most;
    }
    Ok(build(root)? & program(root)? && all)
}

/// How many crates the library brings with these features.
fn crates(root: &Path, features: &str) -> Result<usize> {
    let line =
        "cargo tree --locked -p sparring --no-default-features -e normal,build --prefix none";
    let mut tree = command(root, line);
    tree.args(["--features", features]);
    show(&tree);
    let told = output(tree)?;
    let named = told.lines().map(|line| line.trim_end_matches(" (*)"));
    Ok(named.filter(|line| !line.is_empty()).collect::<BTreeSet<_>>().len())
}

/// Builds the library and rmcp from nothing.
fn build(root: &Path) -> Result<bool> {
    let library = root.join("crates/sparring").display().to_string();
    let features = |all: &[&str]| format!("[\"{}\"]", all.join("\", \""));
    let theirs =
        format!("rmcp = {{ version = \"3.8\", features = {} }}\n{SERVED_BY}", features(&RMCP));
    let theirs = clean_build(root, "rmcp", &theirs)?;
    println!("a clean build of rmcp's client and server over HTTP: {theirs:.0}s of CPU");
    let mut all = true;
    for built in BUILT {
        let ours = format!(
            "sparring = {{ path = {library:?}, default-features = false, features = {} }}",
            features(&built.split(',').collect::<Vec<_>>())
        );
        let ours = clean_build(root, "ours", &ours)?;
        let ratio = ours / theirs;
        let limit = met(ratio <= BUILD);
        println!(
            "a clean build with {built}: {ours:.0}s of CPU, {ratio:.2}x, at most {BUILD}x wanted: {limit}"
        );
        all &= ratio <= BUILD;
    }
    Ok(all)
}

/// The seconds of CPU that a build of an empty crate with this dependency takes.
fn clean_build(root: &Path, name: &str, dependency: &str) -> Result<f64> {
    let folder = root.join("target/weight").join(name);
    if folder.exists() {
        fs::remove_dir_all(&folder).with_context(|| format!("removing {}", folder.display()))?;
    }
    fs::create_dir_all(folder.join("src"))?;
    let manifest = format!(
        "[package]\nname = \"weight-of-{name}\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n\
         [workspace]\n\n[dependencies]\n{dependency}\n"
    );
    fs::write(folder.join("Cargo.toml"), manifest)?;
    fs::write(folder.join("src/lib.rs"), "")?;
    fs::copy(root.join("Cargo.lock"), folder.join("Cargo.lock"))?;
    run_command(command(&folder, "cargo fetch"))?;
    seconds(&folder, &["cargo", "build", "--release", "-j2", "--target-dir", "built"])
}

/// How large the program is.
fn program(root: &Path) -> Result<bool> {
    run_command(command(root, "cargo build --release -p sparring-cli"))?;
    let path = root.join("target/release/spar");
    let size = fs::metadata(&path).with_context(|| format!("looking at {}", path.display()))?.len();
    println!(
        "spar, stripped: {}, at most {} wanted: {}",
        megabytes(size),
        megabytes(PROGRAM),
        met(size <= PROGRAM)
    );
    Ok(size <= PROGRAM)
}
