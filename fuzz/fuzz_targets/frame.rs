//! Fuzzes the frame parser and the checkers with the invariants of the tests.

#![no_main]

use libfuzzer_sys::fuzz_target;
use sparring_wire::{Revision, Side};

#[path = "../../crates/sparring-wire/tests/it/invariants.rs"]
mod invariants;

fuzz_target!(|bytes: &[u8]| {
    for revision in Revision::ALL {
        invariants::check_frame_invariants(bytes, revision, Side::Client);
        invariants::check_frame_invariants(bytes, revision, Side::Server);
    }
    // The lines come from either side in turn; a line can start with its sender.
    let lines = bytes.split(|byte| *byte == b'\n').enumerate();
    invariants::check_connection_invariants(lines.map(|(index, line)| match line.split_first() {
        Some((b'>', rest)) => (Side::Client, rest),
        Some((b'<', rest)) => (Side::Server, rest),
        _ if index % 2 == 0 => (Side::Client, line),
        _ => (Side::Server, line),
    }));
});
