//! The fewest changes that make one text of another (E. Myers, "An O(ND)
//! Difference Algorithm and Its Variations", 1986), in linear space: from both
//! ends at once to where they meet, and then each half by itself.

use std::collections::HashSet;
use std::ops::Range;

/// The most changes that are looked for. Where there are more, what is between is one
/// change: the search takes the square of their number, and nobody reads so many.
const MOST: isize = 2_000;

/// The lines that go, and those that come in their place.
pub(crate) type Change = (Range<usize>, Range<usize>);

/// What changes from one text to the other, in its order.
///
/// A line that only one of them has changes in any case, so only the others are
/// searched.
pub(crate) fn changes(old: &[&str], new: &[&str]) -> Vec<Change> {
    let (kept_old, kept_new) = (shared(old, new), shared(new, old));
    let ours: Vec<&str> = kept_old.iter().map(|at| old[*at]).collect();
    let theirs: Vec<&str> = kept_new.iter().map(|at| new[*at]).collect();
    let mut found = Vec::new();
    halve(&ours, &theirs, (0, 0), &mut found);

    // The lines that stay, each by its places in both; and what is between is changed.
    let (mut changes, mut at, mut seen) = (Vec::new(), (0, 0), (0, 0));
    let end: Change = (ours.len()..ours.len(), theirs.len()..theirs.len());
    for (gone, come) in found.into_iter().chain([end]) {
        for (here, there) in (seen.0..gone.start).zip(seen.1..come.start) {
            let stays = (kept_old[here], kept_new[there]);
            if stays != at {
                changes.push((at.0..stays.0, at.1..stays.1));
            }
            at = (stays.0 + 1, stays.1 + 1);
        }
        seen = (gone.end, come.end);
    }
    if at != (old.len(), new.len()) {
        changes.push((at.0..old.len(), at.1..new.len()));
    }
    changes
}

/// Where the lines are that the other text has as well.
fn shared(text: &[&str], other: &[&str]) -> Vec<usize> {
    let other: HashSet<&str> = other.iter().copied().collect();
    (0..text.len()).filter(|at| other.contains(text[*at])).collect()
}

fn halve(old: &[&str], new: &[&str], at: (usize, usize), changes: &mut Vec<Change>) {
    let start = old.iter().zip(new).take_while(|(one, other)| one == other).count();
    let (old, new, at) = (&old[start..], &new[start..], (at.0 + start, at.1 + start));
    let ends = old.iter().rev().zip(new.iter().rev());
    let end = ends.take_while(|(one, other)| one == other).count();
    let (old, new) = (&old[..old.len() - end], &new[..new.len() - end]);
    if old.is_empty() && new.is_empty() {
        return;
    }
    let meeting = if old.is_empty() || new.is_empty() { None } else { meeting(old, new) };
    match meeting {
        Some((x, y)) => {
            halve(&old[..x], &new[..y], at, changes);
            halve(&old[x..], &new[y..], (at.0 + x, at.1 + y), changes);
        }
        None => {
            let change = (at.0..at.0 + old.len(), at.1..at.1 + new.len());
            match changes.last_mut() {
                Some(last) if last.0.end == change.0.start && last.1.end == change.1.start => {
                    *last = (last.0.start..change.0.end, last.1.start..change.1.end);
                }
                _ => changes.push(change),
            }
        }
    }
}

/// A place on a shortest way from one text to the other, near its middle; none
/// where they have nothing in common, or are too far from each other.
fn meeting(old: &[&str], new: &[&str]) -> Option<(usize, usize)> {
    let (n, m) = (old.len() as isize, new.len() as isize);
    let (delta, most) = (n - m, (n + m + 1) / 2);
    let mut forward = Reached::new(most);
    let mut backward = Reached::new(most);
    for d in 0..=most.min(MOST) {
        for k in (-d..=d).rev().step_by(2) {
            let (start, x) =
                forward.go_on(d, k, |x, y| x < n && y < m && old[x as usize] == new[y as usize]);
            let met = delta % 2 != 0 && (k - delta).abs() < d;
            if met && x + backward.at(delta - k) >= n {
                return place(start, start - k, n, m);
            }
        }
        for k in (-d..=d).rev().step_by(2) {
            let (_, x) = backward.go_on(d, k, |x, y| {
                x < n && y < m && old[(n - x - 1) as usize] == new[(m - y - 1) as usize]
            });
            let met = delta % 2 == 0 && (k - delta).abs() <= d;
            if met && x + forward.at(delta - k) >= n {
                return place(n - x, m - (x - k), n, m);
            }
        }
    }
    None
}

/// A place that makes both halves smaller than the whole.
fn place(x: isize, y: isize, n: isize, m: isize) -> Option<(usize, usize)> {
    let inside = (0..=n).contains(&x) && (0..=m).contains(&y);
    let halves = (x, y) != (0, 0) && (x, y) != (n, m);
    (inside && halves).then_some((x as usize, y as usize))
}

/// How far one has come on each diagonal.
struct Reached {
    most: isize,
    x: Vec<isize>,
}

impl Reached {
    fn new(most: isize) -> Self {
        Reached { most, x: vec![0; 2 * most as usize + 3] }
    }

    fn at(&self, k: isize) -> isize {
        self.x[(k + self.most + 1) as usize]
    }

    /// Goes on by one change, and then as far as both are the same; gives where
    /// that began and where it ended.
    fn go_on(&mut self, d: isize, k: isize, same: impl Fn(isize, isize) -> bool) -> (isize, isize) {
        let down = k == -d || k != d && self.at(k - 1) < self.at(k + 1);
        let start = if down { self.at(k + 1) } else { self.at(k - 1) + 1 };
        let mut x = start;
        while x >= k && same(x, x - k) {
            x += 1;
        }
        self.x[(k + self.most + 1) as usize] = x;
        (start, x)
    }
}
