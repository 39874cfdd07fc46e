//! How two texts differ, line by line, in as few lines as can be; and how alike two names
//! are.
//!
//! It is a crate of its own since the library has it with the YAML language and
//! without. Others that do this are generic, and were built in each of both.

mod alike;
mod myers;

use std::ops::Range;

pub use alike::alike;

/// A part of two texts: lines that both have, or what one has in the other's place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// Whether both have these lines.
    pub same: bool,
    /// Which lines of the old text these are.
    pub old: Range<usize>,
    /// Which lines of the new text these are.
    pub new: Range<usize>,
}

/// Where two texts differ, in groups: each with so many of the lines that are the
/// same around what is not, and together where these would meet.
pub fn groups(old: &[&str], new: &[&str], near: usize) -> Vec<Vec<Part>> {
    let parts = parts(old, new);
    let mut groups: Vec<Vec<Part>> = Vec::new();
    let mut before: Option<Part> = None;
    let mut open = false;
    for part in parts {
        if part.same {
            if let Some(group) = groups.last_mut().filter(|_| open) {
                // What follows the last difference belongs to it, and all of it
                // where the next one is near.
                let shown = if part.old.len() > 2 * near { near } else { part.old.len() };
                group.push(first(&part, shown));
                open = part.old.len() <= 2 * near;
            }
            before = Some(part);
            continue;
        }
        if !open {
            let start = before.as_ref().map(|before| last(before, near));
            groups.push(start.filter(|start| !start.old.is_empty()).into_iter().collect());
            open = true;
        }
        if let Some(group) = groups.last_mut() {
            group.push(part);
        }
    }
    // Nothing follows, so of the end no more is shown than of anything else.
    if let Some(end) = groups.last_mut().and_then(|group| group.last_mut()).filter(|end| end.same) {
        *end = first(end, near);
    }
    groups
}

fn first(part: &Part, count: usize) -> Part {
    let count = count.min(part.old.len());
    Part {
        same: part.same,
        old: part.old.start..part.old.start + count,
        new: part.new.start..part.new.start + count,
    }
}

fn last(part: &Part, count: usize) -> Part {
    let count = count.min(part.old.len());
    Part {
        same: part.same,
        old: part.old.end - count..part.old.end,
        new: part.new.end - count..part.new.end,
    }
}

/// Both texts as a whole: what is the same and what is not take turns.
fn parts(old: &[&str], new: &[&str]) -> Vec<Part> {
    let (mut parts, mut at) = (Vec::new(), (0, 0));
    for (gone, come) in slid(myers::changes(old, new), old, new) {
        if gone.start > at.0 {
            parts.push(Part { same: true, old: at.0..gone.start, new: at.1..come.start });
        }
        at = (gone.end, come.end);
        parts.push(Part { same: false, old: gone, new: come });
    }
    if at.0 < old.len() {
        parts.push(Part { same: true, old: at.0..old.len(), new: at.1..new.len() });
    }
    parts
}

/// Changes that could stand in several places, as one of two lines that are the
/// same, stand in the last of them, and together with one that follows there.
fn slid(changes: Vec<myers::Change>, old: &[&str], new: &[&str]) -> Vec<myers::Change> {
    let mut slid: Vec<myers::Change> = Vec::new();
    for (gone, come) in changes.into_iter().rev() {
        let end = slid.last().map_or(old.len(), |(gone, _)| gone.start);
        let (lines, range) = if gone.is_empty() { (new, &come) } else { (old, &gone) };
        let pure = gone.is_empty() || come.is_empty();
        let mut by = 0;
        while pure && gone.end + by < end && lines[range.start + by] == lines[range.end + by] {
            by += 1;
        }
        let gone = gone.start + by..gone.end + by;
        let come = come.start + by..come.end + by;
        match slid.last_mut().filter(|(next, _)| next.start == gone.end) {
            Some(next) => *next = (gone.start..next.0.end, come.start..next.1.end),
            None => slid.push((gone, come)),
        }
    }
    slid.reverse();
    slid
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<&str> {
        text.split(' ').filter(|line| !line.is_empty()).collect()
    }

    fn told(old: &str, new: &str, near: usize) -> String {
        let (old, new) = (lines(old), lines(new));
        let mut told = Vec::new();
        for group in groups(&old, &new, near) {
            let mut of_group = String::new();
            for part in group {
                if part.same {
                    assert_eq!(old[part.old.clone()], new[part.new.clone()]);
                    of_group +=
                        &old[part.old].iter().map(|it| format!(" {it}")).collect::<String>();
                } else {
                    of_group +=
                        &old[part.old].iter().map(|it| format!("-{it}")).collect::<String>();
                    of_group +=
                        &new[part.new].iter().map(|it| format!("+{it}")).collect::<String>();
                }
            }
            told.push(of_group);
        }
        told.join(" | ")
    }

    #[test]
    fn what_differs_is_told_with_what_is_near() {
        assert_eq!(told("a b c", "a b c", 3), "");
        assert_eq!(told("", "", 3), "");
        assert_eq!(told("a b c", "a x c", 3), " a-b+x c");
        assert_eq!(told("1 2 3 4 5 6 7", "1 2 3 x 5 6 7", 1), " 3-4+x 5");
        assert_eq!(told("x 2 3 4 5 6 y", "a 2 3 4 5 6 b", 1), "-x+a 2 |  6-y+b");
        assert_eq!(told("x 2 3 y", "a 2 3 b", 1), "-x+a 2 3-y+b");
        assert_eq!(told("1 2 3", "", 1), "-1-2-3");
        assert_eq!(told("", "1 2", 1), "+1+2");
        assert_eq!(told("1 2 3 4", "1 2 3 4 5", 1), " 4+5");
        assert_eq!(told("1 2 3 4", "0 1 2 3 4", 2), "+0 1 2");
    }

    #[test]
    fn what_could_stand_in_several_places_stands_in_the_last() {
        assert_eq!(told("a b", "a a b", 1), " a+a b");
        assert_eq!(told("{ x } y", "{ x } { x } y", 2), " x }+{+x+} y");
        assert_eq!(told("a a a b", "a b", 1), " a-a-a b");
    }

    #[test]
    fn one_text_can_be_made_from_the_other_by_few_changes() {
        // The same numbers each time, small so that many lines are the same.
        let mut seed = 7_u32;
        let mut number = |below: u32| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (seed >> 16) % below
        };
        for _ in 0..500 {
            let mut text =
                |_| (0..number(12)).map(|_| ["a", "b", "c"][number(3) as usize]).collect();
            let [old, new]: [Vec<&str>; 2] = [(); 2].map(&mut text);
            let parts = parts(&old, &new);
            let mut made: Vec<&str> = Vec::new();
            let mut changed = 0;
            for (index, part) in parts.iter().enumerate() {
                assert!(index == 0 || parts[index - 1].same != part.same, "{parts:?}");
                assert!(!part.same || old[part.old.clone()] == new[part.new.clone()]);
                changed += if part.same { 0 } else { part.old.len() + part.new.len() };
                made.extend(&new[part.new.clone()]);
            }
            assert_eq!(made, new);
            assert_eq!(changed, fewest(&old, &new), "{old:?} {new:?} {parts:?}");
        }
    }

    #[test]
    fn long_texts_that_have_little_in_common_are_told_apart_soon() {
        let text = |name: &str| (0..100_000).map(|line| format!("{name} {line}")).collect();
        let (old, mut new): (Vec<String>, Vec<String>) = (text("old"), text("new"));
        new[50_000].clone_from(&old[50_000]);
        let parts = parts(&by_line(&old), &by_line(&new));
        assert_eq!(parts.len(), 3);
        assert_eq!((parts[1].same, parts[1].old.clone()), (true, 50_000..50_001));

        // The same lines the other way round: few of them can stay.
        let mut turned = by_line(&old);
        turned.reverse();
        let parts = super::parts(&by_line(&old), &turned);
        let made = parts.iter().flat_map(|part| &turned[part.new.clone()]);
        assert!(made.eq(&turned));
    }

    fn by_line(text: &[String]) -> Vec<&str> {
        text.iter().map(String::as_str).collect()
    }

    /// How many lines must go and come, found by trying all.
    fn fewest(old: &[&str], new: &[&str]) -> usize {
        let mut row: Vec<usize> = (0..=new.len()).collect();
        for (i, line) in old.iter().enumerate() {
            let mut next = vec![i + 1];
            for (j, other) in new.iter().enumerate() {
                let same = if line == other { row[j] } else { usize::MAX };
                next.push(same.min(row[j + 1] + 1).min(next[j] + 1));
            }
            row = next;
        }
        row[new.len()]
    }
}
