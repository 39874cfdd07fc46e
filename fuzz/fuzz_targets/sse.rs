//! Fuzzes the reader of server-sent events: pieces of any size give the same events, no event
//! exceeds the limit, and a written event is read back.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[expect(dead_code, reason = "the target uses a part")]
#[path = "../../crates/sparring-transport/src/http/sse.rs"]
mod sse;

use sse::{Event, Parser};

const LIMIT: usize = 64;

fn read(bytes: &[u8], piece: usize) -> (Vec<Event>, bool) {
    let (mut parser, mut events) = (Parser::new(LIMIT), Vec::new());
    let fits =
        bytes.chunks(piece).all(|piece| parser.feed(piece, |event| events.push(event)).is_ok());
    (events, fits)
}

fuzz_target!(|bytes: &[u8]| {
    let Some((first, bytes)) = bytes.split_first() else { return };
    let (whole, fits) = read(bytes, bytes.len().max(1));
    let (pieces, also) = read(bytes, usize::from(*first % 16) + 1);
    assert_eq!(fits, also, "the limit depends on the pieces");
    if fits {
        assert_eq!(whole, pieces, "the events depend on the pieces");
    }
    for event in &whole {
        assert!(event.data.as_ref().map_or(0, Vec::len) <= LIMIT);
        let mut written = Vec::new();
        event.write(&mut written);
        let mut again = Vec::new();
        let read = Parser::new(1 << 20).feed(&written, |event| again.push(event));
        assert!(read.is_ok(), "a written event is too long");
    }
});
