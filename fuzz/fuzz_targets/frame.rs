//! Fuzzes the frame parser and the checker of one frame with the invariants of the tests. The
//! first byte selects the revision and the sender.

#![no_main]

use libfuzzer_sys::fuzz_target;
use sparring_wire::{Revision, Side};

#[expect(dead_code, reason = "another target checks connections")]
#[path = "../../crates/sparring-wire/tests/it/invariants.rs"]
mod invariants;

fuzz_target!(|bytes: &[u8]| {
    let Some((first, bytes)) = bytes.split_first() else { return };
    let revision = Revision::ALL[usize::from(first >> 1) % Revision::ALL.len()];
    let from = if first & 1 == 0 { Side::Client } else { Side::Server };
    invariants::check_frame_invariants(bytes, revision, from);
});
