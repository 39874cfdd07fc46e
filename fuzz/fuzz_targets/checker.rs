//! Fuzzes the checker of a connection. Each line is a frame; it can start with its sender.

#![no_main]

use libfuzzer_sys::fuzz_target;
use sparring_wire::Side;

#[expect(dead_code, reason = "another target checks single frames")]
#[path = "../../crates/sparring-wire/tests/it/invariants.rs"]
mod invariants;

fuzz_target!(|bytes: &[u8]| {
    // The lines come from either side in turn.
    let lines = bytes.split(|byte| *byte == b'\n').enumerate();
    invariants::check_connection_invariants(lines.map(|(index, line)| match line.split_first() {
        Some((b'>', rest)) => (Side::Client, rest),
        Some((b'<', rest)) => (Side::Server, rest),
        _ if index % 2 == 0 => (Side::Client, line),
        _ => (Side::Server, line),
    }));
});
