//! What goes back to the model: the texts of a result as far as there is room,
//! and for everything else what it is and where.

use super::artifact::{Artifact, Status};

/// Of how many pieces something is said one by one.
pub(super) const PIECES: usize = 32;

/// What there is to show of a piece.
pub(super) struct Shown<'a> {
    /// Its text; empty where it has none, or it stands elsewhere.
    pub(super) text: &'a str,
    /// Where it is from.
    pub(super) uri: Option<&'a str>,
}

/// How many bytes each of these texts may have, so that together they have at
/// most so many: short ones have what they need, and the others the same.
pub(super) fn shares(lengths: &[usize], budget: usize) -> usize {
    let mut lengths = lengths.to_vec();
    lengths.sort_unstable();
    let mut left = budget;
    for (index, length) in lengths.iter().enumerate() {
        let share = left / (lengths.len() - index);
        if *length > share {
            return share;
        }
        left -= length;
    }
    budget
}

/// All of it, a piece after the other.
pub(super) fn written(
    artifacts: &[Artifact],
    shown: &[Shown<'_>],
    share: usize,
    left_out: usize,
) -> String {
    let told = artifacts.iter().zip(shown).take(PIECES);
    let mut parts: Vec<_> =
        told.flat_map(|(artifact, shown)| one(artifact, shown, share)).collect();
    let more = artifacts.len().saturating_sub(PIECES);
    if more > 0 {
        let kept = artifacts[PIECES..].iter().filter(|artifact| artifact.file().is_some()).count();
        parts.push(format!("[{more} more pieces, {kept} of them saved]"));
    }
    if left_out > 0 {
        parts.push(format!("[{left_out} more pieces, of which nothing was kept]"));
    }
    parts.join("\n")
}

fn one(artifact: &Artifact, shown: &Shown<'_>, share: usize) -> Vec<String> {
    let file = artifact.file().and_then(|file| file.file_name()).map(|name| name.to_string_lossy());
    let Artifact { place, mime_type, bytes, .. } = artifact;
    let (begun, rest) = cut_at(shown.text, share);
    let mut parts = Vec::new();
    if !begun.is_empty() {
        parts.push(begun.to_owned());
    }
    let cut = (!rest.is_empty())
        .then(|| format!("{} of {} bytes left out", rest.len(), shown.text.len()));
    let mut notes = Vec::new();
    match (&artifact.status, file, cut) {
        (Status::Saved { .. }, Some(file), Some(cut)) => {
            notes.push(format!("… {cut}; the whole is in {file}"));
        }
        (Status::Saved { .. }, Some(file), None) if !begun.is_empty() => {
            notes.push(format!("saved as {file}"));
        }
        (Status::Saved { .. }, Some(file), None) => {
            notes.push(format!("{place}: {mime_type}, {bytes} bytes, saved as {file}"));
        }
        (Status::Raw { why, .. }, Some(file), cut) => {
            notes.extend(why.as_ref().map(|why| format!("{place}: {why}")));
            notes.extend(cut.map(|cut| format!("… {cut}")));
            notes.push(format!("what came is in {file}"));
        }
        (Status::NotKept, _, cut) => match (cut, begun.is_empty()) {
            (Some(cut), _) => notes.push(format!("… {cut}; the rest is not kept")),
            (None, true) => {
                notes.push(format!("{place}: {mime_type}, {bytes} bytes, which are not kept"));
            }
            (None, false) => {}
        },
        (Status::Failed { why }, _, cut) => {
            notes.extend(cut.map(|cut| format!("… {cut}")));
            notes.push(format!("{place}: {why}; it was not saved"));
        }
        _ => {}
    }
    if !notes.is_empty() {
        notes.extend(shown.uri.filter(|_| begun.is_empty()).map(|uri| format!("from {uri:?}")));
        notes.extend(artifact.differs.clone());
        parts.push(format!("[{}]", notes.join("; ")));
    }
    parts
}

/// So many bytes and the rest, or a few less where a character would be cut.
fn cut_at(text: &str, bytes: usize) -> (&str, &str) {
    let ends = (0..=bytes.min(text.len())).rev();
    text.split_at(ends.into_iter().find(|end| text.is_char_boundary(*end)).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn short_texts_have_what_they_need_and_long_ones_the_same() {
        for (lengths, budget, share) in [
            (&[][..], 10, 10),
            (&[10][..], 10, 10),
            (&[11][..], 10, 10),
            (&[2, 100, 100][..], 20, 9),
            (&[0, 0, 5][..], 5, 5),
            (&[1, 1][..], 1, 0),
        ] {
            assert_eq!(shares(lengths, budget), share, "{lengths:?} {budget}");
        }
    }

    proptest! {
        #[test]
        fn together_they_never_have_more_than_they_may(
            lengths in proptest::collection::vec(0usize..1000, 0..20),
            budget in 0usize..3000,
        ) {
            let share = shares(&lengths, budget);
            let used: usize = lengths.iter().map(|length| share.min(*length)).sum();
            prop_assert!(used <= budget);
            // Nothing is cut that there was room for.
            if lengths.iter().sum::<usize>() <= budget {
                prop_assert!(lengths.iter().all(|length| *length <= share));
            }
        }
    }
}
