//! Checks the invariants for frames of every kind with many thousand random mutations.

use sparring_wire::{Revision, Side};

use crate::invariants::{check_connection_invariants, check_frame_invariants};

const FRAMES: usize = 120_000;

/// Valid frames of all kinds, and some invalid ones.
const CORPUS: &[&str] = &[
    r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"roots":{"listChanged":true},"sampling":{},"elicitation":{}},"clientInfo":{"name":"c","version":"1"}}}"#,
    r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true},"resources":{"subscribe":true},"logging":{}},"serverInfo":{"name":"s","version":"1"}}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
    r#"{"jsonrpc":"2.0","id":"a-2","method":"tools/call","params":{"name":"echo","arguments":{"text":"h\u00e9 \ud83d\ude00","n":[1,-2.5e3,true,null]},"_meta":{"progressToken":7}}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":7,"progress":0.5,"total":1,"message":"half"}}"#,
    r#"{"jsonrpc":"2.0","id":"a-2","result":{"content":[{"type":"text","text":"x","annotations":{"audience":["user"],"priority":1}},{"type":"image","data":"aGk=","mimeType":"image/png"},{"type":"resource","resource":{"uri":"file:///a","text":"t"}}],"isError":false,"structuredContent":{"a":1}}}"#,
    r#"{"jsonrpc":"2.0","id":3,"method":"tools/list"}"#,
    r#"{"jsonrpc":"2.0","id":3,"result":{"tools":[{"name":"echo","inputSchema":{"type":"object","properties":{"a":{}},"required":["a"]}}],"nextCursor":"c"}}"#,
    r#"{"jsonrpc":"2.0","id":4,"error":{"code":-32602,"message":"bad params","data":{"why":[]}}}"#,
    r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"parse error"}}"#,
    r#"[{"jsonrpc":"2.0","id":5,"method":"ping"},{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5,"reason":"r"}}]"#,
    r#"{"jsonrpc":"2.0","id":6,"method":"elicitation/create","params":{"message":"m","requestedSchema":{"type":"object","properties":{"a":{"type":"string","enum":["x","y"]},"b":{"type":"number","minimum":0}}}}}"#,
    r#"{"jsonrpc":"2.0","id":6,"result":{"action":"accept","content":{"a":"x","b":1.5}}}"#,
    r#"{"jsonrpc":"2.0","id":7,"method":"sampling/createMessage","params":{"messages":[{"role":"user","content":{"type":"text","text":"q"}}],"maxTokens":10}}"#,
    r#"{"jsonrpc":"2.0","id":"d","method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}}}"#,
    r#"{"jsonrpc":"2.0","id":"d","result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true}},"ttlMs":0,"cacheScope":"public"}}"#,
    r#"{"jsonrpc":"2.0","id":8,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":{"toolsListChanged":true},"_meta":{"io.modelcontextprotocol/subscriptionId":8}}}"#,
    r#"{"jsonrpc":"2.0","id":9,"result":{"resultType":"input_required","inputRequests":{"a":{"method":"roots/list"}},"requestState":"s"}}"#,
    r#"{"jsonrpc":"2.0","id":10,"error":{"code":-32022,"message":"m","data":{"supported":["2026-07-28"],"requested":"1"}}}"#,
    r#" { "id" : 123456789012345678901234567890 , "jsonrpc":"2.0","method":"x\/own\t","extra":[{"a":1,"a":2}],"params":{} } "#,
    r#"{"jsonrpc":"1.0","id":1.5,"result":{},"error":7}"#,
    "\u{feff}[[[[]]],{},\"\\ud800\",1e999]",
];

/// Text that a mutation inserts.
const TOKENS: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"",
    "\\",
    "\\u",
    "\\ud83d",
    "null",
    "true",
    "-",
    "1e9",
    ".",
    "\u{0}",
    "\n",
    "\u{feff}",
    "\"id\":",
    "\"id\":null,",
    "\"result\":{}",
    "\"method\":\"ping\"",
    "\"error\":{\"code\":1}",
    "[[[[[[[[[[[[[[[[",
    "]]]]]]]]",
];

/// A random number generator with a fixed seed.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % limit.max(1)
    }

    fn pick<'a, T: ?Sized>(&mut self, from: &[&'a T]) -> &'a T {
        from[self.below(from.len())]
    }
}

fn mutate(bytes: &mut Vec<u8>, random: &mut Random) {
    let at = random.below(bytes.len() + 1);
    let end = at + random.below((bytes.len() - at + 1).min(40));
    match random.below(7) {
        0 if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
        1 if at < bytes.len() => bytes[at] = random.below(256) as u8,
        2 => bytes.truncate(at),
        3 => drop(bytes.drain(at..end)),
        4 => {
            let again = bytes[at..end].to_vec();
            bytes.splice(end..end, again);
        }
        5 => {
            let token = random.pick(TOKENS);
            bytes.splice(at..at, token.bytes());
        }
        _ => {
            let other = random.pick(CORPUS).as_bytes();
            let from = random.below(other.len());
            bytes.splice(at..end, other[from..].iter().copied());
        }
    }
}

fn side(random: &mut Random) -> Side {
    match random.below(2) {
        0 => Side::Client,
        _ => Side::Server,
    }
}

#[test]
fn invariants_hold_for_many_mutated_frames() {
    let mut random = Random(0x5EED_0F5B);
    let mut connection: Vec<(Side, Vec<u8>)> = Vec::new();
    let mut lengths = 0;
    for round in 0..FRAMES {
        let mut bytes = random.pick(CORPUS).as_bytes().to_vec();
        // Some frames stay valid, so that connections make progress.
        for _ in 0..random.below(4) {
            mutate(&mut bytes, &mut random);
        }
        let revision = Revision::ALL[round % Revision::ALL.len()];
        let from = side(&mut random);
        check_frame_invariants(&bytes, revision, from);
        lengths += bytes.len();
        connection.push((from, bytes));
        if connection.len() == 50 {
            let frames = std::mem::take(&mut connection);
            check_connection_invariants(frames.iter().map(|(from, it)| (*from, it.as_slice())));
        }
    }
    assert!(lengths / FRAMES > 50, "the frames are mostly empty");
}

#[test]
fn invariants_hold_for_the_unchanged_corpus() {
    for bytes in CORPUS {
        for revision in Revision::ALL {
            check_frame_invariants(bytes.as_bytes(), revision, Side::Client);
            check_frame_invariants(bytes.as_bytes(), revision, Side::Server);
        }
    }
}

#[test]
fn invariants_hold_for_the_deepest_frames() {
    for depth in [126, 127, 128, 129, 300, 100_000] {
        let nested = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        let objects = format!("{}1{}", "{\"a\":".repeat(depth), "}".repeat(depth));
        for text in [
            nested.clone(),
            format!(
                r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"x":{nested}}}}}"#
            ),
            format!(r#"{{"jsonrpc":"2.0","id":1,"result":{objects}}}"#),
        ] {
            check_frame_invariants(text.as_bytes(), Revision::LATEST, Side::Server);
        }
    }
}
