//! Splits a text into pieces: the text itself and the blocks of data in it.

use sparring_wire::{Json, RawJson};

use super::detect;
use super::fenced_blocks::{Block, find_fenced_blocks};
use super::kind::Kind;
use super::piece::{DetectedBy, Piece, PieceLocation};

/// The maximum number of blocks of a text; further ones stay in the text.
const MAX_BLOCKS: usize = 256;

/// A text, and separately the blocks of data in it. Without text around the
/// blocks, they replace the text.
pub(super) fn split_text(
    index: usize,
    item: Json<'_>,
    text: String,
    declared: Option<String>,
) -> Vec<Piece> {
    let place = PieceLocation::Item(index);
    if let Some(declared) = declared {
        let read = Piece::with_mime_type(place, text.into_bytes(), Some(declared));
        return vec![read.unwrap_or_else(|problem| Piece::malformed(place, item, problem))];
    }
    let found = find_fenced_blocks(&text);
    let of_data = found
        .iter()
        .take(MAX_BLOCKS)
        .filter_map(|block| data_kind(block).map(|kind| (block, kind)));
    let blocks: Vec<_> = of_data.collect();
    let is_all =
        !blocks.is_empty() && is_blank_around(&text, blocks.iter().map(|(block, _)| *block));
    let of_blocks = blocks.iter().enumerate().map(|(number, (block, (kind, found)))| {
        let place = PieceLocation::Block { item: index, block: number };
        let broken = *kind == Kind::Json && RawJson::parse(block.body).is_err();
        let piece = if broken {
            // Only the block's text, because many blocks of one item must not
            // repeat the item.
            let body = RawJson::string(block.body);
            Piece::malformed(
                place,
                body.view(),
                format!("a `{}` block that is not valid JSON", block.language),
            )
        } else {
            Piece::new(place, *kind, *found, block.body.as_bytes().to_vec())
        };
        Piece { shown_to_model: is_all, ..piece }
    });
    let mut pieces: Vec<_> = of_blocks.collect();
    if !is_all {
        let kind = if blocks.is_empty() { detect::detect_text(&text) } else { Kind::Markdown };
        let inline_if_small = matches!(kind, Kind::Text | Kind::Markdown);
        let whole = Piece::new(place, kind, DetectedBy::Content, text.into_bytes());
        pieces.insert(0, Piece { inline_if_small, ..whole });
    }
    pieces
}

fn is_blank_around<'a>(text: &str, blocks: impl Iterator<Item = &'a Block<'a>>) -> bool {
    let mut from = 0;
    let mut is_blank = true;
    for block in blocks {
        is_blank &= text[from..block.range.start].trim().is_empty();
        from = block.range.end;
    }
    is_blank && text[from..].trim().is_empty()
}

/// The kind of a data block: by its language, or else by its text.
fn data_kind(block: &Block<'_>) -> Option<(Kind, DetectedBy)> {
    match block.language.to_ascii_lowercase().as_str() {
        "json" => Some((Kind::Json, DetectedBy::Fence)),
        "yaml" | "yml" => Some((Kind::Yaml, DetectedBy::Fence)),
        "csv" | "tsv" => Some((Kind::Csv, DetectedBy::Fence)),
        "svg" => Some((Kind::Svg, DetectedBy::Fence)),
        "" => match detect::detect_text(block.body) {
            Kind::Text | Kind::Markdown => None,
            kind => Some((kind, DetectedBy::Content)),
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_very_many_blocks_the_first_are_data_and_the_text_is_saved() {
        let text = "```json\n[1]\n```\n".repeat(MAX_BLOCKS + 1);
        let item = RawJson::empty_object();
        let pieces = split_text(0, item.view(), text.clone(), None);
        assert_eq!(pieces.len(), 1 + MAX_BLOCKS);
        assert_eq!((pieces[0].kind, pieces[0].text()), (Kind::Markdown, Some(&*text)));
        assert_eq!((pieces[1].kind, pieces[1].text()), (Kind::Json, Some("[1]")));
    }
}
