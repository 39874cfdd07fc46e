//! `cargo xtask fuzz`: fuzzes the parsers of foreign data. The first inputs of each target are an
//! archive in `fuzz/seeds`; the inputs that it finds stay in `fuzz/corpus`, which is not in the
//! repository. Inputs that are slow or need much memory count as findings.

use std::path::Path;

use anyhow::{Context as _, Result, ensure};

use crate::command::{command, run as run_command, succeeds};

/// The targets; each is a file in `fuzz/fuzz_targets`.
const TARGETS: [&str; 6] = ["frame", "checker", "sse", "headers", "yaml", "template"];

/// The limits of one input, and the request for the number of executions at the end.
const LIMITS: &str = "-timeout=10 -rss_limit_mb=2048 -print_final_stats=1";

/// Returns the names of the targets.
pub(crate) fn names() -> [&'static str; 6] {
    TARGETS
}

/// Fuzzes each target, or only one, for this number of seconds.
pub(crate) fn run(root: &Path, seconds: u32, only: Option<&str>) -> Result<()> {
    let folder = root.join("fuzz");
    ensure!(folder.is_dir(), "no such folder: fuzz");
    ensure!(
        succeeds("cargo fuzz --version"),
        "cargo-fuzz is not installed; install it with `cargo install cargo-fuzz`"
    );
    ensure!(
        succeeds("cargo +nightly --version"),
        "fuzzing needs a nightly compiler; install it with `rustup toolchain install nightly`"
    );
    for target in TARGETS.into_iter().filter(|target| only.is_none_or(|only| only == *target)) {
        let corpus = folder.join("corpus").join(target);
        std::fs::create_dir_all(&corpus)
            .with_context(|| format!("cannot create {}", corpus.display()))?;
        let unpack = format!("tar -xzf seeds/{target}.tar.gz -C corpus/{target}");
        run_command(command(&folder, &unpack))?;
        // Without a sanitizer, since the code is safe Rust and runs several times as fast.
        let line = format!(
            "cargo +nightly fuzz run -s none {target} -- -max_total_time={seconds} {LIMITS}"
        );
        run_command(command(&folder, &line))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_target_has_a_program_and_seeds() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz");
        let manifest = std::fs::read_to_string(folder.join("Cargo.toml")).unwrap();
        for target in TARGETS {
            assert!(manifest.contains(&format!("name = \"{target}\"")), "{target}");
            for file in [format!("fuzz_targets/{target}.rs"), format!("seeds/{target}.tar.gz")] {
                assert!(folder.join(&file).is_file(), "{file}");
            }
        }
        assert_eq!(manifest.matches("[[bin]]").count(), TARGETS.len());
    }
}
