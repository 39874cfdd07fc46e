//! That it does not matter whether failures are remembered.

use proptest::prelude::*;
use proptest::sample::select;

use super::Machine;
use crate::Pattern;

/// Repetitions of repetitions, with much that may be empty.
fn pattern(depth: u32) -> BoxedStrategy<String> {
    let leaf = select(&["a", "b", "[ab]", ".", "", "^", "$", "a*", "b+?", "a{0,2}", "[ab]*?"][..]);
    let leaf = leaf.prop_map(str::to_owned);
    if depth == 0 {
        return leaf.boxed();
    }
    let inner = pattern(depth - 1);
    let several = prop::collection::vec(inner.clone(), 1..4);
    let many = select(&["*", "+", "?", "*?", "+?", "??", "{2,}", "{0,3}", "{1,3}?"][..]);
    prop_oneof![
        1 => leaf,
        2 => several.clone().prop_map(|all| all.concat()),
        2 => several.prop_map(|all| format!("({})", all.join("|"))),
        4 => (inner.clone(), many).prop_map(|(it, many)| format!("(?:{it}){many}")),
        2 => inner.prop_map(|it| format!("({it})")),
    ]
    .boxed()
}

proptest! {
    #[test]
    fn the_same_is_found_when_failures_are_remembered(
        pattern in pattern(3),
        texts in prop::collection::vec("[ab]{0,10}c?", 4),
    ) {
        let read = Pattern::new(&format!("{pattern}(?:c|$)")).unwrap();
        for text in &texts {
            let mut plain = Machine::new(&read.program, text, true);
            let mut other = Machine::new(&read.program, text, true);
            prop_assert!(other.goes_on() && other.memo.is_some());
            let expected = plain.find(0).unwrap().map(<[u32]>::to_vec);
            // Where even these took long, both remember.
            let found = other.find(0).unwrap().map(<[u32]>::to_vec);
            let groups = read.program.group_slots as usize;
            prop_assert_eq!(
                found.map(|it| it[..groups].to_vec()),
                expected.map(|it| it[..groups].to_vec()),
                "{} in {:?}", pattern, text
            );
        }
    }
}
