//! Runs the transcripts below `tests/golden`: every command must print the output in
//! its transcript. `support/transcript.rs` documents the format.
//!
//! A command is run by `sh` in the folder of its transcript, with `spar` in the path
//! and an empty folder in `TMP`. If the case names a file of `answers`, the address of
//! an HTTP server with these answers is in `HOST`, and its Unix socket is
//! `$TMP/socket`. Placeholders such as `[TMP]` replace the output that differs between
//! two runs (`support/filters.rs`).
//!
//! Each case is a separate test: `cargo test -p sparring-cli --test golden NAME` runs
//! those whose names contain NAME. `SPAR_BLESS=1` writes the output into the
//! transcripts.

#![expect(clippy::unwrap_used, reason = "a test that unwraps fails where it stands")]

#[cfg(unix)]
#[path = "support/cases.rs"]
mod cases;
#[cfg(unix)]
#[path = "support/filters.rs"]
mod filters;
#[cfg(unix)]
#[path = "support/process.rs"]
#[expect(dead_code, reason = "the target `it` uses the rest")]
mod process;
#[cfg(unix)]
#[path = "support/transcript.rs"]
#[expect(dead_code, reason = "the target `it` uses the rest")]
mod transcript;
#[cfg(unix)]
#[path = "support/web/mod.rs"]
#[expect(dead_code, reason = "the target `it` uses the rest")]
mod web;

#[cfg(unix)]
fn main() -> std::process::ExitCode {
    cases::main()
}

/// The commands need a Unix shell.
#[cfg(not(unix))]
fn main() {}
