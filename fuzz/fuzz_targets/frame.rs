//! Throws bytes at the frame parser, the checker of every revision and the
//! referee: the invariants of the tests hold for whatever comes.

#![no_main]

use libfuzzer_sys::fuzz_target;
use sparring_wire::{Revision, Side};

#[path = "../../crates/sparring-wire/tests/it/invariants.rs"]
mod invariants;

fuzz_target!(|bytes: &[u8]| {
    for revision in Revision::ALL {
        invariants::hold_for_frame(bytes, revision, Side::Client);
        invariants::hold_for_frame(bytes, revision, Side::Server);
    }
    // Lines, from either side in turn; a line may begin with its sender.
    let lines = bytes.split(|byte| *byte == b'\n').enumerate();
    invariants::hold_for_conversation(lines.map(|(index, line)| match line.split_first() {
        Some((b'>', rest)) => (Side::Client, rest),
        Some((b'<', rest)) => (Side::Server, rest),
        _ if index % 2 == 0 => (Side::Client, line),
        _ => (Side::Server, line),
    }));
});
