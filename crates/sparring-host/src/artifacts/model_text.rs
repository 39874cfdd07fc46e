//! Renders a result for the model: its texts as far as there is room, and a
//! description with the file name of everything else.

use super::artifact::{Artifact, ArtifactStatus};

/// The maximum number of pieces that are rendered one by one.
pub(super) const MAX_RENDERED_PIECES: usize = 32;

/// The text of a piece for the model.
pub(super) struct PieceText<'a> {
    /// Its text; empty if it has none, or if another piece contains it.
    pub(super) text: &'a str,
    /// The URI of its resource.
    pub(super) uri: Option<&'a str>,
}

/// The number of bytes that each text gets, so that all texts together stay
/// within the budget: short ones are complete, and the others get equal shares.
pub(super) fn share_per_text(lengths: &[usize], budget: usize) -> usize {
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

/// Renders all pieces.
pub(super) fn render_for_model(
    artifacts: &[Artifact],
    shown: &[PieceText<'_>],
    share: usize,
    left_out: usize,
) -> String {
    let rendered = artifacts.iter().zip(shown).take(MAX_RENDERED_PIECES);
    let mut parts: Vec<_> =
        rendered.flat_map(|(artifact, shown)| render_piece(artifact, shown, share)).collect();
    let more = artifacts.len().saturating_sub(MAX_RENDERED_PIECES);
    if more > 0 {
        let kept = artifacts[MAX_RENDERED_PIECES..]
            .iter()
            .filter(|artifact| artifact.file().is_some())
            .count();
        parts.push(format!("[{more} more pieces, {kept} of them saved]"));
    }
    if left_out > 0 {
        parts.push(format!("[{left_out} more pieces, none of them saved]"));
    }
    parts.join("\n")
}

fn render_piece(artifact: &Artifact, shown: &PieceText<'_>, share: usize) -> Vec<String> {
    let file = artifact.file().and_then(|file| file.file_name()).map(|name| name.to_string_lossy());
    let Artifact { place, mime_type, bytes, .. } = artifact;
    let (start, rest) = split_at_boundary(shown.text, share);
    let mut parts = Vec::new();
    if !start.is_empty() {
        parts.push(start.to_owned());
    }
    let cut =
        (!rest.is_empty()).then(|| format!("{} of {} bytes omitted", rest.len(), shown.text.len()));
    let mut notes = Vec::new();
    match (&artifact.status, file, cut) {
        (ArtifactStatus::Saved { .. }, Some(file), Some(cut)) => {
            notes.push(format!("… {cut}; complete in {file}"));
        }
        (ArtifactStatus::Saved { .. }, Some(file), None) if !start.is_empty() => {
            notes.push(format!("saved as {file}"));
        }
        (ArtifactStatus::Saved { .. }, Some(file), None) => {
            notes.push(format!("{place}: {mime_type}, {bytes} bytes, saved as {file}"));
        }
        (ArtifactStatus::Raw { why, .. }, Some(file), cut) => {
            notes.extend(why.as_ref().map(|why| format!("{place}: {why}")));
            notes.extend(cut.map(|cut| format!("… {cut}")));
            notes.push(format!("raw JSON in {file}"));
        }
        (ArtifactStatus::NotKept, _, cut) => match (cut, start.is_empty()) {
            (Some(cut), _) => notes.push(format!("… {cut}; not saved")),
            (None, true) => {
                notes.push(format!("{place}: {mime_type}, {bytes} bytes, not saved"));
            }
            (None, false) => {}
        },
        (ArtifactStatus::Failed { why }, _, cut) => {
            notes.extend(cut.map(|cut| format!("… {cut}")));
            notes.push(format!("{place}: {why}; not saved"));
        }
        _ => {}
    }
    if !notes.is_empty() {
        notes.extend(shown.uri.filter(|_| start.is_empty()).map(|uri| format!("from {uri:?}")));
        notes.extend(artifact.differs.clone());
        parts.push(format!("[{}]", notes.join("; ")));
    }
    parts
}

/// Splits a text at so many bytes, or fewer at a character boundary.
fn split_at_boundary(text: &str, bytes: usize) -> (&str, &str) {
    let ends = (0..=bytes.min(text.len())).rev();
    text.split_at(ends.into_iter().find(|end| text.is_char_boundary(*end)).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn short_texts_are_complete_and_long_ones_get_equal_shares() {
        for (lengths, budget, share) in [
            (&[][..], 10, 10),
            (&[10][..], 10, 10),
            (&[11][..], 10, 10),
            (&[2, 100, 100][..], 20, 9),
            (&[0, 0, 5][..], 5, 5),
            (&[1, 1][..], 1, 0),
        ] {
            assert_eq!(share_per_text(lengths, budget), share, "{lengths:?} {budget}");
        }
    }

    proptest! {
        #[test]
       fn all_shares_together_stay_within_the_budget(
            lengths in proptest::collection::vec(0usize..1000, 0..20),
            budget in 0usize..3000,
        ) {
            let share = share_per_text(&lengths, budget);
            let used: usize = lengths.iter().map(|length| share.min(*length)).sum();
            prop_assert!(used <= budget);
            // Nothing is cut if there is room for all.
            if lengths.iter().sum::<usize>() <= budget {
                prop_assert!(lengths.iter().all(|length| *length <= share));
            }
        }
    }
}
